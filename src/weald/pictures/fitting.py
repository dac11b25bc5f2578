"""The largest font in which the boxes of a tree fit a given space, and where they then go.

Three things are traded: the width at which long lines are broken, whether two sibling leaves stand beside or
above each other, and the font. Sizes of text come from whoever draws.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.model.conditions import NO_BREAK
from weald.pictures.layout import BoxLayout, tidy

LARGEST_FONT = 12.0
SMALLEST_FONT = 1.0  # matplotlib draws nothing smaller
READABLE_FONT = 4.0  # in print, and on a screen after zooming in
_FIRST_FONT = 8.0
# Widths, in characters, at which long lines may be broken.
_WRAPS = (60, 44, 32, 24, 18, 14)
_NEARLY, _STACK_GAIN = (
    0.9,
    1.05,
)  # a font this much smaller for fewer line breaks; this much larger for stacks
# In units of the font size: the padding of a box, the least and largest gaps between boxes, the gap between
# two stacked leaves and how far each of them is moved aside.
PAD, _ACROSS, _DOWN, _DOWN_MOST, _BETWEEN, _ASIDE = 0.45, 1.0, 2.9, 6.0, 2.2, 0.6
_DOWN_SHARE = 0.2  # of the height: gaps between rows grow up to this too, where there is room
_LEAST_TEXT, _LEAST_QUESTION = 1.0, 2.5  # about the narrowest texts of boxes, by the font
_MANY = 100
_SURE = 0.8  # where rough sizes leave room for so much less only, exact ones are not needed
_STRETCH = 1.6  # boxes of a row are pulled apart at most this much where there is room
# Of the text at a way, by the font: its size, and its middle above the box it leads to.
WAY_SIZE, WAY_UP = 0.85, 0.9
# Words that no line break may part, nor part from what follows.
_TIES = re.compile(r"(?:<=|=(?! \[)|\bis not|\bis|\bnot in|\bin|:|… and \d+) |\[[-+\d., e]{1,18}\]")


class Ruler(Protocol):
    """Measures texts: width and height in pixels in a font of so many points."""

    def exact(self, text: str, font: float) -> tuple[float, float]:
        """The size as drawn."""

    def rough(self, text: str, font: float) -> tuple[float, float]:
        """About the size; cheap for many fonts."""


@dataclass(frozen=True, slots=True)
class Box:
    """A box to draw: its parent's place in the list, its lines, what stands at the way to it, its fill."""

    parent: int
    lines: tuple[str, ...]
    way: str
    fill: str
    leaf: bool


@dataclass(frozen=True, slots=True)
class Space:
    """Room to draw in, in pixels, and how many pixels a point has."""

    width: float
    height: float
    pixels: float


@dataclass(frozen=True, slots=True)
class BoxPlan:
    """A font, and the boxes in it: texts, sizes, which stand under their sibling; units of layout."""

    font: float
    em: float
    texts: list[str]
    depth: NDArray[np.int64]
    width: Floats
    height: Floats
    under: NDArray[np.bool_]
    unit: NDArray[np.int64]  # the place of each box in the layout; a stack is one
    layout: BoxLayout

    def scale(self, space: Space) -> float:
        """How much larger everything could be; a pixel on each side stays free."""
        return min((space.width - 2) / self.layout.width, (space.height - 2) / self.layout.height)


@dataclass(frozen=True, slots=True)
class Placed:
    """Where things go, in pixels from the left and from the top: boxes by centre and top, lines by points."""

    x: Floats
    top: Floats
    lines: list[list[tuple[float, float]]]


def hopeless(inner: Sequence[int], ends: Sequence[int], space: Space, font: float) -> bool:
    """Whether boxes with and without a question, so many at each depth, cannot fit in a font.

    Boxes without children can stand in pairs, one under the other.
    """
    em, gaps = font * space.pixels, 2 * PAD + _ACROSS
    across = max(
        asking * (_LEAST_QUESTION + gaps) + silent / 2 * (_LEAST_TEXT + gaps)
        for asking, silent in zip(inner, ends, strict=True)
    )
    down = len(inner) * (_LEAST_TEXT + 2 * PAD + _DOWN)
    return (across - _ACROSS) * em > space.width or (down - _DOWN) * em > space.height


