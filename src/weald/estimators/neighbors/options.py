"""The parameters of neighbours, each with its range."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from weald.arrays import Floats
from weald.errors import ParameterError, listing
from weald.estimators.shared.reading_options import ReadingOptions
from weald.neighbors.metrics import ALIASES, NAMES, Metric
from weald.neighbors.search import ALGORITHMS
from weald.numbers import as_float
from weald.parameters import Choice, Function, Instance, Nothing, Whole, parameter

#: a word, or a function from distances to weights of the same shape
Weights: TypeAlias = str | Callable[[Floats], Floats] | None


@dataclass(frozen=True, slots=True)
class Power:
    """A number above 0; infinity takes the largest difference."""

    says: str = "a number above 0, or inf"

    def admits(self, value: object) -> bool:
        """Whether `value` is such a number; NaN never is."""
        return as_float(value) > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighborsOptions(ReadingOptions):
    """The parameters of `KNeighborsClassifier` and `KNeighborsRegressor`."""

    n_neighbors: int = parameter(Whole(1), hint="Use 5.")
    weights: Weights = parameter(
        Nothing(),
        Choice(("uniform", "distance")),
        Function("a function from distances to weights"),
        hint="Use 'uniform', or 'distance' to let nearer rows count more.",
    )
    algorithm: str = parameter(Choice(ALGORITHMS), hint="Use 'auto': the answers are the same.")
    leaf_size: int = parameter(Whole(1), hint="Use 30.")
    p: float = parameter(Power(), hint="Use 2 for Euclid's distance, 1 for the sum of the differences.")
    metric: str = parameter(
        Choice((*NAMES, *ALIASES)),
        hint="Use 'minkowski', or 'mixed' for a table whose columns have different units.",
    )
    metric_params: Mapping[str, float] | None = parameter(
        Nothing(), Instance((Mapping,), "a dict"), hint="Use {'p': 3}, or leave it None and set `p`."
    )


def chosen_metric(options: NeighborsOptions, owner: str) -> Metric:
    """The metric of these parameters; raises if they contradict each other."""
    given = dict(options.metric_params or {})
    p = given.pop("p", options.p)
    if given:
        raise ParameterError(
            f"`metric_params` of {owner} has {listing(given)}, which no metric here has; only 'p' of "
            "'minkowski' is one. To weigh columns, multiply them before `fit`."
        )
    metric = Metric.of((options.metric, p) if options.metric == "minkowski" else options.metric)
    if metric.rule == "cosine" and options.algorithm in ("kd_tree", "ball_tree"):
        raise ParameterError(
            f"`algorithm`={options.algorithm!r} of {owner} has no tree for metric='cosine'. Use 'auto'. "
            f"(Metric 'cosine' not valid for algorithm {options.algorithm!r}.)"
        )
    return metric
