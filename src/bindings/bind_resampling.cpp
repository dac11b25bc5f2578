// Bootstrap resamples: values and a plan of draws in; statistics, rows, counts and sums of resamples out. And new rows
// between rows.

#include <nanobind/nanobind.h>

#include "bindings/arrays.h"
#include "bindings/call.h"
#include "bindings/parts.h"
#include "core/base/random.h"
#include "core/resampling/areas.h"
#include "core/resampling/between.h"
#include "core/resampling/statistics.h"

namespace weald::bindings {

namespace {

// (n, members, strata, block length, circular); the caller keeps the arrays alive.
ResamplePlan plan_of(const nb::tuple& parts) {
  ResamplePlan plan;
  plan.n = nb::cast<int64_t>(parts[0]);
  plan.members = view(nb::cast<Vector<int32_t>>(parts[1], false));
  plan.strata = view(nb::cast<Vector<int64_t>>(parts[2], false));
  plan.block_length = nb::cast<int64_t>(parts[3]);
  plan.circular = nb::cast<bool>(parts[4]);
  require(plan.n > 0 && plan.block_length <= plan.n, "a plan has rows, and no block longer than them");
  require(plan.members.empty() || static_cast<int64_t>(plan.members.size()) == plan.n, "every row has a stratum");
  return plan;
}

// (kind, x, y, order, q, cut, ddof)
StatisticOf statistic_of(const nb::tuple& parts, int64_t n) {
  StatisticOf of;
  of.kind = static_cast<SampleStatistic>(nb::cast<int>(parts[0]));
  of.x = view(nb::cast<Vector<double>>(parts[1], false));
  of.y = view(nb::cast<Vector<double>>(parts[2], false));
  of.order = view(nb::cast<Vector<int32_t>>(parts[3], false));
  of.q = view(nb::cast<Vector<double>>(parts[4], false));
  of.cut = nb::cast<int64_t>(parts[5]);
  of.ddof = nb::cast<double>(parts[6]);
  const bool ordered = of.kind == SampleStatistic::quantiles || of.kind == SampleStatistic::trimmed_mean;
  const auto has = [&](size_t size) { return static_cast<int64_t>(size) == n; };
  require(has(of.x.size()) && (of.kind != SampleStatistic::correlation || has(of.y.size())), "a value per row");
  require(!ordered || has(of.order.size()), "ordered values have a row each");
  require(2 * of.cut < n, "a trimmed mean keeps a value");
  return of;
}

// (order, positive, last, weight)
RankedRows ranked_rows(const nb::tuple& parts, size_t n) {
  RankedRows rows;
  rows.order = view(nb::cast<Vector<int32_t>>(parts[0], false));
  rows.positive = view(nb::cast<Vector<uint8_t>>(parts[1], false));
  rows.last = view(nb::cast<Vector<uint8_t>>(parts[2], false));
  rows.weight = view(nb::cast<Vector<double>>(parts[3], false));
  require(rows.order.size() == n && rows.positive.size() == n && rows.last.size() == n && rows.weight.size() == n,
          "ranked rows are as many as the plan's");
  return rows;
}

template <class T>
using AnyFloats = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;

template <class T>
TableView<T> table_view(const AnyFloats<T>& table) {
  return {table.data(), static_cast<int64_t>(table.shape(0)), static_cast<int64_t>(table.shape(1)), table.stride(0),
          table.stride(1)};
}

template <class T>
void fill_between(const AnyFloats<T>& table, const Vector<int64_t>& base, const Vector<int64_t>& other,
                  const Vector<double>& step, const FilledMatrix<T>& out, int n_threads) {
  const auto n_rows = static_cast<int64_t>(table.shape(0));
  require(base.size() == out.shape(0) && other.size() == base.size() && step.size() == base.size() &&
              table.shape(1) == out.shape(1),
          "every new row stands between two rows");
  for (size_t i = 0; i < base.size(); ++i) {
    require(base.data()[i] >= 0 && base.data()[i] < n_rows && other.data()[i] >= 0 && other.data()[i] < n_rows,
            "new rows stand between rows that are there");
  }
  call(n_threads,
       [&](Run& run) { rows_between(table_view(table), view(base), view(other), view(step), run, out.data()); });
}

template <class T>
void fill_copy(const AnyFloats<T>& table, const FilledMatrix<T>& out, int n_threads) {
  require(table.shape(0) == out.shape(0) && table.shape(1) == out.shape(1), "a copy is as large as its table");
  call(n_threads, [&](Run& run) { copy_rows(table_view(table), run, out.data()); });
}

template <class T>
void bind_between(nb::module_& m) {
  m.def("rows_between", fill_between<T>, nb::arg("table").noconvert(), nb::arg("base").noconvert(),
        nb::arg("other").noconvert(), nb::arg("step").noconvert(), nb::arg("out").noconvert(), nb::arg("n_threads"));
  m.def("copy_rows", fill_copy<T>, nb::arg("table").noconvert(), nb::arg("out").noconvert(), nb::arg("n_threads"));
}

}  // namespace

void bind_resampling(nb::module_& m) {
  m.def(
      "hashed_words",
      [](uint64_t seed, uint64_t purpose, uint64_t a, size_t n) {
        std::vector<uint64_t> words(n);
        const Draws draws(seed, static_cast<Purpose>(purpose), a);
        for (size_t b = 0; b < n; ++b) words[b] = draws(b);
        return to_numpy(std::move(words));
      },
      nb::arg("seed"), nb::arg("purpose"), nb::arg("a"), nb::arg("n"));
  bind_between<float>(m);
  bind_between<double>(m);
  m.def(
      "resample_statistic",
      [](const nb::tuple& plan_parts, const nb::tuple& statistic, uint64_t seed, int64_t first, int64_t last, int error,
         int64_t n_inner, int n_threads) {
        const ResamplePlan plan = plan_of(plan_parts);
        const StatisticOf of = statistic_of(statistic, plan.n);
        const size_t rows = static_cast<size_t>(last - first), width = of.width();
        Resampled found = call(n_threads, [&](Run& run) {
          return resample_statistic(plan, of, seed, first, last, static_cast<ErrorOf>(error), n_inner, run);
        });
        const size_t with_errors = found.errors.empty() ? 0 : rows;
        return nb::make_tuple(to_numpy(std::move(found.values), {rows, width}),
                              to_numpy(std::move(found.errors), {with_errors, width}));
      },
      nb::arg("plan"), nb::arg("statistic"), nb::arg("seed"), nb::arg("first"), nb::arg("last"), nb::arg("error"),
      nb::arg("n_inner"), nb::arg("n_threads"));
  m.def(
      "resample_rows",
      [](const nb::tuple& plan_parts, uint64_t seed, int64_t first, int64_t last, int n_threads) {
        const ResamplePlan plan = plan_of(plan_parts);
        return to_numpy(call(n_threads, [&](Run& run) { return resample_rows(plan, seed, first, last, run); }),
                        {static_cast<size_t>(last - first), static_cast<size_t>(plan.n)});
      },
      nb::arg("plan"), nb::arg("seed"), nb::arg("first"), nb::arg("last"), nb::arg("n_threads"));
  m.def(
      "resample_counts",
      [](const nb::tuple& plan_parts, const Vector<int32_t>& slot, int64_t n_slots, uint64_t seed, int64_t first,
         int64_t last, int n_threads) {
        const ResamplePlan plan = plan_of(plan_parts);
        require(static_cast<int64_t>(slot.size()) == plan.n, "every row has a slot");
        return to_numpy(
            call(n_threads,
                 [&](Run& run) { return resample_counts(plan, view(slot), n_slots, seed, first, last, run); }),
            {static_cast<size_t>(last - first), static_cast<size_t>(n_slots)});
      },
      nb::arg("plan"), nb::arg("slot").noconvert(), nb::arg("n_slots"), nb::arg("seed"), nb::arg("first"),
      nb::arg("last"), nb::arg("n_threads"));
  m.def(
      "resample_sums",
      [](const nb::tuple& plan_parts, const Matrix<double>& columns, uint64_t seed, int64_t first, int64_t last,
         int n_threads) {
        const ResamplePlan plan = plan_of(plan_parts);
        require(static_cast<int64_t>(columns.shape(0)) == plan.n, "every row has its columns");
        const auto width = static_cast<int64_t>(columns.shape(1));
        return to_numpy(
            call(n_threads,
                 [&](Run& run) { return resample_sums(plan, view(columns), width, seed, first, last, run); }),
            {static_cast<size_t>(last - first), columns.shape(1)});
      },
      nb::arg("plan"), nb::arg("columns").noconvert(), nb::arg("seed"), nb::arg("first"), nb::arg("last"),
      nb::arg("n_threads"));
  m.def(
      "resample_areas",
      [](const nb::tuple& plan_parts, const nb::tuple& ranked, int area, uint64_t seed, int64_t first, int64_t last,
         int n_threads) {
        const ResamplePlan plan = plan_of(plan_parts);
        const RankedRows rows = ranked_rows(ranked, static_cast<size_t>(plan.n));
        return to_numpy(call(n_threads, [&](Run& run) {
          return resample_areas(plan, rows, static_cast<Area>(area), seed, first, last, run);
        }));
      },
      nb::arg("plan"), nb::arg("rows"), nb::arg("area"), nb::arg("seed"), nb::arg("first"), nb::arg("last"),
      nb::arg("n_threads"));
  m.def(
      "areas_without",
      [](const nb::tuple& ranked, int area, const Vector<int32_t>& group, int64_t n_groups, int n_threads) {
        const RankedRows rows = ranked_rows(ranked, group.size());
        return to_numpy(call(n_threads, [&](Run& run) {
          return areas_without(rows, static_cast<Area>(area), view(group), n_groups, run);
        }));
      },
      nb::arg("rows"), nb::arg("area"), nb::arg("group").noconvert(), nb::arg("n_groups"), nb::arg("n_threads"));
}

}  // namespace weald::bindings
