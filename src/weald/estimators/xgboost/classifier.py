"""`XGBClassifier`: boosted trees for labels, under xgboost's names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from weald.arrays import ColumnLike, Floats, TableLike, TargetLike, WeightLike
from weald.boosting.links import apply_link
from weald.boosting.records import BoostTarget
from weald.data.target import read_weight, restore_labels, warn_of_column
from weald.errors import DataError, ParameterError
from weald.estimators.shared.labels import LabelPredictions, most_frequent, side_by_side
from weald.estimators.xgboost.base import Data
from weald.estimators.xgboost.checkpoints import read_keeping
from weald.estimators.xgboost.model import XGBModel
from weald.estimators.xgboost.names import with_the_way
from weald.estimators.xgboost.options import XGBOptions
from weald.estimators.xgboost.plan import ObjectiveLike, check_objective
from weald.estimators.xgboost.rows import Given, given_sets, read_classes, read_known_classes

if TYPE_CHECKING:
    from sklearn.utils import Tags

_BINARY = ("binary:logistic", "binary:logitraw", "binary:hinge", "reg:logistic")
_MULTI = ("multi:softprob", "multi:softmax")


def _several_outputs(objective: object) -> bool:
    """Whether a target may have columns: softmax speaks of one target."""
    return objective not in _MULTI


def _one_output(model: object) -> bool:
    """Whether raw scores speak of one target; before `fit` nobody knows."""
    return getattr(model, "n_outputs_", 1) == 1


class XGBClassifier(LabelPredictions, XGBModel):
    """Boosted trees for class labels.

    Labels may be of any type. Two classes are learnt by "binary:logistic", more by "multi:softprob"; a target
    of several columns with two labels each is learnt as several yes-or-no questions.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : ndarray, or list of ndarray
        The labels, sorted; of each output if there are several.
    n_classes_ : int
        How many labels; with several outputs how many each of them has, which is two.
    {attributes}

    Examples
    --------
    >>> from weald import XGBClassifier
    >>> X = [["red", 1.0], ["red", 3.0], ["blue", 2.0], ["green", None]] * 5
    >>> model = XGBClassifier(n_estimators=5).fit(X, ["stop", "stop", "go", "go"] * 5)
    >>> model.predict([["red", None], ["blue", 9.0]]).tolist()
    ['stop', 'go']
    """

    _usual_objective: ClassVar[str] = "binary:logistic"

    @with_the_way
    def fit(
        self,
        X: TableLike,
        y: TargetLike,
        *,
        sample_weight: WeightLike | None = None,
        base_margin: ColumnLike | None = None,
        eval_set: Sequence[tuple[TableLike, TargetLike]] | None = None,
        verbose: bool | int | None = False,
        xgb_model: object = None,
        sample_weight_eval_set: Sequence[ColumnLike | None] | None = None,
        base_margin_eval_set: Sequence[ColumnLike | None] | None = None,
        feature_weights: ColumnLike | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_rounds: int | None = None,
        resume: bool = False,
    ) -> Self:
        """Train.

        Parameters
        ----------
        X : table
            A pandas, polars or Arrow frame, a NumPy array, a SciPy sparse matrix or a list of rows. Missing
            values, text and categories are welcome. Or rows in files: `weald.scan(…)`, a path or a
            store; `y`, weights and the like are then names of their columns, and `tree_method` is "hist".
        y : array-like of shape (n_rows,) or (n_rows, n_outputs)
            Labels.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights; a row of weight 0 counts as absent.
        base_margin : array-like of shape (n_rows,) or (n_rows, n_classes), default=None
            Raw scores to start from instead of the base score.
        eval_set : list of (X, y), default=None
            Sets whose metrics are followed; the last decides early stopping.
        verbose : bool, default=False
            Whether to show a progress bar.
        xgb_model : XGBClassifier or path, default=None
            A model to go on from.
        sample_weight_eval_set, base_margin_eval_set : list, default=None
            Weights and margins of the sets.
        feature_weights : array-like of shape (n_columns,), default=None
            As the constructor's.
        checkpoint : str or path-like, default=None
            A file to which the model is written while it grows; see `resume`.
        checkpoint_rounds : int, default=None
            Every how many rounds; None means 10. The last round is written too.
        resume : bool, default=False
            Whether to go on from the rounds of `checkpoint`, to the model that a fit without a stop gives.
            Without the file the fit begins; one of other rows or parameters is refused.

        Returns
        -------
        self
            The fitted estimator.
        """
        sets = given_sets(eval_set, sample_weight_eval_set, base_margin_eval_set)
        given = Given(X, y, sample_weight, base_margin)
        return self._fit(
            given,
            sets,
            verbose=verbose,
            xgb_model=xgb_model,
            feature_weights=feature_weights,
            keeping=read_keeping(checkpoint, checkpoint_rounds, resume, type(self).__name__),
        )

    def _read_target(
        self, given: Given, n_rows: int, options: XGBOptions, known: tuple[NDArray[Any], ...] | None
    ) -> tuple[BoostTarget, tuple[NDArray[Any], ...] | None]:
        owner = type(self).__name__
        weight = read_weight(given.sample_weight, n_rows=n_rows)
        if known is None and not _several_outputs(options.objective):
            warn_of_column(given.y)
        if known is not None and options.class_weight is None:
            return BoostTarget(read_known_classes(given.y, n_rows, known, owner), weight), known
        found = read_classes(given.y, n_rows, weight, options.class_weight, owner)
        if known is None:
            return BoostTarget(found.values, found.weight), found.classes
        return BoostTarget(read_known_classes(given.y, n_rows, known, owner), found.weight), known

    def _choose_objective(self, options: XGBOptions, data: Data) -> tuple[ObjectiveLike, int | None]:
        owner, asked = type(self).__name__, options.objective
        assert data.classes is not None
        check_objective(asked, owner)
        n_classes = len(data.classes[0])
        several = len(data.classes) > 1 or n_classes <= 2  # yes-or-no questions
        if callable(asked):
            return asked, 2 if several else n_classes
        if asked is None or (asked == "binary:logistic" and not several):
            asked = "binary:logistic" if several else "multi:softprob"
        if asked in _BINARY and several:
            return asked, 2
        if asked in _MULTI and len(data.classes) == 1:
            return asked, max(2, n_classes)
        raise _wrong_objective(asked, owner, len(data.classes), n_classes)

    @with_the_way
    def predict(
        self,
        X: TableLike,
        *,
        output_margin: bool = False,
        validate_features: bool = True,
        base_margin: ColumnLike | None = None,
        iteration_range: tuple[int, int] | None = None,
    ) -> NDArray[Any]:
        """The likeliest label of each row.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.
        output_margin : bool, default=False
            Whether to return raw scores instead.
        validate_features : bool, default=True
            Whether columns are matched by name; else by position.
        base_margin : array-like, default=None
            Raw scores to start from instead of the base score.
        iteration_range : (int, int), default=None
            The rounds [first, last); None for all, or those up to the best after early stopping.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_outputs_)
            Labels of the type that `fit` was given.
        """
        raw = self._raw_scores(
            X,
            validate_features=validate_features,
            base_margin=base_margin,
            iteration_range=iteration_range,
        )
        return _squeezed(raw) if output_margin else self._labels(raw)

    @with_the_way
    def predict_proba(
        self,
        X: TableLike,
        validate_features: bool = True,
        base_margin: ColumnLike | None = None,
        iteration_range: tuple[int, int] | None = None,
    ) -> NDArray[np.float64]:
        """The probability of each class.

        Parameters
        ----------
        X : table
            As in `fit`.
        validate_features, base_margin, iteration_range
            As in `predict`.

        Returns
        -------
        ndarray of shape (n_rows, n_classes_) or (n_rows, n_outputs_)
            In the order of `classes_`; with several outputs the probability of each one's second label.
        """
        raw = self._raw_scores(
            X,
            validate_features=validate_features,
            base_margin=base_margin,
            iteration_range=iteration_range,
        )
        return self._probabilities(raw)

    @available_if(_one_output)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def decision_function(self, X: TableLike) -> NDArray[np.float64]:
        """Raw scores: above 0 means the second of two classes, the largest the class of several.

        Only for a target of one column.

        Parameters
        ----------
        X : table
            As in `fit`.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes_)
            Raw scores.
        """
        raw = self._raw_scores(X)
        classes = self._classes_by_output() or ()
        if len(classes) == 1 and len(classes[0]) == 2 and raw.shape[1] == 2:
            return raw[:, 1] - raw[:, 0]
        return _squeezed(raw)

    def staged_predict(self, X: TableLike) -> Iterator[NDArray[Any]]:
        """Predicted labels after each round, up to those that `predict` uses.

        Parameters
        ----------
        X : table
            As in `fit`.

        Yields
        ------
        ndarray of shape (n_rows,)
            Labels.
        """
        for raw in self._staged_scores(X):
            yield self._labels(raw)

    def staged_predict_proba(self, X: TableLike) -> Iterator[NDArray[np.float64]]:
        """Probabilities after each round, up to those that `predict_proba` uses.

        Parameters
        ----------
        X : table
            As in `fit`.

        Yields
        ------
        ndarray of shape (n_rows, n_classes_)
            Probabilities.
        """
        for raw in self._staged_scores(X):
            yield self._probabilities(raw)

    def _labels(self, raw: Floats) -> NDArray[Any]:
        classes = self._classes_by_output()
        assert classes is not None
        labels = [
            restore_labels(known, np.minimum(most_frequent(shares), len(known) - 1))
            for known, shares in zip(classes, self._shares(raw), strict=True)
        ]
        return labels[0] if len(labels) == 1 else side_by_side(labels)

    def _probabilities(self, raw: Floats) -> Floats:
        shares = self._shares(raw)
        if len(shares) > 1:
            return np.column_stack([each[:, -1] for each in shares])
        return shares[0] if self.n_classes_ != 1 else np.ones((len(raw), 1))

    def _shares(self, raw: Floats) -> list[Floats]:
        """For each output the probabilities of its classes."""
        link = self.forest_.link
        if link == "softmax":
            return [self._predictions(raw)]
        second = apply_link("logistic", raw) if link == "identity" else self._predictions(raw)
        return [np.column_stack([1.0 - p, p]) for p in second.reshape(len(raw), -1).T]

    def _classes_and_shares(self, X: TableLike) -> tuple[tuple[NDArray[Any], ...], list[Floats]]:
        classes = self._classes_by_output()
        assert classes is not None
        return classes, self._shares(self._raw_scores(X))

    def __sklearn_tags__(self) -> Tags:
        """What scikit-learn may expect of the targets this takes."""
        tags = super().__sklearn_tags__()
        given = vars(self).get("objective")
        several = _several_outputs(given)
        tags.target_tags.multi_output = tags.classifier_tags.multi_label = several
        tags.classifier_tags.multi_class = given not in _BINARY[1:]
        return tags


def _squeezed(raw: Floats) -> Floats:
    return raw[:, 0] if raw.shape[1] == 1 else raw


def _wrong_objective(asked: object, owner: str, n_outputs: int, n_classes: int) -> ParameterError | DataError:
    if asked in _BINARY:
        return DataError(
            f"Only binary classification is supported by objective={asked!r} of {owner}: it is for two "
            f"classes, and y has {n_classes}. Use 'multi:softprob', or leave `objective` None."
        )
    if asked in _MULTI:
        return DataError(
            f"objective={asked!r} of {owner} is for one target, and y has {n_outputs} columns. Leave "
            "`objective` None to learn a yes-or-no question for each."
        )
    way_out = "Use XGBRanker." if str(asked).startswith("rank:") else "Use XGBRegressor for numbers."
    return ParameterError(
        f"objective={asked!r} of {owner} is none for classes; those are {', '.join(_BINARY + _MULTI)}. "
        f"{way_out}"
    )
