"""The spectrum of texts: how often each substring occurs, as sparse rows in which the kernel is linear.

A `SpectrumPlan` keeps the vocabulary of the training texts. Substrings that training never saw have no
column, since no training text could share them, but they count in the length of a text's vector:
equation K3 of docs/methods/kernels.md.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from weald.arrays import AnyTable, TableLike
from weald.data.adapters import column_of, to_table
from weald.data.column_schema import ColumnSchema
from weald.data.frames import from_arrow as arrow_frame
from weald.data.frames import from_pandas as pandas_frame
from weald.data.matrix.matrix import Matrix
from weald.data.matrix.rows import csr_array
from weald.data.schema import Schema
from weald.data.table import Column, LevelColumn, Table
from weald.errors import DataError, DataTypeError, ModelFileError
from weald.svm.kernels.functions import Spectrum
from weald.svm.kernels.substrings import Alphabet, Vocabulary, digits_that_fit, point_blocks


@dataclass(frozen=True, slots=True, eq=False)
class SpectrumPlan:
    """How texts become counts of substrings: what a model with a spectrum kernel remembers.

    Parameters
    ----------
    kernel : Spectrum
        The length of the substrings, and whether rows are scaled to length 1.
    schema : Schema
        The names of the text columns.
    vocabularies : tuple of Vocabulary
        The substrings of each column.

    Examples
    --------
    >>> plan = SpectrumPlan.of(["abab", "ba"], Spectrum(length=2, normalise=False))
    >>> plan.column_names
    ('ab', 'ba')
    >>> plan.read(["abab", "ba", "xab"]).values.toarray().tolist()
    [[2.0, 1.0], [0.0, 1.0], [1.0, 0.0]]
    """

    kernel: Spectrum
    schema: Schema
    vocabularies: tuple[Vocabulary, ...]

    @classmethod
    def of(cls, X: TableLike | Matrix, kernel: Spectrum) -> SpectrumPlan:
        """The vocabulary of training texts: a list of str, or a table whose columns all hold text."""
        return cls.of_table(text_table(X), kernel)

    @classmethod
    def of_table(cls, table: Table, kernel: Spectrum) -> SpectrumPlan:
        """The vocabulary of a table that `text_table` gave."""
        columns = [as_text(column) for column in table.columns]
        vocabularies = tuple(
            Vocabulary.of(column.levels, kernel.length, all_lengths=kernel.all_lengths) for column in columns
        )
        schema = Schema(tuple(ColumnSchema(name, "categorical") for name in table.names), table.named)
        return cls(kernel, schema, vocabularies)

    @property
    def n_columns(self) -> int:
        """How many substrings, over all columns."""
        return sum(map(len, self.vocabularies))

    @property
    def column_names(self) -> tuple[Hashable, ...]:
        """The substrings; with several columns, or a column with a name, as 'title=abc'."""
        if not self.schema.named and len(self.vocabularies) == 1:
            return tuple(self.vocabularies[0].texts())
        return tuple(
            f"{name}={text}"
            for name, vocabulary in zip(self.schema.names, self.vocabularies, strict=True)
            for text in vocabulary.texts()
        )

    def read(self, X: TableLike | Matrix, owner: str = "Spectrum") -> Matrix:
        """The counts of substrings of new texts, as CSR.

        Parameters
        ----------
        X : list of str, or table
            Texts, in the columns of training.
        owner : str
            The estimator that asks, for messages.
        """
        return self.apply(text_table(X), owner)

    def apply(self, table: Table, owner: str = "Spectrum") -> Matrix:
        """The counts of substrings of a table that `text_table` gave."""
        order = self.schema.order(table, owner)
        blocks = [
            self._spectrum(as_text(table.columns[j]), vocabulary)
            for j, vocabulary in zip(order, self.vocabularies, strict=True)
        ]
        if len(blocks) == 1:
            return Matrix(blocks[0])
        whole = sparse.hstack(blocks, format="csr")
        if self.kernel.normalise:
            whole = whole / np.sqrt(len(blocks))
        return Matrix(csr_array(whole.data, whole.indices, whole.indptr, whole.shape))

    def _spectrum(self, column: LevelColumn, vocabulary: Vocabulary) -> sparse.csr_array:
        """The rows of one column; each distinct text is counted once."""
        counts, strangers = _counts(column.levels, vocabulary)
        if self.kernel.normalise and counts.shape[0]:
            counts = _normalised(counts, column.levels, strangers, self.kernel)
        missing = column.indices < 0
        if not missing.any() and np.array_equal(column.indices, np.arange(counts.shape[0])):
            return counts
        empty = csr_array(np.zeros(0), np.zeros(0, np.int32), np.zeros(2, np.int32), (1, counts.shape[1]))
        rows = sparse.vstack([counts, empty], format="csr")[column.indices]
        return csr_array(rows.data, rows.indices, rows.indptr, rows.shape)

    # ----------------------------------------------------------------------- model files

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """What a model file keeps beside the schema: facts for its JSON, and arrays of whole numbers."""
        arrays: dict[str, NDArray[Any]] = {}
        for j, vocabulary in enumerate(self.vocabularies):
            arrays[f"{j}.alphabet"] = vocabulary.alphabet.points
            arrays |= {f"{j}.stage{k}": table for k, table in enumerate(vocabulary.tables)}
        return self.kernel.to_json(), arrays

    @classmethod
    def from_state(cls, schema: Schema, facts: object, arrays: Mapping[str, NDArray[Any]]) -> SpectrumPlan:
        """The plan of these parts, which come from a file and may be damaged."""
        kernel = Spectrum.from_json(facts)
        if not isinstance(kernel, Spectrum) or any(column.kind != "categorical" for column in schema.columns):
            raise ModelFileError("The model file has a vocabulary, and no spectrum kernel or no text.")
        left = dict(arrays)
        vocabularies = tuple(_read_vocabulary(left, j, kernel) for j in range(len(schema.columns)))
        if left:
            raise ModelFileError(f"The model file has an unknown part of a vocabulary: {min(left)!r:.80}.")
        return cls(kernel, schema, vocabularies)


def text_table(X: AnyTable) -> Table:
    """Texts as a table: one column of a list or another sequence of str, else the columns of a table."""
    if isinstance(X, str):
        raise DataTypeError("A list of texts is expected; got one text. Put it into a list: [text].")
    if not is_one_column(X):
        return to_table(X)
    column = column_of(0, X)
    n_rows = len(column.indices if isinstance(column, LevelColumn) else column.values)
    if not n_rows:
        raise DataError("There are no texts: the list is empty.")
    return Table((column,), n_rows, named=False)


def is_one_column(X: TableLike | Matrix) -> bool:
    """Whether X is a sequence of texts: a list, a Series of any library, or an array of one dimension."""
    if isinstance(X, list | tuple):
        return all(x is None or isinstance(x, str | float) for x in X)
    if isinstance(X, np.ndarray):
        return X.ndim == 1 and X.dtype.names is None
    if pandas_frame.is_series(X):
        return True
    return arrow_frame.has_arrow(X) and not pandas_frame.is_frame(X) and not hasattr(X, "columns")


def as_text(column: Column) -> LevelColumn:
    """A column of text, ordered or not; a column without any value holds no text either."""
    if isinstance(column, LevelColumn) and all(isinstance(level, str) for level in column.levels):
        return column
    if isinstance(column, LevelColumn):
        row = int(np.argmax([*(not isinstance(level, str) for level in column.levels)]))
        got = f"{column.levels[row]!r}"
    elif column.values.dtype.kind == "f" and np.isnan(column.values).all():
        return LevelColumn(column.name, np.full(len(column.values), -1, np.int32), ())
    else:
        got = "numbers or dates"
    raise DataTypeError(
        f"Column {column.name!r} holds {got}; this kernel compares texts. Leave the column out, or use "
        "another kernel."
    )


def _counts(texts: Sequence[str], vocabulary: Vocabulary) -> tuple[Any, NDArray[np.bool_]]:
    """Counts of known substrings as CSR, and which texts have others."""
    parts, strangers = [], [np.zeros(0, np.bool_)]
    width = len(vocabulary)
    for points, lengths in point_blocks(texts):
        total: Any = None
        unknown = np.zeros(len(lengths), np.int64)
        for windows in vocabulary.windows(points, lengths):
            at = vocabulary.indices(windows)
            per_text = _sums(at < 0, windows.per_text)
            unknown += per_text
            known = windows.per_text - per_text
            found = at[at >= 0]
            ends = np.concatenate(([0], np.cumsum(known)))
            rows = csr_array(np.ones(len(found)), found, ends, (len(lengths), width))
            rows.sum_duplicates()
            total = rows if total is None else total + rows
        parts.append(total)
        strangers.append(unknown > 0)
    if not parts:
        return csr_array(np.zeros(0), np.zeros(0, np.int32), np.zeros(1, np.int32), (0, width)), strangers[0]
    whole = parts[0] if len(parts) == 1 else sparse.vstack(parts, format="csr")
    return csr_array(whole.data, whole.indices, whole.indptr, whole.shape), np.concatenate(strangers)


def _sums(flags: NDArray[np.bool_], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many flags are set in each of the runs of these lengths."""
    total = np.concatenate(([0], np.cumsum(flags)))
    ends = np.cumsum(lengths)
    found: NDArray[np.int64] = total[ends] - total[ends - lengths]
    return found


