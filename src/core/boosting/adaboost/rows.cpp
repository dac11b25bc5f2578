#include "core/boosting/adaboost/rows.h"

#include <algorithm>

#include "core/base/check.h"

namespace weald {

StumpRows::StumpRows(const Codes& codes, std::span<const int32_t> label, int n_classes, Run& run)
    : n_classes_(n_classes), class_start_(static_cast<size_t>(n_classes) + 1, 0) {
  const auto n = static_cast<size_t>(codes.n_rows);
  require(label.size() == n && n < StumpColumn::first_of_code, "one label per row, and fewer than 2^31 rows");
  for (const int32_t c : label) {
    require(c >= 0 && c < n_classes, "class out of range");
    ++class_start_[static_cast<size_t>(c) + 1];
  }
  for (size_t c = 0; c < static_cast<size_t>(n_classes); ++c) class_start_[c + 1] += class_start_[c];
  row_of_.resize(n);
  std::vector<uint32_t> next(class_start_.begin(), class_start_.end() - 1);
  for (size_t row = 0; row < n; ++row) row_of_[next[static_cast<size_t>(label[row])]++] = static_cast<uint32_t>(row);

  columns_.resize(codes.columns.size());
  for (size_t j = 0; j < columns_.size(); ++j) {
    require(!codes.columns[j].sparse, "stumps are searched on dense columns");
    columns_[j].codes = &codes.columns[j];
  }
  words_.resize((columns_.size() + columns_a_word - 1) / columns_a_word);
  std::vector<std::vector<uint32_t>> scratch(static_cast<size_t>(run.n_threads()));
  parallel_for(run, static_cast<int64_t>(words_.size()), [&](int64_t w, int worker) {
    const auto at = static_cast<size_t>(w);
    words_[at] = std::make_unique<uint64_t[]>(n);
    const size_t last = std::min(columns_.size(), (at + 1) * columns_a_word);
    for (size_t j = at * columns_a_word; j < last; ++j) {
      lay_out(j, scratch[static_cast<size_t>(worker)]);
      run.check();
    }
  });
}

void StumpRows::put_bytes(size_t j, std::span<const uint8_t> byte_of_code) {
  uint64_t* word = words_[j / columns_a_word].get();
  const auto shift = static_cast<int>(8 * (j % columns_a_word));
  with_codes(*columns_[j].codes, [&](const auto* data) {
    for (size_t i = 0; i < row_of_.size(); ++i) {
      word[i] |= uint64_t{byte_of_code[static_cast<size_t>(data[row_of_[i]])]} << shift;
    }
  });
}

// The bytes of a column and, if it has too many codes for them, its blocks and its order. `start` is scratch.
void StumpRows::lay_out(size_t j, std::vector<uint32_t>& start) {
  StumpColumn& column = columns_[j];
  const size_t n = row_of_.size(), n_codes = size_t{column.codes->n_codes} + 1;
  std::vector<uint8_t> byte_of_code(n_codes, 0);
  if (n_codes <= byte_codes) {
    for (size_t code = 0; code < n_codes; ++code) byte_of_code[code] = static_cast<uint8_t>(code);
    return put_bytes(j, byte_of_code);
  }
  if (column.categorical()) {
    column.wide_categories = true;
    return;
  }
  with_codes(*column.codes, [&](const auto* data) {
    start.assign(n_codes + 1, 0);
    for (size_t row = 0; row < n; ++row) ++start[static_cast<size_t>(data[row]) + 1];
    for (size_t code = 0; code < n_codes; ++code) start[code + 1] += start[code];
    // A block ends with the code that fills it: there are at most 255 of them, beside that of missing rows.
    const size_t full = (n - start[1]) / (byte_codes - 2) + 1;
    column.block_start = {0, start[1]};
    for (size_t code = 1; code < n_codes; ++code) {
      byte_of_code[code] = static_cast<uint8_t>(column.block_start.size() - 1);
      const bool ends = start[code + 1] - column.block_start.back() >= full || code + 1 == n_codes;
      if (ends && start[code + 1] > column.block_start.back()) column.block_start.push_back(start[code + 1]);
    }
    column.order = std::make_unique_for_overwrite<uint32_t[]>(n);
    for (size_t i = 0; i < n; ++i) {
      column.order[start[static_cast<size_t>(data[row_of_[i]])]++] = static_cast<uint32_t>(i);
    }
    // Each start has moved to the end of its code, which is the start of the next one.
    for (size_t code = 0; code + 1 < n_codes; ++code) {
      if (start[code] < n) column.order[start[code]] |= StumpColumn::first_of_code;
    }
    if (n > 0) column.order[0] |= StumpColumn::first_of_code;
  });
  put_bytes(j, byte_of_code);
}

}  // namespace weald