def fit(
    boxes: Sequence[Box],
    ruler: Ruler,
    space: Space,
    fontsize: float | None,
    least: float = READABLE_FONT,
) -> BoxPlan:
    """The plan with the largest font that fits, at least `least`, or with the font given.

    Whether even that fits, `BoxPlan.scale` says. Fonts and line breaks are chosen by rough sizes, since to
    measure every line in every font takes seconds; the last plan is made of exact ones.
    """
    depth = depths(boxes)
    plain = np.full(int(depth.max()) + 1, _WRAPS[0])

    def plan(font: float, wraps: NDArray[np.int64], stacked: bool, exact: bool = False) -> BoxPlan:
        measure = _Measured(boxes, depth, ruler.exact if exact else ruler.rough, font, font * space.pixels)
        return measure.plan(wraps, stacked)

    if not fontsize and len(boxes) > _MANY:  # no need to try everything where nothing can fit
        narrowest = plan(_FIRST_FONT, np.full_like(plain, _WRAPS[-1]), True)
        if _FIRST_FONT * narrowest.scale(space) < _SURE * least:
            return narrowest
    first, enough = (fontsize, 1.0) if fontsize else (_FIRST_FONT, LARGEST_FONT / _FIRST_FONT)
    scales = {
        (stacked, wrap): plan(first, np.full_like(plain, wrap), stacked).scale(space)
        for stacked, wrap in product((False, True), _WRAPS)
    }
    beside, above = (max(scales[stacked, wrap] for wrap in _WRAPS) for stacked in (False, True))
    stacked = beside < enough and min(above, enough) >= _STACK_GAIN * beside
    # The longest lines that leave room for the largest font, or for about the largest that can be had.
    wanted = min(enough, _NEARLY * (above if stacked else beside))
    wrap = next(wrap for wrap in _WRAPS if scales[stacked, wrap] >= wanted)
    wraps, font = np.full_like(plain, wrap), first * min(scales[stacked, wrap], enough)
    if fontsize:
        return plan(fontsize, wraps, stacked, exact=True)
    if font < _SURE * least:
        return plan(least, wraps, stacked)
    found = plan(max(font, least), wraps, stacked)
    for exact in (False, True):
        found = plan(found.font, wraps, stacked, exact)
        while (scale := found.scale(space)) < 1 and found.font > least:
            # A little more each time: hinting makes text shrink not quite in proportion.
            found = plan(max(found.font * min(scale, 0.99), least), wraps, stacked, exact)
    # Row by row from the root, the longest lines for which there is room at the same font.
    for row in range(len(wraps) if found.scale(space) >= 1 else 0):
        for wider in [other for other in _WRAPS if other > wraps[row]]:
            tried = wraps.copy()
            tried[row] = wider
            if plan(found.font, tried, stacked).scale(space) < 1:
                continue
            other = plan(found.font, tried, stacked, exact=True)
            if other.scale(space) >= 1:
                wraps, found = tried, other
                break
    return found


@dataclass(frozen=True, slots=True)
class _Measured:
    """Boxes in one font."""

    boxes: Sequence[Box]
    depth: NDArray[np.int64]
    measure: Callable[[str, float], tuple[float, float]]
    font: float
    em: float

    def plan(self, wraps: NDArray[np.int64], stacked: bool) -> BoxPlan:
        """The plan with lines broken at these widths, by depth."""
        boxes, em = self.boxes, self.em
        texts = [
            box_text(box.lines, int(wraps[row])) for box, row in zip(boxes, self.depth.tolist(), strict=True)
        ]
        sizes = np.array([self.measure(text, self.font) for text in texts]) + 2 * PAD * em + 1
        ways = [self.measure(box.way, self.font * WAY_SIZE)[0] if box.way else 0.0 for box in boxes]
        width, height = np.maximum(sizes[:, 0], np.array(ways)), sizes[:, 1]
        under = _second_leaves(boxes) if stacked else np.zeros(len(boxes), np.bool_)
        unit = np.cumsum(~under) - 1
        lower = np.flatnonzero(under)  # each right behind the leaf it stands under
        wide, high = width.copy(), height.copy()
        wide[lower - 1] = np.maximum(width[lower - 1], width[lower]) + 2 * _ASIDE * em
        high[lower - 1] = height[lower - 1] + _BETWEEN * em + height[lower]
        parents = [int(unit[box.parent]) if box.parent >= 0 else -1 for box in boxes]
        layout = tidy(
            [parent for parent, second in zip(parents, under.tolist(), strict=True) if not second],
            wide[~under],
            high[~under],
            across=_ACROSS * em,
            down=_DOWN * em,
        )
        return BoxPlan(self.font, em, texts, self.depth, width, height, under, unit, layout)


