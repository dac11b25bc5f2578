// The table of contents of weald._core: each part binds itself.

#include <nanobind/nanobind.h>

#include "bindings/parts.h"

NB_MODULE(_core, m) {
  m.doc() = "The compiled core of weald. Private: use the functions of weald.engine.";
  weald::bindings::bind_base(m);
  weald::bindings::bind_arrow(m);
  weald::bindings::bind_codes(m);
  weald::bindings::bind_sketch(m);
  weald::bindings::bind_tree(m);
  weald::bindings::bind_newton(m);
  weald::bindings::bind_blocks(m);
  weald::bindings::bind_paged(m);
  weald::bindings::bind_block_tree(m);
  weald::bindings::bind_prune(m);
  weald::bindings::bind_predict(m);
  weald::bindings::bind_losses(m);
  weald::bindings::bind_stage(m);
  weald::bindings::bind_ranking(m);
  weald::bindings::bind_inspection(m);
  weald::bindings::bind_shap(m);
  weald::bindings::bind_resampling(m);
  weald::bindings::bind_adaboost(m);
  weald::bindings::bind_svm(m);
  weald::bindings::bind_linear(m);
  weald::bindings::bind_neighbors(m);
  weald::bindings::bind_logistic(m);
  weald::bindings::bind_dependence(m);
  weald::bindings::bind_pages(m);
}
