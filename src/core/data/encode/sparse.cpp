#include "core/data/encode/sparse.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/radix_sort.h"
#include "core/data/encode/cuts.h"
#include "core/data/encode/order_key.h"
#include "core/data/sparse_columns.h"

namespace weald {

namespace {

constexpr size_t few = 128;  // so many values are sorted by comparison

// ---- what shapes the cuts ----------------------------------------------------------------------------------------

// The rows that shape the cuts, by row, and their weight.
struct Sample {
  std::span<const int64_t> weights;
  std::vector<bool> chosen;  // empty: all rows
  int64_t total = 0;

  Sample(int64_t n_rows, std::span<const int64_t> weights_of_rows, int64_t limit) : weights(weights_of_rows) {
    const std::vector<uint32_t> rows = sample_rows(n_rows, weights, limit);
    for (const uint32_t row : rows) total += weights.empty() ? 1 : weights[row];
    if (static_cast<int64_t>(rows.size()) == n_rows) return;
    chosen.resize(static_cast<size_t>(n_rows));
    for (const uint32_t row : rows) chosen[row] = true;
  }

  // 0 for a row that does not count.
  int64_t weight(uint32_t row) const {
    if (!chosen.empty() && !chosen[row]) return 0;
    return weights.empty() ? 1 : weights[row];
  }
};

// ---- one column --------------------------------------------------------------------------------------------------

struct KeyedEntry {
  uint64_t key;
  uint32_t at;
};

// Where a column lies in its group, until the group no longer moves.
struct EntryPlace {
  size_t rows, codes, marks, n_marks;
};

// Codes the columns of one group, one after another, into `group`.
class GroupCoder {
 public:
  GroupCoder(const SparseView& matrix, ColumnKind kind, const Sample* sample, uint32_t max_bins, SparseGroup& group)
      : n_rows_(static_cast<uint64_t>(matrix.n_rows)),
        absent_missing_(matrix.absent_missing),
        kind_(kind),
        sample_(sample),
        max_bins_(max_bins),
        group_(group) {}

  // `rows`, ascending, and `values`: the stored entries of one column.
  EntryPlace code(std::span<const uint32_t> rows, std::span<const double> values, CodeColumn& column) {
    rows_.clear();
    values_.clear();
    for (size_t i = 0; i < rows.size(); ++i) {
      if (values[i] == 0 || (absent_missing_ && values[i] != values[i])) continue;
      if (std::isinf(values[i])) throw InfiniteValue();
      rows_.push_back(rows[i]);
      values_.push_back(values[i]);
    }
    column.kind = kind_;
    column.sparse = true;
    codes_.resize(rows_.size());
    const size_t first_mark = group_.marks.size();
    kind_ == ColumnKind::exact ? code_exactly(column) : code_by_cuts(column);
    column.width = code_width(column.n_codes);
    EntryPlace place{group_.rows.size(), 0, first_mark, group_.marks.size() - first_mark};
    place.codes = write(column);
    return place;
  }

 private:
  bool has_zero() const { return !absent_missing_ && rows_.size() < n_rows_; }

  // The entries that are not missing, by value.
  void sort_values() {
    items_.clear();
    for (size_t i = 0; i < values_.size(); ++i) {
      if (values_[i] == values_[i]) items_.push_back({to_key(values_[i]), static_cast<uint32_t>(i)});
    }
    const auto key = [](const KeyedEntry& item) { return item.key; };
    if (items_.size() <= few) {
      std::ranges::sort(items_, {}, key);
      return;
    }
    scratch_.resize(items_.size());
    radix_sort(items_.data(), scratch_.data(), items_.size(), 0, 64, key);
  }

