"""Whatever a user may do with a loaded model: it works, or raises an error of weald."""

from __future__ import annotations

import contextlib

import numpy as np
from unit.model.forests import random_table

from weald import export_graphviz
from weald.errors import WealdError
from weald.io import model_file
from weald.model import predict, rules


def use(model, rows):
    """Whatever a user may do with a loaded model: it works, or says what is wrong."""
    table = random_table(1, model.schema_, 5)
    for action in (
        lambda: model.predict(rows),
        lambda: model.tree_.value,
        lambda: model.tree_.predict(rows),
        lambda: getattr(model, "predict_proba", model.predict)(rows),
        lambda: model.apply(rows),
        lambda: model.decision_path(rows),
        lambda: predict.raw_scores(model.forest_, table),
        lambda: predict.leaf_nodes(model.forest_, table),
        lambda: predict.decision_path(model.forest_, table),
        lambda: rules.to_text(model),
        lambda: model.to_frame("dict"),
        model._repr_html_,
        lambda: export_graphviz(model, filled=True),
        lambda: model_file.to_bytes(model),
        lambda: repr(model),
    ):
        with contextlib.suppress(WealdError):
            action()


def use_booster(model, rows):
    """The same of a booster."""
    for action in (
        lambda: model.predict(rows),
        lambda: model.predict(rows, output_margin=True, iteration_range=(0, 1)),
        lambda: getattr(model, "predict_proba", model.predict)(rows),
        lambda: list(model.staged_predict(rows)),
        lambda: model.apply(rows),
        lambda: [model.importances(kind) for kind in ("gain", "weight", "total_cover")],
        lambda: model.intercept_,
        lambda: model_file.to_bytes(model),
        lambda: repr(model),
    ):
        with contextlib.suppress(WealdError):
            action()


def use_ensemble(model, rows):
    """The same of bagging or voting."""
    for action in (
        lambda: model.predict(rows),
        lambda: getattr(model, "predict_proba", model.predict)(rows),
        lambda: getattr(model, "transform", model.predict)(rows),
        lambda: getattr(model, "predict_interval", model.predict)(rows),
        lambda: getattr(model, "predict_set", model.predict)(rows),
        lambda: [member.predict(rows) for member in _members(model)],
        lambda: [rules.to_text(member) for member in _members(model) if hasattr(member, "tree_")],
        model.get_params,
        lambda: model_file.to_bytes(model),
        lambda: repr(model),
    ):
        with contextlib.suppress(WealdError):
            action()


def _members(model):
    if not hasattr(model, "estimators_"):  # around one model
        return [model.estimator_]
    found = model.estimators_
    return found.ravel().tolist() if isinstance(found, np.ndarray) else found


def use_forest(model, rows):
    """The same of a forest."""
    for action in (
        lambda: model.predict(rows),
        lambda: getattr(model, "predict_proba", model.predict)(rows),
        lambda: model.apply(rows),
        lambda: model.decision_path(rows),
        lambda: model.feature_importances_,
        lambda: use(model[len(model) // 2], rows),
        lambda: model.bags_.n_draws <= model.bags_.n_rows,
        lambda: model_file.to_bytes(model),
        lambda: repr(model),
    ):
        with contextlib.suppress(WealdError):
            action()


def use_native(model, rows):
    """The same of a booster under xgboost's native names."""
    for action in (
        lambda: model.predict(rows),
        lambda: model.predict(rows, output_margin=True),
        model.get_dump,
        lambda: model.get_score(importance_type="gain"),
        lambda: model[:1].predict(rows),
        lambda: model_file.to_bytes(model),
        lambda: repr(model),
    ):
        with contextlib.suppress(WealdError):
            action()


def use_machine(model, rows):
    """The same of a kernel machine."""
    for action in (
        lambda: getattr(model, "predict", getattr(model, "transform", None))(rows),
        lambda: getattr(model, "decision_function", repr)(rows),
        lambda: getattr(model, "predict_proba", repr)(rows),
        lambda: (model.support_vectors_, model.margin_width_, model.duality_gap_, model.n_iter_),
        lambda: getattr(model, "coef_", None),
        lambda: model_file.to_bytes(model),
        lambda: repr(model),
    ):
        with contextlib.suppress(WealdError, AttributeError):
            action()


def use_by_kind(model, rows):
    """As `use`, `use_forest` or `use_booster`."""
    if hasattr(model, "importances"):
        use_booster(model, rows)
    elif hasattr(model, "bags_"):
        use_forest(model, rows)
    else:
        use(model, rows)
