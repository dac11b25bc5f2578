"""Boxes of text on matplotlib's axes: measured, laid out in the largest font that fits, drawn.

Only this module speaks matplotlib's language; it is imported when something is drawn.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.pictures.colours import ink
from weald.pictures.layout import Layout, tidy

LARGEST_FONT = 12.0
_FIRST_FONT = 8.0
# Widths, in characters, at which long lines may be broken.
_WRAPS = (44, 32, 24, 18, 14)
_NEARLY = 0.9  # a font this much smaller is taken for fewer line breaks
# In units of the font size: the padding of a box, and the least and largest gaps between boxes.
_PAD, _ACROSS, _DOWN, _DOWN_MOST = 0.45, 1.0, 2.9, 6.0
_STRETCH = 1.6  # boxes of a row are pulled apart at most this much where there is room
_WAY_SIZE, _WAY_UP = 0.85, 0.95  # text at a way: its size, and its middle above the box, both by the font
# Words that no line break may part, nor part from what follows.
_TIES = re.compile(r"(?:<=|=(?! \[)|\bis not|\bis|\bnot in|\bin|:|… and \d+) |\[[-+\d., e]{1,18}\]")
_LINE, _BORDER = "#8a8a8a", "#4d4d4d"


@dataclass(frozen=True, slots=True)
class Box:
    """A box to draw: its parent's place in the list, its lines, what stands at the way to it, its fill."""

    parent: int
    lines: tuple[str, ...]
    way: str
    fill: str
    leaf: bool


@dataclass(frozen=True, slots=True)
class Fit:
    """A font size, the texts as broken for it, the heights of the boxes, and where they go, in pixels."""

    font: float
    texts: list[str]
    height: NDArray[np.float64]
    layout: Layout


def fit(axes: Any, boxes: Sequence[Box], fontsize: float | None) -> Fit:
    """The largest font, and the line breaks, with which the boxes fit into the axes; or the font given."""
    figure = axes.get_figure(root=True)
    if figure.get_layout_engine() is not None:
        figure.draw_without_rendering()  # a layout engine moves the axes only when it draws
    space = axes.get_window_extent()
    measure = _Measure(axes)
    wraps = np.full(max(depths(boxes)) + 1, _WRAPS[0])
    try:
        scales = [
            _scale(_laid_out(measure, boxes, fontsize or _FIRST_FONT, np.full_like(wraps, wrap)), space)
            for wrap in _WRAPS
        ]
        # The longest lines that leave room for the largest font, or for about the largest that can be had.
        enough = 1.0 if fontsize else LARGEST_FONT / _FIRST_FONT
        best = next(k for k, scale in enumerate(scales) if scale >= min(enough, _NEARLY * max(scales)))
        wraps[:] = _WRAPS[best]
        font = fontsize or _FIRST_FONT * min(scales[best], enough)
        found = _laid_out(measure, boxes, font, wraps)
        while not fontsize and (scale := _scale(found, space)) < 1:
            font *= min(scale, 0.99)  # hinting: text does not shrink quite in proportion
            found = _laid_out(measure, boxes, font, wraps)
        return _unbroken(measure, boxes, found, wraps, space)
    finally:
        measure.text.remove()


def _unbroken(
    measure: _Measure, boxes: Sequence[Box], found: Fit, wraps: NDArray[np.int64], space: Any
) -> Fit:
    """Row by row from the root, the longest lines for which there is room at the same font."""
    for depth in range(len(wraps)):
        for wider in [wrap for wrap in _WRAPS if wrap > wraps[depth]]:
            tried = wraps.copy()
            tried[depth] = wider
            other = _laid_out(measure, boxes, found.font, tried)
            if other.layout.width <= found.layout.width or _scale(other, space) >= 1:
                wraps, found = tried, other
                break
    return found


def _scale(found: Fit, space: Any) -> float:
    """How much larger the boxes could be; a pixel on each side stays free."""
    layout = found.layout
    return float(min((space.width - 2) / layout.width, (space.height - 2) / layout.height))


def _laid_out(measure: _Measure, boxes: Sequence[Box], font: float, wraps: NDArray[np.int64]) -> Fit:
    texts = [
        "\n".join(part for line in box.lines for part in broken(line, int(wraps[depth])))
        for box, depth in zip(boxes, depths(boxes), strict=True)
    ]
    em = font * measure.pixels
    sizes = np.array([measure.size(text, font) for text in texts]) + 2 * _PAD * em + 1
    ways = np.array([measure.size(box.way, font * _WAY_SIZE)[0] if box.way else 0.0 for box in boxes])
    layout = tidy(
        [box.parent for box in boxes],
        np.maximum(sizes[:, 0], ways),
        sizes[:, 1],
        across=_ACROSS * em,
        down=_DOWN * em,
    )
    return Fit(font, texts, sizes[:, 1], layout)


