"""The ranges of the parameters of `XGB*`, their aliases and defaults, and what weald does not have."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from weald.arrays import CategoricalFeatures, ClassWeight, ColumnLike, MonotoneConstraints, RandomState
from weald.errors import ParameterError
from weald.numbers import as_float
from weald.parameters import (
    MAX_BINS,
    Choice,
    Function,
    Instance,
    Nothing,
    NotZero,
    Number,
    Whole,
    checked,
    optional,
    parameter,
)

#: the other names of parameters
ALIASES = {
    "eta": "learning_rate",
    "nthread": "n_jobs",
    "seed": "random_state",
    "alpha": "reg_alpha",
    "lambda_": "reg_lambda",
    "min_split_loss": "gamma",
}
#: what None stands for, where that is one value; those of `chosen` wait for the table
DEFAULTS: dict[str, Any] = {
    "n_estimators": 100,
    "gamma": 0.0,
    "reg_alpha": 0.0,
    "subsample": 1.0,
    "sampling_method": "uniform",
    "colsample_bytree": 1.0,
    "colsample_bylevel": 1.0,
    "colsample_bynode": 1.0,
    "booster": "gbtree",
    "tree_method": "auto",
    "num_parallel_tree": 1,
    "multi_strategy": "one_output_per_tree",
    "max_cat_to_onehot": 4,
    "max_cat_threshold": 32,
    "cat_smooth": "auto",
    "sample_type": "uniform",
    "normalize_type": "tree",
    "rate_drop": 0.0,
    "one_drop": False,
    "skip_drop": 0.0,
    "missing": math.nan,
    "importance_type": "gain",
    "disable_default_eval_metric": False,
}
#: xgboost's hist on another device; here it is hist
GPU_HIST = "gpu_hist"
GROW_POLICIES = ("depthwise", "lossguide")
IMPORTANCE_TYPES = ("gain", "weight", "cover", "total_gain", "total_cover")
#: parameters that go to the objective
_LOSS_PARAMETERS = (
    "scale_pos_weight",
    "max_delta_step",
    "tweedie_variance_power",
    "huber_slope",
    "quantile_alpha",
)
_RANKING_NUMBERS = (
    "lambdarank_pair_method",
    "lambdarank_num_pair_per_sample",
    "lambdarank_bias_norm",
)
_RANKING_FLAGS = (
    "lambdarank_normalization",
    "lambdarank_score_normalization",
    "lambdarank_unbiased",
    "ndcg_exp_gain",
)

RANKING_PARAMETERS = _RANKING_NUMBERS + _RANKING_FLAGS


@dataclass(frozen=True, slots=True)
class _Flag:
    """True or False; xgboost's 1 and 0 count."""

    says: str = "True or False"

    def admits(self, value: object) -> bool:
        return isinstance(value, bool | np.bool_) or (isinstance(value, int) and value in (0, 1))


@dataclass(frozen=True, slots=True)
class _AnyNumber:
    """Any number but an infinite one."""

    says: str = "a number, or NaN"

    def admits(self, value: object) -> bool:
        return math.isfinite(as_float(value)) or (isinstance(value, Real) and value != value)


@dataclass(frozen=True, slots=True)
class _Text:
    """Any text."""

    says: str = "text"

    def admits(self, value: object) -> bool:
        return isinstance(value, str)


@dataclass(frozen=True, slots=True)
class _Device:
    """xgboost's names of devices."""

    says: str = "'cpu', or a device such as 'cuda' or 'cuda:0'"

    def admits(self, value: object) -> bool:
        return isinstance(value, str) and re.fullmatch(r"cpu|(cuda|gpu)(:\d+)?|sycl.*", value) is not None


def _share(what: str) -> Any:
    return optional(Number(0, 1, "(]"), hint=f"Use 1.0 for all {what}.")


def _flag(hint: str = "Leave it None for xgboost's default.") -> Any:
    return optional(_Flag(), hint=hint)


_LIST = Instance((Collection,), "a list")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingOptions:
    """What predicting needs."""

    n_jobs: int | None = optional(NotZero(), hint="Leave it None for every CPU of the process.")
    nthread: int | None = optional(NotZero(), hint="Leave it None for every CPU of the process.")
    missing: float | None = optional(_AnyNumber(), hint="Use NaN, which is always missing.")


