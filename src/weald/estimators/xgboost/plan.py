"""What is trained, apart from the rows: parameters in the engine's words, and the method for this table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeAlias

from numpy.typing import ArrayLike

from weald.arrays import ColumnLike, Floats
from weald.boosting.newton.base_scores import given_start
from weald.boosting.newton.custom import MatrixObjective
from weald.boosting.newton.learning_rate import USUAL_RATE, chosen_rate
from weald.boosting.newton.losses import make_objective
from weald.boosting.newton.options import BoostOptions, DartOptions
from weald.boosting.records import BoostTarget, Objective
from weald.data.schema import Schema
from weald.engine import thread_count
from weald.errors import ParameterError
from weald.estimators.xgboost.constraints import column_weights, interactions, monotone
from weald.estimators.xgboost.options import GPU_HIST, XGBOptions, objective_parameters, seed_of

ObjectiveLike: TypeAlias = str | Callable[..., Any]
Method: TypeAlias = Literal["exact", "approx", "hist"]

#: "auto" is exact up to so many rows and so many cells: there it costs little, and bins cost accuracy
EXACT_ROWS = 1024
EXACT_CELLS = 1 << 19
#: bins of a column where `max_bin` is None
DEFAULT_BINS = {"hist": 255, "approx": 33}
#: "approx" chooses its candidates among so many codes
FINE_BINS = 65535

_SURVIVAL = ("survival:cox", "survival:aft")
#: parameters that the loop knows under the same name
_SAME_NAME = (
    "max_depth",
    "max_leaves",
    "grow_policy",
    "gamma",
    "prune",
    "min_child_weight",
    "reg_lambda",
    "reg_alpha",
    "subsample",
    "sampling_method",
    "colsample_bytree",
    "colsample_bylevel",
    "colsample_bynode",
    "max_cat_to_onehot",
    "max_cat_threshold",
    "cat_smooth",
    "cat_l2",
    "num_parallel_tree",
    "multi_strategy",
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is trained, apart from the rows."""

    boost: BoostOptions
    objective: ObjectiveLike
    n_classes: int | None  # None where numbers are learnt
    parameters: Mapping[str, Any]
    base_score: ArrayLike | None  # as the user gave it
    max_delta_step: float | None  # None: what the objective asks for
    eval_metric: str | Callable[..., Any] | Sequence[str | Callable[..., Any]] | None
    default_metric: bool
    owner: str

    @property
    def custom(self) -> bool:
        """Whether the objective is the user's own."""
        return callable(self.objective)

    @property
    def objective_name(self) -> str:
        """What a model calls its objective: a function's name, or that of the one named beside it."""
        if isinstance(self.objective, MatrixObjective):
            return self.objective.named
        if isinstance(self.objective, str):
            return self.objective
        return f"custom:{getattr(self.objective, '__name__', type(self.objective).__name__)}"

    @property
    def fine_bins(self) -> int | None:
        """How numeric columns are coded: None for one code per value."""
        return {"exact": None, "approx": FINE_BINS, "hist": self.boost.max_bin}[self.boost.tree_method]

    def bind(self, target: BoostTarget) -> Objective:
        """The objective, bound to the rows it is trained on."""
        return make_objective(
            self.objective, target, n_classes=self.n_classes, parameters=dict(self.parameters)
        )

    def options_for(self, objective: Objective) -> BoostOptions:
        """The options, completed by what the objective asks for."""
        shared = self.boost.multi_strategy == "multi_output_tree" and objective.n_outputs > 1
        if shared and any(self.boost.monotone or ()):
            raise ParameterError(
                f"`monotone_constraints` of {self.owner} cannot hold in trees that speak for "
                f"{objective.n_outputs} outputs at once. Use multi_strategy='one_output_per_tree'."
            )
        step = self.max_delta_step
        if step is None:
            step = float(getattr(objective, "default_max_delta_step", 0.0))
        return replace(self.boost, max_delta_step=step)

    def base_scores(self, objective: Objective) -> Floats:
        """The raw scores to start from: the user's `base_score`, or the objective's estimate."""
        if self.base_score is None:
            return objective.base_scores()
        return given_start(self.base_score, n_outputs=objective.n_outputs, link=objective.link)


