"""The parameters of the `XGB*` estimators: xgboost's names, one signature for all.

`__init__` only stores. `None` always means the default, which `options` knows.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from weald.arrays import CategoricalFeatures, ClassWeight, ColumnLike, MonotoneConstraints, RandomState
from weald.estimators.xgboost.names import known_names

#: what xgboost's classes keep to themselves: no parameters of its `train`
_WRAPPER = (
    "callbacks",
    "early_stopping_rounds",
    "enable_categorical",
    "feature_types",
    "feature_weights",
    "importance_type",
    "missing",
    "n_estimators",
)
_OWN = ("class_weight", "early_stopping", "prune", "categorical_features", "unknown", "cat_smooth", "cat_l2")

#: what `fit` leaves in all three, for their docstrings
_ATTRIBUTES = """\
feature_importances_ : ndarray of shape (n_features_in_,)
        Importances by `importance_type`, scaled to add up to 1.
    category_shrinkage_ : dict
        By column of more than 64 categories: how many rows a category needs for its mean to count half in the
        whole table; infinity: no more than chance. Only with `cat_smooth="auto"`; not saved.
    best_iteration, best_score : int, float
        The best round and its metric; only with early stopping.
    evals_result_ : dict
        The learning curves, if sets were measured.
    cv_results_ : dict
        Means and deviations by round, with early_stopping="cv".
    tree_method_, max_bin_, learning_rate_, grow_policy_, max_leaves_, … : str, int, float
        What "auto" and None came to (max_depth_, min_child_weight_, reg_lambda_ too).
    objective_ : str
        The objective's name; `objective` reads the same where it was None.
    n_rounds_, n_estimators_ : int
        Rounds trained, and rounds that predictions use.
    intercept_ : ndarray
        The prediction before the first tree.
    n_features_in_ : int
        How many columns the table had.
    feature_names_in_ : ndarray
        Their names; only if all of them are text.
    n_outputs_ : int
        How many columns `y` had.
    forest_, schema_ : Forest, Schema
        The trees, and what the model remembers of its columns."""


class XGBParameters(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """The constructor that the three estimators share.

    n_estimators : int, default=100
        Rounds of boosting; 0 predicts the base score.
    learning_rate, eta : float, default=0.3
        What each tree's values are multiplied by. Tables with categories have other defaults, here, for the
        shape of trees, `min_child_weight` and `reg_lambda` (boosting.md, 12), as `learning_rate_`, … tell.
    max_depth : int, default=6
        The most splits between the root and a leaf; 0 for no limit.
    max_leaves : int, default=0
        The most leaves of a tree; 0 for no limit.
    grow_policy : {"depthwise", "lossguide"}, default="depthwise"
        Which node splits next: the one nearest the root, or the one that gains most.
    gamma, min_split_loss : float, default=0
        The least gain of a split.
    prune : {"post", "pre"}, default="post"
        Whether `gamma` prunes the grown tree from its leaves up, or stops growth (as xgboost's hist does).
    min_child_weight : float, default=1
        The least sum of hessians in a child. In a tree for several outputs those that have less add nothing
        there, as in xgboost.
    max_delta_step : float, default=None
        A bound on leaf values before shrinkage; 0 for none, None for what the objective asks for.
    reg_lambda, lambda_ : float, default=1
        L2 penalty on leaf values; `XGB*(**{"lambda": 2})` works too.
    reg_alpha, alpha : float, default=0
        L1 penalty on leaf values.
    subsample : float, default=1
        The share of rows each tree is grown on.
    sampling_method : {"uniform", "gradient_based"}, default="uniform"
        How these rows are drawn: all alike, or in proportion to √(g² + λh²), each divided by its chance.
    colsample_bytree, colsample_bylevel, colsample_bynode : float, default=1
        The share of columns drawn for a tree, for a level of it, for a node.
    feature_weights : array-like of shape (n_columns,), default=None
        Weights of the columns in these draws.
    scale_pos_weight : float, default=1
        A factor for the gradients of the second class; two classes only, with more it warns: use
        `class_weight`.
    class_weight : dict or "balanced", default=None
        Factors for the row weights of each class; classifiers only.
    objective : str or callable, default=None
        The loss, by xgboost's name; None chooses by the target. A callable takes (y, raw scores) or
        (y, raw scores, sample_weight) and returns gradients and hessians.
    base_score : float or list of float, default=None
        The prediction to start from, such as 0.5; None estimates it from the target.
    eval_metric : str, callable or list of these, default=None
        What is followed on `eval_set`; None for the metric of the objective.
    disable_default_eval_metric : bool, default=False
        With it, `eval_metric=None` follows nothing.
    early_stopping_rounds : int, default=None
        Stop after so many rounds without a better metric on the last set of `eval_set`.
    early_stopping : float, (X, y) or "cv", default=None
        Stop early without an `eval_set`: on a share of the rows, which is held out, on a set of its own, or
        with the number of rounds that 5-fold cross-validation finds best, refitted on all rows. Waits
        `early_stopping_rounds` rounds, 10 if that is None.
    callbacks : list of TrainingCallback, default=None
        Called before and after every round.
    tree_method : {"auto", "exact", "approx", "hist"}, default="auto"
        Which thresholds are tried: all of them, candidates proposed anew each round, or fixed bins. "auto"
        is exact for small tables and hist for large ones; `tree_method_` tells.
    max_bin : int, default=None
        The most bins of a column, 2 to 65535; None for 255 with hist and 33 with approx.
    booster : {"gbtree", "dart"}, default="gbtree"
        Plain boosting, or with dropped trees.
    sample_type, normalize_type, rate_drop, one_drop, skip_drop
        How DART drops trees, as in xgboost.
    num_parallel_tree : int, default=1
        Trees a round, each on its own draw of rows.
    multi_strategy : {"one_output_per_tree", "multi_output_tree"}, default="one_output_per_tree"
        Whether a tree speaks for one output or for all of them.
    monotone_constraints : dict, list or str, default=None
        Columns along which predictions may only rise (1) or fall (-1). Not with "multi_output_tree".
    interaction_constraints : list of lists or str, default=None
        Sets of columns that may meet on a path.
    max_cat_to_onehot : int, default=4
        Categorical columns with fewer categories are split one against the rest.
    max_cat_threshold : int, default=32
        The most categories a split sends one way by a list; not of columns that `cat_smooth="auto"` judges.
    cat_smooth : float, "auto" or "rows", default="auto"
        Caution with rare categories: added to their hessians before they are put in order, and how many rows
        a category needs to be listed; ten times as many (at most one row in 200) change sides together.
        "rows": one row in 800, at least 5 and at most 50. "auto" (and None): the same, but of a column of
        more than 64 categories each node asks how much of their spread is more than chance, and believes them
        by that; where it is no more, only categories of four times as many rows are listed. With
        `cat_smooth=0` and `cat_l2=0`, categories are split as greedily as numbers.
    cat_l2 : float, default=None
        Added to `reg_lambda` where splits by a list of categories are judged. None: 5 up to
        10,000 rows, 10 from 20,000.
    missing : float, default=nan
        The number that stands for a missing value, besides NaN. `missing=0` with a sparse matrix makes what
        it does not store missing, as in xgboost.
    feature_types : list of str, default=None
        A type for each column; "c" makes it categorical.
    categorical_features : list of names, positions or bools, default=None
        Numeric columns to treat as categories.
    unknown : {"missing", "error"}, default="missing"
        What to do at predict with categories that training did not see.
    importance_type : {"gain", "weight", "cover", "total_gain", "total_cover"}, default="gain"
        What `feature_importances_` measures.
    random_state, seed : int, RandomState or Generator, default=0
        What every draw starts from.
    n_jobs, nthread : int, default=None
        Threads; None for every CPU of the process. The model does not depend on it.
    quantile_alpha, tweedie_variance_power, huber_slope
        Parameters of "reg:quantileerror" (a number or several), "reg:tweedie" and "reg:pseudohubererror".
    lambdarank_pair_method, lambdarank_num_pair_per_sample, lambdarank_normalization, \
lambdarank_score_normalization, lambdarank_unbiased, lambdarank_bias_norm, ndcg_exp_gain
        Parameters of the ranking objectives, as in xgboost.
    num_class, num_target : int, default=None
        Checked against the target; there is no need to give them.
    verbosity, device, validate_parameters, enable_categorical, seed_per_iteration, max_cached_hist_node, \
refresh_leaf
        Accepted for xgboost's sake: they change nothing here. A `device` other than "cpu" warns.
    updater, process_type
        Not in weald: they raise.
    """

    _named: ClassVar[dict[str, inspect.Parameter]]

    def __init__(
        self,
        *,
        max_depth: int | None = None,
        max_leaves: int | None = None,
        max_bin: int | None = None,
        grow_policy: str | None = None,
        learning_rate: float | None = None,
        n_estimators: int | None = None,
        verbosity: int | None = None,
        objective: str | Callable[..., Any] | None = None,
        booster: str | None = None,
        tree_method: str | None = None,
        n_jobs: int | None = None,
        gamma: float | None = None,
        min_child_weight: float | None = None,
        max_delta_step: float | None = None,
        subsample: float | None = None,
        sampling_method: str | None = None,
        colsample_bytree: float | None = None,
        colsample_bylevel: float | None = None,
        colsample_bynode: float | None = None,
        reg_alpha: float | None = None,
        reg_lambda: float | None = None,
        scale_pos_weight: float | None = None,
        base_score: ArrayLike | None = None,
        random_state: RandomState = None,
        missing: float = np.nan,
        num_parallel_tree: int | None = None,
        monotone_constraints: MonotoneConstraints | str = None,
        interaction_constraints: Collection[object] | str | None = None,
        importance_type: str | None = None,
        device: str | None = None,
        validate_parameters: bool | None = None,
        enable_categorical: bool = False,
        feature_types: Sequence[str] | None = None,
        feature_weights: ColumnLike | None = None,
        max_cat_to_onehot: int | None = None,
        max_cat_threshold: int | None = None,
        multi_strategy: str | None = None,
        eval_metric: str | Callable[..., Any] | Sequence[str | Callable[..., Any]] | None = None,
        early_stopping_rounds: int | None = None,
        callbacks: Sequence[object] | None = None,
        # xgboost's native names
        eta: float | None = None,
        alpha: float | None = None,
        lambda_: float | None = None,
        nthread: int | None = None,
        seed: int | None = None,
        min_split_loss: float | None = None,
        sample_type: str | None = None,
        normalize_type: str | None = None,
        rate_drop: float | None = None,
        one_drop: bool | None = None,
        skip_drop: float | None = None,
        tweedie_variance_power: float | None = None,
        huber_slope: float | None = None,
        quantile_alpha: ArrayLike | None = None,
        num_class: int | None = None,
        num_target: int | None = None,
        lambdarank_pair_method: str | None = None,
        lambdarank_num_pair_per_sample: int | None = None,
        lambdarank_normalization: bool | None = None,
        lambdarank_score_normalization: bool | None = None,
        lambdarank_unbiased: bool | None = None,
        lambdarank_bias_norm: float | None = None,
        ndcg_exp_gain: bool | None = None,
        disable_default_eval_metric: bool | None = None,
        seed_per_iteration: bool | None = None,
        max_cached_hist_node: int | None = None,
        refresh_leaf: bool | None = None,
        updater: object = None,
        process_type: str | None = None,
        # weald's own
        cat_smooth: float | Literal["auto", "rows"] | None = "auto",
        cat_l2: float | None = None,
        class_weight: ClassWeight = None,
        early_stopping: float | str | Sequence[object] | None = None,
        prune: str = "post",
        categorical_features: CategoricalFeatures = None,
        unknown: str = "missing",
        **others: object,
    ) -> None:
        given = {name: value for name, value in locals().items() if name not in ("self", "others")}
        given |= known_names(others, type(self).__name__, list(given))
        for name, value in given.items():
            setattr(self, name, value)

    def __init_subclass__(cls, **kwargs: object) -> None:
        """Show what is shared: documentation where the docstring says so, parameters as signature."""
        super().__init_subclass__(**kwargs)
        if cls.__doc__ and XGBParameters.__doc__:
            shared = XGBParameters.__doc__.split("\n\n", 1)[1].strip()
            cls.__doc__ = cls.__doc__.replace("{parameters}", shared).replace("{attributes}", _ATTRIBUTES)
        cls._named = cls._constructor_of_class()
        named = list(cls._named.values())
        cls.__signature__ = inspect.Signature(named)
        if "__init__" in vars(cls):  # what is passed on counts too where scikit-learn compares with defaults
            own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
            cls.__init__.__signature__ = inspect.Signature([own, *named])  # type: ignore[attr-defined]

    @classmethod
    def _constructor_of_class(cls) -> dict[str, inspect.Parameter]:
        """The constructor's parameters: a class that passes others on (`**kwargs`) has its parents' too."""
        found: dict[str, inspect.Parameter] = {}
        for each in cls.__mro__:
            if "__init__" not in vars(each):
                continue
            parameters = list(inspect.signature(vars(each)["__init__"]).parameters.values())[1:]
            for parameter in parameters:
                if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
                    found.setdefault(parameter.name, parameter.replace(kind=parameter.KEYWORD_ONLY))
            if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
                break
            if each is XGBParameters:  # what it takes besides are other spellings
                break
        return found

    @classmethod
    def _constructor(cls) -> dict[str, inspect.Parameter]:
        """The same, found once for a class: every `get_params`, `set_params` and `fit` asks for it."""
        return cls._named if "_named" in vars(cls) else cls._constructor_of_class()

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """The names of the constructor's parameters, as scikit-learn asks for them."""
        return sorted(cls._constructor())

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """The parameters as they were given.

        Parameters
        ----------
        deep : bool, default=True
            Accepted: no parameter is an estimator.

        Returns
        -------
        dict
            Name to value.
        """
        found: dict[str, Any] = super().get_params(deep)
        if "objective" in found:
            found["objective"] = vars(self).get("objective")
        return found

    def set_params(self, **params: object) -> Self:
        """Set parameters by name.

        Parameters
        ----------
        **params
            Names and new values; they are checked when `fit` reads them.

        Returns
        -------
        self
            The estimator.

        Raises
        ------
        ParameterError
            For a name the estimator does not have, with the nearest one it has.
        """
        known = self._get_param_names()
        others = {name: value for name, value in params.items() if name not in known}
        kept = {name: value for name, value in params.items() if name in known}
        return super().set_params(**kept, **known_names(others, type(self).__name__, known))  # type: ignore[no-any-return]

    def get_xgb_params(self) -> dict[str, object]:
        """The parameters under xgboost's names, as its `train` and `weald.train` take them.

        Returns
        -------
        dict
            None means the default. Without functions, without weald's own parameters, without what belongs to
            the estimator alone (such as `n_estimators`); other names of parameters only if they were given.
        """
        given = self._all_params() | {"objective": self.objective}
        kept = {name: value for name, value in given.items() if not callable(value)}
        names = list(_shared())
        first = names[1 : names.index("eta")]  # those of xgboost's classes; the others stand after them
        kept = {name: value for name, value in kept.items() if value is not None or name in first}
        seed = kept.get("random_state")
        if isinstance(seed, np.random.RandomState):
            kept["random_state"] = int(seed.randint(np.iinfo(np.int32).max))
        elif isinstance(seed, np.random.Generator):
            kept["random_state"] = int(seed.integers(np.iinfo(np.int32).max))
        return {name: value for name, value in kept.items() if name not in _WRAPPER + _OWN}

    def _all_params(self) -> dict[str, Any]:
        """Every parameter of boosting as it was given, whatever constructor a subclass has."""
        found = {name: getattr(self, name) for name in _shared() if name not in ("self", "others")}
        return found | {"objective": vars(self).get("objective")}

    def _boosting_params(self) -> dict[str, Any]:
        """What has to be given to a booster of no special defaults to train the same."""
        defaults = _shared()
        now = self._all_params()
        return {name: value for name, value in now.items() if not _same(value, defaults[name].default)}

    def _set_params(self) -> dict[str, Any]:
        """The parameters that differ from their defaults."""
        defaults = self._constructor()
        now = self.get_params(deep=False)
        return {name: value for name, value in now.items() if not _same(value, defaults[name].default)}


@cache
def _shared() -> Mapping[str, inspect.Parameter]:
    """The parameters that all classes share, with `self` before and `others` behind them."""
    return inspect.signature(XGBParameters.__init__).parameters


def _same(value: object, default: object) -> bool:
    if isinstance(default, float) and isinstance(value, float | np.floating):
        return bool(value == default or (value != value and default != default))
    return value is default or (isinstance(default, str | bool) and value == default)
