#include "core/data/arrow/reader.h"

#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "core/base/check.h"
#include "core/data/arrow/values.h"

namespace weald::arrow {
namespace {

constexpr std::string_view kStruct = "+s";

std::string_view format_of(const ArrowSchema& schema) {
  if (schema.format == nullptr) throw BadInput("an Arrow schema has no format");
  return schema.format;
}

void check_rows(const ArrowArray& array, std::int64_t first, std::int64_t length) {
  if (array.length < 0 || array.offset < 0 || first < 0 || length < 0) {
    throw BadInput("an Arrow array has a negative length or offset");
  }
  if (array.offset > std::numeric_limits<std::int64_t>::max() / 64 - array.length) {
    throw BadInput("an Arrow array has an impossible offset");
  }
  if (first + length > array.length) throw BadInput("an Arrow array is shorter than its table");
}

// Rows [first, first + length) of `array`, where `first` counts from the array's own offset.
Piece piece_of(const ArrowArray& array, std::int64_t first, std::int64_t length,
               const std::shared_ptr<const void>& owner) {
  check_rows(array, first, length);
  return {&array, array.offset + first, length, owner};
}

void read_text_column(std::span<const Piece> pieces, const Type& type, Column& column) {
  TextLevels levels;
  const std::size_t n = total_rows(pieces);
  Fresh<std::int32_t> indices(n);
  std::int32_t* out = indices.data;
  for (const Piece& piece : pieces) {
    read_text(piece, type, levels, out);
    out += piece.length;
  }
  column.unit = Unit::text;
  column.values = {Number::i32, n, indices.data, indices.memory};
  column.levels = levels.take();
}

// Positions of one chunk, sent through `target` (position in the chunk's dictionary → level, or -1).
template <class Index>
void map_indices(const Piece& piece, std::span<const std::int32_t> target, std::int32_t* out) {
  const void* data = piece.array->buffers[1];
  const bool nulls = may_have_nulls(*piece.array);
  for (std::int64_t i = 0; i < piece.length; ++i) {
    if (nulls && !is_valid(*piece.array, piece.first + i)) {
      out[i] = -1;
      continue;
    }
    const auto at =
        static_cast<std::uint64_t>(load<Index>(data, piece.first + i));  // a negative index turns into a huge one
    if (at >= target.size()) throw BadInput("an index points beyond its dictionary");
    out[i] = target[at];
  }
}

void map_indices(const Piece& piece, Number number, std::span<const std::int32_t> target, std::int32_t* out) {
  switch (number) {
    case Number::i8:
      return map_indices<std::int8_t>(piece, target, out);
    case Number::u8:
      return map_indices<std::uint8_t>(piece, target, out);
    case Number::i16:
      return map_indices<std::int16_t>(piece, target, out);
    case Number::u16:
      return map_indices<std::uint16_t>(piece, target, out);
    case Number::i32:
      return map_indices<std::int32_t>(piece, target, out);
    case Number::u32:
      return map_indices<std::uint32_t>(piece, target, out);
    case Number::i64:
      return map_indices<std::int64_t>(piece, target, out);
    case Number::u64:
      return map_indices<std::uint64_t>(piece, target, out);
    default:
      throw BadInput("a dictionary is indexed by something other than whole numbers");
  }
}

// Where the entries of a chunk's dictionary of numbers stand once all dictionaries are put end to end.
std::vector<std::int32_t> shifted_positions(const Piece& dictionary, std::size_t before) {
  const auto n = static_cast<std::size_t>(dictionary.length);
  if (before + n > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw BadInput("the dictionaries of a column hold more than 2147483647 values");
  }
  std::vector<std::int32_t> target(n);
  const bool nulls = may_have_nulls(*dictionary.array);
  for (std::size_t i = 0; i < n; ++i) {
    const bool null = nulls && !is_valid(*dictionary.array, dictionary.first + static_cast<std::int64_t>(i));
    target[i] = null ? -1 : static_cast<std::int32_t>(before + i);
  }
  return target;
}

void read_dictionary_column(std::span<const Piece> pieces, const ArrowSchema& schema, const Type& indices_type,
                            Column& column) {
  const Type type = parse_type(format_of(*schema.dictionary));
  const bool is_text = type.unit == Unit::text;
  if (schema.dictionary->dictionary != nullptr || type.unit == Unit::unsupported) {
    column.type = "dictionary of " + std::string(type_word(format_of(*schema.dictionary)));
    return;
  }
  const std::size_t n = total_rows(pieces);
  Fresh<std::int32_t> indices(n);
  std::int32_t* out = indices.data;
  TextLevels levels;
  std::vector<Piece> dictionaries;
  for (const Piece& piece : pieces) {
    if (piece.array->dictionary == nullptr) throw BadInput("a dictionary column lacks its dictionary");
    const Piece dictionary = piece_of(*piece.array->dictionary, 0, piece.array->dictionary->length, piece.owner);
    check_buffers(*dictionary.array, type, dictionary.length);
    std::vector<std::int32_t> target(static_cast<std::size_t>(dictionary.length));
    if (is_text) {
      read_text(dictionary, type, levels, target.data());
    } else {
      target = shifted_positions(dictionary, total_rows(dictionaries));
      dictionaries.push_back(dictionary);
    }
    map_indices(piece, indices_type.number, target, out);
    out += piece.length;
  }
  column.ordered = (schema.flags & kDictionaryOrdered) != 0;
  column.values = {Number::i32, n, indices.data, indices.memory};
  column.unit = is_text ? Unit::text : Unit::dictionary;
  if (is_text) {
    column.levels = levels.take();
    return;
  }
  column.dictionary = std::make_unique<Column>();
  column.dictionary->unit = type.unit;
  column.dictionary->values = read_numbers(dictionaries, type);
  column.dictionary->missing = read_missing(dictionaries, type);
  column.dictionary->nanoseconds = read_nanoseconds(dictionaries, type);
}

Column read_column(const ArrowSchema& schema, std::span<const Piece> pieces) {
  Column column;
  column.name = schema.name == nullptr ? "" : schema.name;
  const std::string_view format = format_of(schema);
  const Type type = parse_type(format);
  column.type = type_word(format);
  try {
    for (const Piece& piece : pieces) check_buffers(*piece.array, type, piece.length);
    if (schema.dictionary != nullptr) {
      read_dictionary_column(pieces, schema, type, column);
    } else if (type.unit == Unit::text) {
      read_text_column(pieces, type, column);
    } else if (type.unit != Unit::unsupported) {
      column.unit = type.unit;
      column.values = read_numbers(pieces, type);
      column.missing = read_missing(pieces, type);
      column.nanoseconds = read_nanoseconds(pieces, type);
    }
  } catch (const BadInput& error) {
    throw BadInput("Column '" + column.name + "' cannot be read from its Arrow data: " + error.what() + ".");
  }
  return column;
}

// Child j of every chunk. A slice of a struct array slices its children too.
std::vector<Piece> pieces_of_child(const Chunks& chunks, std::int64_t j) {
  std::vector<Piece> pieces;
  for (const auto& chunk : chunks.arrays) {
    const ArrowArray& parent = **chunk;
    if (parent.n_children <= j || parent.children == nullptr || parent.children[j] == nullptr) {
      throw BadInput("The Arrow data has fewer columns than its schema.");
    }
    if (parent.length == 0) continue;
    pieces.push_back(piece_of(*parent.children[j], parent.offset, parent.length, chunk));
  }
  return pieces;
}

std::vector<Piece> pieces_of_array(const Chunks& chunks) {
  std::vector<Piece> pieces;
  for (const auto& chunk : chunks.arrays) {
    Piece piece = piece_of(**chunk, 0, (*chunk)->length, chunk);
    if (piece.length > 0) pieces.push_back(std::move(piece));
  }
  return pieces;
}

void check_whole_rows(const ArrowArray& chunk) {
  check_rows(chunk, 0, chunk.length);
  if (chunk.buffers == nullptr || !may_have_nulls(chunk)) return;
  for (std::int64_t i = 0; i < chunk.length; ++i) {
    if (!is_valid(chunk, chunk.offset + i)) {
      throw BadInput("Row " + std::to_string(i) + " of the Arrow table is null as a whole. Drop such rows.");
    }
  }
}

[[noreturn]] void stream_failed(ArrowArrayStream& stream) {
  const char* why = stream.get_last_error == nullptr ? nullptr : stream.get_last_error(&stream);
  throw BadInput(std::string("The Arrow stream failed: ") + (why == nullptr ? "no reason given" : why) + ".");
}

}  // namespace

Chunks collect(ArrowArrayStream& source) {
  if (source.release == nullptr) throw BadInput("The Arrow stream was already read. Export it again.");
  Owned<ArrowArrayStream> stream(source);
  if (stream->get_schema == nullptr || stream->get_next == nullptr) {
    throw BadInput("The Arrow stream lacks its functions.");
  }
  Chunks chunks;
  if (stream->get_schema(stream.get(), chunks.schema.get()) != 0) stream_failed(*stream.get());
  if (chunks.schema->release == nullptr) throw BadInput("The Arrow stream gave no schema.");
  while (true) {
    auto array = std::make_shared<Owned<ArrowArray>>();
    if (stream->get_next(stream.get(), array->get()) != 0) stream_failed(*stream.get());
    if ((*array)->release == nullptr) return chunks;  // the end of the stream
    chunks.arrays.push_back(std::move(array));
  }
}

Chunks collect(ArrowSchema& schema, ArrowArray& array) {
  if (schema.release == nullptr || array.release == nullptr) {
    throw BadInput("The Arrow array was already read. Export it again.");
  }
  Chunks chunks{Owned<ArrowSchema>(schema), {}};
  chunks.arrays.push_back(std::make_shared<Owned<ArrowArray>>(array));
  return chunks;
}

Table read(const Chunks& chunks) {
  const ArrowSchema& schema = *chunks.schema;
  Table table;
  table.is_table = format_of(schema) == kStruct && schema.dictionary == nullptr;
  for (const auto& chunk : chunks.arrays) {
    if (table.is_table) check_whole_rows(**chunk);
    table.n_rows += (*chunk)->length;
  }
  if (!table.is_table) {
    table.columns.push_back(read_column(schema, pieces_of_array(chunks)));
    return table;
  }
  for (std::int64_t j = 0; j < schema.n_children; ++j) {
    if (schema.children == nullptr || schema.children[j] == nullptr) {
      throw BadInput("The Arrow schema lacks a column.");
    }
    table.columns.push_back(read_column(*schema.children[j], pieces_of_child(chunks, j)));
  }
  return table;
}

}  // namespace weald::arrow