def make_plan(
    options: XGBOptions,
    schema: Schema,
    target: BoostTarget,
    *,
    objective: ObjectiveLike,
    n_classes: int | None,
    feature_weights: ColumnLike | None,
    owner: str,
    in_memory: bool = True,
) -> Plan:
    """The plan of the parameters for a table of this schema and target."""
    n_columns = len(schema.columns)
    method = _method(options, target.n_rows, n_columns)
    if not in_memory:  # small or not, codes are those of bins
        method = "approx" if method == "approx" else "hist"
    weights = _one_given(options.feature_weights, feature_weights, owner)
    boost = BoostOptions(
        **{name: getattr(options, name) for name in _SAME_NAME},
        n_rounds=options.n_estimators,  # type: ignore[arg-type]  # defaults stand in place of None
        learning_rate=_rate(options, schema, target),
        feature_weights=column_weights(weights, n_columns, owner),
        monotone=monotone(options.monotone_constraints, schema, owner),
        interactions=interactions(options.interaction_constraints, schema, owner),
        dart=_dart(options),
        tree_method=method,
        max_bin=options.max_bin or DEFAULT_BINS.get(method, 255),
        seed=seed_of(options),
        n_threads=thread_count(options.n_jobs),
    )
    return Plan(
        boost=boost,
        objective=objective,
        n_classes=n_classes,
        parameters=objective_parameters(options, objective, boost.seed),
        base_score=options.base_score,
        max_delta_step=options.max_delta_step,
        eval_metric=options.eval_metric,
        default_metric=not options.disable_default_eval_metric,
        owner=owner,
    )


def _rate(options: XGBOptions, schema: Schema, target: BoostTarget) -> float:
    """The learning rate given, or what None means for this table: rankings and tables of numbers have one."""
    categories = any(column.kind == "categorical" for column in schema.columns)
    if options.learning_rate is not None or not categories or target.group_start is not None:
        return given_rate(options)
    return chosen_rate(target, options.n_estimators)  # type: ignore[arg-type]


def given_rate(options: XGBOptions) -> float:
    """The learning rate given, or that of tables without categories."""
    return USUAL_RATE if options.learning_rate is None else options.learning_rate


def _one_given(of_constructor: ColumnLike | None, of_fit: ColumnLike | None, owner: str) -> ColumnLike | None:
    """`feature_weights` of the constructor or of `fit`."""
    if of_constructor is not None and of_fit is not None:
        raise ParameterError(
            f"`feature_weights` of {owner} is given twice, to the constructor and to fit. Give it once."
        )
    return of_constructor if of_fit is None else of_fit


def _method(options: XGBOptions, n_rows: int, n_columns: int) -> Method:
    """The method that "auto" means for a table of this size; a `max_bin` asks for bins."""
    asked = options.tree_method
    if asked == GPU_HIST:
        return "hist"
    if asked in ("exact", "approx", "hist"):
        return asked  # type: ignore[return-value]
    small = n_rows <= EXACT_ROWS and n_rows * n_columns <= EXACT_CELLS
    return "exact" if small and options.max_bin is None else "hist"


def _dart(options: XGBOptions) -> DartOptions | None:
    if options.booster != "dart":
        return None
    return DartOptions(**{each.name: getattr(options, each.name) for each in fields(DartOptions)})


def check_objective(objective: object, owner: str) -> None:
    """Refuse objectives that weald does not have, and names of custom ones, which only files know."""
    if objective in _SURVIVAL:
        raise ParameterError(
            f"objective={objective!r} of {owner} is not in weald, which has no survival objectives. Use "
            "xgboost or lifelines, or a custom objective."
        )
    if isinstance(objective, str) and objective.startswith("custom:"):
        raise ParameterError(
            f"objective={objective!r} of {owner} is the name of a custom objective from a model file, which "
            "does not keep its code. Set `objective` to the function to train again."
        )


def check_counts(options: XGBOptions, n_targets: int, n_classes: int | None, owner: str) -> None:
    """Hold `num_class` and `num_target` against the target."""
    given = options.num_class
    if given not in (None, 1) and n_classes and given != n_classes:
        raise ParameterError(
            f"`num_class` of {owner} is {given}, and y has {n_classes} classes. Leave it None: the target "
            "tells."
        )
    if options.num_target not in (None, n_targets):
        raise ParameterError(
            f"`num_target` of {owner} is {options.num_target}, and y has {n_targets} columns. Leave it None."
        )