def _second_leaves(boxes: Sequence[Box]) -> NDArray[np.bool_]:
    """Which boxes are the second of two siblings without children: in preorder they are neighbours."""
    inner = {box.parent for box in boxes}
    return np.array(
        [
            k > 0 and box.parent == boxes[k - 1].parent and k not in inner and k - 1 not in inner
            for k, box in enumerate(boxes)
        ]
    )


def depths(boxes: Sequence[Box]) -> NDArray[np.int64]:
    """The depth of each box."""
    depth: list[int] = []
    for box in boxes:
        depth.append(0 if box.parent < 0 else depth[box.parent] + 1)
    return np.array(depth, np.int64)


@lru_cache(maxsize=20_000)
def box_text(lines: tuple[str, ...], wrap: int) -> str:
    """The lines of a box, broken at about this many characters, or as many as its longest part has.

    >>> box_text(("a_rather_long_name_of_a_column <= 2", "squared_error = 8.59e+08"), 18)
    'a_rather_long_name_of_a_column\\n<= 2\\nsquared_error = 8.59e+08'
    """
    widest = max((len(part) for line in lines for part in broken(line, wrap)), default=0)
    return "\n".join(part for line in lines for part in broken(line, max(wrap, widest)))


def broken(line: str, wrap: int) -> list[str]:
    """A line in parts of about this many characters, broken at spaces, best before a comparison.

    No-break spaces, which hold abbreviated names together, become plain ones.

    >>> broken("flipper_length_mm <= 206.5", 20), broken("sex is male", 20)
    (['flipper_length_mm', '<= 206.5'], ['sex is male'])
    """
    if len(line) <= wrap:
        return [line.replace(NO_BREAK, " ")]
    tied = _TIES.sub(lambda found: found.group().replace(" ", NO_BREAK), line)
    parts = textwrap.wrap(tied, wrap, break_long_words=False, break_on_hyphens=False)
    return [part.replace(NO_BREAK, " ") for part in parts]


def place(boxes: Sequence[Box], plan: BoxPlan, space: Space) -> Placed:
    """Put the boxes of a plan into the space, in its middle, with the room that is left shared out."""
    centre, top, bottom = _spread(plan, space)
    x, y = centre[plan.unit], top[plan.depth]
    aside = _ASIDE * plan.em
    for k in np.flatnonzero(plan.under).tolist():
        # The first leaf keeps to the left edge of their column, the second to the right.
        half = max(plan.width[k - 1], plan.width[k]) / 2
        x[k - 1] -= aside + half - plan.width[k - 1] / 2
        x[k] += aside + half - plan.width[k] / 2
        y[k] += plan.height[k - 1] + _BETWEEN * plan.em
    lines = []
    for k, box in enumerate(boxes):
        if box.parent >= 0:
            above, row = box.parent, int(plan.depth[k])
            start = float(centre[plan.unit[above]])
            # From within the box, which covers the end.
            line = [(start, float(y[above] + plan.height[above] / 2)), (start, float(bottom[row - 1]))]
            if plan.under[k]:  # past the first leaf
                aisle = float(centre[plan.unit[k]]) + max(plan.width[k - 1], plan.width[k]) / 2
                line.append((aisle, float(top[row])))
                turn = float(y[k]) - WAY_UP * plan.em  # at the text of the way
                line += [(aisle, turn), (float(x[k]), turn), (float(x[k]), float(y[k]))]
            else:
                line.append((float(x[k]), float(y[k])))
            lines.append(line)
    return Placed(x, y, lines)


def _spread(plan: BoxPlan, space: Space) -> tuple[Floats, Floats, Floats]:
    """Centres of the units, and tops and bottoms of the rows."""
    layout = plan.layout
    first, span = float(layout.x.min()), float(np.ptp(layout.x))
    stretch = min(_STRETCH, 1 + max(space.width - layout.width, 0.0) / span) if span else 1.0
    margin = (space.width - layout.width - span * (stretch - 1)) / 2
    gaps = len(layout.top) - 1
    more = max(space.height - layout.height, 0.0) / gaps if gaps else 0.0
    more = min(more, max(_DOWN_MOST * plan.em, _DOWN_SHARE * space.height) - _DOWN * plan.em)
    top = layout.top + np.arange(gaps + 1) * more + (space.height - layout.height - gaps * more) / 2
    return (layout.x - first) * stretch + first + margin, top, top + layout.row_height
