"""`GradientBoostingClassifier`: Friedman's machine for labels, under scikit-learn's names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from weald.arrays import (
    CategoricalFeatures,
    Estimator,
    Floats,
    MonotoneConstraints,
    RandomState,
    TableLike,
    TargetLike,
)
from weald.boosting.stage.custom import Loss
from weald.data.target import read_labels, restore_labels, warn_of_column
from weald.errors import DataError, ParameterError, listing
from weald.estimators.gradient_boosting.base import BaseGradientBoosting
from weald.estimators.gradient_boosting.options import GradientBoostingClassifierOptions, StageBoostingOptions
from weald.estimators.gradient_boosting.predict import has_leaves
from weald.estimators.gradient_boosting.start import class_shares
from weald.estimators.shared.class_weight import without_absent
from weald.estimators.shared.labels import LabelPredictions, most_frequent
from weald.estimators.shared.monotone_constraints import constrained

if TYPE_CHECKING:
    from sklearn.utils import Tags

_TRIMMED = (
    " among the rows of positive sample_weight. (y contains 1 class after sample_weight trimmed classes with "
    "zero weights, while a minimum of 2 classes are required.)"
)


class GradientBoostingClassifier(LabelPredictions, BaseGradientBoosting):
    """Gradient boosting that classifies.

    Every round grows a small tree on the pseudo-residuals, minus the slope of the loss at the scores so far,
    and adds what its leaves predict, times the learning rate; of more than two classes one tree per class.
    Splits are exact by default; `max_bins` trades that for speed. Missing values and categories need no
    preparation.

    Parameters
    ----------
    loss : {"log_loss", "exponential"} or object, default="log_loss"
        What is lowered: the deviance of logistic regression, or, of two classes, AdaBoost's loss. An object
        of yours has value(y, raw), the loss of each row, and gradient(y, raw), its slope; with
        hessian(y, raw) leaves take one Newton step, without they are searched for. y holds class numbers; raw
        scores are log odds, one per class if there are more than two.
    learning_rate : float, default=0.1
        What each round's contribution is multiplied by; less of it needs more rounds.
    n_estimators : int, default=100
        How many rounds.
    subsample : float, default=1.0
        The fraction of the rows that each round is fitted on, drawn without replacement. Below 1 the rows
        left out tell what each round is worth: `oob_improvement_`.
    criterion : {"friedman_mse", "squared_error"}, default="friedman_mse"
        What a split of a tree lowers: the squared error of pseudo-residuals, under both names.
    min_samples_split : int or float, default=2
        The fewest rows a node must have to be split; a float is a fraction of the rows.
    min_samples_leaf : int or float, default=1
        The fewest rows of a leaf; a float is a fraction of the rows.
    min_weight_fraction_leaf : float, default=0.0
        The least weight of a leaf, as a fraction of the weight of its tree's rows.
    max_depth : int, default=3
        The most splits between the root and a leaf; None for no limit.
    min_impurity_decrease : float, default=0.0
        A split must lower the mean squared error by this much, weighted by the node's share of the weight.
    init : {None, "zero"} or estimator, default=None
        What the model starts from: the constant of least loss, raw scores of 0, or what an estimator predicts
        (its `predict_proba`).
    random_state : int or RandomState, default=None
        What all draws start from: rows, columns, the rows held out. None draws anew every time.
    max_features : int, float, {"sqrt", "log2", "log2+1", "third"}, default=None
        How many columns a node looks at, drawn anew for each node; None for all.
    verbose : int, default=0
        1 for a progress bar.
    max_leaf_nodes : int, default=None
        The most leaves of a tree, which then grows best-first.
    warm_start : bool, default=False
        Whether `fit` adds rounds to those of the last fit, up to `n_estimators`, instead of starting anew.
    validation_fraction : float, default=0.1
        The fraction of the rows held out for early stopping; only with `n_iter_no_change`.
    n_iter_no_change : int, default=None
        Stop when the loss of the rows held out has not become lower by `tol` than in any of so many rounds
        before. None: all rounds, on all rows.
    tol : float, default=1e-4
        What counts as lower.
    ccp_alpha : float, default=0.0
        Prune every tree: of all subtrees, take the one with the lowest mean squared error + ccp_alpha times
        the number of leaves.
    leaf : {"one_step", "exact"}, default="one_step"
        What a leaf adds: one step towards the minimum of the loss over its rows, as scikit-learn has it, or
        the minimum itself.
    estimator : regressor, default=None
        What to boost instead of trees: any regressor, fitted to the pseudo-residuals; its step is found by
        line search. The parameters of trees are then not read.
    max_bins : int, default=None
        None for exact splits; else numeric columns are cut into at most this many quantile bins, which is
        many times faster.
    monotonic_cst : list or dict, default=None
        Columns along which predictions may only rise (1) or only fall (-1); 0 for no constraint. One number
        a column, or a dict from column name to number. For two classes.
    categorical_features : list of names, positions or bools, default=None
        Numeric columns to treat as categories; None (or "from_dtype") to go by the columns' types.
    cat_smooth : float, "auto" or "rows", default="auto"
        Rows of average residual that are added to each category before categories are put in order; those of
        fewer rows never go with a set of their own. "rows": one row in 800, at least 5 and at most 50. "auto"
        (and None): the same, but columns of more than 64 categories are judged by their spread, as
        `XGBRegressor` does it. With `cat_smooth=0` and `cat_l2=0`, categories are split as greedily as in
        single trees.
    cat_l2 : float, default=None
        Rows of residual 0 that are added to both sides when a split on categories is judged. None: one row in
        2000, at least 5 and at most 10.
    unknown : {"missing", "error"}, default="missing"
        What to do at predict with categories that training did not see.
    n_jobs : int, default=None
        Threads; None for every CPU of the process, -1 for the same, -2 for all but one. The model does not
        depend on it.

    Attributes
    ----------
    n_estimators_ : int
        How many rounds the model has: fewer than `n_estimators` after early stopping.
    n_trees_per_iteration_ : int
        How many regressors a round has: 1, or one per class if there are more than two.
    estimators_ : ndarray of shape (n_estimators_, n_trees_per_iteration_)
        The regressors: `DecisionTreeRegressor`, made when asked for, or those of `estimator`.
    classes_ : ndarray
        The labels, sorted.
    n_classes_ : int
        How many labels.
    init_ : object
        What the model starts from.
    train_score_ : ndarray of shape (n_estimators_,)
        The mean loss of the rows that each round was fitted on, after the round.
    oob_scores_, oob_improvement_ : ndarray of shape (n_estimators_,)
        The mean loss of the rows that a round was not fitted on, after the round, and how much the round
        lowered it; only with `subsample` below 1.
    oob_score_ : float
        The last of `oob_scores_`.
    validation_scores_ : ndarray of shape (n_estimators_,)
        The mean loss of the rows held out after each round; only with `n_iter_no_change`.
    feature_importances_ : ndarray of shape (n_features_in_,)
        How much the splits on each column lowered the squared error of pseudo-residuals, adding up to 1.
    category_shrinkage_ : dict
        By column of more than 64 categories: how many rows a category needs for its mean to count half in the
        whole table; infinity: no more than chance. Only with `cat_smooth="auto"`; not saved.
    step_sizes_ : ndarray of shape (n_estimators_, n_trees_per_iteration_)
        The steps that line search found; only with `estimator`.
    max_features_ : int
        How many columns a node looks at.
    n_features_in_ : int
        How many columns the table had.
    feature_names_in_ : ndarray
        Their names; only if all of them are text.
    forest_ : Forest
        The trees as weald keeps them; not with `estimator`.
    schema_ : Schema
        What the model remembers of its columns; not with `estimator`.

    Examples
    --------
    >>> from weald import GradientBoostingClassifier
    >>> X = [["red", 1.0], ["red", 3.0], ["blue", 2.0], ["green", None]] * 5
    >>> y = ["stop", "stop", "go", "go"] * 5
    >>> model = GradientBoostingClassifier(n_estimators=20).fit(X, y)
    >>> model.predict([["red", None], ["blue", 9.0]])
    array(['stop', 'go'], dtype='<U4')
    """

    _options = GradientBoostingClassifierOptions

    def __init__(
        self,
        *,
        loss: str | Loss = "log_loss",
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        subsample: float = 1.0,
        criterion: str = "friedman_mse",
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_depth: int | None = 3,
        min_impurity_decrease: float = 0.0,
        init: str | Estimator | None = None,
        random_state: RandomState = None,
        max_features: int | float | str | None = None,
        verbose: int | bool = 0,
        max_leaf_nodes: int | None = None,
        warm_start: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int | None = None,
        tol: float = 1e-4,
        ccp_alpha: float = 0.0,
        leaf: str = "one_step",
        estimator: Estimator | None = None,
        max_bins: int | None = None,
        monotonic_cst: MonotoneConstraints = None,
        categorical_features: CategoricalFeatures = None,
        cat_smooth: float | Literal["auto", "rows"] | None = "auto",
        cat_l2: float | None = None,
        unknown: str = "missing",
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.subsample = subsample
        self.criterion = criterion
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_depth = max_depth
        self.min_impurity_decrease = min_impurity_decrease
        self.init = init
        self.random_state = random_state
        self.max_features = max_features
        self.verbose = verbose
        self.max_leaf_nodes = max_leaf_nodes
        self.warm_start = warm_start
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.ccp_alpha = ccp_alpha
        self.leaf = leaf
        self.estimator = estimator
        self.max_bins = max_bins
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.cat_smooth = cat_smooth
        self.cat_l2 = cat_l2
        self.unknown = unknown
        self.n_jobs = n_jobs

    def _read_target(
        self, y: TargetLike | None, n_rows: int, weight: Floats | None, options: StageBoostingOptions
    ) -> tuple[Floats, NDArray[Any] | None]:
        """Labels as numbers, and the labels themselves."""
        owner = type(self).__name__
        outputs = read_labels(y, n_rows=n_rows, estimator=owner)
        if len(outputs) != 1:
            raise DataError(
                f"y has {len(outputs)} columns, and {owner} takes one. Fit one model per column "
                "(scikit-learn's MultiOutputClassifier does)."
            )
        warn_of_column(y)
        found = without_absent(outputs[0], weight)
        name = options.loss if isinstance(options.loss, str) else type(options.loss).__name__
        n_classes = len(found.classes)
        if n_classes < 2:
            raise DataError(
                f"`loss`={name!r} of {owner} needs two classes or more, and y has 1 class: "
                f"{listing(found.classes.tolist())}"
                f"{_TRIMMED if weight is not None else '.'}"
            )
        if n_classes > 2 and options.loss == "exponential":
            raise ParameterError(
                f"loss='exponential' is only suitable for a binary classification problem; y of {owner} has "
                f"{n_classes} classes. Use 'log_loss'. (Only binary classification is supported. The type of "
                "the target is multiclass.)"
            )
        return found.indices.astype(np.float64), found.classes

    def _shares(self, raw: Floats) -> Floats:
        return class_shares(raw, self._rounds.link)

    def _classes_and_shares(self, X: TableLike) -> tuple[tuple[NDArray[Any], ...], list[Floats]]:
        shares = self._shares(self._raw_scores(X))
        classes = self._classes_by_output()
        assert classes is not None
        return classes, [shares]

    def predict(self, X: TableLike) -> NDArray[Any]:
        """The likeliest label of each row; of equally likely ones the first in `classes_`.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels of the type that `fit` was given.
        """
        return super().predict(X)

    def predict_proba(self, X: TableLike) -> Floats:
        """The probabilities of the classes.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.

        Returns
        -------
        ndarray of shape (n_rows, n_classes_)
            They add up to 1, in the order of `classes_`.
        """
        return cast("Floats", super().predict_proba(X))  # of one output

    def decision_function(self, X: TableLike) -> Floats:
        """The raw scores.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes_)
            Of two classes: log odds of the second (half of them under the exponential loss); of more, the
            logarithms of the probabilities up to a constant of the row.
        """
        raw = self._raw_scores(X)
        return raw[:, 0] if raw.shape[1] == 1 else raw

    def staged_decision_function(self, X: TableLike) -> Iterator[Floats]:
        """The raw scores after each round.

        Parameters
        ----------
        X : table
            As in `fit`.

        Yields
        ------
        ndarray of shape (n_rows, n_trees_per_iteration_)
            Raw scores of the first rounds.
        """
        yield from self._staged_scores(X)

    def staged_predict_proba(self, X: TableLike) -> Iterator[Floats]:
        """The probabilities of the classes after each round.

        Parameters
        ----------
        X : table
            As in `fit`.

        Yields
        ------
        ndarray of shape (n_rows, n_classes_)
            Probabilities by the first rounds.
        """
        for raw in self._staged_scores(X):
            yield self._shares(raw)

    def staged_predict(self, X: TableLike) -> Iterator[NDArray[Any]]:
        """The labels after each round.

        Parameters
        ----------
        X : table
            As in `fit`.

        Yields
        ------
        ndarray of shape (n_rows,)
            Labels by the first rounds.
        """
        for shares in self.staged_predict_proba(X):
            assert isinstance(self.classes_, np.ndarray)
            yield restore_labels(self.classes_, most_frequent(shares))

    @available_if(has_leaves)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def apply(self, X: TableLike) -> NDArray[np.int64]:
        """The leaf that each row comes to in each tree.

        Parameters
        ----------
        X : table
            As in `fit`.

        Returns
        -------
        ndarray of shape (n_rows, n_estimators_, n_trees_per_iteration_)
            Node numbers in preorder, from 0 in each tree.
        """
        return self._leaves(X)

    def __sklearn_tags__(self) -> Tags:
        """What scikit-learn may expect of the targets this takes."""
        tags = super().__sklearn_tags__()
        several = not (isinstance(self.loss, str) and self.loss == "exponential")
        tags.classifier_tags.multi_class = several and not constrained(self.monotonic_cst)
        tags.classifier_tags.multi_label = False
        return tags
