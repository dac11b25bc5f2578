// Reads an Arrow stream into columns: numbers without a copy where one chunk holds them, text as levels.
//
// Chunks are first collected (this may call back into the exporter), then each column is read on its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "core/data/arrow/abi.h"
#include "core/data/arrow/type.h"

namespace weald::arrow {

// n numbers at `data`, kept alive by `owner` (an Arrow array, or memory of our own).
struct Values {
  Number number = Number::f64;
  std::size_t n = 0;
  const void* data = nullptr;
  std::shared_ptr<const void> owner;
};

struct Column {
  std::string name;
  std::string type;  // a word for messages about unsupported columns
  Unit unit = Unit::unsupported;
  bool ordered = false;
  Values values;                       // numbers; for text and dictionary: i32 positions, -1 missing
  Values missing;                      // one bool per row; n == 0: nothing is missing
  Values nanoseconds;                  // i64, of times with parts of microseconds; n == 0: there are none
  std::deque<std::string> levels;      // text only
  std::unique_ptr<Column> dictionary;  // dictionary only: the values that positions point into
};

struct Table {
  std::vector<Column> columns;
  std::int64_t n_rows = 0;
  bool is_table = true;  // false: the stream carried one bare column
};

// A schema and every chunk of a stream.
struct Chunks {
  Owned<ArrowSchema> schema;
  std::vector<std::shared_ptr<Owned<ArrowArray>>> arrays;
};

// Pulls the stream empty. Throws BadInput with the exporter's message when it fails.
Chunks collect(ArrowArrayStream& stream);

// Takes over one array and its schema.
Chunks collect(ArrowSchema& schema, ArrowArray& array);

// Decodes every column. Throws BadInput when an array contradicts its schema.
Table read(const Chunks& chunks);

}  // namespace weald::arrow
