"""`plot_margin`: the boundary of a machine with its margins and support rows, or the tube of a regression.

Only this module, `margin_axes` and `canvas` speak matplotlib's language; it is imported when needed.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted

from weald.arrays import AnyEstimator, Estimator, Floats, TableLike, TargetLike
from weald.data.adapters import to_table
from weald.data.target import positions_among, read_labels, read_target
from weald.errors import DataTypeError, ParameterError
from weald.pictures.axes import new_axes
from weald.pictures.colours import class_colour, tint
from weald.pictures.margin_axes import (
    CROSS,
    GREY,
    RING,
    SLACK,
    SMALL,
    add_legend,
    draw_segments,
    label_axes,
    marker_size,
    note_margin,
    some_of,
)
from weald.pictures.plane import Plane, plane_of
from weald.pictures.slack import slack_lines, support_rows
from weald.svm.kernels.functions import Spectrum

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INK = "#1a1a1a"
_LINE_POINTS = 500
_MOST_RESOLUTION = 2000
#: lines of slack that still can be told apart
_MOST_LINES = 80
#: from so many rows on, marks have no edges and let others through
_MANY = 1000
_OWNER = "plot_margin"


def plot_margin(
    model: Estimator,
    X: TableLike,
    y: TargetLike | None = None,
    *,
    columns: str | int | Sequence[Hashable] | None = None,
    held: Mapping[str, object] | Mapping[int, object] | None = None,
    support: bool = True,
    slack: bool = True,
    resolution: int = 240,
    ax: Axes | None = None,
) -> Axes:
    """Draw what a support vector machine decides over two columns, or fits over one.

    Of two classes: the boundary f = 0, the margins f = ±1, the rows, rings around support rows, crosses on
    rows on the wrong side, and thin lines from rows to the margin that they miss (their slack). Of more
    classes: the region of each. Of a regression, over one column: the fit, its tube of ±epsilon, and lines
    from rows to the tube. If the model has more columns than are drawn, the others are held at one value
    each, which the picture names; rows are shown wherever their other columns are, so they may lie on either
    side.

    Parameters
    ----------
    model : fitted estimator
        `SVC`, `SVR`, `LinearSVC`, `LinearSVR`, a pipeline that ends in one, or any classifier with
        `decision_function` or regressor.
    X : table
        Rows to show; best the training rows, whose support rows are ringed.
    y : array-like of shape (n_rows,), default=None
        Their labels or numbers. Without them rows are grey, and no slack is known.
    columns : two names or positions (one for a regression), default=None
        The columns to draw; None for the first numeric ones.
    held : mapping of name or position to value, default=None
        Values of other columns; None for the median, or the most frequent level.
    support : bool, default=True
        Whether support rows are ringed.
    slack : bool, default=True
        Whether slack is drawn.
    resolution : int, default=240
        Points of the grid along each axis.
    ax : matplotlib axes, default=None
        Where to draw; None for a new figure. The legend stands beside the picture, or in it where the figure
        of these axes has no layout that makes room ("constrained" has).

    Returns
    -------
    matplotlib axes
        With the picture on them.

    Examples
    --------
    >>> import numpy as np, weald
    >>> X = np.array([[0.0, 0.0], [1.0, 0.5], [3.0, 3.0], [4.0, 2.5]])
    >>> model = weald.SVC(kernel="linear").fit(X, ["a", "a", "b", "b"])
    >>> ax = weald.plot_margin(model, X, ["a", "a", "b", "b"])
    >>> ax.get_xlabel()
    'column 0'
    """
    if not isinstance(resolution, int | np.integer) or not 10 <= resolution <= _MOST_RESOLUTION:
        raise ParameterError(
            f"`resolution` of {_OWNER} must be a whole number from 10 to {_MOST_RESOLUTION}; got "
            f"{resolution!r}."
        )
    check_is_fitted(model)
    steps: Any = model
    machine = steps[-1] if hasattr(model, "steps") else model
    _check_kernel(machine)
    _check_positions(X, columns, held)
    if is_regressor(model):
        plane = plane_of(X, columns, held, 1, owner=_OWNER)
        axes = new_axes(ax, _OWNER)
        _draw_fit(axes, model, machine, plane, y, support, slack)
    else:
        if not hasattr(model, "decision_function"):
            raise DataTypeError(
                f"{_OWNER} needs decision_function, which {type(machine).__name__} does not have."
            )
        plane = plane_of(X, columns, held, 2, owner=_OWNER)
        axes = new_axes(ax, _OWNER)
        _draw_classes(axes, model, machine, plane, y, support, slack, int(resolution))
    label_axes(axes, plane)
    add_legend(axes)
    return axes


def _check_kernel(machine: object) -> None:
    """Refuse machines that do not go by columns of numbers."""
    kernel = getattr(machine, "kernel_", getattr(machine, "kernel", None))
    if isinstance(kernel, str) and kernel == "precomputed":
        raise DataTypeError(f"{_OWNER} draws over columns, and a machine of a precomputed kernel knows none.")
    if isinstance(kernel, Spectrum):
        raise DataTypeError(
            f"{_OWNER} draws over columns of numbers, and this {type(machine).__name__} has the spectrum "
            "kernel: it compares texts, which have none."
        )


def _check_positions(
    X: TableLike,
    columns: str | int | Sequence[Hashable] | None,
    held: Mapping[str, object] | Mapping[int, object] | None,
) -> None:
    """Refuse positions beyond the columns of a table without names, where no name can be meant instead."""
    if columns is None and not held:
        return
    table = to_table(X)
    n = table.n_columns
    if list(table.names) != list(range(n)):
        return
    if columns is None:
        varied: list[Hashable] = []
    else:
        varied = [columns] if isinstance(columns, str | int | np.integer) else list(columns)
    for parameter, names in (("columns", varied), ("held", dict(held or {}))):
        for name in names:
            if name not in table.names:
                there = f"{n} columns have no names: use positions from 0 to {n - 1}"
                raise ParameterError(
                    f"`{parameter}` of {_OWNER} names {name!r}, which X does not have. Its "
                    f"{'one column has no name: use 0' if n == 1 else there}."
                )


# --------------------------------------------------------------------------- classes


def _draw_classes(
    axes: Axes,
    model: AnyEstimator,
    machine: AnyEstimator,
    plane: Plane,
    y: TargetLike | None,
    support: bool,
    slack: bool,
    resolution: int,
) -> None:
    classes = list(model.classes_)
    (left, right), (low, high) = plane.limits(0), plane.limits(1)
    across, up = np.linspace(left, right, resolution), np.linspace(low, high, resolution)
    grid = np.stack(np.meshgrid(across, up), axis=-1)
    rows = plane.rows(grid.reshape(-1, 2))
    labels = None if y is None else _label_numbers(y, plane.table.n_rows, classes)
    sides = None
    if len(classes) == 2:
        values = np.asarray(model.decision_function(rows)).reshape(resolution, resolution)
        _draw_margins(axes, across, up, values)
        if labels is not None:
            sides = np.where(labels == 1, 1.0, -1.0)
    else:
        _draw_regions(
            axes,
            across,
            up,
            _label_numbers(model.predict(rows), grid.shape[0] * grid.shape[1], classes),
            len(classes),
        )
    margin = None if sides is None else sides * np.asarray(model.decision_function(plane.like))
    wrong = None
    if labels is not None:
        wrong = _label_numbers(model.predict(plane.like), len(labels), classes) != labels
    _draw_rows(axes, plane.values, labels, classes, wrong)
    if support:
        _draw_rings(axes, plane.values, support_rows(machine, plane.table.n_rows, margin))
    if slack and margin is not None and sides is not None and not plane.held:
        _draw_slack(axes, model, plane, sides, margin)
    if len(classes) == 2:
        note_margin(axes, machine)
    axes.set_xlim(left, right)
    axes.set_ylim(low, high)


def _draw_margins(axes: Axes, across: Floats, up: Floats, values: Floats) -> None:
    """Regions paler within the margin, the boundary, and the margins."""
    strong, weak = 0.30, 0.12
    fills = [tint(class_colour(k), s) for k, s in ((0, strong), (0, weak), (1, weak), (1, strong))]
    top = max(1.5, float(np.abs(values).max()) + 1)
    axes.contourf(across, up, values, levels=[-top, -1, 0, 1, top], colors=fills, zorder=0)
    for level, style, width, name in (
        (-1.0, "--", 1.1, "margin"),
        (0.0, "-", 1.8, "boundary"),
        (1.0, "--", 1.1, None),
    ):
        if values.min() < level < values.max():
            axes.contour(
                across, up, values, levels=[level], colors=_INK, linestyles=style, linewidths=width, zorder=2
            )
            if name is not None:
                axes.plot([], [], color=_INK, linestyle=style, linewidth=width, label=name)


def _draw_regions(axes: Axes, across: Floats, up: Floats, labels: NDArray[np.intp], n_classes: int) -> None:
    """The region of each class, and lines between them.

    Labels have no order, so contours are those of one class at a time; a little blur takes the steps of the
    grid out of them.
    """
    from matplotlib.colors import to_rgb
    from scipy.ndimage import gaussian_filter

    grid = labels.reshape(len(up), len(across))
    fills = np.array([to_rgb(tint(class_colour(k), 0.26)) for k in range(n_classes)])
    half = (across[1] - across[0]) / 2, (up[1] - up[0]) / 2
    extent = (across[0] - half[0], across[-1] + half[0], up[0] - half[1], up[-1] + half[1])
    axes.imshow(fills[grid], extent=extent, origin="lower", aspect="auto", interpolation="nearest", zorder=0)
    for k in range(n_classes):
        inside = gaussian_filter((grid == k).astype(np.float64), 1.2)
        if inside.min() < 0.5 < inside.max():
            axes.contour(across, up, inside, levels=[0.5], colors=_INK, linewidths=1.4, zorder=2)


def _draw_rows(
    axes: Axes,
    at: Floats,
    labels: NDArray[np.intp] | None,
    classes: list[Any],
    wrong: NDArray[np.bool_] | None,
) -> None:
    size = marker_size(len(at))
    edge = 0.6 if len(at) < _MANY else 0.0
    style: dict[str, Any] = {"s": size, "linewidths": edge, "edgecolors": "white", "zorder": 4}
    if len(at) >= _MANY:
        style |= {"alpha": 0.6, "rasterized": True}
    if labels is None:
        axes.scatter(at[:, 0], at[:, 1], color=GREY, **style)
        return
    for k, label in enumerate(classes):
        mine = labels == k
        axes.scatter(at[mine, 0], at[mine, 1], color=class_colour(k), label=str(label), **style)
    if wrong is not None and wrong.any():
        rows, of_how_many = some_of(np.flatnonzero(wrong))
        axes.scatter(
            at[rows, 0],
            at[rows, 1],
            marker="x",
            s=max(0.7 * size, 9.0),
            color=_INK,
            linewidths=0.7 if of_how_many else 1.1,
            zorder=5,
            label=CROSS + of_how_many,
        )


def _draw_rings(axes: Axes, at: Floats, rows: NDArray[Any] | None) -> None:
    if rows is None or not len(rows):
        return
    rows, of_how_many = some_of(rows)
    axes.scatter(
        at[rows, 0],
        at[rows, 1],
        s=max(2.6 * marker_size(len(at)), 16.0),
        facecolors="none",
        edgecolors=_INK,
        linewidths=0.5 if of_how_many else 1.0,
        alpha=0.7 if of_how_many else 1.0,
        zorder=3.5,
        label=RING + of_how_many,
    )


def _draw_slack(axes: Axes, model: AnyEstimator, plane: Plane, sides: Floats, margin: Floats) -> None:
    """A line from each row that misses its margin to where it would reach it."""
    short = np.flatnonzero(margin < 1 - 1e-3)
    if not 0 < len(short) <= _MOST_LINES:
        return
    span = np.array([high - low for low, high in (plane.limits(0), plane.limits(1))])

    def value(points: Floats) -> Floats:
        return np.asarray(model.decision_function(plane.rows(points)), np.float64)

    starts = plane.values[short]
    ends, reached = slack_lines(value, starts, sides[short], span)
    draw_segments(axes, np.stack([starts[reached], ends[reached]], axis=1), SLACK)


def _label_numbers(y: TargetLike, n_rows: int, classes: list[Any]) -> NDArray[np.intp]:
    """The class number of each row."""
    found = read_labels(y, n_rows=n_rows, estimator=_OWNER)[0]
    places = positions_among(found.classes, np.array(classes, dtype=object))
    if (places < 0).any():
        strange = found.classes[places < 0].tolist()[0]
        raise ParameterError(f"y of {_OWNER} holds the label {strange!r}, which the model does not know.")
    return places[found.indices]


# --------------------------------------------------------------------------- regression


def _draw_fit(
    axes: Axes,
    model: Estimator,
    machine: object,
    plane: Plane,
    y: TargetLike | None,
    support: bool,
    slack: bool,
) -> None:
    left, right = plane.limits(0)
    across = np.linspace(left, right, _LINE_POINTS)
    fit = np.asarray(model.predict(plane.rows(across[:, None])), np.float64)
    epsilon = getattr(machine, "epsilon", None)
    colour = class_colour(0)
    if epsilon:
        axes.fill_between(
            across,
            fit - epsilon,
            fit + epsilon,
            color=tint(colour, 0.25),
            zorder=0,
            label=f"tube ±{epsilon:g}",
        )
        for edge in (fit - epsilon, fit + epsilon):
            axes.plot(across, edge, color=_INK, linestyle="--", linewidth=0.9, zorder=2)
    axes.plot(across, fit, color=_INK, linewidth=1.8, zorder=2.5, label="fit")
    axes.set_xlim(left, right)
    if y is None:
        return
    target = read_target(y, n_rows=plane.table.n_rows, estimator=_OWNER)[:, 0]
    at = np.stack([plane.values[:, 0], target], axis=1)
    size = marker_size(len(at))
    edge = 0.6 if len(at) < _MANY else 0.0
    axes.scatter(at[:, 0], at[:, 1], s=size, color=colour, edgecolors="white", linewidths=edge, zorder=4)
    predicted = np.asarray(model.predict(plane.like), np.float64)
    margin = None
    if epsilon is not None:
        margin = 1 + epsilon - np.abs(target - predicted)  # below 1 outside of the tube
    if support:
        _draw_rings(axes, at, support_rows(machine, len(at), margin))
    if slack and epsilon is not None and not plane.held:
        outside = np.flatnonzero(np.abs(target - predicted) > epsilon * (1 + 1e-6))
        if len(outside) <= 4 * _MOST_LINES:
            edge = predicted + np.sign(target - predicted) * epsilon
            ends = np.stack([at[outside, 0], edge[outside]], axis=1)
            draw_segments(axes, np.stack([at[outside], ends], axis=1), SLACK)
    n_support = getattr(machine, "support_", None)
    if n_support is not None:
        axes.set_title(f"{len(n_support):,} support rows", loc="left", fontsize=SMALL, color=GREY)
