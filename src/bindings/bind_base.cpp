// Exceptions, instruction sets, and functions of our own that the NumPy reference shares.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "bindings/arrays.h"
#include "bindings/call.h"
#include "bindings/parts.h"
#include "core/base/mathematics.h"
#include "core/base/simd.h"

namespace weald::bindings {

namespace {

void raise_as(const char* name, const char* message) {
  const nb::object type = nb::module_::import_("weald.errors").attr(name);
  PyErr_SetString(type.ptr(), message);
}

void translate(const std::exception_ptr& error, void*) {
  try {
    std::rethrow_exception(error);
  } catch (const BadInput& bad) {
    raise_as("DataError", bad.what());
  } catch (const BrokenInvariant& broken) {
    raise_as("NativeError", broken.what());
  } catch (const std::length_error&) {
    PyErr_NoMemory();  // more than a vector can ever hold
  }
}

}  // namespace

void bind_base(nb::module_& m) {
  need_thread_memory();  // of the thread that imports, the main one as a rule: nanobind throws in it as well
  nb::register_exception_translator(translate);
  nb::exception<InfiniteValue>(m, "InfiniteValue", PyExc_ValueError);
  m.def("begin_exit", begin_exit);
  m.def("simd_level", [] { return wide_vectors() ? "avx512" : simd_level() == Simd::avx2 ? "avx2" : "baseline"; });
  m.def(
      "set_simd",
      [](bool avx2, bool avx512) {
        simd_setting() = avx2 ? best_simd() : Simd::baseline;
        wide_setting() = avx2 && avx512 && has_wide_vectors();
      },
      nb::arg("avx2"), nb::arg("avx512") = true);
  m.def("take_thread_memory", [](size_t more) { return take_thread_memory(more); }, nb::arg("more"));
  m.def(
      "log2",
      [](const Vector<double>& values) {
        std::vector<double> out;
        out.reserve(values.size());
        for (const double value : view(values)) out.push_back(log2(value));
        return to_numpy(std::move(out));
      },
      nb::arg("values").noconvert());
}

}  // namespace weald::bindings
