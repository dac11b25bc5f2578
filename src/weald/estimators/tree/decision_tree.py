"""`DecisionTreeClassifier` and `DecisionTreeRegressor`: scikit-learn's trees on weald's engine.

Names, defaults and attributes are scikit-learn's, so that code moves by changing an import; tables may
hold categories, text, dates and missing values as they are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from weald.arrays import CategoricalFeatures, Folds, MonotoneConstraints, RandomState, TableLike, TargetLike
from weald.data.codes import Codes
from weald.data.target import read_labels, read_target
from weald.estimators.shared.class_weight import ClassWeight, Weights, weigh_by_class, without_absent
from weald.estimators.shared.fitted import Target
from weald.estimators.shared.labels import LabelPredictions
from weald.estimators.tree.base import BaseTree
from weald.parameters import ClassificationTreeOptions, GrowthOptions, RegressionTreeOptions
from weald.rows.growth import Grown, GrowOptions
from weald.rows.memory import grow_classification_tree, grow_regression_tree

if TYPE_CHECKING:
    from sklearn.utils import Tags


class DecisionTreeClassifier(LabelPredictions, BaseTree):
    """A classification tree.

    Each leaf predicts the shares of the classes among its rows. Splits are exact by default: every
    boundary between two values is tried; `max_bins` trades that for speed. Missing values are tried on
    both sides of every split and as a side of their own.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "misclassification"}, default="gini"
        What a split lowers. "log_loss" is another name of "entropy"; "misclassification" is the share of
        rows that are not of their leaf's most frequent class.
    splitter : {"best", "random"}, default="best"
        Whether a node takes the best split of all, or the best of one split per column drawn at random, with
        the threshold uniform between the smallest and the largest value in the node.
    max_depth : int, default=None
        The most splits between the root and a leaf; None for no limit.
    min_samples_split : int or float, default=2
        The fewest rows a node must have to be split; a float is a fraction of the rows.
    min_samples_leaf : int or float, default=1
        The fewest rows of a leaf; a float is a fraction of the rows.
    min_weight_fraction_leaf : float, default=0.0
        The least weight of a leaf, as a fraction of the total weight.
    max_features : int, float, {"sqrt", "log2"}, default=None
        How many columns a node looks at, drawn anew for each node; None for all. If none of them can be
        split, it looks on.
    random_state : int or RandomState, default=None
        What the draws of `max_features` and `splitter="random"` and the folds of `prune` start from. Without
        these the tree does not depend on it. None draws anew every time, but for the folds, which stay.
    max_leaf_nodes : int, default=None
        The most leaves; the tree then grows best-first.
    min_impurity_decrease : float, default=0.0
        A split must lower the criterion by this much, weighted by the node's share of the weight.
    class_weight : dict, "balanced" or a list of these, default=None
        A factor for the weight of each class; "balanced" gives all classes the same total weight, with
        `sample_weight` taken into account. With several outputs, a list with one entry for each (or
        "balanced" for all); the factors of a row multiply.
    monotonic_cst : list or dict, default=None
        Columns along which predictions may only rise (1) or only fall (-1); 0 for no constraint. One number
        a column, or a dict from column name to number. For a classifier it is the share of the second class
        that rises or falls, and there must be two.
    ccp_alpha : float, default=0.0
        Prune: of all subtrees, take the one with the lowest impurity + ccp_alpha times the number of leaves.
    prune : {"cv", "cv-1se"}, default=None
        Prune with the ccp_alpha that cross-validation finds best, or with the largest one whose score is
        within one standard error of the best. `pruning_table_` shows what was tried.
    cv : int, splitter or list of (train, test), default=5
        The folds of `prune`; a number means shuffled (and, for labels, stratified) folds, drawn by
        `random_state`.
    cat_penalty : float or "auto", default="auto"
        What a split by categories must gain beyond chance: the best of all sets of categories gains where
        these mean nothing. "auto" measures that by the spread of the target within the categories, and makes
        no split that chance explains by a column of ids. A number is so many rows' worth of the node's
        impurity for each category beyond the first. 0 chooses by the gain alone, as the textbooks do.
    max_bins : int, default=None
        None for exact splits; else numeric columns are cut into at most this many quantile bins.
    n_jobs : int, default=None
        Threads; None for every CPU of the process, -1 for the same, -2 for all but one. The tree does not
        depend on it.
    categorical_features : list of names, positions or bools, default=None
        Numeric columns to treat as categories; None (or "from_dtype") to go by the columns' types.
    unknown : {"missing", "error"}, default="missing"
        What to do at predict with categories that training did not see.

    Attributes
    ----------
    classes_ : ndarray, or list of ndarray
        The labels, sorted; of each output if there are several. Labels whose every row has the weight 0 are
        not among them.
    n_classes_ : int, or list of int
        How many labels; of each output if there are several.
    ccp_alpha_ : float
        The alpha that `prune` chose; only with it.
    category_shrinkage_ : dict
        By categorical column, how many rows a category needs for its own mean to count half: 0 where
        categories tell all, infinity where their means vary no more than chance. Not kept in model files.
    feature_importances_ : ndarray of shape (n_features_in_,)
        How much the splits on each column lowered the criterion, scaled to add up to 1.
    max_features_ : int
        How many columns a node looks at.
    n_features_in_ : int
        How many columns the table had.
    feature_names_in_ : ndarray
        Their names; only if all of them are text.
    n_outputs_ : int
        How many columns `y` had.
    pruning_table_ : PruningTable
        What `prune` tried: alphas, losses, standard errors, leaves. Only with it; not kept in model files.
    tree_ : TreeView
        The tree under scikit-learn's array names.
    forest_ : Forest
        The tree as weald keeps it.
    schema_ : Schema
        What the model remembers of its columns.

    Notes
    -----
    `predict` and `predict_proba` return NumPy arrays whatever the type of the table, as scikit-learn's
    tools expect.

    Examples
    --------
    >>> from weald import DecisionTreeClassifier
    >>> X = [["red", 1.0], ["red", 3.0], ["blue", 2.0], ["green", None]]
    >>> model = DecisionTreeClassifier().fit(X, ["stop", "stop", "go", "go"])
    >>> model.predict([["red", None], ["blue", 9.0]])
    array(['stop', 'go'], dtype='<U4')
    """

    _options = ClassificationTreeOptions

    def __init__(
        self,
        *,
        criterion: str = "gini",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = None,
        random_state: RandomState = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: ClassWeight = None,
        monotonic_cst: MonotoneConstraints = None,
        ccp_alpha: float = 0.0,
        prune: str | None = None,
        cv: Folds = 5,
        cat_penalty: float | str = "auto",
        max_bins: int | None = None,
        n_jobs: int | None = None,
        categorical_features: CategoricalFeatures = None,
        unknown: str = "missing",
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
        self.monotonic_cst = monotonic_cst
        self.ccp_alpha = ccp_alpha
        self.prune = prune
        self.cv = cv
        self.cat_penalty = cat_penalty
        self.max_bins = max_bins
        self.n_jobs = n_jobs
        self.categorical_features = categorical_features
        self.unknown = unknown

    def _read_target(
        self, y: TargetLike | None, n_rows: int, weight: Weights | None, options: GrowthOptions
    ) -> Target:
        """Labels as numbers, the labels themselves, and weights times the factors of the classes."""
        options = cast(ClassificationTreeOptions, options)
        owner = type(self).__name__
        outputs = read_labels(y, n_rows=n_rows, estimator=owner)
        outputs = [without_absent(found, weight) for found in outputs]
        weight = weigh_by_class(options.class_weight, owner, outputs, weight)
        numbers = np.stack([found.indices for found in outputs], axis=1)
        return Target(numbers, tuple(found.classes for found in outputs), weight)

    def _grow(self, codes: Codes, target: Target, grow: GrowOptions) -> Grown:
        """One classification tree."""
        kept_whole = self.prune is None and bool(self.ccp_alpha == 0)
        grow = replace(grow, leaf_values_only=kept_whole)
        return grow_classification_tree(codes, target.values, target.n_classes, target.weight, grow)


class DecisionTreeRegressor(RegressorMixin, BaseTree):  # type: ignore[misc]  # scikit-learn has no types
    """A regression tree.

    Each leaf predicts the mean target of its rows, or their median (`criterion="absolute_error"`). Splits
    are exact by default: every boundary between two values is tried; `max_bins` trades that for speed.
    Missing values are tried on both sides of every split and as a side of their own.

    Parameters
    ----------
    criterion : {"squared_error", "friedman_mse", "absolute_error", "poisson"}, default="squared_error"
        What a split lowers: the squared distance of the rows to the mean of their leaf ("friedman_mse" is
        another name of it), the absolute distance to its median, or half the Poisson deviance, for targets
        that are counts. With "absolute_error" a leaf predicts the median.
    splitter : {"best", "random"}, default="best"
        Whether a node takes the best split of all, or the best of one split per column drawn at random, with
        the threshold uniform between the smallest and the largest value in the node.
    max_depth : int, default=None
        The most splits between the root and a leaf; None for no limit.
    min_samples_split : int or float, default=2
        The fewest rows a node must have to be split; a float is a fraction of the rows.
    min_samples_leaf : int or float, default=1
        The fewest rows of a leaf; a float is a fraction of the rows.
    min_weight_fraction_leaf : float, default=0.0
        The least weight of a leaf, as a fraction of the total weight.
    max_features : int, float, {"sqrt", "log2"}, default=None
        How many columns a node looks at, drawn anew for each node; None for all. If none of them can be
        split, it looks on.
    random_state : int or RandomState, default=None
        What the draws of `max_features` and `splitter="random"` and the folds of `prune` start from. Without
        these the tree does not depend on it. None draws anew every time, but for the folds, which stay.
    max_leaf_nodes : int, default=None
        The most leaves; the tree then grows best-first.
    min_impurity_decrease : float, default=0.0
        A split must lower the criterion by this much, weighted by the node's share of the weight.
    monotonic_cst : list or dict, default=None
        Columns along which predictions may only rise (1) or only fall (-1); 0 for no constraint. One number
        a column, or a dict from column name to number.
    ccp_alpha : float, default=0.0
        Prune: of all subtrees, take the one with the lowest impurity + ccp_alpha times the number of leaves.
    prune : {"cv", "cv-1se"}, default=None
        Prune with the ccp_alpha that cross-validation finds best, or with the largest one whose score is
        within one standard error of the best. `pruning_table_` shows what was tried.
    cv : int, splitter or list of (train, test), default=5
        The folds of `prune`; a number means shuffled (and, for labels, stratified) folds, drawn by
        `random_state`.
    cat_penalty : float or "auto", default="auto"
        What a split by categories must gain beyond chance: the best of all sets of categories gains where
        these mean nothing. "auto" measures that by the spread of the target within the categories, and makes
        no split that chance explains by a column of ids. A number is so many rows' worth of the node's
        impurity for each category beyond the first. 0 chooses by the gain alone, as the textbooks do.
    max_bins : int, default=None
        None for exact splits; else numeric columns are cut into at most this many quantile bins.
    n_jobs : int, default=None
        Threads; None for every CPU of the process, -1 for the same, -2 for all but one. The tree does not
        depend on it.
    categorical_features : list of names, positions or bools, default=None
        Numeric columns to treat as categories; None (or "from_dtype") to go by the columns' types.
    unknown : {"missing", "error"}, default="missing"
        What to do at predict with categories that training did not see.

    Attributes
    ----------
    ccp_alpha_ : float
        The alpha that `prune` chose; only with it.
    category_shrinkage_ : dict
        By categorical column, how many rows a category needs for its own mean to count half: 0 where
        categories tell all, infinity where their means vary no more than chance. Not kept in model files.
    feature_importances_ : ndarray of shape (n_features_in_,)
        How much the splits on each column lowered the criterion, scaled to add up to 1.
    max_features_ : int
        How many columns a node looks at.
    n_features_in_ : int
        How many columns the table had.
    feature_names_in_ : ndarray
        Their names; only if all of them are text.
    n_outputs_ : int
        How many columns `y` had.
    pruning_table_ : PruningTable
        What `prune` tried: alphas, losses, standard errors, leaves. Only with it; not kept in model files.
    tree_ : TreeView
        The tree under scikit-learn's array names.
    forest_ : Forest
        The tree as weald keeps it.
    schema_ : Schema
        What the model remembers of its columns.

    Notes
    -----
    `predict` returns a NumPy array whatever the type of the table, as scikit-learn's tools expect.

    Examples
    --------
    >>> from weald import DecisionTreeRegressor
    >>> model = DecisionTreeRegressor(max_depth=1).fit([[1.0], [2.0], [8.0]], [10.0, 12.0, 40.0])
    >>> model.predict([[0.0], [9.0]])
    array([11., 40.])
    """

    _options = RegressionTreeOptions

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = None,
        random_state: RandomState = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        monotonic_cst: MonotoneConstraints = None,
        ccp_alpha: float = 0.0,
        prune: str | None = None,
        cv: Folds = 5,
        cat_penalty: float | str = "auto",
        max_bins: int | None = None,
        n_jobs: int | None = None,
        categorical_features: CategoricalFeatures = None,
        unknown: str = "missing",
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.monotonic_cst = monotonic_cst
        self.ccp_alpha = ccp_alpha
        self.prune = prune
        self.cv = cv
        self.cat_penalty = cat_penalty
        self.max_bins = max_bins
        self.n_jobs = n_jobs
        self.categorical_features = categorical_features
        self.unknown = unknown

    def _read_target(
        self, y: TargetLike | None, n_rows: int, weight: Weights | None, options: GrowthOptions
    ) -> Target:
        """The target as numbers; weights as they are."""
        values = read_target(y, n_rows=n_rows, estimator=type(self).__name__)
        return Target(values, None, weight)

    def _grow(self, codes: Codes, target: Target, grow: GrowOptions) -> Grown:
        """One regression tree."""
        return grow_regression_tree(codes, target.values, target.weight, grow)

    def predict(self, X: TableLike) -> NDArray[np.float64]:
        """The mean target of each row's leaf; the median if the tree was grown by absolute error.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_outputs_)
            Predicted targets.
        """
        means = self._raw_scores(X)
        return means[:, 0] if self.n_outputs_ == 1 else means

    def __sklearn_tags__(self) -> Tags:
        """What scikit-learn may expect of the targets this takes."""
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.criterion == "poisson"
        return tags
