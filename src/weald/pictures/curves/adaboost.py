"""Pictures of AdaBoost: what a member's say is worth at each error, and its rounds over two columns."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from weald.arrays import AnyEstimator, Estimator, Floats, TableLike, TargetLike, WeightLike
from weald.data.target import positions_among, read_labels
from weald.errors import DataTypeError, ParameterError
from weald.numbers import as_float
from weald.pictures.axes import GREY, INK, PALE, SMALL, legend_in, new_axes, new_grid, quiet, see_through
from weald.pictures.canvas import figure_of
from weald.pictures.colours import class_colour, tint
from weald.pictures.nodes import check_whole
from weald.pictures.plane import Plane, in_words, plane_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GRID = 160
#: more rows than these would hide one another; as many are drawn, evenly spaced
_MOST_DRAWN = 2000
_MOST_ROUNDS = 24
_FEW = 10
#: rounds whose number stands at their mark
_MOST_NUMBERS = 12
#: errors so near share one text
_NEAR = 0.03


def plot_say(
    model: Estimator | None = None,
    *,
    n_classes: int | None = None,
    learning_rate: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the say of a member against its error: ½ ln((1 − error) / error), and ½ ln(classes − 1) more.

    Parameters
    ----------
    model : fitted AdaBoostClassifier, default=None
        Its rounds are marked on the curve of its classes and its learning rate.
    n_classes : int, default=None
        The classes of the curve; None for the model's, or 2.
    learning_rate : float, default=None
        What say is multiplied by; None for the model's, or 1.
    ax : matplotlib axes, default=None
        Where to draw; None for a new figure.

    Returns
    -------
    matplotlib axes
        With the picture on them.

    Examples
    --------
    >>> import weald
    >>> weald.plot_say().get_ylabel()
    'say'
    """
    rounds = None
    if model is not None:
        rounds = _rounds(model, "plot_say")
        n_classes = len(getattr(model, "classes_", ())) or 2 if n_classes is None else n_classes
        learning_rate = getattr(model, "learning_rate", 1.0) if learning_rate is None else learning_rate
    n_classes = 2 if n_classes is None else n_classes
    check_whole(n_classes, "n_classes", least=2)
    rate = as_float(1.0 if learning_rate is None else learning_rate)
    if not 0 < rate < math.inf:
        raise ParameterError(f"`learning_rate` of plot_say must be a number above 0; got {learning_rate!r}.")
    axes = new_axes(ax, "plot_say")
    error = np.linspace(0.002, 0.998, 499)
    chance = 1 - 1 / n_classes
    say = 0.5 * rate * (np.log((1 - error) / error) + math.log(max(1.0, n_classes - 1.0)))
    axes.axhline(0.0, color=PALE, linewidth=0.9, zorder=0)
    axes.axvline(chance, color=PALE, linewidth=0.9, linestyle="--", zorder=0)
    axes.plot(error, say, color=class_colour(0), linewidth=2.0, zorder=2)
    axes.annotate(
        f"guessing: {chance:.3g}",
        (chance, float(say[-1])),
        xytext=(-5, 2),
        textcoords="offset points",
        ha="right",
        fontsize=SMALL,
        color=GREY,
    )
    if rounds is not None:
        _mark_rounds(axes, rounds)
    quiet(axes, xlabel="weighted error of the member", ylabel="say")
    axes.set_xlim(0, 1)
    return axes


def _mark_rounds(axes: Axes, rounds: Any) -> None:
    error, say = np.asarray(rounds.error), np.asarray(rounds.say)
    colour = class_colour(1)
    axes.scatter(
        error,
        say,
        s=30,
        color=colour,
        edgecolors="white",
        linewidths=0.7,
        zorder=3,
        label="rounds of the model",
    )
    if len(error) <= _MOST_NUMBERS:
        for side, group in enumerate(_groups(error)):
            axes.annotate(
                ", ".join(str(k + 1) for k in sorted(group)),
                (float(error[group].mean()), float(say[group].mean())),
                # The curve falls: above it there is room at the right, below it at the left.
                xytext=(2, 9) if side % 2 == 0 else (-2, -10),
                textcoords="offset points",
                ha="left" if side % 2 == 0 else "right",
                va="center",
                fontsize=SMALL,
                color=INK,
            )
    legend_in(axes, loc="upper right")


def _groups(error: Floats) -> list[list[int]]:
    """Rounds by ascending error; those whose numbers would overlap are in one group."""
    groups: list[list[int]] = []
    for k in np.argsort(error, kind="stable").tolist():
        if groups and error[k] - error[groups[-1][0]] < _NEAR:
            groups[-1].append(k)
        else:
            groups.append([k])
    return groups