def broken(line: str, wrap: int) -> list[str]:
    """A line in parts of about this many characters, broken at spaces, best before a comparison.

    >>> broken("flipper_length_mm <= 206.5", 20), broken("sex is male", 20)
    (['flipper_length_mm', '<= 206.5'], ['sex is male'])
    """
    if len(line) <= wrap:
        return [line]
    tied = _TIES.sub(lambda found: found.group().replace(" ", "\0"), line)
    parts = textwrap.wrap(tied, wrap, break_long_words=False, break_on_hyphens=False)
    return [part.replace("\0", " ") for part in parts]


class _Measure:
    """Sizes of texts in pixels."""

    def __init__(self, axes: Any) -> None:
        self.text = axes.text(0, 0, "", parse_math=False, linespacing=1.2)
        self.pixels = axes.get_figure(root=True).dpi / 72  # a point
        self._known: dict[tuple[str, float], tuple[float, float]] = {}

    def size(self, text: str, font: float) -> tuple[float, float]:
        """Width and height."""
        if (text, font) not in self._known:
            self.text.set_text(text)
            self.text.set_fontsize(font)
            extent = self.text.get_window_extent()
            self._known[text, font] = extent.width, extent.height
        return self._known[text, font]


def draw(axes: Any, boxes: Sequence[Box], found: Fit, *, rounded: bool) -> list[Any]:
    """Draw the boxes, the lines between them and the texts at the ways; returns the texts."""
    from matplotlib.collections import LineCollection

    space = axes.get_window_extent()
    em = found.font * axes.get_figure(root=True).dpi / 72
    x, top, bottom = _spread(boxes, found, space, em)
    depth = depths(boxes)
    style = {"ha": "center", "xycoords": "axes fraction", "parse_math": False, "annotation_clip": False}
    corners = f"round,pad={_PAD},rounding_size=0.5" if rounded else f"square,pad={_PAD}"
    drawn, ways, lines = [], [], []
    for k, box in enumerate(boxes):
        at = x[k] / space.width
        patch = {
            "boxstyle": corners,
            "facecolor": box.fill,
            "edgecolor": _BORDER if box.leaf else _LINE,
            "linewidth": found.font * (0.11 if box.leaf else 0.07),
        }
        drawn.append(
            axes.annotate(
                found.texts[k],
                (at, 1 - (top[depth[k]] + _PAD * em) / space.height),
                va="top",
                fontsize=found.font,
                color=ink(box.fill),
                linespacing=1.2,
                bbox=patch,
                zorder=3,
                **style,
            )
        )
        if box.parent < 0:
            continue
        above, start = x[box.parent] / space.width, top[depth[k] - 1] + found.height[box.parent]
        heights = (start, bottom[depth[k] - 1], top[depth[k]])
        ends = [1 - height / space.height for height in heights]
        lines.append([(above, ends[0]), (above, ends[1]), (at, ends[2])])
        if box.way:
            ways.append(
                axes.annotate(
                    box.way,
                    (at, ends[2] + _WAY_UP * em / space.height),
                    va="center",
                    fontsize=found.font * _WAY_SIZE,
                    color="#555555",
                    style="italic",
                    bbox={"boxstyle": "square,pad=0.08", "facecolor": "white", "edgecolor": "none"},
                    zorder=2,
                    **style,
                )
            )
    axes.add_collection(
        LineCollection(
            lines,
            transform=axes.transAxes,
            colors=_LINE,
            linewidths=found.font * 0.09,
            zorder=1,
            capstyle="round",
        ),
        autolim=False,
    )
    return drawn + ways


def depths(boxes: Sequence[Box]) -> list[int]:
    """The depth of each box."""
    depth: list[int] = []
    for box in boxes:
        depth.append(0 if box.parent < 0 else depth[box.parent] + 1)
    return depth


def _spread(
    boxes: Sequence[Box], found: Fit, space: Any, em: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Centres of the boxes and tops and bottoms of the rows, with the room left shared out, in pixels."""
    layout = found.layout
    span = float(np.ptp(layout.x))
    free = space.width - layout.width
    stretch = min(_STRETCH, 1 + max(free, 0.0) / span) if span else 1.0
    first = float(layout.x.min())
    x = (layout.x - first) * stretch + first + (space.width - layout.width - span * (stretch - 1)) / 2
    gaps = len(layout.top) - 1
    more = min(max(space.height - layout.height, 0.0) / gaps, (_DOWN_MOST - _DOWN) * em) if gaps else 0.0
    top = layout.top + np.arange(gaps + 1) * more
    top += (space.height - (layout.height + gaps * more)) / 2
    return x, top, top + layout.row_height