  // One code a distinct value, 0 among them if a row has it.
  void code_exactly(CodeColumn& column) {
    sort_values();
    const uint64_t zero = to_key(0.0);
    std::fill(codes_.begin(), codes_.end(), 0U);
    uint32_t n_codes = 0;
    bool zero_is_due = has_zero();
    const auto next_code = [&](double value) {
      group_.marks.push_back(value);
      return ++n_codes;
    };
    for (size_t i = 0; i < items_.size(); ++i) {
      if (zero_is_due && items_[i].key > zero) {
        column.default_code = next_code(0.0);
        zero_is_due = false;
      }
      if (i == 0 || items_[i].key != items_[i - 1].key) next_code(from_key(items_[i].key));
      codes_[items_[i].at] = n_codes;
    }
    if (zero_is_due) column.default_code = next_code(0.0);
    column.n_codes = n_codes;
  }

  // The cuts of the dense column: the rows without an entry weigh what the others leave of the sample.
  void find_cuts() {
    sort_values();
    distinct_.clear();
    int64_t weight_of_zero = absent_missing_ ? 0 : sample_->total;
    if (!absent_missing_) {
      for (const uint32_t row : rows_) weight_of_zero -= sample_->weight(row);
    }
    bool zero_is_due = weight_of_zero > 0;
    uint64_t last = 0;
    for (const auto& [key, at] : items_) {
      const int64_t weight = sample_->weight(rows_[at]);
      if (weight == 0) continue;
      if (zero_is_due && key > to_key(0.0)) {
        distinct_.push_back({0.0, weight_of_zero});
        zero_is_due = false;
        last = to_key(0.0);
      }
      if (!distinct_.empty() && key == last) {
        distinct_.back().weight += weight;
      } else {
        distinct_.push_back({from_key(key), weight});
        last = key;
      }
    }
    if (zero_is_due) distinct_.push_back({0.0, weight_of_zero});
  }

  void code_by_cuts(CodeColumn& column) {
    find_cuts();
    const std::vector<double> cuts = choose_cuts(distinct_, max_bins_);
    group_.marks.insert(group_.marks.end(), cuts.begin(), cuts.end());
    const auto code_of = [&](double value) {
      return static_cast<uint32_t>(std::ranges::lower_bound(cuts, value) - cuts.begin()) + 1;
    };
    column.n_codes = static_cast<uint32_t>(cuts.size()) + 1;
    column.default_code = absent_missing_ ? 0 : code_of(0.0);
    size_t kept = 0;
    for (size_t i = 0; i < values_.size(); ++i) {
      const uint32_t code = values_[i] == values_[i] ? code_of(values_[i]) : 0;
      if (code == column.default_code) continue;
      rows_[kept] = rows_[i];
      codes_[kept++] = code;
    }
    rows_.resize(kept);
    codes_.resize(kept);
    if (kept == n_rows_) column.default_code = 0;  // nobody has it
  }

  // Appends the entries to the group; returns where the codes begin, a multiple of their width.
  size_t write(CodeColumn& column) {
    column.n_entries = static_cast<uint32_t>(rows_.size());
    group_.rows.insert(group_.rows.end(), rows_.begin(), rows_.end());
    const size_t width = column.width;
    const size_t begin = (group_.codes.size() + width - 1) / width * width;
    group_.codes.resize(begin + codes_.size() * width);
    with_code_type(column.width, [&](auto type) {
      using Code = decltype(type);
      auto* out = reinterpret_cast<Code*>(group_.codes.data() + begin);
      for (size_t i = 0; i < codes_.size(); ++i) out[i] = static_cast<Code>(codes_[i]);
    });
    return begin;
  }

