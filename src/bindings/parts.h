// Every part of the module, one function each.
#pragma once

#include <nanobind/nanobind.h>

namespace weald::bindings {

void bind_base(nanobind::module_& m);
void bind_arrow(nanobind::module_& m);
void bind_codes(nanobind::module_& m);
void bind_sketch(nanobind::module_& m);
void bind_tree(nanobind::module_& m);
void bind_newton(nanobind::module_& m);
void bind_blocks(nanobind::module_& m);
void bind_paged(nanobind::module_& m);
void bind_block_tree(nanobind::module_& m);
void bind_prune(nanobind::module_& m);
void bind_predict(nanobind::module_& m);
void bind_losses(nanobind::module_& m);
void bind_stage(nanobind::module_& m);
void bind_ranking(nanobind::module_& m);
void bind_inspection(nanobind::module_& m);
void bind_shap(nanobind::module_& m);
void bind_resampling(nanobind::module_& m);
void bind_adaboost(nanobind::module_& m);
void bind_svm(nanobind::module_& m);
void bind_linear(nanobind::module_& m);
void bind_neighbors(nanobind::module_& m);
void bind_logistic(nanobind::module_& m);
void bind_dependence(nanobind::module_& m);
void bind_pages(nanobind::module_& m);

}  // namespace weald::bindings
