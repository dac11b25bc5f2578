"""`ExtraTreesClassifier` and `ExtraTreesRegressor`: forests whose thresholds are drawn.

Names, defaults and attributes are scikit-learn's, so that code moves by changing an import; tables may
hold categories, text, dates and missing values as they are.
"""

from __future__ import annotations

from collections.abc import Callable

from weald.arrays import CategoricalFeatures, MonotoneConstraints, RandomState
from weald.estimators.forest.tasks import ForestClassifier, ForestRegressor
from weald.estimators.shared.class_weight import ClassWeight


class ExtraTreesClassifier(ForestClassifier):
    """Extremely randomised trees that classify.

    As a random forest, but each column that a node looks at is tried with one threshold, drawn between the
    smallest and the largest value in the node, and every tree has all rows unless `bootstrap` is set.

    Parameters
    ----------
    n_estimators : int, default=100
        How many trees.
    criterion : {"gini", "entropy", "log_loss", "misclassification"}, default="gini"
        What a split lowers. "log_loss" is another name of "entropy".
    max_depth : int, default=None
        The most splits between the root and a leaf; None for no limit.
    min_samples_split : int or float, default=2
        The fewest rows a node must have to be split; a float is a fraction of the rows.
    min_samples_leaf : int or float, default=1
        The fewest rows of a leaf; a float is a fraction of the rows.
    min_weight_fraction_leaf : float, default=0.0
        The least weight of a leaf, as a fraction of the weight of its tree's rows.
    max_features : int, float, {"sqrt", "log2", "log2+1", "third"}, default="sqrt"
        How many columns a node looks at, drawn anew for each node; None for all. If none of them can be
        split, it looks on.
    max_leaf_nodes : int, default=None
        The most leaves of a tree, which then grows best-first.
    min_impurity_decrease : float, default=0.0
        A split must lower the criterion by this much, weighted by the node's share of the weight.
    bootstrap : bool, default=False
        Whether every tree has rows of its own, drawn with replacement; else all trees have all rows.
    oob_score : bool or callable, default=False
        Whether to judge every row by the trees that did not see it: by accuracy, or by a metric
        of yours, called as metric(y_true, y_pred).
    n_jobs : int, default=None
        Threads; None for every CPU of the process, -1 for the same, -2 for all but one. The forest does not
        depend on it.
    random_state : int or RandomState, default=None
        What all draws start from; None draws anew every time.
    verbose : int, default=0
        1 for a progress bar.
    warm_start : bool, default=False
        Whether `fit` adds trees to those of the last fit, up to `n_estimators`, instead of starting anew; on
        the same table.
    class_weight : {"balanced", "balanced_subsample"}, dict, or list of dicts, default=None
        Factors for the weights of the classes. "balanced" gives every class the same total weight, in the
        table; "balanced_subsample" in the rows of every tree. With several outputs, one dict per output; the
        factors of a row multiply.
    ccp_alpha : float, default=0.0
        Prune every tree: of all subtrees, take the one with the lowest impurity + ccp_alpha times the number
        of leaves.
    max_samples : int or float, default=None
        How many rows are drawn for each tree; a float is a fraction of those whose weight is not 0, None
        stands for as many as these. Both may exceed the rows there are.
    monotonic_cst : list or dict, default=None
        Columns along which predictions may only rise (1) or only fall (-1); 0 for no constraint. One number
        a column, or a dict from column name to number.
    max_bins : int, default=None
        None for exact splits; else numeric columns are cut into at most this many quantile bins.
    leaf_dtype : {"float64", "float32"}, default="float64"
        How leaf values are rounded: to float32 they take half the room in a file. Shares of whole rows are
        stored as counts either way.
    categorical_features : list of names, positions or bools, default=None
        Numeric columns to treat as categories; None (or "from_dtype") to go by the columns' types.
    unknown : {"missing", "error"}, default="missing"
        What to do at predict with categories that training did not see.

    Attributes
    ----------
    estimators_ : sequence of DecisionTreeClassifier
        The trees, made when asked for.
    classes_ : ndarray, or list of ndarray
        The labels, sorted; of each output if there are several.
    n_classes_ : int, or list of int
        How many labels; of each output if there are several.
    category_shrinkage_ : dict
        By categorical column, how many rows a category needs for its own mean to count half: 0 where
        categories tell all, infinity where their means vary no more than chance. Not kept in model files.
    feature_importances_ : ndarray of shape (n_features_in_,)
        How much the splits on each column lowered the criterion, scaled to add up to 1.
    n_features_in_ : int
        How many columns the table had.
    feature_names_in_ : ndarray
        Their names; only if all of them are text.
    n_outputs_ : int
        How many columns `y` had.
    oob_score_ : float
        The score of the rows, each judged by the trees that did not see it; only with `oob_score`.
    oob_decision_function_ : ndarray of shape (n_rows, n_classes_) or (n_rows, n_classes_, n_outputs_)
        The mean shares of these trees; NaN, with a warning, for rows that every tree saw. A list with an
        array for each output if these differ in their number of classes.
    forest_ : Forest
        The trees as weald keeps them.
    estimators_samples_ : list of ndarray
        The rows of each tree, each as often as it was drawn.
    estimator_ : DecisionTreeClassifier
        A tree as the forest grows them, not fitted.
    bags_ : BagRecord
        What tells which rows each tree had.
    schema_ : Schema
        What the model remembers of its columns.

    Examples
    --------
    >>> from weald import ExtraTreesClassifier
    >>> X = [["red", 1.0], ["red", 3.0], ["blue", 2.0], ["blue", None]] * 5
    >>> y = ["stop", "stop", "go", "go"] * 5
    >>> model = ExtraTreesClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> model.predict([["red", None], ["blue", 9.0]])
    array(['stop', 'go'], dtype='<U4')
    """

    _splitter = "random"
    _trains_from_files = True

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: bool | Callable[..., float] = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int | bool = 0,
        warm_start: bool = False,
        class_weight: ClassWeight = None,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: MonotoneConstraints = None,
        max_bins: int | None = None,
        leaf_dtype: str = "float64",
        categorical_features: CategoricalFeatures = None,
        unknown: str = "missing",
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.max_bins = max_bins
        self.leaf_dtype = leaf_dtype
        self.categorical_features = categorical_features
        self.unknown = unknown


