"""What all samplers share: reading a table and its labels, the steps of `fit_resample`."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from weald.arrays import AnyTable, Flags, TableLike, TargetLike
from weald.data.adapters import to_table
from weald.data.frames.by_column import rows_of, rows_of_target
from weald.data.frames.user_rows import indexable, outline
from weald.data.schema import Schema
from weald.data.table import Outline, Table
from weald.data.target import Labels, read_labels, warn_of_column
from weald.errors import UnsupportedTargetError
from weald.estimators.resampling.options import SamplerOptions, TableOptions
from weald.estimators.shared.contract import CheckedParameters
from weald.estimators.shared.state import set_fitted
from weald.resampling.assemble import with_made_rows
from weald.resampling.made import MadeRows
from weald.resampling.strategy import Kind, Strategy, rows_per_class

if TYPE_CHECKING:
    from sklearn.utils import Tags

Rows: TypeAlias = NDArray[np.intp]
#: the parameters of a sampler, as a record
OptionsT = TypeVar("OptionsT", bound=SamplerOptions)


@dataclass(frozen=True, slots=True)
class Given:
    """What a sampler works on."""

    X: AnyTable
    outline: Outline
    table: Table | None  # read and aligned, where the sampler looks at values
    labels: Labels
    asked: dict[int, int]  # position of a class → rows to add, or to keep

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.outline.n_rows

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many rows each class has."""
        return np.bincount(self.labels.indices, minlength=len(self.labels.classes))

    def rows_of_class(self, position: int) -> Rows:
        """The rows of a class."""
        return np.flatnonzero(self.labels.indices == position)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a sampler decides: which rows stay, in their order, some twice; or new rows after all of them."""

    kept: Rows | None = None
    made: MadeRows | None = None
    learned: dict[str, Any] | None = None

    def origin(self, n_rows: int) -> Rows:
        """For each row of the result the row it is, or stands on."""
        if self.made is not None:
            return np.concatenate((np.arange(n_rows), self.made.base))
        assert self.kept is not None
        return self.kept


class BaseSampler(CheckedParameters, BaseEstimator, metaclass=ABCMeta):  # type: ignore[misc]  # scikit-learn has no types
    """The shared base of the samplers."""

    #: by which imbalanced-learn knows a sampler
    _estimator_type = "sampler"
    _kind: ClassVar[Kind]
    #: whether it looks at the values of the table
    _reads: ClassVar[bool] = True

    sampling_strategy: Strategy

    sampling_strategy_: dict[Any, int]
    sample_indices_: Rows
    synthetic_: Flags
    n_features_in_: int

    def fit(self, X: TableLike, y: TargetLike) -> Self:
        """Check a table and its labels, and what `sampling_strategy` makes of them; `fit_resample` does all.

        Parameters
        ----------
        X : table
            As in `fit_resample`.
        y : array-like of shape (n_rows,)
            The labels.

        Returns
        -------
        self
            With `sampling_strategy_`.
        """
        given = self._given(X, y, self._checked_options())
        self._set_fitted(given, {}, forgotten=("sample_indices_", "synthetic_"))
        return self

    @abstractmethod
    def fit_resample(self, X: TableLike, y: TargetLike) -> tuple[TableLike, TargetLike]:
        """Resample a table and its labels."""

    # ----------------------------------------------------------------------- reading

    def _given(self, X: TableLike, y: TargetLike, options: SamplerOptions) -> Given:
        """The table and its labels, checked."""
        owner = type(self).__name__
        table = self._table(X, options) if isinstance(options, TableOptions) and self._reads else None
        seen = _outline(X) if table is None else Outline(table.names, table.n_rows, table.named)
        labels = one_label(y, seen.n_rows, owner)
        asked = rows_per_class(options.sampling_strategy, labels, self._kind, owner)
        return Given(X, seen, table, labels, asked)

    def _table(self, X: TableLike, options: TableOptions) -> Table:
        declared = options.categorical_features
        table = to_table(X, categorical_features=None if _is_auto(declared) else declared)
        return Schema.of(table).align(table)

    def _set_fitted(self, given: Given, learned: dict[str, Any], forgotten: Sequence[str] = ()) -> None:
        classes = given.labels.classes.tolist()
        told: dict[str, Any] = {"n_features_in_": given.outline.n_columns}
        if given.outline.named:
            told["feature_names_in_"] = np.array(given.outline.names, dtype=object)
        asked = {classes[k]: n for k, n in given.asked.items()}
        set_fitted(self, told | {"sampling_strategy_": asked} | learned, forgotten=forgotten)

    def __sklearn_is_fitted__(self) -> bool:
        """Whether `fit` or `fit_resample` has ended well once."""
        return "sampling_strategy_" in vars(self)

    def __sklearn_tags__(self) -> Tags:
        """What scikit-learn may expect: any table, and labels."""
        tags = super().__sklearn_tags__()
        tags.estimator_type = "sampler"
        tags.target_tags.required = True
        tags.input_tags.allow_nan = tags.input_tags.sparse = tags.input_tags.string = True
        return tags


class RowSampler(BaseSampler, Generic[OptionsT]):
    """A sampler that decides by itself which rows stay, or are made."""

    def fit_resample(self, X: TableLike, y: TargetLike) -> tuple[TableLike, TargetLike]:
        """Resample a table and its labels.

        Parameters
        ----------
        X : table
            A pandas or polars frame, a pyarrow table, a NumPy array, a SciPy matrix, a mapping of name to
            values or a list of rows; missing values and categories as they are.
        y : array-like of shape (n_rows,)
            The labels, or a table of 0 and 1 with a column per class.

        Returns
        -------
        X_resampled : table
            Of the kind of X, every column of its own type.
        y_resampled : array-like
            Of the kind of y.
        """
        options = self._checked_options()
        given = self._given(X, y, options)
        outcome = self._decide(given, options)
        origin = outcome.origin(given.n_rows)
        is_new = np.zeros(len(origin), np.bool_)
        if outcome.made is not None:
            assert given.table is not None
            resampled = with_made_rows(X, given.table, outcome.made)
            is_new[given.n_rows :] = True
        else:
            resampled = rows_of(X, origin)
        grows = self._kind == "over"
        if grows and hasattr(resampled, "reset_index"):
            resampled = resampled.reset_index(drop=True)
        labels = rows_of_target(y, origin, new_index=grows)
        self._set_fitted(given, {"sample_indices_": origin, "synthetic_": is_new, **(outcome.learned or {})})
        return resampled, labels

    @abstractmethod
    def _decide(self, given: Given, options: OptionsT) -> Outcome:
        """Which rows stay, or are made."""


def one_label(y: TargetLike | None, n_rows: int, owner: str) -> Labels:
    """The label of each row; a table of 0 and 1 with one 1 per row is read as the number of its column."""
    outputs = read_labels(y, n_rows=n_rows, estimator=owner)
    if len(outputs) == 1:
        warn_of_column(y)
        return outputs[0]
    truth = [output.classes.astype(object) == 1 for output in outputs]
    ones = np.stack([each[output.indices] for each, output in zip(truth, outputs, strict=True)], axis=1)
    if not (ones.sum(axis=1) == 1).all():
        raise UnsupportedTargetError(
            f"Multilabel and multioutput targets are not supported by {owner}: y has {len(outputs)} "
            "columns, and not exactly one 1 in each row. Give one label per row."
        )
    found, indices = np.unique(np.argmax(ones, axis=1), return_inverse=True)
    return Labels(found, indices.astype(np.int32))


def _outline(X: TableLike) -> Outline:
    return outline(indexable(X))


def _is_auto(declared: object) -> bool:
    return isinstance(declared, str) and declared == "auto"