def _rounds(model: AnyEstimator, owner: str) -> Any:
    """What happened in each round of a fitted AdaBoost for labels."""
    if not hasattr(model, "staged_row_weights") or not hasattr(type(model), "predict_proba"):
        raise DataTypeError(f"{owner} takes a fitted AdaBoostClassifier; got {type(model).__name__}.")
    check_is_fitted(model)
    return model.rounds_


def plot_rounds(
    model: Estimator,
    X: TableLike,
    y: TargetLike,
    *,
    rounds: Sequence[int] | int | None = None,
    columns: Sequence[Hashable] | None = None,
    held: Mapping[str, object] | Mapping[int, object] | None = None,
    sample_weight: WeightLike | None = None,
) -> list[Axes]:
    """Draw rounds of AdaBoost over two columns: rows as large as their weight, and what the member says.

    The last picture is the whole ensemble. Other columns are held, as `plot_margin` holds them.

    Parameters
    ----------
    model : fitted AdaBoostClassifier
        Whose rounds.
    X, y : table, array-like of shape (n_rows,)
        The rows of `fit`, in their order.
    rounds : sequence of int, or int, default=None
        Which rounds, from 1; a number for so many first ones. None for the first five.
    columns : two names or positions, default=None
        The columns to draw; None for the two numeric ones with the largest importance.
    held : mapping of name or position to value, default=None
        Values of other columns; None for the median, or the most frequent level.
    sample_weight : array-like of shape (n_rows,), default=None
        As in `fit`.

    Returns
    -------
    list of matplotlib axes
        One per round, and last that of the ensemble.

    Examples
    --------
    >>> import numpy as np, weald
    >>> X = np.array([[1.0, 5.0], [2.0, 1.0], [3.0, 4.0], [4.0, 2.0], [5.0, 3.0], [6.0, 6.0], [7.0, 1.0]])
    >>> y = ["a", "a", "a", "b", "b", "a", "b"]
    >>> model = weald.AdaBoostClassifier(n_estimators=3).fit(X, y)
    >>> len(weald.plot_rounds(model, X, y))
    4
    """
    table = _rounds(model, "plot_rounds")
    chosen = _chosen_rounds(rounds, len(table))
    fitted: AnyEstimator = model
    classes = list(fitted.classes_)
    if columns is None:
        columns = _leading_columns(fitted, X)
    plane = plane_of(X, columns, held, 2, owner="plot_rounds")
    found = read_labels(y, n_rows=plane.table.n_rows, estimator="plot_rounds")[0]
    labels = positions_among(found.classes, np.array(classes, dtype=object))[found.indices]
    n_across = min(3, len(chosen) + 1)
    n_down = math.ceil((len(chosen) + 1) / n_across)
    grid = new_grid(
        n_down, n_across, "plot_rounds", figsize=(3.1 * n_across, 2.9 * n_down), sharex=True, sharey=True
    )
    points = _Points(plane)
    weights = dict(enumerate(fitted.staged_row_weights(X, y, sample_weight), start=1))
    for axes, number in zip(grid, chosen, strict=False):
        said = np.asarray(fitted.estimators_[number - 1].predict(points.rows))
        points.draw(axes, _places(said, classes))
        _draw_rows(axes, plane.values, labels, weights[number])
        title = f"round {number}: error {table.error[number - 1]:.3f}, say {table.say[number - 1]:.2f}"
        axes.set_title(title, fontsize=SMALL, color=GREY)
    last = grid[len(chosen)]
    points.draw(last, _places(np.asarray(fitted.predict(points.rows)), classes))
    _draw_rows(last, plane.values, labels, np.full(len(labels), 1 / len(labels)))
    last.set_title(f"all {len(table)} rounds", fontsize=SMALL, color=GREY)
    for axes in grid[len(chosen) + 1 :]:
        axes.set_visible(False)
    _finish(grid, len(chosen) + 1, n_across, plane, classes)
    return grid[: len(chosen) + 1]