class ExtraTreesRegressor(ForestRegressor):
    """Extremely randomised trees that predict numbers.

    As a random forest, but each column that a node looks at is tried with one threshold, drawn between the
    smallest and the largest value in the node, and every tree has all rows unless `bootstrap` is set.

    Parameters
    ----------
    n_estimators : int, default=100
        How many trees.
    criterion : {"squared_error", "friedman_mse", "absolute_error", "poisson"}, default="squared_error"
        What a split lowers. "friedman_mse" is another name of "squared_error"; "absolute_error" predicts
        medians.
    max_depth : int, default=None
        The most splits between the root and a leaf; None for no limit.
    min_samples_split : int or float, default=2
        The fewest rows a node must have to be split; a float is a fraction of the rows.
    min_samples_leaf : int or float, default=1
        The fewest rows of a leaf; a float is a fraction of the rows.
    min_weight_fraction_leaf : float, default=0.0
        The least weight of a leaf, as a fraction of the weight of its tree's rows.
    max_features : int, float, {"sqrt", "log2", "log2+1", "third"}, default=1.0
        How many columns a node looks at, drawn anew for each node; None for all. If none of them can be
        split, it looks on.
    max_leaf_nodes : int, default=None
        The most leaves of a tree, which then grows best-first.
    min_impurity_decrease : float, default=0.0
        A split must lower the criterion by this much, weighted by the node's share of the weight.
    bootstrap : bool, default=False
        Whether every tree has rows of its own, drawn with replacement; else all trees have all rows.
    oob_score : bool or callable, default=False
        Whether to judge every row by the trees that did not see it: by R², or by a metric
        of yours, called as metric(y_true, y_pred).
    n_jobs : int, default=None
        Threads; None for every CPU of the process, -1 for the same, -2 for all but one. The forest does not
        depend on it.
    random_state : int or RandomState, default=None
        What all draws start from; None draws anew every time.
    verbose : int, default=0
        1 for a progress bar.
    warm_start : bool, default=False
        Whether `fit` adds trees to those of the last fit, up to `n_estimators`, instead of starting anew; on
        the same table.
    ccp_alpha : float, default=0.0
        Prune every tree: of all subtrees, take the one with the lowest impurity + ccp_alpha times the number
        of leaves.
    max_samples : int or float, default=None
        How many rows are drawn for each tree; a float is a fraction of those whose weight is not 0, None
        stands for as many as these. Both may exceed the rows there are.
    monotonic_cst : list or dict, default=None
        Columns along which predictions may only rise (1) or only fall (-1); 0 for no constraint. One number
        a column, or a dict from column name to number.
    max_bins : int, default=None
        None for exact splits; else numeric columns are cut into at most this many quantile bins.
    leaf_dtype : {"float64", "float32"}, default="float64"
        How leaf values are rounded: to float32 they take half the room in a file. Shares of whole rows are
        stored as counts either way.
    categorical_features : list of names, positions or bools, default=None
        Numeric columns to treat as categories; None (or "from_dtype") to go by the columns' types.
    unknown : {"missing", "error"}, default="missing"
        What to do at predict with categories that training did not see.

    Attributes
    ----------
    estimators_ : sequence of DecisionTreeRegressor
        The trees, made when asked for.
    category_shrinkage_ : dict
        By categorical column, how many rows a category needs for its own mean to count half: 0 where
        categories tell all, infinity where their means vary no more than chance. Not kept in model files.
    feature_importances_ : ndarray of shape (n_features_in_,)
        How much the splits on each column lowered the criterion, scaled to add up to 1.
    n_features_in_ : int
        How many columns the table had.
    feature_names_in_ : ndarray
        Their names; only if all of them are text.
    n_outputs_ : int
        How many columns `y` had.
    oob_score_ : float
        The score of the rows, each judged by the trees that did not see it; only with `oob_score`.
    oob_prediction_ : ndarray of shape (n_rows,) or (n_rows, n_outputs_)
        The mean prediction of these trees; NaN, with a warning, for rows that every tree saw.
    forest_ : Forest
        The trees as weald keeps them.
    estimators_samples_ : list of ndarray
        The rows of each tree, each as often as it was drawn.
    estimator_ : DecisionTreeRegressor
        A tree as the forest grows them, not fitted.
    bags_ : BagRecord
        What tells which rows each tree had.
    schema_ : Schema
        What the model remembers of its columns.

    Examples
    --------
    >>> from weald import ExtraTreesRegressor
    >>> X, y = [[1.0], [2.0], [8.0], [9.0]], [10.0, 10.0, 40.0, 40.0]
    >>> ExtraTreesRegressor(n_estimators=50, random_state=0).fit(X, y).predict([[0.0], [9.5]]).round(-1)
    array([10., 40.])
    """

    _splitter = "random"
    _trains_from_files = True

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: bool | Callable[..., float] = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int | bool = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: MonotoneConstraints = None,
        max_bins: int | None = None,
        leaf_dtype: str = "float64",
        categorical_features: CategoricalFeatures = None,
        unknown: str = "missing",
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.max_bins = max_bins
        self.leaf_dtype = leaf_dtype
        self.categorical_features = categorical_features
        self.unknown = unknown
