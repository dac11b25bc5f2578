"""What a kernel machine is fitted on: rows that are read and checked, a source for them, targets, weights."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats, TableLike
from weald.data.adapters import to_table
from weald.data.column_schema import ColumnSchema
from weald.data.matrix.matrix import Matrix, MatrixPlan, Scale
from weald.data.schema import Schema
from weald.data.table import Table
from weald.data.training import learn_columns, used_rows
from weald.engine import thread_count
from weald.errors import DataError, ParameterError, ScaleWarning, outside
from weald.estimators.svm.kernel.options import ColumnOptions, KernelOptions, MachineOptions
from weald.estimators.svm.kernel.reading import (
    CalledTextReading,
    GivenReading,
    Reading,
    TableReading,
    TextReading,
    check_square,
    check_symmetric,
    kernel_matrix,
    takes_no_negatives,
)
from weald.svm.kernel_sources import CalledSource, GivenSource, KernelSource, NativeSource, RowNumbers
from weald.svm.kernels.bounds import check_range
from weald.svm.kernels.choice import Chosen, chosen_kernel
from weald.svm.kernels.functions import Kernel, Linear, Spectrum
from weald.svm.kernels.spectrum import SpectrumPlan, is_one_column, text_table

log = logging.getLogger("weald.svm")

_MEGABYTE = 1 << 20
#: in bytes; more cannot be there
_ALL_MEMORY = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class MachineTarget:
    """What machines learn, of the rows that count: class numbers or numbers, and the C of each row."""

    values: NDArray[Any]  # int32 or float64
    weight: Floats
    upper: Floats
    classes: NDArray[Any] | None = None
    class_weight: Floats | None = None

    @property
    def n_classes(self) -> int:
        """How many labels; 0 for numbers."""
        return 0 if self.classes is None else len(self.classes)


@dataclass(frozen=True, slots=True, eq=False)
class MachineRows:
    """Rows made ready to be compared; those of weight 0 are not among them."""

    reading: Reading
    kernel: Chosen
    source: KernelSource
    target: MachineTarget
    present: RowNumbers  # numbers in the table
    shape: tuple[int, int]  # of the table
    cache_bytes: int
    hint: str | None

    @property
    def is_linear(self) -> bool:
        """Whether the kernel is linear in the columns of the matrix."""
        return isinstance(self.kernel, Linear | Spectrum)

    @property
    def n_columns(self) -> int:
        """How many columns rows are compared by."""
        source: Any = self.source
        return self.shape[1] if isinstance(source, GivenSource) else int(source.matrix.n_columns)


def upper_bounds(C: float, weight: Floats, owner: str) -> Floats:
    """The C of every row."""
    with np.errstate(over="ignore"):
        upper = C * weight
    if np.isfinite(C) and not np.isfinite(upper).all():
        raise DataError(
            f"`C`={C:g} of {owner} times the weights is beyond float64. Use a smaller C, or smaller weights."
        )
    return upper


def read_training(
    table: Table,
    target: MachineTarget,
    weight: Floats | None,
    options: MachineOptions,
    owner: str,
    *,
    as_texts: bool = False,
) -> MachineRows:
    """The table as rows of a source.

    Parameters
    ----------
    table : Table
        As `to_table` gave it.
    target : MachineTarget
        Of the rows that count.
    weight : ndarray, or None
        The weights of all rows, as the user gave them.
    options : MachineOptions
        The parameters.
    owner : str
        The estimator's name, for messages.
    as_texts : bool
        Whether the kernel is a function that is given texts as they are.
    """
    kernel = chosen_kernel(options, owner)
    shape = (table.n_rows, table.n_columns)
    present = used_rows(weight)
    numbers = (np.arange(table.n_rows) if present is None else np.flatnonzero(present)).astype(np.int32)
    check_budget(options.cache_size, len(numbers), owner)
    reading: Reading
    matrix: Any
    hint = None
    if kernel is None:
        gram = kernel_matrix(table)
        check_square(table, owner)
        check_symmetric(gram, owner)
        reading = GivenReading(Schema.of(table, unknown=options.unknown))
        used = gram if present is None else gram[np.ix_(numbers, numbers)]
        source: KernelSource = GivenSource(used, numbers, len(gram))
    else:
        if isinstance(kernel, Spectrum):
            texts = SpectrumPlan.of_table(table, kernel)
            check_texts(texts)
            reading, matrix = TextReading(texts), texts.apply(table, owner)
        elif as_texts:
            names = tuple(ColumnSchema(name, "categorical") for name in table.names)
            reading = CalledTextReading(Schema(names, table.named))
            matrix = reading.rows(table, owner)
        else:
            reading, matrix = read_columns(table, kernel, weight, options, owner)
            hint = reading.plan.hint()
        matrix = matrix if present is None else matrix.take(numbers)
        kernel, source = _source(kernel, matrix)
    cache_bytes = int(min(options.cache_size * _MEGABYTE, _ALL_MEMORY))
    return MachineRows(reading, kernel, source, target, numbers, shape, cache_bytes, hint)


def check_texts(texts: SpectrumPlan) -> None:
    """Raise if no text has a substring to compare."""
    if not texts.n_columns:
        raise DataError(
            f"No text is as long as {texts.kernel.length} characters, so there is no substring to compare. "
            "Use a lower length: `degree`, or `length` of weald.kernels.Spectrum."
        )


def read_columns(
    table: Table, kernel: Chosen, weight: Floats | None, options: ColumnOptions, owner: str
) -> tuple[TableReading, Matrix]:
    """Columns as numbers: categories expanded, gaps filled, scaled if asked."""
    schema, aligned = learn_columns(table, weight, unknown=options.unknown, owner=owner)
    scale: Scale = None
    if options.scale:
        scale = "maximum" if takes_no_negatives(kernel) else "standard"
    hint = spreads_matter(kernel) or log.isEnabledFor(logging.INFO)
    n_threads = thread_count(options.n_jobs)
    plan = MatrixPlan.of(aligned, schema, scale=scale, weight=weight, hint=hint, n_threads=n_threads)
    reading = TableReading.of(plan, options.categorical_features, kernel)
    return reading, reading.matrix(aligned)


def spreads_matter(kernel: Chosen) -> bool:
    """Whether a kernel of ours compares rows by all columns at once, so that a wide one decides alone.

    A linear machine weighs its columns itself, and kernels of counts are for columns of one unit.
    """
    return isinstance(kernel, Kernel) and not isinstance(kernel, Linear | Spectrum) and not kernel.nonnegative


def tell_spreads(hint: str | None, kernel: Chosen, owner: str) -> None:
    """Warn of columns of very different spread where they matter; elsewhere a line in the log does."""
    if hint is None:
        return
    if spreads_matter(kernel):
        warnings.warn(f"{owner}: {hint}", ScaleWarning, stacklevel=outside())
    else:
        log.info("%s: %s", owner, hint)


def _source(kernel: Kernel | Callable[..., Any], matrix: Any) -> tuple[Chosen, KernelSource]:
    """The kernel with its numbers, and the source of the rows."""
    if not isinstance(kernel, Kernel):
        return kernel, CalledSource(kernel, matrix)
    kernel = kernel.resolved(matrix)
    check_range(kernel, matrix)
    return kernel, NativeSource.of(kernel.program(), matrix)


def check_budget(cache_size: float, n_rows: int, owner: str) -> None:
    """Raise unless the memory budget holds one row of kernel values."""
    needed = 4 * n_rows / _MEGABYTE
    if cache_size < needed:
        raise ParameterError(
            f"`cache_size` of {owner} is {cache_size:g} MB, and one row of the kernel matrix takes "
            f"{needed:.3g} MB ({n_rows:,} rows). Use at least that; 1000 is the default, and more is faster."
        )


def compares_texts(kernel: object, X: TableLike) -> bool:
    """Whether a user's function is given a sequence of texts instead of a table."""
    is_function = callable(kernel) and not isinstance(kernel, Kernel)
    return is_function and not isinstance(X, str) and is_one_column(X)


def read_table(X: TableLike, options: KernelOptions) -> Table:
    """The user's table; texts in a list are one column."""
    kernel = options.kernel
    if kernel == "spectrum" or isinstance(kernel, Spectrum) or compares_texts(kernel, X):
        return text_table(X)
    declared = None if options.kernel == "precomputed" else options.categorical_features
    return to_table(X, categorical_features=declared)