def _chosen_rounds(asked: Sequence[int] | int | None, n_rounds: int) -> list[int]:
    if asked is None or (isinstance(asked, int | np.integer) and not isinstance(asked, bool)):
        most = 5 if asked is None else int(asked)
        if most < 1:
            raise ParameterError(f"`rounds` of plot_rounds must be at least 1; got {asked!r}.")
        return list(range(1, min(most, n_rounds, _MOST_ROUNDS) + 1))
    chosen = list(asked) if isinstance(asked, Sequence | np.ndarray) else []
    whole = all(isinstance(each, int | np.integer) and 1 <= each <= n_rounds for each in chosen)
    if not chosen or not whole or len(chosen) > _MOST_ROUNDS:
        raise ParameterError(
            f"`rounds` of plot_rounds must be at most {_MOST_ROUNDS} numbers from 1 to {n_rounds}, the "
            f"rounds of this model; got {asked!r}."
        )
    return [int(each) for each in chosen]


def _leading_columns(model: AnyEstimator, X: TableLike) -> list[int] | None:
    """The two numeric columns that matter most; None where the members do not tell."""
    from weald.data.adapters import to_table
    from weald.data.table import LevelColumn

    try:
        importance = np.asarray(model.feature_importances_)
    except AttributeError:
        return None
    columns = to_table(X).columns
    numeric = []
    for j in np.argsort(-importance, kind="stable").tolist():
        column = columns[j]
        if not isinstance(column, LevelColumn) and column.unit in ("number", "bool"):
            numeric.append((len(np.unique(column.values)) < _FEW, j))
    # Rows with one of a few values would stand in lines: such a column is drawn only for want of others.
    chosen = [j for _, j in sorted(numeric, key=lambda pair: pair[0])[:2]]
    return sorted(chosen) if len(chosen) == 2 else None


def _places(labels: NDArray[Any], classes: list[Any]) -> NDArray[np.intp]:
    return positions_among(labels, np.array(classes, dtype=object))


class _Points:
    """A grid over the plane, and the regions on it."""

    def __init__(self, plane: Plane) -> None:
        (self.left, self.right), (self.low, self.high) = plane.limits(0), plane.limits(1)
        across = np.linspace(self.left, self.right, _GRID)
        up = np.linspace(self.low, self.high, _GRID)
        grid = np.stack(np.meshgrid(across, up), axis=-1)
        self.rows = plane.rows(grid.reshape(-1, 2))

    def draw(self, axes: Axes, labels: NDArray[np.intp]) -> None:
        """The region of each class, pale."""
        from matplotlib.colors import to_rgb

        fills = np.array([to_rgb(tint(class_colour(k), 0.22)) for k in range(int(labels.max()) + 1)])
        axes.imshow(
            fills[labels.reshape(_GRID, _GRID)],
            extent=(self.left, self.right, self.low, self.high),
            origin="lower",
            aspect="auto",
            interpolation="nearest",
            zorder=0,
        )
        axes.set_xlim(self.left, self.right)
        axes.set_ylim(self.low, self.high)


def _draw_rows(axes: Axes, at: Floats, labels: NDArray[np.intp], weight: Floats) -> None:
    """Rows whose area is their weight over the mean; the heaviest last, so that they are seen."""
    area = float(np.clip(9000 / max(1, min(len(at), _MOST_DRAWN)), 6, 26)) * weight * len(at)
    some = np.linspace(0, len(at) - 1, min(len(at), _MOST_DRAWN)).astype(np.int64)
    order = some[np.argsort(area[some], kind="stable")]
    axes.scatter(
        at[order, 0],
        at[order, 1],
        s=np.clip(area[order], 0.4, 700),
        c=[class_colour(k) for k in labels[order].tolist()],
        edgecolors="white",
        linewidths=0.4,
        alpha=see_through(len(some)),
        zorder=2,
    )


def _finish(grid: list[Axes], n_shown: int, n_across: int, plane: Plane, classes: list[Any]) -> None:
    """Labels at the edges, and one legend for all."""
    for k, axes in enumerate(grid[:n_shown]):
        quiet(axes)
        below = k + n_across >= n_shown
        axes.tick_params(labelbottom=below)
        if below:
            axes.set_xlabel(plane.names[0])
        if k % n_across == 0:
            axes.set_ylabel(plane.names[1])
    figure = figure_of(grid[0])
    handles = [
        grid[0].scatter([], [], s=30, color=class_colour(k), label=str(label))
        for k, label in enumerate(classes)
    ]
    words = in_words(plane.held)
    n = plane.table.n_rows
    note = "area = weight of the row" + (f"; {_MOST_DRAWN:,} of {n:,} rows" if n > _MOST_DRAWN else "")
    wide = int(figure.get_size_inches()[0] * 13)
    note = "\n".join([note, *textwrap.wrap(words, wide)])
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=min(6, len(classes)),
        fontsize=SMALL,
        frameon=False,
        title=note,
        title_fontsize=SMALL,
    )
