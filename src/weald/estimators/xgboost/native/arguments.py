"""The arguments of `weald.train` and `weald.cv`: by place or by name, beside the parameters or in them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

from weald.arrays import TableLike
from weald.errors import DataTypeError, ParameterError

if TYPE_CHECKING:
    import pandas

    from weald.estimators.xgboost.base import BaseXGB

#: parameters by name, or pairs of a name and a value
Params: TypeAlias = Mapping[str, Any] | Iterable[tuple[str, Any]]
#: a model file, or its bytes
ModelSource: TypeAlias = str | os.PathLike[str] | bytes | bytearray | BinaryIO


def is_matrix(value: object) -> bool:
    """Whether this is a DMatrix; where the module is not loaded, nothing is."""
    module = sys.modules.get("weald.estimators.xgboost.native.matrix")
    return module is not None and isinstance(value, module.DMatrix)


def place(
    X: TableLike | None,
    dtrain: object,
    by_place: Sequence[Any],
    placed: dict[str, Any],
    owner: str,
    *,
    of_matrix: tuple[str, ...],
) -> Any:
    """The table or DMatrix; arguments without a name are put under theirs, which differ for the two."""
    table = X if dtrain is None else dtrain
    names = of_matrix if is_matrix(table) else ("y", "num_boost_round")
    if len(by_place) > len(names) or (X is not None and dtrain is not None):
        raise DataTypeError(
            f"{owner} takes (params, X, y, num_boost_round) or (params, dtrain, {', '.join(of_matrix)}) by "
            "place; give all else by name."
        )
    for name, value in zip(names, by_place, strict=False):
        if placed[name] is not None:
            raise DataTypeError(f"{owner} got {name!r} twice: by place and by name.")
        placed[name] = value
    if is_matrix(table) and placed["y"] is not None:
        raise DataTypeError(f"{owner} takes no y beside a DMatrix, which has a label: DMatrix(X, label=y).")
    if not is_matrix(table) and placed["y"] is None:
        raise DataTypeError(
            f"{owner} needs a target: {owner}(params, X, y), or {owner}(params, weald.DMatrix(X, y))."
        )
    return table


def refuse_rows(given: Mapping[str, Any], owner: str) -> None:
    """What belongs to rows is the matrix's own."""
    for name, value in given.items():
        if value is not None:
            raise ParameterError(
                f"`{name}` of {owner} is for tables; of a DMatrix it is part: DMatrix(X, y, weight=..., "
                "base_margin=..., qid=..., feature_weights=...)."
            )


def estimator_of(
    params: Params,
    n_rounds: int,
    obj: Callable[..., Any] | None,
    custom_metric: Callable[..., Any] | None,
    early_stopping_rounds: int | None,
    callbacks: Sequence[Any] | None,
) -> BaseXGB:
    """The unfitted estimator of these parameters; the objective decides its class."""
    given = by_name(params)
    arguments = {
        "objective": obj,
        "n_estimators": n_rounds,
        "early_stopping_rounds": early_stopping_rounds,
        "callbacks": None if callbacks is None else list(callbacks),
    }
    give_once(given, arguments)
    if custom_metric is not None:
        named = given.get("eval_metric") or []
        given["eval_metric"] = [
            *([named] if isinstance(named, str) or callable(named) else named),
            custom_metric,
        ]
    return _class_of(given)(**given)


def by_name(params: Params) -> dict[str, Any]:
    """The parameters as a dict; of pairs, those of `eval_metric` all count, of others the last of a name."""
    try:
        found = dict(params)
        pairs = [] if isinstance(params, Mapping) else list(params)
    except (TypeError, ValueError):
        raise DataTypeError(
            f"params must be a dict of parameters or a list of pairs; got {type(params).__name__}. Use {{}} "
            "for the defaults."
        ) from None
    metrics = [value for name, value in pairs if name == "eval_metric"]
    if len(metrics) > 1:
        listed = [each if isinstance(each, list | tuple) else [each] for each in metrics]
        found["eval_metric"] = [metric for each in listed for metric in each]
    return found


def give_once(given: dict[str, Any], arguments: Mapping[str, Any]) -> None:
    """Put arguments beside the parameters, which must not say otherwise."""
    for name, value in arguments.items():
        if value is not None and given.get(name, value) != value:
            raise ParameterError(
                f"`{name}` is in params as {given[name]!r} and an argument as {value!r}. Give it once."
            )
        if value is not None:
            given[name] = value


def _class_of(params: Mapping[str, Any]) -> type[BaseXGB]:
    from weald.estimators.xgboost.classifier import XGBClassifier
    from weald.estimators.xgboost.ranker import XGBRanker
    from weald.estimators.xgboost.regressor import XGBRegressor

    objective = params.get("objective")
    if isinstance(objective, str) and objective.startswith("rank:"):
        return XGBRanker
    if isinstance(objective, str) and objective.startswith(("binary:", "multi:")):
        return XGBClassifier
    if callable(objective) and (params.get("num_class") or 0) > 1:
        return XGBClassifier
    return XGBRegressor


def with_defaults(params: Params, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters, with those of the arguments where they say nothing; `seed` is `random_state`."""
    found = by_name(params)
    for name, value in defaults.items():
        if name == "random_state" and found.get("seed") is not None:
            continue
        if value is not None and found.get(name) is None:
            found[name] = listed(value)
    return found


def listed(value: object) -> Any:
    """A tuple or set (in the order of the alphabet) as a list."""
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    return list(value) if isinstance(value, tuple) else value


def named_sets(evals: Sequence[Any] | None) -> tuple[list[tuple[Any, Any]] | None, list[str]]:
    """The sets as pairs (X, y), and their names."""
    if evals is None:
        return None, []
    pairs, names = [], []
    way_out = 'evals must be a list of (X, y, name) or (X, y), such as evals=[(X_test, y_test, "test")]'
    if not isinstance(evals, list | tuple):
        raise DataTypeError(f"{way_out}; got {type(evals).__name__}.")
    for i, entry in enumerate(evals):
        parts = tuple(entry) if isinstance(entry, list | tuple) else ()
        if len(parts) == 2 and isinstance(parts[1], str) and isinstance(parts[0], tuple | list):
            parts = (*parts[0], parts[1])
        if len(parts) == 2:
            parts = (*parts, f"validation_{i}")
        if len(parts) != 3 or not isinstance(parts[2], str):
            raise DataTypeError(f"{way_out}; entry {i} is {type(entry).__name__}.")
        pairs.append((parts[0], parts[1]))
        names.append(parts[2])
    return pairs, names


def as_frame(columns: dict[str, list[float]]) -> pandas.DataFrame | dict[str, list[float]]:
    """The columns as a pandas frame, if pandas is installed."""
    try:
        import pandas as pd
    except ImportError:
        return columns
    return pd.DataFrame(columns)
