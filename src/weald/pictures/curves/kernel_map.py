"""`plot_kernel_map`: rows as the table has them, and as the space of a kernel has them.

The axes of that space are the two directions along which the rows vary most in it: principal components of
the centred kernel matrix of some rows, onto which all are put.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats, RandomState, TableLike, TargetLike
from weald.data.adapters import to_table
from weald.data.matrix.columns import numbers_of
from weald.data.outputs import read_outputs
from weald.data.table import LevelColumn, NumericColumn, Table
from weald.data.target import read_labels, read_target
from weald.errors import DataError, ParameterError, listing, nearest
from weald.pictures.axes import GREY, dot_size, legend_beside, new_grid, quiet, see_through, short_number
from weald.pictures.colours import class_colour
from weald.pictures.explanations.reading import UNKNOWN, add_value_bar, low_to_high, shades
from weald.svm.kernels.functions import BY_NAME, Kernel, Spectrum

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OWNER = "plot_kernel_map"
#: the kernel matrix is of at most so many rows
_MOST_BASIS = 800
_MOST_ROWS = 20_000
_MOST_CLASSES = 9


def plot_kernel_map(
    kernel: str | Kernel,
    X: TableLike,
    y: TargetLike | None = None,
    *,
    columns: Sequence[Hashable] | None = None,
    standardize: bool = True,
    random_state: RandomState = 0,
    ax: Sequence[Axes] | None = None,
) -> tuple[Axes, Axes]:
    """Draw rows before and after the map of a kernel.

    At the left two columns of the table (of one column, the column alone), at the right the two directions
    in which the rows vary most in the space of the kernel: where a line may separate what no line does at
    the left.

    Parameters
    ----------
    kernel : Kernel or str
        A kernel of `weald.kernels`, or its name: "linear", "poly", "rbf", "sigmoid", "laplacian", "chi2",
        "intersection".
    X : table
        Rows; numeric columns without missing values are drawn and given to the kernel.
    y : array-like of shape (n_rows,), default=None
        Labels, which are colours; of more than nine the rarest are grey, and numbers are from blue to orange,
        as are those with fractions.
    columns : names or positions, default=None
        Those that the kernel gets; None for all numeric ones. The first two are drawn at the left.
    standardize : bool, default=True
        Whether columns get mean 0 and standard deviation 1 for the kernel.
    random_state : int, RandomState or None, default=0
        Which rows the kernel matrix is of, if there are more than 800.
    ax : two matplotlib axes, default=None
        Where to draw; None for a new figure.

    Returns
    -------
    tuple of two matplotlib axes
        The table's and the kernel's.

    Examples
    --------
    >>> import numpy as np, weald
    >>> x = np.array([[-2.0], [-1.0], [0.0], [1.0], [2.0]])
    >>> kernel = weald.kernels.Polynomial(2, 1.0, 1.0)
    >>> left, right = weald.plot_kernel_map(kernel, x, ["b", "a", "a", "a", "b"])
    >>> right.get_xlabel()
    'first direction (74 %)'
    """
    chosen = _kernel(kernel)
    table = to_table(X)
    places = _columns(table, columns)
    values = np.stack([numbers_of(table.columns[j]) for j in places], axis=1)
    _check_finite(values, table, places)
    amounts = None if y is None else _amounts(y, table.n_rows)
    labels = (
        None if y is None or amounts is not None else read_labels(y, n_rows=table.n_rows, estimator=_OWNER)[0]
    )
    rng = np.random.default_rng(random_state if isinstance(random_state, int | np.integer) else None)
    kept = _some(len(values), _MOST_ROWS, rng)
    values = values[kept]
    indices = None if labels is None else labels.indices[kept]
    scaled = _scaled(values) if standardize else values
    basis = scaled[_some(len(scaled), _MOST_BASIS, rng)]
    mapped, shares = _directions(chosen, scaled, basis)
    axes = new_grid(1, 2, _OWNER, figsize=(9.0, 4.2)) if ax is None else list(ax)
    if len(axes) != 2:
        raise ParameterError(f"`ax` of {_OWNER} must be two axes; got {len(axes)}.")
    names = [
        f"column {table.names[j]}" if isinstance(table.names[j], int) else str(table.names[j]) for j in places
    ]
    left = values if values.shape[1] > 1 else np.column_stack([values[:, 0], np.zeros(len(values))])
    classes = None if labels is None else [str(each) for each in labels.classes.tolist()]
    scale = None if labels is None or len(labels.classes) <= _MOST_CLASSES else _numbers(labels.classes)
    if scale is not None and indices is not None:
        _shaded(axes, (left, mapped), scale[indices])
    elif amounts is not None:
        _shaded(axes, (left, mapped), amounts[kept])
    else:
        _rows(axes[0], left, indices, classes)
        _rows(axes[1], mapped, indices, classes)
    quiet(axes[0], xlabel=names[0], ylabel=names[1] if len(names) > 1 else "", title="the table")
    if len(names) == 1:
        axes[0].set_yticks([])
    words = [
        f"{word} direction ({100 * share:.0f} %)"
        for word, share in zip(("first", "second"), shares, strict=True)
    ]
    quiet(axes[1], xlabel=words[0], ylabel=words[1], title=f"the space of {chosen!r}")
    legend_beside(axes[1])
    return axes[0], axes[1]


def _kernel(kernel: str | Kernel) -> Kernel:
    """The kernel, which must be one of numbers."""
    names = [name for name in BY_NAME if name != Spectrum.name]
    if isinstance(kernel, str) and kernel in names:
        found: Kernel = BY_NAME[kernel]()
        return found
    if isinstance(kernel, Kernel) and not isinstance(kernel, Spectrum):
        return kernel
    close = nearest(str(kernel), names)
    hint = (
        f"Did you mean {close!r}?"
        if close
        else f"Use a kernel of weald.kernels, or one of {listing(names, 9)}."
    )
    raise ParameterError(f"`kernel` of {_OWNER} is {kernel!r}. {hint}")


def _columns(table: Table, asked: Sequence[Hashable] | None) -> list[int]:
    def numeric(j: int) -> bool:
        column = table.columns[j]
        return not isinstance(column, LevelColumn) and column.unit in ("number", "bool")

    if asked is None:
        found = [j for j in range(table.n_columns) if numeric(j)]
        if not found:
            raise DataError(f"{_OWNER} draws numeric columns, and X has none.")
        return found
    names = list(table.names)
    places = []
    for name in [asked] if isinstance(asked, str | int) else asked:
        if name not in names:
            raise ParameterError(f"`columns` of {_OWNER} names {name!r}, which X does not have.")
        places.append(names.index(name))
        if not numeric(places[-1]):
            raise DataError(f"Column {name!r} holds no plain numbers, which {_OWNER} draws.")
    return places


def _check_finite(values: Floats, table: Table, places: list[int]) -> None:
    for k, j in enumerate(places):
        if not np.isfinite(values[:, k]).all():
            raise DataError(
                f"Column {table.names[j]!r} has missing or infinite values, which no kernel takes. Leave it "
                "out by `columns`, or drop these rows."
            )


def _some(n: int, most: int, rng: np.random.Generator) -> NDArray[np.intp]:
    return np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))


def _scaled(values: Floats) -> Floats:
    spread = values.std(axis=0)
    found: Floats = (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return found


def _directions(kernel: Kernel, rows: Floats, basis: Floats) -> tuple[Floats, tuple[float, float]]:
    """Rows along the two main directions of the kernel's space, and the share of variance of each."""
    own = np.asarray(kernel(basis, basis))
    mean, whole = own.mean(axis=0), float(own.mean())
    centred = own - mean - mean[:, None] + whole
    values, vectors = np.linalg.eigh(centred)
    values, vectors = values[::-1], vectors[:, ::-1]
    total = float(np.maximum(values, 0).sum())
    if total <= 0:
        raise DataError(f"All rows are the same to {kernel!r}: its space has no direction to draw.")
    found = np.zeros((len(rows), 2))
    shares = []
    cross = np.asarray(kernel(rows, basis))
    cross = cross - cross.mean(axis=1)[:, None] - mean + whole
    for k in range(2):
        size = float(values[k]) if k < len(values) else 0.0
        shares.append(max(size, 0.0) / total)
        if size > 1e-12 * total:
            direction = vectors[:, k] * np.sign(vectors[np.argmax(np.abs(vectors[:, k])), k])
            found[:, k] = cross @ direction / np.sqrt(size)
    return found, (shares[0], shares[1])


