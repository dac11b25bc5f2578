#include "core/rows/statistic/gathered.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

namespace weald {

namespace {

constexpr uint32_t not_taken = ~uint32_t{0};

bool is_absent(const StatisticRows& rows, size_t row, size_t n_targets) {
  if (!rows.count.empty() && rows.count[row] == 0) return true;
  if (n_targets > 0) return rows.lanes[row * (n_targets + 1) + n_targets] == 0;
  return !rows.weight.empty() && rows.weight[row] == 0;
}

}  // namespace

GatheredRows::GatheredRows(const Codes& codebook, const StatisticKind& kind, bool drawn, std::span<const size_t> n_rows,
                           std::vector<int32_t> part_of)
    : columns_(grow_columns(codebook)),
      n_outputs_(kind.n_outputs()),
      n_targets_(kind.n_targets()),
      weighted_(kind.classes() && kind.weighted()),
      drawn_(drawn),
      part_of_(std::move(part_of)),
      parts_(n_rows.size()) {
  for (size_t p = 0; p < parts_.size(); ++p) {
    Part& part = parts_[p];
    const size_t n = part.n_rows = n_rows[p];
    part.dense.resize(columns_.size());
    part.sparse_rows.resize(columns_.size());
    part.sparse_codes.resize(columns_.size());
    for (size_t j = 0; j < columns_.size(); ++j) {
      sparse_ |= columns_[j].sparse;
      if (columns_[j].sparse) continue;
      part.dense[j] = std::make_unique_for_overwrite<unsigned char[]>(n * columns_[j].width);
    }
    part.lane.resize(n * n_outputs_);
    part.weight.resize(weighted_ ? n : 0);
    part.count.resize(drawn_ ? n : 0);
    if (n_targets_ == 0) continue;
    part.lanes.resize(n * (n_targets_ + 1));
    part.squares.resize(n);
    part.targets.resize(n * n_targets_);
  }
}

template <class Number>
void GatheredRows::add(const Codes& codes, const StatisticRows& rows, std::span<const Number> number, Run& run) {
  require(codes.columns.size() == columns_.size(), "a block has the columns of its codebook");
  taken_.clear();
  if (sparse_) taken_at_.assign(number.size(), not_taken);
  for (size_t row = 0; row < number.size(); ++row) {
    const int32_t part = part_of_[number[row]];
    if (part < 0 || is_absent(rows, row, n_targets_)) continue;
    Part& to = parts_[static_cast<size_t>(part)];
    require(to.n_taken < to.n_rows, "a part has as many rows as its node");
    if (sparse_) taken_at_[row] = static_cast<uint32_t>(taken_.size());
    taken_.push_back({static_cast<uint32_t>(row), static_cast<uint32_t>(part), static_cast<uint32_t>(to.n_taken++)});
  }
  if (taken_.empty()) return;
  take_statistic(rows);
  parallel_for(run, static_cast<int64_t>(columns_.size()),
               [&](int64_t j, int) { take_codes(codes.columns[static_cast<size_t>(j)], static_cast<size_t>(j)); });
}

template void GatheredRows::add(const Codes&, const StatisticRows&, std::span<const uint16_t>, Run&);
template void GatheredRows::add(const Codes&, const StatisticRows&, std::span<const uint32_t>, Run&);

void GatheredRows::take_codes(const CodeColumn& column, size_t j) {
  require(column.n_codes == columns_[j].n_codes && column.sparse == columns_[j].sparse,
          "a block has the codes of its codebook");
  with_codes(column, [&](const auto* codes) {
    using Code = std::remove_const_t<std::remove_pointer_t<decltype(codes)>>;
    if (!column.sparse) {
      for (const Taken& each : taken_) {
        reinterpret_cast<Code*>(parts_[each.part].dense[j].get())[each.place] = codes[each.row];
      }
      return;
    }
    for (uint32_t e = 0; e < column.n_entries; ++e) {
      const uint32_t at = taken_at_[column.rows[e]];
      if (at == not_taken) continue;
      Part& part = parts_[taken_[at].part];
      const Code code = codes[e];
      unsigned char bytes[sizeof(Code)];
      std::memcpy(bytes, &code, sizeof(Code));
      part.sparse_rows[j].push_back(taken_[at].place);
      part.sparse_codes[j].insert(part.sparse_codes[j].end(), bytes, bytes + sizeof(Code));
    }
  });
}

void GatheredRows::take_statistic(const StatisticRows& rows) {
  const auto take = [](const auto& from, auto& to, size_t width, const Taken& each) {
    for (size_t k = 0; k < width; ++k) to[each.place * width + k] = from[each.row * width + k];
  };
  for (const Taken& each : taken_) {
    Part& part = parts_[each.part];
    take(rows.lane, part.lane, n_outputs_, each);
    if (weighted_) take(rows.weight, part.weight, 1, each);
    if (drawn_) take(rows.count, part.count, 1, each);
    if (n_targets_ == 0) continue;
    take(rows.lanes, part.lanes, n_targets_ + 1, each);
    take(rows.squares, part.squares, 1, each);
    take(rows.targets, part.targets, n_targets_, each);
  }
}

std::vector<GrowColumn> GatheredRows::columns(size_t number) const {
  const Part& part = parts_[number];
  require(part.n_taken == part.n_rows, "all rows of a part are there");
  std::vector<GrowColumn> columns(columns_);
  for (size_t j = 0; j < columns.size(); ++j) {
    if (columns[j].sparse) {
      columns[j].rows = part.sparse_rows[j].data();
      columns[j].data = part.sparse_codes[j].data();
      columns[j].n_entries = static_cast<uint32_t>(part.sparse_rows[j].size());
    } else {
      columns[j].data = part.dense[j].get();
    }
  }
  return columns;
}

StatisticRows GatheredRows::rows(size_t number) const {
  const Part& part = parts_[number];
  return {part.lane, part.weight, part.lanes, part.squares, part.targets, part.count};
}

}  // namespace weald
