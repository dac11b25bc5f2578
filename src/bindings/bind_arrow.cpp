// Arrow capsules → columns, and the search for infinite numbers.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <vector>

#include "bindings/parts.h"
#include "core/base/check.h"
#include "core/data/arrow/reader.h"
#include "core/data/finite.h"

namespace nb = nanobind;

namespace weald::bindings {
namespace {

using arrow::Number;
using arrow::Unit;
using Owner = std::shared_ptr<const void>;
using AnyArray = nb::ndarray<nb::numpy, nb::ro, nb::ndim<1>, nb::device::cpu>;
using FloatArray = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;
using MaskArray = nb::ndarray<const bool, nb::ndim<1>, nb::device::cpu>;

nb::dlpack::dtype dtype_of(Number number) {
  switch (number) {
    case Number::i8:
      return nb::dtype<std::int8_t>();
    case Number::u8:
      return nb::dtype<std::uint8_t>();
    case Number::i16:
      return nb::dtype<std::int16_t>();
    case Number::u16:
      return nb::dtype<std::uint16_t>();
    case Number::i32:
      return nb::dtype<std::int32_t>();
    case Number::u32:
      return nb::dtype<std::uint32_t>();
    case Number::i64:
      return nb::dtype<std::int64_t>();
    case Number::u64:
      return nb::dtype<std::uint64_t>();
    case Number::f32:
      return nb::dtype<float>();
    case Number::f64:
      return nb::dtype<double>();
    case Number::boolean:
      return nb::dtype<bool>();
  }
  throw BrokenInvariant("unknown number type");
}

// An array over memory that `values.owner` keeps alive for as long as NumPy needs it.
nb::object values_to_numpy(const arrow::Values& values) {
  auto owner = std::make_unique<Owner>(values.owner);
  nb::capsule keeper(owner.get(),
                     [](void* pointer) noexcept { std::unique_ptr<Owner> last(static_cast<Owner*>(pointer)); });
  owner.release();
  const std::size_t shape[] = {values.n};
  AnyArray array(values.data, 1, shape, keeper, nullptr, dtype_of(values.number));
  return nb::cast(array, nb::rv_policy::reference);
}

const char* unit_word(Unit unit) {
  switch (unit) {
    case Unit::number:
      return "number";
    case Unit::boolean:
      return "bool";
    case Unit::datetime:
      return "datetime";
    case Unit::instant:
      return "instant";
    case Unit::duration:
      return "duration";
    case Unit::text:
      return "text";
    case Unit::dictionary:
      return "dictionary";
    case Unit::unsupported:
      return "unsupported";
  }
  throw BrokenInvariant("unknown unit");
}

nb::list to_list(const std::deque<std::string>& levels) {
  nb::list list;
  for (const std::string& level : levels) list.append(nb::str(level.data(), level.size()));
  return list;
}

// (name, type, unit, values, missing, levels, dictionary, ordered, nanoseconds), as engine.ArrowColumn names them.
nb::tuple to_tuple(const arrow::Column& column) {
  nb::object values = column.unit == Unit::unsupported ? nb::none() : values_to_numpy(column.values);
  nb::object missing = column.missing.n == 0 ? nb::none() : values_to_numpy(column.missing);
  nb::object nanoseconds = column.nanoseconds.n == 0 ? nb::none() : values_to_numpy(column.nanoseconds);
  nb::object levels = column.unit == Unit::text ? nb::object(to_list(column.levels)) : nb::none();
  nb::object dictionary = column.dictionary ? nb::object(to_tuple(*column.dictionary)) : nb::none();
  return nb::make_tuple(nb::str(column.name.data(), column.name.size()),
                        nb::str(column.type.data(), column.type.size()), unit_word(column.unit), values, missing,
                        levels, dictionary, column.ordered, nanoseconds);
}

nb::tuple read_chunks(const arrow::Chunks& chunks) {
  arrow::Table table;
  {
    nb::gil_scoped_release release;
    table = arrow::read(chunks);
  }
  nb::list columns;
  for (const arrow::Column& column : table.columns) columns.append(to_tuple(column));
  return nb::make_tuple(columns, table.n_rows, table.is_table);
}

template <class Struct>
Struct& content(nb::handle capsule, const char* name) {
  if (!PyCapsule_CheckExact(capsule.ptr()) || !PyCapsule_IsValid(capsule.ptr(), name)) {
    throw BadInput(std::string("An Arrow capsule of the kind ") + name + " is expected.");
  }
  return *static_cast<Struct*>(PyCapsule_GetPointer(capsule.ptr(), name));
}

nb::tuple read_arrow_stream(nb::handle stream) {
  return read_chunks(arrow::collect(content<arrow::ArrowArrayStream>(stream, "arrow_array_stream")));
}

nb::tuple read_arrow_array(nb::handle schema, nb::handle array) {
  auto& schema_content = content<arrow::ArrowSchema>(schema, "arrow_schema");
  auto& array_content = content<arrow::ArrowArray>(array, "arrow_array");
  return read_chunks(arrow::collect(schema_content, array_content));
}

FloatColumn float_column(const FloatArray& values) {
  const bool is_double = values.dtype() == nb::dtype<double>();
  if (!is_double && values.dtype() != nb::dtype<float>()) throw BrokenInvariant("float32 or float64 is expected");
  return {values.data(), values.stride(0), is_double, nullptr, 0};
}

nb::object first_infinite_of(nb::list columns, nb::list missing, std::size_t n_rows) {
  std::vector<FloatArray> arrays;
  std::vector<MaskArray> masks;
  std::vector<FloatColumn> views;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    arrays.push_back(nb::cast<FloatArray>(columns[j], false));
    views.push_back(float_column(arrays.back()));
    require(arrays.back().shape(0) == n_rows, "a column has another length than its table");
    if (missing[j].is_none()) continue;
    masks.push_back(nb::cast<MaskArray>(missing[j], false));
    require(masks.back().shape(0) == n_rows, "a mask has another length than its table");
    views.back().missing = reinterpret_cast<const std::uint8_t*>(masks.back().data());
    views.back().missing_stride = masks.back().stride(0);
  }
  std::optional<std::pair<std::size_t, std::size_t>> found;
  {
    nb::gil_scoped_release release;
    found = first_infinite(views, n_rows);
  }
  if (!found) return nb::none();
  return nb::make_tuple(found->first, found->second);
}

}  // namespace

void bind_arrow(nb::module_& m) {
  m.def("read_arrow_stream", &read_arrow_stream, nb::arg("stream"));
  m.def("read_arrow_array", &read_arrow_array, nb::arg("schema"), nb::arg("array"));
  m.def("first_infinite", &first_infinite_of, nb::arg("columns"), nb::arg("missing"), nb::arg("n_rows"));
}

}  // namespace weald::bindings