def _rows(axes: Axes, at: Floats, labels: NDArray[Any] | None, classes: list[str] | None) -> None:
    style: dict[str, Any] = {
        "s": dot_size(len(at)),
        "alpha": see_through(len(at)),
        "linewidths": 0.4,
        "edgecolors": "white",
    }
    if labels is None or classes is None:
        axes.scatter(at[:, 0], at[:, 1], color=GREY, **style)
        return
    leading = list(range(len(classes)))
    if len(classes) > _MOST_CLASSES:
        often = np.argsort(-np.bincount(labels, minlength=len(classes)), kind="stable")
        leading = sorted(often[: _MOST_CLASSES - 1].tolist())
        rest = ~np.isin(labels, leading)
        axes.scatter(at[rest, 0], at[rest, 1], color=UNKNOWN, label="others", **style)
    for place, k in enumerate(leading):
        mine = labels == k
        axes.scatter(at[mine, 0], at[mine, 1], color=class_colour(place), label=classes[k], **style)


def _amounts(y: TargetLike, n_rows: int) -> Floats | None:
    """The numbers of y if they have fractions, which no label has."""
    column = read_outputs(y, n_rows=n_rows, estimator=_OWNER, expected="a label or number per row")[0].column
    if not isinstance(column, NumericColumn) or column.unit != "number":
        return None
    known = column.values[np.isfinite(column.values)]
    if (known == np.rint(known)).all():
        return None
    return read_target(y, n_rows=n_rows, estimator=_OWNER)[:, 0]


def _numbers(classes: NDArray[Any]) -> Floats | None:
    """Labels that are numbers; None of others."""
    return classes.astype(np.float64) if classes.dtype.kind in "iuf" else None


def _shaded(axes: Sequence[Axes], places: Sequence[Floats], numbers: Floats) -> None:
    """Rows coloured by a number, and a bar that says which."""
    shade = shades(numbers)
    for each, at in zip(axes, places, strict=True):
        style: dict[str, Any] = {
            "s": dot_size(len(at)),
            "linewidths": 0,
            "alpha": max(see_through(len(at)), 0.6),
        }
        marks = each.scatter(at[:, 0], at[:, 1], c=shade, cmap=low_to_high(), vmin=0, vmax=1, **style)
    low, high = np.quantile(numbers, (0.05, 0.95))
    add_value_bar(axes[-1], marks, "y", (short_number(low), short_number(high)))
