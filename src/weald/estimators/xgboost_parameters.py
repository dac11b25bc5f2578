"""The parameters of `XGBClassifier`, `XGBRegressor` and `XGBRanker`: xgboost's names, one signature for all.

`__init__` only stores. `None` always means the default, which `xgboost_options` knows.
"""

from __future__ import annotations

import inspect
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from weald.errors import ParameterError
from weald.estimators.options import check_names

#: what xgboost has and weald has not: name → the way out
_ELSEWHERE = {
    "feature_selector": "It belongs to booster='gblinear'; use scikit-learn's linear models for that.",
    "top_k": "It belongs to booster='gblinear'; use scikit-learn's linear models for that.",
    "aft_loss_distribution": "weald has no survival objectives; use xgboost or lifelines for those.",
    "aft_loss_distribution_scale": "weald has no survival objectives; use xgboost or lifelines for those.",
    "use_rmm": "weald runs on the CPU. Leave it out.",
    "gpu_id": "weald runs on the CPU. Leave it out.",
    "predictor": "weald has one predictor. Leave it out.",
    "extmem_single_page": "weald trains in memory. Leave it out.",
    "use_label_encoder": "Labels of any kind go in as they are. Leave it out.",
    "silent": "Nothing prints unless asked. Leave it out.",
    "kwargs": "Give its entries as parameters of their own: XGBClassifier(**{...}).",
    "sketch_eps": "Use max_bin, which is about 1 / sketch_eps.",
    "lr": "Use learning_rate.",
    # LightGBM's
    "num_leaves": "Use max_leaves, with grow_policy='lossguide' and max_depth=0 to grow as LightGBM does.",
    "min_child_samples": "Use min_child_weight, the least sum of hessians in a child.",
    "min_data_in_leaf": "Use min_child_weight, the least sum of hessians in a child.",
    "bagging_fraction": "Use subsample.",
    "feature_fraction": "Use colsample_bytree.",
    "lambda_l1": "Use reg_alpha.",
    "lambda_l2": "Use reg_lambda.",
}


#: what `fit` leaves in all three, for their docstrings
_ATTRIBUTES = """\
feature_importances_ : ndarray of shape (n_features_in_,)
        Importances by `importance_type`, scaled to add up to 1.
    best_iteration, best_score : int, float
        The best round and its metric; only with early stopping.
    evals_result_ : dict
        The learning curves, if sets were measured.
    cv_results_ : dict
        Means and deviations by round, with early_stopping="cv".
    tree_method_, max_bin_ : str, int
        What "auto" and None came to.
    objective_ : str
        The objective's name.
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
        Rounds of boosting.
    learning_rate, eta : float, default=0.3
        What each tree's values are multiplied by.
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
        The least sum of hessians in a child.
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
        A factor for the gradients of the second class; two classes only.
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
        The most categories a split sends one way by a list.
    cat_smooth : float, default=None
        Caution with rare categories: added to their hessians before they are put in order, and how many rows
        a category needs to be listed; ten times as many (at most one row in 200) change sides together.
        None: one row in 800, at least 5 and at most 50. With `cat_l2=0` too, categories are split as greedily
        as numbers.
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
        Accepted for xgboost's sake: they change nothing here. `device` must be "cpu".
    updater, process_type
        Not in weald: they raise.
    """

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
        objective: Any = None,
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
        base_score: Any = None,
        random_state: Any = None,
        missing: float = np.nan,
        num_parallel_tree: int | None = None,
        monotone_constraints: Any = None,
        interaction_constraints: Any = None,
        importance_type: str | None = None,
        device: str | None = None,
        validate_parameters: bool | None = None,
        enable_categorical: bool = False,
        feature_types: Any = None,
        feature_weights: Any = None,
        max_cat_to_onehot: int | None = None,
        max_cat_threshold: int | None = None,
        multi_strategy: str | None = None,
        eval_metric: Any = None,
        early_stopping_rounds: int | None = None,
        callbacks: Any = None,
        # xgboost's native names
        eta: float | None = None,
        alpha: float | None = None,
        lambda_: float | None = None,
        nthread: int | None = None,
        seed: Any = None,
        min_split_loss: float | None = None,
        sample_type: str | None = None,
        normalize_type: str | None = None,
        rate_drop: float | None = None,
        one_drop: bool | None = None,
        skip_drop: float | None = None,
        tweedie_variance_power: float | None = None,
        huber_slope: float | None = None,
        quantile_alpha: Any = None,
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
        updater: Any = None,
        process_type: str | None = None,
        # weald's own
        cat_smooth: float | None = None,
        cat_l2: float | None = None,
        class_weight: Any = None,
        early_stopping: Any = None,
        prune: str = "post",
        categorical_features: Any = None,
        unknown: str = "missing",
        **others: Any,
    ) -> None:
        given = {name: value for name, value in locals().items() if name not in ("self", "others")}
        given |= _renamed(others, type(self).__name__, list(given))
        for name, value in given.items():
            setattr(self, name, value)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Show what is shared: documentation where the docstring says so, parameters as signature."""
        super().__init_subclass__(**kwargs)
        if cls.__doc__ and XGBParameters.__doc__:
            shared = XGBParameters.__doc__.split("\n\n", 1)[1].strip()
            cls.__doc__ = cls.__doc__.replace("{parameters}", shared).replace("{attributes}", _ATTRIBUTES)
        whole = inspect.signature(cls.__init__)
        named = [each for each in whole.parameters.values() if each.name not in ("self", "others")]
        cls.__signature__ = whole.replace(parameters=named)

    def set_params(self, **params: Any) -> Self:
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
        return super().set_params(**kept, **_renamed(others, type(self).__name__, known))  # type: ignore[no-any-return]

    def get_xgb_params(self) -> dict[str, Any]:
        """The parameters that were set and have xgboost's names.

        Returns
        -------
        dict
            Without those that are None or their default, and without weald's own.
        """
        own = {"class_weight", "early_stopping", "prune", "categorical_features", "unknown"}
        return {name: value for name, value in self._set_params().items() if name not in own}

    def _set_params(self) -> dict[str, Any]:
        """The parameters that differ from their defaults."""
        defaults = inspect.signature(type(self)).parameters
        now = self.get_params(deep=False)
        return {name: value for name, value in now.items() if not _same(value, defaults[name].default)}


def _same(value: Any, default: Any) -> bool:
    if isinstance(default, float) and isinstance(value, float | np.floating):
        return bool(value == default or (value != value and default != default))
    return value is default or (isinstance(default, str | bool) and value == default)


def _renamed(others: dict[str, Any], owner: str, known: list[str]) -> dict[str, Any]:
    """Names that cannot stand in a signature under those that can; all else is refused."""
    if "lambda" in others:
        others = {**others, "lambda_": others["lambda"]}
        del others["lambda"]
    for name in others:
        if name in _ELSEWHERE:
            raise ParameterError(f"`{name}` is no parameter of {owner}. {_ELSEWHERE[name]}")
    check_names(list(others), owner, known)
    return others