@dataclass(frozen=True, slots=True, kw_only=True)
class XGBGrowthOptions(ReadingOptions):
    """What shapes a tree."""

    learning_rate: float | None = optional(Number(0), hint="Use 0.3, or less with more rounds.")
    eta: float | None = optional(Number(0), hint="Use 0.3, or less with more rounds.")
    max_depth: int | None = optional(Whole(0), hint="Use 6, or 0 for no limit.")
    max_leaves: int | None = optional(Whole(0), hint="Use 0 for no limit.")
    grow_policy: str | None = optional(
        Choice(GROW_POLICIES), hint="Use 'lossguide' with `max_leaves` to grow best-first."
    )
    gamma: float | None = optional(Number(0), hint="Use 0 to keep every split that gains.")
    min_split_loss: float | None = optional(Number(0), hint="Use 0 to keep every split that gains.")
    prune: str = parameter(Choice(("post", "pre")), hint="Use 'post', as xgboost's exact method does.")
    min_child_weight: float | None = optional(Number(0), hint="Use 1, or 0 for no limit.")
    max_delta_step: float | None = optional(Number(0), hint="Use 0 for no limit.")
    reg_lambda: float | None = optional(Number(0), hint="Use 1, or 0 for no penalty.")
    lambda_: float | None = optional(Number(0), hint="Use 1, or 0 for no penalty.")
    reg_alpha: float | None = optional(Number(0), hint="Use 0 for no penalty.")
    alpha: float | None = optional(Number(0), hint="Use 0 for no penalty.")
    subsample: float | None = _share("rows")
    sampling_method: str | None = optional(Choice(("uniform", "gradient_based")), hint="Use 'uniform'.")
    colsample_bytree: float | None = _share("columns")
    colsample_bylevel: float | None = _share("columns")
    colsample_bynode: float | None = _share("columns")
    feature_weights: ColumnLike | None = optional(_LIST, hint="Give one number per column.")
    tree_method: str | None = optional(
        Choice(("auto", "exact", "approx", "hist", GPU_HIST)),
        hint="Use 'hist' for large tables, 'exact' for small ones.",
    )
    max_bin: int | None = optional(Whole(2, MAX_BINS), hint="Use 255 unless memory is short.")
    booster: str | None = optional(Choice(("gbtree", "dart")), hint="Use 'gbtree'.")
    sample_type: str | None = optional(Choice(("uniform", "weighted")), hint="Use 'uniform'.")
    normalize_type: str | None = optional(Choice(("tree", "forest")), hint="Use 'tree'.")
    rate_drop: float | None = optional(Number(0, 1), hint="Use 0.1 to drop a tenth of the trees.")
    one_drop: bool | None = _flag()
    skip_drop: float | None = optional(Number(0, 1), hint="Use 0 to drop in every round.")
    num_parallel_tree: int | None = optional(Whole(1), hint="Use 1 for boosting with single trees.")
    multi_strategy: str | None = optional(
        Choice(("one_output_per_tree", "multi_output_tree")), hint="Use 'one_output_per_tree'."
    )
    monotone_constraints: MonotoneConstraints | str = optional(
        Instance((Mapping,), "a dict from column name to -1, 0 or 1"),
        Instance((Collection,), "a list of -1, 0 or 1, one per column"),
        _Text("text like '(1,-1)'"),
        hint="Leave it None to set no constraint.",
    )
    interaction_constraints: Collection[Any] | str | None = optional(
        Instance((Collection,), "a list of lists of columns"),
        _Text("text like '[[0, 1], [2, 3]]'"),
        hint="Leave it None to let any columns meet.",
    )
    max_cat_to_onehot: int | None = optional(Whole(1), hint="Use 4.")
    max_cat_threshold: int | None = optional(Whole(1), hint="Use 32.")
    cat_smooth: float | Literal["auto", "rows"] | None = optional(
        Number(0), Choice(("auto", "rows")), hint="Leave it 'auto'; 0 trusts rare categories."
    )
    cat_l2: float | None = optional(Number(0), hint="Leave it None; 0 judges categories as numbers.")


