// Every part of the module, one function each.
#pragma once

#include <nanobind/nanobind.h>

namespace weald::bindings {

void bind_arrow(nanobind::module_& m);

}  // namespace weald::bindings