  uint64_t n_rows_;
  bool absent_missing_;
  ColumnKind kind_;
  const Sample* sample_;
  uint32_t max_bins_;
  SparseGroup& group_;
  std::vector<uint32_t> rows_, codes_;
  std::vector<double> values_;
  std::vector<KeyedEntry> items_, scratch_;
  std::vector<WeightedValue> distinct_;
};

// ---- groups of columns -------------------------------------------------------------------------------------------

struct Job {
  const SparseView& matrix;
  ColumnKind kind;
  const Sample* sample;
  uint32_t max_bins;
  std::span<const int64_t> count;  // entries of each column; 0 for those left out
};

// Codes the columns of a range; `places` tells where each lies in the group.
template <class T>
void code_columns(const Job& job, const ColumnRange& range, Run& run, std::span<CodeColumn> columns, SparseGroup& group,
                  std::span<EntryPlace> places) {
  const auto count = job.count.subspan(static_cast<size_t>(range.first), places.size());
  Gathered<T> gathered = gather<T>(job.matrix, range, count, run);
  group.rows.reserve(gathered.start.back());
  group.codes.reserve(gathered.start.back());
  GroupCoder coder(job.matrix, job.kind, job.sample, job.max_bins, group);
  std::vector<double> values;
  for (size_t c = 0; c < places.size(); ++c) {
    if (c % lines_a_check == 0) run.check();
    const size_t first = gathered.start[c], n = gathered.start[c + 1] - first;
    const auto rows = std::span(gathered.rows).subspan(first, n);
    const size_t kept = merge(rows, std::span(gathered.values).subspan(first, n), job.matrix.dtype);
    values.resize(kept);
    for (size_t i = 0; i < kept; ++i) values[i] = static_cast<double>(gathered.values[first + i]) + 0.0;
    places[c] = coder.code(rows.first(kept), values, columns[c]);
  }
}

void code_group(const Job& job, const ColumnRange& range, Run& run, Codes& codes, SparseGroup& group) {
  const auto n_columns = static_cast<size_t>(range.last - range.first);
  const auto columns = std::span(codes.columns).subspan(static_cast<size_t>(range.first), n_columns);
  std::vector<EntryPlace> places(n_columns);
  with_dtype(job.matrix.dtype,
             [&](auto type) { code_columns<decltype(type)>(job, range, run, columns, group, places); });
  group.rows.shrink_to_fit();
  group.codes.shrink_to_fit();
  group.marks.shrink_to_fit();
  for (size_t c = 0; c < n_columns; ++c) {
    columns[c].rows = group.rows.data() + places[c].rows;
    columns[c].data = group.codes.data() + places[c].codes;
    columns[c].marks = std::span(group.marks).subspan(places[c].marks, places[c].n_marks);
  }
}

// Puts the columns that the caller gave in full where they belong; `codes` owns them from now on.
void place_dense(std::span<const PlacedColumn> placed, Codes&& dense, Codes& codes) {
  for (size_t c = 0; c < placed.size(); ++c) {
    codes.columns[static_cast<size_t>(placed[c].position)] = dense.columns[c];
  }
  codes.storage = std::move(dense.storage);
  codes.mark_storage = std::move(dense.mark_storage);
}

}  // namespace

Codes encode_sparse(const SparseView& matrix, ColumnKind kind, std::span<const PlacedColumn> placed,
                    std::span<const int64_t> weights, uint32_t max_bins, Run& run, int64_t limit) {
  require(kind == ColumnKind::exact || kind == ColumnKind::binned, "a sparse matrix holds numbers");
  check_row_count(matrix.n_rows);
  check_lines(matrix);
  std::vector<int64_t> count = count_entries(matrix, run);
  std::vector<ColumnSource> sources;
  for (const PlacedColumn& column : placed) {
    require(column.position >= 0 && column.position < matrix.n_columns, "a column outside the matrix");
    sources.push_back(column.source);
    count[static_cast<size_t>(column.position)] = 0;
  }
  Codes codes;
  codes.n_rows = matrix.n_rows;
  codes.columns.resize(static_cast<size_t>(matrix.n_columns));
  const std::vector<ColumnRange> ranges = group_columns(count, run.n_threads());
  codes.groups.resize(ranges.size());
  std::unique_ptr<Sample> sample;
  if (kind == ColumnKind::binned) sample = std::make_unique<Sample>(matrix.n_rows, weights, limit);
  const Job job{matrix, kind, sample.get(), max_bins, count};
  parallel_for(run, static_cast<int64_t>(ranges.size()), [&](int64_t g, int) {
    const auto at = static_cast<size_t>(g);
    code_group(job, ranges[at], run, codes, codes.groups[at]);
  });
  if (!placed.empty()) place_dense(placed, encode(sources, matrix.n_rows, weights, max_bins, run, limit), codes);
  return codes;
}

}  // namespace weald
