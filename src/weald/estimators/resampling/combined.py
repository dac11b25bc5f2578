"""`SMOTEENN` and `SMOTETomek`: new rows first, then those dropped that other classes surround."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import clone

from weald.arrays import AnyEstimator, Estimator, RandomState, TableLike, TargetLike
from weald.estimators.resampling.base import BaseSampler
from weald.estimators.resampling.cleaning import EditedNearestNeighbours, TomekLinks
from weald.estimators.resampling.options import CombinedOptions, SmoteEnnOptions, SmoteTomekOptions
from weald.estimators.resampling.smote import SMOTE
from weald.resampling.strategy import Strategy


class _Combined(BaseSampler):
    """An over-sampler, then a sampler that cleans."""

    _kind = "over"
    _reads = False
    _nested = True

    random_state: RandomState
    smote: AnyEstimator
    n_jobs: int | None

    def fit_resample(self, X: TableLike, y: TargetLike) -> tuple[TableLike, TargetLike]:
        """Resample a table and its labels.

        Parameters
        ----------
        X : table
            As in `SMOTE`.
        y : array-like of shape (n_rows,)
            The labels.

        Returns
        -------
        X_resampled : table
            Of the kind of X, every column of its own type.
        y_resampled : array-like
            Of the kind of y.
        """
        options = self._checked_options()
        given = self._given(X, y, options)
        first, second = self._first(options), self._second(options)
        made, labels = first.fit_resample(X, y)
        result: tuple[TableLike, TargetLike] = second.fit_resample(made, labels)
        learned: dict[str, Any] = {"smote_": first, self._cleaner: second}
        if hasattr(first, "synthetic_") and hasattr(second, "sample_indices_"):
            kept = second.sample_indices_
            learned |= {
                "sample_indices_": first.sample_indices_[kept],
                "synthetic_": np.asarray(first.synthetic_)[kept],
            }
        self._set_fitted(given, learned, forgotten=("sample_indices_", "synthetic_"))
        return result

    #: the attribute that has the fitted second sampler
    _cleaner: str

    def _first(self, options: CombinedOptions) -> AnyEstimator:
        if options.smote is not None:
            return clone(options.smote)
        return SMOTE(
            sampling_strategy=self.sampling_strategy, random_state=options.random_state, n_jobs=options.n_jobs
        )

    @abstractmethod
    def _second(self, options: Any) -> AnyEstimator:
        """The sampler that cleans."""


class SMOTEENN(_Combined):
    """`SMOTE`, then `EditedNearestNeighbours` on all classes.

    Parameters
    ----------
    sampling_strategy : float, str, dict or callable, default="auto"
        Of the SMOTE, as there.
    random_state : int or RandomState, default=None
        Of the SMOTE.
    smote : sampler, default=None
        What makes rows; None for `SMOTE()` with the parameters above.
    enn : sampler, default=None
        What drops rows; None for `EditedNearestNeighbours(sampling_strategy="all")`.
    n_jobs : int, default=None
        Threads; None for every CPU of the process.

    Attributes
    ----------
    smote_, enn_ : samplers
        The fitted samplers.
    sampling_strategy_ : dict
        Rows to add, by label.
    sample_indices_, synthetic_, n_features_in_, feature_names_in_
        As in `SMOTE`.

    Examples
    --------
    >>> import numpy as np
    >>> from weald import SMOTE, SMOTEENN
    >>> X = np.array([[0.0], [0.1], [0.2], [0.3], [0.4], [0.5], [5.0], [5.1], [5.2]])
    >>> sampler = SMOTEENN(smote=SMOTE(k_neighbors=2, random_state=0))
    >>> np.bincount(sampler.fit_resample(X, [0] * 6 + [1] * 3)[1]).tolist()
    [6, 6]
    """

    _options = SmoteEnnOptions
    _cleaner = "enn_"

    def __init__(
        self,
        *,
        sampling_strategy: Strategy = "auto",
        random_state: RandomState = None,
        smote: Estimator | None = None,
        enn: Estimator | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.sampling_strategy = sampling_strategy
        self.random_state = random_state
        self.smote = smote
        self.enn = enn
        self.n_jobs = n_jobs

    def _second(self, options: SmoteEnnOptions) -> Any:
        if options.enn is not None:
            return clone(options.enn)
        return EditedNearestNeighbours(sampling_strategy="all", n_jobs=options.n_jobs)


class SMOTETomek(_Combined):
    """`SMOTE`, then `TomekLinks` on all classes.

    Parameters
    ----------
    sampling_strategy : float, str, dict or callable, default="auto"
        Of the SMOTE, as there.
    random_state : int or RandomState, default=None
        Of the SMOTE.
    smote : sampler, default=None
        What makes rows; None for `SMOTE()` with the parameters above.
    tomek : sampler, default=None
        What drops rows; None for `TomekLinks(sampling_strategy="all")`.
    n_jobs : int, default=None
        Threads; None for every CPU of the process.

    Attributes
    ----------
    smote_, tomek_ : samplers
        The fitted samplers.
    sampling_strategy_ : dict
        Rows to add, by label.
    sample_indices_, synthetic_, n_features_in_, feature_names_in_
        As in `SMOTE`.

    Examples
    --------
    >>> import numpy as np
    >>> from weald import SMOTE, SMOTETomek
    >>> X = np.array([[0.0], [0.1], [0.2], [0.3], [0.4], [0.5], [5.0], [5.1], [5.2]])
    >>> sampler = SMOTETomek(smote=SMOTE(k_neighbors=2, random_state=0))
    >>> np.bincount(sampler.fit_resample(X, [0] * 6 + [1] * 3)[1]).tolist()
    [6, 6]
    """

    _options = SmoteTomekOptions
    _cleaner = "tomek_"

    def __init__(
        self,
        *,
        sampling_strategy: Strategy = "auto",
        random_state: RandomState = None,
        smote: Estimator | None = None,
        tomek: Estimator | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.sampling_strategy = sampling_strategy
        self.random_state = random_state
        self.smote = smote
        self.tomek = tomek
        self.n_jobs = n_jobs

    def _second(self, options: SmoteTomekOptions) -> Any:
        if options.tomek is not None:
            return clone(options.tomek)
        return TomekLinks(sampling_strategy="all", n_jobs=options.n_jobs)