@dataclass(frozen=True, slots=True, kw_only=True)
class XGBOptions(XGBGrowthOptions):
    """All parameters of `XGBClassifier`, `XGBRegressor` and `XGBRanker`."""

    n_estimators: int | None = optional(Whole(0), hint="Use 100, or more with `early_stopping`.")
    objective: str | Callable[..., Any] | None = optional(
        _Text("the name of an objective"), Function("a function"), hint="Leave it None."
    )
    base_score: ArrayLike | None = optional(
        _AnyNumber("a number"), Instance((Collection,), "a list of numbers, one per output"), hint="Use 0.5."
    )
    eval_metric: str | Callable[..., Any] | Sequence[str | Callable[..., Any]] | None = optional(
        _Text("the name of a metric"),
        Function("a function"),
        Instance((list, tuple), "a list of these"),
        hint="Leave it None for the metric of the objective.",
    )
    early_stopping_rounds: int | None = optional(Whole(1), hint="Use 10.")
    early_stopping: float | str | Sequence[Any] | None = optional(
        Number(0, 1, "()", fraction=True),
        Instance((tuple, list), "a set (X, y)"),
        Choice(("cv",)),
        hint="Use 0.1 to hold out a tenth of the rows.",
    )
    callbacks: Sequence[object] | None = optional(
        Instance((list, tuple), "a list of callbacks"), hint="Leave it None."
    )
    class_weight: ClassWeight = optional(
        Choice(("balanced",)),
        Instance((Mapping,), "a dict from label to weight"),
        Instance((list, tuple), "a list of such, one per output"),
        hint="Use 'balanced' to give every class the same total weight.",
    )
    scale_pos_weight: float | None = optional(Number(0, ends="(]"), hint="Use 1.")
    feature_types: Sequence[str] | None = optional(_LIST, hint="Give a list with 'q' or 'c' for each column.")
    categorical_features: CategoricalFeatures = optional(
        Choice(("from_dtype",)),
        Instance((Collection,), "a list of column names, of positions or of True and False"),
        hint="Leave it None to tell categories by the type of the column.",
    )
    unknown: str = parameter(
        Choice(("missing", "error")),
        hint="Use 'missing' to treat categories not seen in training as missing.",
    )
    importance_type: str | None = optional(Choice(IMPORTANCE_TYPES), hint="Use 'gain'.")
    random_state: RandomState = optional(
        Whole(0, 2**63 - 1),
        Instance((np.random.RandomState, np.random.Generator), "a RandomState or Generator of NumPy"),
        hint="Use a whole number for results that can be repeated.",
    )
    seed: int | None = optional(Whole(0, 2**63 - 1), hint="Use a whole number.")
    quantile_alpha: ArrayLike | None = optional(
        Number(0, 1, "()"), Instance((Collection,), "a list of such"), hint="Use 0.5 for medians."
    )
    tweedie_variance_power: float | None = optional(Number(1, 2, "()"), hint="Use 1.5.")
    huber_slope: float | None = optional(Number(0, ends="(]"), hint="Use 1.")
    num_class: int | None = optional(Whole(1), hint="Leave it None: the target tells.")
    num_target: int | None = optional(Whole(1), hint="Leave it None: the target tells.")
    lambdarank_pair_method: str | None = optional(Choice(("mean", "topk")), hint="Use 'topk'.")
    lambdarank_num_pair_per_sample: int | None = optional(Whole(1), hint="Leave it None.")
    lambdarank_normalization: bool | None = _flag()
    lambdarank_score_normalization: bool | None = _flag()
    lambdarank_unbiased: bool | None = _flag()
    lambdarank_bias_norm: float | None = optional(Number(0), hint="Use 1.")
    ndcg_exp_gain: bool | None = _flag()
    disable_default_eval_metric: bool | None = _flag()
    # accepted, without effect
    verbosity: int | None = optional(Whole(0, 3), hint="weald prints nothing; use fit(verbose=True).")
    device: str | None = optional(_Device(), hint="weald runs on the CPU; leave it None.")
    validate_parameters: bool | None = _flag("weald always checks parameters; leave it None.")
    enable_categorical: bool | None = _flag("weald always takes categories; leave it out.")
    seed_per_iteration: bool | None = _flag()
    max_cached_hist_node: int | None = optional(Whole(1), hint="Leave it None.")
    refresh_leaf: bool | None = _flag()
    # not in weald
    updater: object = parameter(Nothing(), hint="weald has no updaters; choose the method by `tree_method`.")
    process_type: str | None = optional(
        Choice(("default",)),
        hint="weald does not update old trees; train anew, or go on with fit(xgb_model=...).",
    )


