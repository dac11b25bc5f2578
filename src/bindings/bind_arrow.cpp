// Arrow C stream → columns.

#include "bindings/parts.h"

namespace weald::bindings {

void bind_arrow(nanobind::module_&) {}

}  // namespace weald::bindings
