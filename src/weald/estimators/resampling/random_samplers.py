"""`RandomOverSampler` and `RandomUnderSampler`: rows drawn by chance, repeated or dropped."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from weald.arrays import CategoricalFeatures, RandomState
from weald.data.target import positions_among
from weald.errors import ParameterError, listing, told
from weald.estimators.resampling.base import Given, Outcome, RowSampler
from weald.estimators.resampling.options import RandomOverOptions, RandomUnderOptions, Shrinkage
from weald.estimators.shared.growth import drawn_seed
from weald.numbers import as_float
from weald.random import Purpose
from weald.resampling.draws import positions, without_replacement
from weald.resampling.made import MadeRows
from weald.resampling.noise import around
from weald.resampling.strategy import Strategy


class RandomOverSampler(RowSampler[RandomOverOptions]):
    """Repeat rows of rare classes, drawn with replacement, or make rows about them.

    Takes any table, and never looks at values unless `shrinkage` asks for new ones: then the numbers of a
    drawn row get normal noise, as in ROSE (a smoothed bootstrap, equation R4 of docs/methods/resampling.md),
    whole numbers rounded and within the range that is there; levels, bools and gaps are as in the drawn row.
    Of a sparse matrix only what is stored gets noise.

    Parameters
    ----------
    sampling_strategy : float, str, dict or callable, default="auto"
        Which classes, and how many rows: "auto" = "not majority", "minority", "all"; for two classes the
        ratio of the rarer to the other; a dict of label to rows; a function of y that gives one.
    random_state : int or RandomState, default=None
        What all draws start from.
    shrinkage : float or dict of label to float, default=None
        How much noise; 1 is Silverman's rule. None repeats rows as they are.
    categorical_features : list of names, positions or bools, default=None
        Numeric columns to treat as categories, which get no noise.

    Attributes
    ----------
    sampling_strategy_ : dict
        Rows to add, by label.
    sample_indices_ : ndarray of shape (n_rows_resampled,)
        The row of X that each row is, or was made of.
    synthetic_ : ndarray of bool of shape (n_rows_resampled,)
        Which rows are not rows of X.
    shrinkage_ : dict or None
        The shrinkage of each class that gets rows.
    n_features_in_ : int
        How many columns the table had.
    feature_names_in_ : ndarray
        Their names; only if all of them are text.

    Examples
    --------
    >>> from weald import RandomOverSampler
    >>> X, y = RandomOverSampler(random_state=0).fit_resample([[1], [2], [3], [9]], ["a", "a", "a", "b"])
    >>> y.count("a"), y.count("b"), X[-1]
    (3, 3, [9])
    """

    _options = RandomOverOptions
    _kind = "over"

    def __init__(
        self,
        *,
        sampling_strategy: Strategy = "auto",
        random_state: RandomState = None,
        shrinkage: Shrinkage = None,
        categorical_features: CategoricalFeatures = None,
    ) -> None:
        self.sampling_strategy = sampling_strategy
        self.random_state = random_state
        self.shrinkage = shrinkage
        self.categorical_features = categorical_features

    @property
    def _reads(self) -> bool:  # type: ignore[override]
        return self.shrinkage is not None

    def _decide(self, given: Given, options: RandomOverOptions) -> Outcome:
        seed = drawn_seed(options.random_state)
        drawn = []
        for k, n in given.asked.items():
            rows = given.rows_of_class(k)
            drawn.append(rows[positions(seed, Purpose.RESAMPLED_ROW, k, n, len(rows))])
        base = np.concatenate([np.empty(0, np.intp), *drawn])
        shrinkage = _shrinkage(options.shrinkage, given, type(self).__name__)
        classes = given.labels.classes.tolist()
        told_of = None if shrinkage is None else {classes[k]: value for k, value in shrinkage.items()}
        learned = {"shrinkage_": told_of}
        if shrinkage is None:
            return Outcome(kept=np.concatenate((np.arange(given.n_rows), base)), learned=learned)
        assert given.table is not None
        by_class = {k: given.rows_of_class(k) for k in given.asked}
        numbers = around(given.table, base, by_class, given.asked, shrinkage, seed)
        return Outcome(made=MadeRows(base, {}, numbers), learned=learned)


class RandomUnderSampler(RowSampler[RandomUnderOptions]):
    """Drop rows of frequent classes by chance, so that all have as many as the rarest.

    Takes any table, and never looks at values. The rows that stay come class by class, in the order they were
    drawn; pandas rows keep their index.

    Parameters
    ----------
    sampling_strategy : float, str, dict or callable, default="auto"
        Which classes, and how many rows: "auto" = "not minority", "majority", "all"; for two classes the
        ratio of the rarer to the other; a dict of label to rows; a function of y that gives one.
    random_state : int or RandomState, default=None
        What all draws start from.
    replacement : bool, default=False
        Whether a row may be drawn more than once.

    Attributes
    ----------
    sampling_strategy_ : dict
        Rows to keep, by label.
    sample_indices_ : ndarray of shape (n_rows_resampled,)
        The rows of X that stay.
    synthetic_ : ndarray of bool of shape (n_rows_resampled,)
        False for every row.
    n_features_in_ : int
        How many columns the table had.
    feature_names_in_ : ndarray
        Their names; only if all of them are text.

    Examples
    --------
    >>> from weald import RandomUnderSampler
    >>> X, y = RandomUnderSampler(random_state=0).fit_resample([[1], [2], [3], [9]], ["a", "a", "a", "b"])
    >>> sorted(y)
    ['a', 'b']
    """

    _options = RandomUnderOptions
    _kind = "under"
    _reads = False

    def __init__(
        self,
        *,
        sampling_strategy: Strategy = "auto",
        random_state: RandomState = None,
        replacement: bool = False,
    ) -> None:
        self.sampling_strategy = sampling_strategy
        self.random_state = random_state
        self.replacement = replacement

    def _decide(self, given: Given, options: RandomUnderOptions) -> Outcome:
        seed = drawn_seed(options.random_state)
        kept = []
        for k in range(len(given.labels.classes)):
            rows = given.rows_of_class(k)
            if k in given.asked:
                n = given.asked[k]
                if options.replacement:
                    rows = rows[positions(seed, Purpose.RESAMPLED_ROW, k, n, len(rows))]
                else:
                    rows = rows[without_replacement(seed, k, n, len(rows))]
            kept.append(rows)
        return Outcome(kept=np.concatenate(kept))


# --------------------------------------------------------------------------- noise


def _shrinkage(given_value: Shrinkage, given: Given, owner: str) -> dict[int, float] | None:
    """The shrinkage of each class that gets rows, checked."""
    if given_value is None:
        return None
    if not isinstance(given_value, Mapping):
        return dict.fromkeys(given.asked, float(given_value))
    labels = np.empty(len(given_value), dtype=object)
    labels[:] = list(given_value)
    places = positions_among(labels, given.labels.classes)
    found = {int(k): as_float(given_value[label]) for k, label in zip(places, given_value, strict=True)}
    for label, value in given_value.items():
        if not as_float(value) >= 0:
            raise ParameterError(
                f"`shrinkage` of {owner} must be numbers of at least 0; got {told(value)} for class "
                f"{told(label)}."
            )
    absent = [given.labels.classes.tolist()[k] for k in given.asked if k not in found]
    if absent:
        raise ParameterError(
            f"`shrinkage` of {owner} has nothing for {listing(absent)}, which gets new rows. Give a number "
            "for each such class, or one number for all."
        )
    return {k: found[k] for k in given.asked}