#: values xgboost takes and weald refuses: parameter → word → the way out
_NOT_HERE: dict[str, dict[str, str]] = {
    "booster": {"gblinear": "Use scikit-learn's linear models, such as LogisticRegression or ElasticNet."},
}


def read_options(owner: str, values: Mapping[str, Any], usual: Mapping[str, Any] | None = None) -> XGBOptions:
    """The parameters as a checked record under their first names, with defaults for None.

    Parameters
    ----------
    owner : str
        The estimator's name, for messages.
    values : mapping
        What every parameter was given.
    usual : mapping, optional
        What the estimator has for parameters that were not given, where that is not None: another name of
        such a parameter counts instead.

    Raises
    ------
    ParameterError
        For a value out of range, for two names of one parameter that differ, and for what weald lacks.
    """
    for name, words in _NOT_HERE.items():
        value = values[name]
        if isinstance(value, str) and value in words:
            raise ParameterError(f"{name}={value!r} of {owner} is not in weald. {words[value]}")
    options = checked(XGBOptions, owner, {each.name: values[each.name] for each in fields(XGBOptions)})
    found = {each.name: getattr(options, each.name) for each in fields(XGBOptions)}
    for alias, name in ALIASES.items():
        if found[alias] is not None and usual is not None and found[name] == usual.get(name):
            found[name] = None
        found[name] = found[alias] = _one_of(found, name, alias, owner)
    found |= {name: default for name, default in DEFAULTS.items() if found[name] is None}
    _check_together(found, owner)
    return XGBOptions(**found)


def read_reading_options(owner: str, model: object) -> ReadingOptions:
    """The few parameters of a model that predicting needs: a single row shall not wait for all of them."""
    values = {each.name: getattr(model, each.name) for each in fields(ReadingOptions)}
    options = checked(ReadingOptions, owner, values)
    threads = _one_of(values, "n_jobs", "nthread", owner)
    missing = math.nan if options.missing is None else options.missing
    return ReadingOptions(n_jobs=threads, nthread=threads, missing=missing)


def _one_of(found: Mapping[str, Any], name: str, alias: str, owner: str) -> Any:
    """The value of a parameter that has two names."""
    given, other = found[alias], found[name]
    if given is not None and other is not None and given != other:
        raise ParameterError(
            f"`{name}` and `{alias}` of {owner} are two names of one parameter, and they differ: "
            f"{other!r} and {given!r}. Give one of them."
        )
    return given if other is None else other


def _check_together(found: Mapping[str, Any], owner: str) -> None:
    """Parameters that contradict each other."""
    if found["booster"] != "dart":
        for name in ("rate_drop", "one_drop", "skip_drop"):
            if found[name]:
                raise ParameterError(
                    f"`{name}` of {owner} drops trees, which booster={found['booster']!r} does not. "
                    "Use booster='dart', or leave it None."
                )
    held_out = found["early_stopping"]
    if isinstance(held_out, tuple | list) and len(held_out) != 2:
        raise ParameterError(
            f"`early_stopping` of {owner} must be a fraction, a set (X, y) or 'cv'; got a sequence of "
            f"{len(held_out)}. Give the pair (X, y)."
        )


def seed_of(options: XGBOptions) -> int:
    """The seed of every draw; a generator is asked once."""
    source = options.random_state
    if source is None:
        return 0
    if isinstance(source, np.random.RandomState):
        return int(source.randint(np.iinfo(np.int32).max))
    if isinstance(source, np.random.Generator):
        return int(source.integers(np.iinfo(np.int32).max))
    return int(source)


def objective_parameters(
    options: XGBOptions, objective: str | Callable[..., Any], seed: int
) -> dict[str, Any]:
    """What the objective is told, without what was not given; a ranking draws its pairs by the seed."""
    if not (isinstance(objective, str) and objective.startswith("rank:")):
        given = {name: getattr(options, name) for name in _LOSS_PARAMETERS}
        return {name: value for name, value in given.items() if value is not None}
    given = {name: getattr(options, name) for name in RANKING_PARAMETERS}
    given = {name: value for name, value in given.items() if value is not None}
    return {name: bool(value) if name in _RANKING_FLAGS else value for name, value in given.items()} | {
        "seed": seed
    }
