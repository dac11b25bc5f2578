"""Axes for curves and marks: new ones unless given, with quiet lines. matplotlib is imported when needed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from weald.pictures.canvas import figure_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

INK, GREY, PALE = "#1a1a1a", "#6b6b6b", "#c9c9c9"
SMALL = 9.0
#: characters of a tick in an inch, and the inches from one to the next below which they are turned steeply
_PER_INCH, _STEEP = 9, 0.2
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def new_axes(ax: Axes | None, owner: str) -> Axes:
    """The axes that were given, or those of a new figure that makes room for what stands around them."""
    return ax if ax is not None else new_grid(1, 1, owner)[0]


def new_grid(n_rows: int, n_columns: int, owner: str, **options: Any) -> list[Axes]:
    """Axes of a new figure, row by row."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(f"{owner} needs matplotlib: pip install 'weald[plot]'.") from None
    _, axes = plt.subplots(n_rows, n_columns, layout="constrained", squeeze=False, **options)
    return list(axes.ravel())


def quiet(axes: Axes, *, xlabel: str = "", ylabel: str = "", title: str = "") -> None:
    """Labels, a title at the left, numbers that can be read, and no more lines than reading needs."""
    from weald.pictures.ticks import plain_numbers

    plain_numbers(axes)
    if xlabel:
        axes.set_xlabel(xlabel)
    if ylabel:
        axes.set_ylabel(ylabel)
    if title:
        axes.set_title(title, loc="left", fontsize=SMALL + 1, color=GREY)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        axes.spines[side].set_color(PALE)
    axes.tick_params(color=PALE, labelcolor=GREY)


def legend_beside(axes: Axes, *, title: str | None = None, inside: str = "best") -> None:
    """A legend beside the axes where the figure makes room for it, in them where it does not."""
    handles, labels = axes.get_legend_handles_labels()
    if not handles:
        return
    style: dict[str, Any] = {"fontsize": SMALL, "title": title, "title_fontsize": SMALL}
    if figure_of(axes).get_layout_engine() is None:
        style |= {"loc": inside, "framealpha": 0.85, "edgecolor": PALE}
    else:
        style |= {"loc": "center left", "bbox_to_anchor": (1.01, 0.5), "frameon": False}
    show_marks(axes.legend(handles, labels, **style))


def legend_in(axes: Axes, *, title: str | None = None, loc: str = "best") -> None:
    """A legend in the axes."""
    style: dict[str, Any] = {"fontsize": SMALL, "title": title, "title_fontsize": SMALL, "loc": loc}
    if axes.get_legend_handles_labels()[0]:
        show_marks(axes.legend(framealpha=0.85, edgecolor=PALE, **style))


def show_marks(legend: Legend) -> None:
    """Marks of one size and full colour in a legend, however small and pale they are in the picture."""
    for handle in legend.legend_handles:
        if handle is not None and hasattr(handle, "set_sizes"):
            handle.set_sizes([30.0])
            handle.set_alpha(1.0)


def dot_size(n: int, *, most: float = 36.0, least: float = 4.0) -> float:
    """The area of a mark in square points: smaller where marks are many."""
    return float(min(max(12_000 / max(1, n), least), most))


def see_through(n: int) -> float:
    """How opaque a mark is: less where marks are many, so that heaps of them show as such."""
    return float(min(max(600 / max(1, n), 0.25), 0.9))


def turn_where_crowded(axes: Axes, names: Sequence[str]) -> None:
    """Turn the words below an axis, one for each place, if neighbours would touch; steeper if many."""
    width = 0.8 * float(axes.get_window_extent().width) / figure_of(axes).dpi / max(1, len(names))
    if all((len(a) + len(b)) / 2 + 1 <= _PER_INCH * width for a, b in pairwise(names)):
        return
    for tick in axes.get_xticklabels():
        tick.set_rotation(45 if width > _STEEP else 60)
        tick.set_rotation_mode("anchor")
        tick.set_horizontalalignment("right")


def as_power(text: str) -> str:
    """A number as Python writes it, with its power of ten as people write it.

    >>> as_power("6.23e+11"), as_power("2.2e-07"), as_power("52.5")
    ('6.23×10¹¹', '2.2×10⁻⁷', '52.5')
    """
    digits, power, exponent = text.partition("e")
    return f"{digits}×10{str(int(exponent)).translate(_RAISED)}" if power else text


def short_number(value: float, *, signed: bool = False) -> str:
    """A number for a mark: three digits or so, thousands with commas, never a power of ten unless it must.

    >>> short_number(49084.932), short_number(-0.0205, signed=True), short_number(96000.0, signed=True)
    ('49,085', '−0.0205', '+96,000')
    """
    size = abs(value)
    text = f"{size:,.0f}" if 1000 <= size < 1e9 else as_power(f"{size:.3g}")
    sign = "−" if value < 0 else "+" if signed else ""
    return sign + text


def shortened_names(names: Sequence[object], longest: int = 28) -> list[str]:
    """Names for an axis: long ones lose their middle."""
    from weald.model.conditions import shortened

    return [shortened(str(name), longest) for name in names]
