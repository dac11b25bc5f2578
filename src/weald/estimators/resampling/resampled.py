"""`Resampled`: a classifier that learns from resampled rows and gives the probabilities of the data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from weald.arrays import AnyEstimator, Classifier, Estimator, Floats, TableLike, TargetLike, WeightLike
from weald.data.frames.user_rows import indexable, outline, take
from weald.data.target import Labels, read_labels, read_weight, restore_labels, warn_of_column
from weald.errors import DataError, ParameterError, UnsupportedTargetError
from weald.estimators.resampling.options import CorrectionOptions, ResampledOptions
from weald.estimators.resampling.parts import TrainingRows, fit_on, proba_among, unseen_map
from weald.estimators.resampling.saving import ResampledState
from weald.estimators.shared.contract import CheckedParameters
from weald.estimators.shared.members import limit_input_tags
from weald.estimators.shared.routing import check_params, params_of_rows
from weald.estimators.shared.saving import Saving
from weald.estimators.shared.state import set_fitted
from weald.parameters import checked
from weald.resampling.calibration import ShareMap
from weald.resampling.priors import correct_priors

if TYPE_CHECKING:
    from sklearn.utils import Tags
    from sklearn.utils.metadata_routing import MetadataRouter


def _estimator_has(method: str) -> Any:
    """Whether the estimator has a method, fitted or not; `available_if` asks it."""

    def check(self: Resampled) -> bool:
        getattr(getattr(self, "estimator_", self.estimator), method)
        return True

    return check


class Resampled(
    ResampledState,
    CheckedParameters,
    ClassifierMixin,  # type: ignore[misc]  # scikit-learn has no types
    MetaEstimatorMixin,  # type: ignore[misc]
    Saving,
    BaseEstimator,  # type: ignore[misc]
):
    """A classifier that resamples the rows it learns from, and gives the probabilities of the data.

    Only `fit` resamples. Whatever cross-validates this, a Pipeline or a search, scores rows as they are: no
    new row, and no row that a new one was made of, is ever in a scored fold.

    A model that learned from balanced rows takes the rare class for as frequent as the others, so its
    probabilities are too high for it. `predict_proba` undoes that. By how much, five further fits tell, each
    on what another fifth of the rows leaves, and asked about that fifth (equation R11 of
    docs/methods/resampling.md): a forest that knows every copy of a rare row by heart, or a class that new
    rows changed, is not mended by the class shares alone (R10). What resampling lost, such as where between
    the classes few rows are, a fit of the same estimator on the rows as they are knows: its probabilities
    take part as far as these fifths say that they help (R12).

    Parameters
    ----------
    estimator : classifier
        Any with scikit-learn's contract.
    sampler : sampler
        Any with `fit_resample`: weald's, or imbalanced-learn's.
    correct_prior : bool, "blend" or "shares", default=True
        Whether `predict_proba` is under the class shares of the data. True fits that on rows that further
        fits did not see, and lets a fit on the rows as they are take part, if the sampler leaves at least
        half as many rows as there were; else that fit would cost more than all others together. "blend" lets
        it take part after any sampler. Five further fits of each kind take as long as that sounds; where the
        rarest class has more than 1,000 rows they are fewer, with 5,000 one of each kind. "shares" multiplies
        by the class shares of the data over those of the resampled rows, which needs no further fit and is
        right where the estimator's probabilities are right for the resampled rows. False for those the
        estimator gives.
    decide : {"resampled", "corrected"}, default="resampled"
        What `predict` goes by. "resampled": what the estimator predicts, which takes classes for as frequent
        as the sampler made them, and so finds more of the rare rows. "corrected": the class of the largest
        probability of `predict_proba`, which errs least often.

    Attributes
    ----------
    estimator_ : classifier
        The fitted estimator.
    sampler_ : sampler
        The fitted sampler.
    classes_ : ndarray
        The labels, in order.
    class_shares_ : ndarray of shape (n_classes,)
        The share of each class in the data, by weight if there is one.
    resampled_shares_ : ndarray of shape (n_classes,)
        The same among the resampled rows.
    plain_estimator_ : classifier or None
        The estimator fitted on the rows as they are, if it takes part in probabilities.
    share_map_ : ShareMap or None
        What makes probabilities of the estimators', from rows that further fits did not see. None where the
        class shares alone do: by `correct_prior`, or because a class has fewer than ten rows, the estimator
        has no probabilities, the sampler left the shares as they were, or (with a warning) a further fit
        failed.
    n_features_in_ : int
        How many columns the table had.
    feature_names_in_ : ndarray
        Their names; only if all of them are text.

    Examples
    --------
    >>> import numpy as np
    >>> from weald import RandomUnderSampler, RandomForestClassifier, Resampled
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(2000) < 0.05
    >>> X = rng.normal(size=(2000, 2)) + y[:, None]
    >>> forest = RandomForestClassifier(min_samples_leaf=20, random_state=0)
    >>> model = Resampled(forest, RandomUnderSampler(random_state=0)).fit(X, y)
    >>> bool(abs(model.predict_proba(X)[:, 1].mean() - y.mean()) < 0.02)
    True
    >>> bool(model.estimator_.predict_proba(X)[:, 1].mean() > 0.2)  # as if half of the rows were rare
    True
    """

    _options = ResampledOptions
    _nested = True

    estimator_: Classifier
    sampler_: Any
    classes_: NDArray[Any]
    class_shares_: Floats
    resampled_shares_: Floats
    share_map_: ShareMap | None
    plain_estimator_: Classifier | None

    def __init__(
        self,
        estimator: Estimator,
        sampler: object,
        *,
        correct_prior: bool | Literal["blend", "shares"] = True,
        decide: Literal["resampled", "corrected"] = "resampled",
    ) -> None:
        self.estimator = estimator
        self.sampler = sampler
        self.correct_prior = correct_prior
        self.decide = decide

    def fit(
        self,
        X: TableLike,
        y: TargetLike | None = None,
        sample_weight: WeightLike | None = None,
        **fit_params: object,
    ) -> Self:
        """Resample the rows, and fit the estimator on them.

        Parameters
        ----------
        X : table
            What the sampler and the estimator take; with weald's any table.
        y : array-like of shape (n_rows,)
            The labels.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows, if the estimator takes any. A new row has the weight of the row it stands on;
            a row of weight 0 is absent.
        **fit_params
            What metadata routing passes on to the estimator.

        Returns
        -------
        self
            The fitted classifier.
        """
        options = self._checked_options()
        owner = type(self).__name__
        check_params(fit_params, owner, "fit")
        X = indexable(X)
        seen = outline(X)
        labels = _labels(y, seen.n_rows, owner)
        weight = read_weight(sample_weight, n_rows=seen.n_rows)
        if weight is not None and not weight.all():  # a row of weight 0 is absent, and no row is made of it
            there = np.flatnonzero(weight)
            X, weight, fit_params = (
                take(X, there),
                weight[there],
                params_of_rows(fit_params, there, seen.n_rows),
            )
            labels = _labels(restore_labels(labels.classes, labels.indices[there]), len(there), owner)
        rows = TrainingRows(X, labels, weight, fit_params)
        found = fit_on(self, rows)
        by_unseen = options.correct_prior and options.correct_prior != "shares"
        told: dict[str, Any] = {"feature_names_in_": np.array(seen.names, object)} if seen.named else {}
        told |= {"sampler_": found.sampler, "n_features_in_": seen.n_columns}
        share_map, plain = None, None
        if by_unseen:
            share_map, plain = unseen_map(self, rows, found, options.correct_prior == "blend")
        told |= {"share_map_": share_map, "plain_estimator_": plain}
        self._set_fitted(found.estimator, labels.classes, found.shares, found.shares_after, told)
        return self

    def _set_fitted(
        self,
        fitted: AnyEstimator,
        classes: NDArray[Any],
        share: Floats,
        share_after: Floats,
        more: Mapping[str, Any],
    ) -> None:
        """Assign everything a fit (or a model file) brings, at once."""
        learned = {
            "estimator_": fitted,
            "classes_": classes,
            "class_shares_": share,
            "resampled_shares_": share_after,
            **more,
        }
        set_fitted(self, learned, forgotten=("sampler_",))

    # ----------------------------------------------------------------------- predictions

    def predict(self, X: TableLike) -> NDArray[Any]:
        """The label of each row, by `decide`.

        Parameters
        ----------
        X : table
            As in `fit`.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels.
        """
        check_is_fitted(self)
        if self._how().decide == "resampled":
            return np.asarray(self.estimator_.predict(X))
        if not hasattr(self.estimator_, "predict_proba"):
            raise ParameterError(
                f"decide='corrected' goes by probabilities, and {type(self.estimator_).__name__} has no "
                "predict_proba. Use decide='resampled', or an estimator that has it."
            )
        return restore_labels(self.classes_, np.argmax(self._corrected(X), axis=1))

    @available_if(_estimator_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: TableLike) -> NDArray[np.float64]:
        """The probability of each class.

        Parameters
        ----------
        X : table
            As in `fit`.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            In the order of `classes_`; under the class shares of the data, or with `correct_prior=False` as
            the estimator gives them.
        """
        check_is_fitted(self)
        return self._corrected(X) if self._how().correct_prior else self._raw_proba(X)

    @available_if(_estimator_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: TableLike) -> NDArray[np.float64]:
        """The logarithm of `predict_proba`; -inf for a probability of 0.

        Parameters
        ----------
        X : table
            As in `fit`.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Natural logarithms, in the order of `classes_`.
        """
        with np.errstate(divide="ignore"):
            logarithms: NDArray[np.float64] = np.log(self.predict_proba(X))
        return logarithms

    @available_if(_estimator_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: TableLike) -> NDArray[np.float64]:
        """What the estimator's `decision_function` says: of the resampled rows, uncorrected.

        Parameters
        ----------
        X : table
            As in `fit`.

        Returns
        -------
        ndarray
            As the estimator gives it.
        """
        check_is_fitted(self)
        fitted: AnyEstimator = self.estimator_
        found: NDArray[np.float64] = np.asarray(fitted.decision_function(X))
        return found

    def _how(self) -> CorrectionOptions:
        """What predictions go by; a loaded model may have no sampler, and needs none for them."""
        values = {"correct_prior": self.correct_prior, "decide": self.decide}
        return checked(CorrectionOptions, type(self).__name__, values)

    def _raw_proba(self, X: TableLike) -> Floats:
        """The estimator's probabilities, in the order of `classes_`; 0 for a class it never saw."""
        return proba_among(self.estimator_, X, self.classes_)

    def _corrected(self, X: TableLike) -> Floats:
        """Probabilities under the class shares of the data; equations R10 to R12."""
        proba = self._raw_proba(X)
        if self.share_map_ is None or self._how().correct_prior == "shares":
            return correct_priors(proba, self.class_shares_, self.resampled_shares_)
        plain = self.plain_estimator_
        return self.share_map_(proba, None if plain is None else proba_among(plain, X, self.classes_))

    # ----------------------------------------------------------------------- scikit-learn

    def get_metadata_routing(self) -> MetadataRouter:
        """What is passed on to `fit` of the estimator.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRouter
            As scikit-learn's tools read it.
        """
        from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=self).add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_is_fitted__(self) -> bool:
        """Whether `fit` has ended well once."""
        return "estimator_" in vars(self)

    def __sklearn_tags__(self) -> Tags:
        """What scikit-learn may expect: tables that estimator and sampler take."""
        tags = super().__sklearn_tags__()
        limit_input_tags(tags, [self.estimator, self.sampler])
        return tags


def _labels(y: TargetLike | None, n_rows: int, owner: str) -> Labels:
    outputs = read_labels(y, n_rows=n_rows, estimator=owner)
    if len(outputs) > 1:
        raise UnsupportedTargetError(
            f"Multioutput target data is not supported by {owner}: y has {len(outputs)} columns. Give one "
            "label per row."
        )
    if len(outputs[0].classes) < 2:
        raise DataError(
            f"{owner} needs rows of more than 1 class; y holds {outputs[0].classes.tolist()[0]!r} alone. "
            "Give it rows of every class, for example by stratified folds."
        )
    warn_of_column(y)
    return outputs[0]
