"""`AdaBoostRegressor`: AdaBoost.R2, members that are fitted where those before them were far off.

Parameters and attributes are scikit-learn's. Members that are weald's trees share one coding of the table.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from weald.adaboost.following import NumberScore
from weald.adaboost.judging import NumberTask
from weald.adaboost.medians import RunningMedians, weighted_median
from weald.adaboost.records import Round
from weald.adaboost.table import RoundTable, round_table
from weald.arrays import Estimator, RandomState, TableLike, TargetLike, WeightLike
from weald.data.target import read_target
from weald.estimators.adaboost.base import BaseAdaBoost
from weald.estimators.adaboost.options import AdaBoostOptions, AdaBoostRegressorOptions
from weald.estimators.shared.class_weight import Weights
from weald.estimators.shared.fitted import Target
from weald.estimators.tree.decision_tree import DecisionTreeRegressor

if TYPE_CHECKING:
    from sklearn.utils import Tags


class AdaBoostRegressor(RegressorMixin, BaseAdaBoost):  # type: ignore[misc]  # scikit-learn has no types
    """Regressors one after another, each on rows weighed by how far off those before it were: AdaBoost.R2.

    A member with the weighted mean loss ε counts ln((1 − ε) / ε), times the learning rate; a row that loses
    nothing weighs ε / (1 − ε) times as much in the next round, the worst row as much as before. The ensemble
    predicts the weighted median of its members.

    Parameters
    ----------
    estimator : estimator, default=None
        What is fitted in each round, by any library that keeps scikit-learn's contract; None for weald's
        DecisionTreeRegressor(max_depth=3). With weald's trees the table may hold anything that weald reads,
        and is coded once.
    n_estimators : int, default=50
        The most rounds. A member without a mistake ends boosting.
    learning_rate : float, default=1.0
        What the weights of members are multiplied with.
    loss : {"linear", "square", "exponential"}, default="linear"
        What a row loses that is a share x of the worst row's distance off: x, x² or 1 − e^−x.
    resample : {"compound", "reset", "replace"}, default=None
        None gives members weights for the rows, or is "compound" if they take none. The others draw as many
        rows as there are, by weight and with replacement. "compound", which is what scikit-learn does: the
        member is judged on all rows, whose weights go on compounding. "reset": it is judged on its sample,
        and weights start anew from the first ones. "replace": the sample becomes the data of the next round.
        Under the last two the first member has all rows, if those weigh the same.
    worse_than_chance : {"stop", "reset"}, default="stop"
        What happens when the mean loss is ½ or more: boosting ends (a first member stays, alone), or the
        round is tried again with the weights of the start.
    cat_penalty : float or "auto", default="auto"
        How much weald's trees hold back from categories: the best of all splits by categories gains by
        chance, and later rounds cannot take that back. "auto" leaves it to the `cat_penalty` of the tree,
        a number holds back from columns of more than five categories, 0 not at all.
    early_stopping : float or (X, y), default=None
        End when the squared error on a share of the rows, held out, or on a set no longer falls; the rounds
        up to the best one are kept.
    early_stopping_rounds : int, default=None
        Rounds without improvement before that; 10 if `early_stopping` is given.
    keep_row_weights : bool, default=False
        Whether to keep the row weights of every round in `row_weights_`. `row_weights` and
        `staged_row_weights` tell them again without.
    n_jobs : int, default=None
        Threads for weald's trees; None for every CPU of the process. The model does not depend on it.
    random_state : int or RandomState, default=None
        What samples and rows held out are drawn from; members with a `random_state` get one each.
    verbose : int, default=0
        Whether to show progress on stderr.

    Attributes
    ----------
    estimator_ : estimator
        What was fitted in each round.
    estimators_ : list of estimators
        The members.
    estimator_weights_ : ndarray of shape (n_rounds,)
        What each member counts.
    estimator_errors_ : ndarray of shape (n_rounds,)
        The weighted mean loss of each.
    category_shrinkage_ : dict
        Of weald's trees: by categorical column, how many rows a category needs for its own mean to count
        half; infinity where the means vary no more than chance. Not kept in model files.
    rounds_ : RoundTable
        Error and say, round by round.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The mean of the members' importances, by weight; if they have any.
    n_features_in_ : int
        How many columns the table had.
    feature_names_in_ : ndarray
        Their names; only if all of them are text.
    validation_errors_ : ndarray
        The squared error on the rows held out, for every round; only with `early_stopping`, not kept in model
        files.
    row_weights_ : ndarray of shape (n_rounds, n_rows)
        Only with `keep_row_weights`; not kept in model files.

    Examples
    --------
    >>> from weald import AdaBoostRegressor
    >>> model = AdaBoostRegressor(n_estimators=5).fit([[1.0], [2.0], [8.0]], [10.0, 12.0, 40.0])
    >>> model.predict([[1.2], [9.0]])
    array([10., 40.])
    """

    _options = AdaBoostRegressorOptions
    _kind = "regressor"

    def __init__(
        self,
        estimator: Estimator | None = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        loss: str = "linear",
        resample: str | None = None,
        worse_than_chance: str = "stop",
        cat_penalty: float | str = "auto",
        early_stopping: float | tuple[TableLike, TargetLike] | None = None,
        early_stopping_rounds: int | None = None,
        keep_row_weights: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.loss = loss
        self.resample = resample
        self.worse_than_chance = worse_than_chance
        self.cat_penalty = cat_penalty
        self.early_stopping = early_stopping
        self.early_stopping_rounds = early_stopping_rounds
        self.keep_row_weights = keep_row_weights
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def predict(self, X: TableLike) -> NDArray[np.float64]:
        """The weighted median of the members' predictions.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.

        Returns
        -------
        ndarray of shape (n_rows,)
            Predicted targets.
        """
        check_is_fitted(self)
        members = self._members
        table = members.read(X, type(self).__name__)
        found = np.empty(members.n_rows(table))
        for rows, predicted in members.blocks(table, self._checked_options().n_jobs):
            found[rows] = weighted_median(predicted, self.estimator_weights_)
        return found

    def staged_predict(self, X: TableLike) -> Iterator[NDArray[np.float64]]:
        """The predictions after every round.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.

        Yields
        ------
        ndarray of shape (n_rows,)
            Predicted targets.
        """
        check_is_fitted(self)
        members = self._members
        table = members.read(X, type(self).__name__)
        medians = RunningMedians(members.n_rows(table))
        each = members.each(table, self._checked_options().n_jobs)
        for predicted, weight in zip(each, self.estimator_weights_.tolist(), strict=True):
            yield medians.add(predicted, weight)

    def staged_score(
        self, X: TableLike, y: TargetLike, sample_weight: WeightLike | None = None
    ) -> Iterator[float]:
        """R² after every round.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.
        y : array-like of shape (n_rows,)
            The true targets.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows.

        Yields
        ------
        float
            At most 1.
        """
        from sklearn.metrics import r2_score

        for predicted in self.staged_predict(X):
            yield float(r2_score(y, predicted, sample_weight=sample_weight))

    def _default(self) -> Estimator:
        return DecisionTreeRegressor(max_depth=3)

    def _read_target(self, y: TargetLike | None, n_rows: int, weight: Weights | None) -> Target:
        return Target(read_target(y, n_rows=n_rows, estimator=type(self).__name__), None, weight)

    def _task(self, target: Target, present: NDArray[np.bool_], options: AdaBoostOptions) -> NumberTask:
        options = cast(AdaBoostRegressorOptions, options)
        return NumberTask(target.values[:, 0], present, options.loss, options.learning_rate)

    def _score(self, truth: NDArray[Any], target: Target, units: NDArray[np.int64]) -> NumberScore:
        return NumberScore(truth, units)

    def _round_table(
        self, rounds: tuple[Round, ...], options: AdaBoostOptions, classes: NDArray[Any] | None
    ) -> RoundTable:
        return round_table(rounds, labels=False, bounded=False)

    def __sklearn_tags__(self) -> Tags:
        """What scikit-learn may expect of the targets this takes: those of the base estimator."""
        tags = super().__sklearn_tags__()
        base = self._default() if self.estimator is None else self.estimator
        if hasattr(base, "__sklearn_tags__"):
            tags.target_tags.positive_only = base.__sklearn_tags__().target_tags.positive_only
        return tags