def _normalised(
    counts: sparse.csr_array, texts: Sequence[str], strangers: NDArray[np.bool_], kernel: Spectrum
) -> sparse.csr_array:
    """Rows over the length of their whole vector of counts, unknown substrings included."""
    squares = np.asarray(counts.multiply(counts).sum(axis=1), np.float64).ravel()
    strange = np.flatnonzero(strangers)
    if len(strange):
        own = [texts[i] for i in strange.tolist()]
        every, _ = _counts(own, Vocabulary.of(own, kernel.length, all_lengths=kernel.all_lengths))
        squares[strange] = np.asarray(every.multiply(every).sum(axis=1)).ravel()
    lengths = np.sqrt(np.where(squares > 0, squares, 1.0))
    data = counts.data / np.repeat(lengths, np.diff(counts.indptr))
    return csr_array(data, counts.indices, counts.indptr, counts.shape)


def _read_vocabulary(left: dict[str, NDArray[Any]], j: int, kernel: Spectrum) -> Vocabulary:
    """One column's vocabulary out of a file: tables that rise, with numbers their digits can give."""
    points = _read_rising(left, f"{j}.alphabet", 0x110000)
    alphabet = Alphabet(points.astype(np.uint32))
    tables: list[NDArray[np.int64]] = []
    ranks, done = 1, 0
    while done < kernel.length:
        step = digits_that_fit(alphabet.base, ranks, kernel.length - done)
        bound = ranks * alphabet.base**step
        if bound >= 2**63:
            raise ModelFileError("The vocabulary of the model file is larger than any.")
        tables.append(_read_rising(left, f"{j}.stage{len(tables)}", bound))
        ranks, done = max(1, len(tables[-1])), done + step
    return Vocabulary(alphabet, kernel.length, kernel.all_lengths, tuple(tables))


def _read_rising(left: dict[str, NDArray[Any]], name: str, bound: int) -> NDArray[np.int64]:
    found = left.pop(name, None)
    if found is None or found.ndim != 1 or found.dtype.kind not in "iu":
        raise ModelFileError(f"The model file lacks the part {name!r} of its vocabulary.")
    if len(found) and not 0 <= int(found[0]) <= int(found[-1]) < bound:
        raise ModelFileError(f"The part {name!r} of the model file's vocabulary leaves its range.")
    wide = found.astype(np.int64)
    if (wide[1:] <= wide[:-1]).any():
        raise ModelFileError(f"The part {name!r} of the model file's vocabulary does not rise.")
    return wide
