"""Boxes of text and the lines between them on matplotlib's axes.

Only this module speaks matplotlib's language; it is imported when something is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from weald.pictures.colours import ink
from weald.pictures.fitting import PAD, WAY_SIZE, WAY_UP, Box, BoxPlan, Space, place

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation

_LINE, _BORDER = "#8a8a8a", "#4d4d4d"
_WAYS = {"#1a1a1a": "#555555", "#ffffff": "#c4c4c4"}  # softer than the ink for the same ground
# The font in which widths of characters are taken, and a text that tells how they differ in another.
_ROUGH, _SAMPLE = 16.0, "value = [1234, 5678] class: town in {Bern, Basel} <= 90.5"
_SPACING = 1.2


def figure_of(axes: Axes) -> Figure:
    """The whole figure that axes stand in."""
    return cast("Figure", axes.get_figure(root=True))


class Canvas:
    """The axes of a drawing, cleared, with the room they have."""

    def __init__(self, axes: Axes) -> None:
        axes.clear()
        axes.set_axis_off()
        figure = figure_of(axes)
        if figure.get_layout_engine() is not None:
            figure.draw_without_rendering()  # a layout engine moves the axes only when it draws
        extent = axes.get_window_extent()
        self.axes = axes
        self.space = Space(extent.width, extent.height, figure.dpi / 72)
        self._text = axes.text(0, 0, "", parse_math=False, linespacing=_SPACING)
        self._advances: dict[str, float] = {}
        self._known: dict[tuple[str, float], tuple[float, float]] = {}

    def resized(self) -> Canvas:
        """The same axes with the room they have now; what was measured of texts still holds."""
        extent = self.axes.get_window_extent()
        self.space = Space(extent.width, extent.height, self.space.pixels)
        return self

    def rough(self, text: str, font: float) -> tuple[float, float]:
        """About the width and height of a text, in pixels, from the widths of its characters."""
        lines = text.split("\n")
        width = max(sum(map(self._advance, line)) for line in lines)
        # Hinting makes small text wider or narrower, all of it by about the same share.
        hinted = self._measure(_SAMPLE, font)[0] / sum(map(self._advance, _SAMPLE))
        least, two = (self._measure(sample, font)[1] for sample in ("lp", "lp\nlp"))
        return width * hinted, least + (len(lines) - 1) * (two - least)

    def _advance(self, character: str) -> float:
        """By how much a character makes a line longer."""
        if character not in self._advances:
            some, one = (self._measure(f"n{character * k}n", _ROUGH)[0] for k in (5, 1))
            self._advances[character] = (some - one) / 4
        return self._advances[character]

    def exact(self, text: str, font: float) -> tuple[float, float]:
        """Width and height of a text, in pixels.

        Lines are measured one by one, as they come again and again. For the step between them matplotlib
        takes that of "lp", or more under a higher line.
        """
        sizes = [self._measure(line, font) for line in text.split("\n")]
        least = self._measure("lp", font)[1]
        step = self._measure("lp\nlp", font)[1] - least
        steps = [step + _SPACING * max(0.0, height - least) for _, height in sizes[1:]]
        return max(width for width, _ in sizes), sizes[0][1] + sum(steps)

    def _measure(self, text: str, font: float) -> tuple[float, float]:
        if (text, font) not in self._known:
            self._text.set_text(text)
            self._text.set_fontsize(font)
            extent = self._text.get_window_extent()
            self._known[text, font] = extent.width, extent.height
        return self._known[text, font]

    def draw(self, boxes: Sequence[Box], plan: BoxPlan, *, rounded: bool) -> list[Annotation]:
        """Draw the boxes, the lines between them and the texts at the ways; returns the texts."""
        from matplotlib.collections import LineCollection

        self._text.remove()
        placed = place(boxes, plan, self.space)
        corners = f"round,pad={PAD},rounding_size=0.5" if rounded else f"square,pad={PAD}"
        drawn, ways = [], []
        for k, box in enumerate(boxes):
            x, top = float(placed.x[k]), float(placed.top[k])
            drawn.append(self._box(box, plan.texts[k], plan, x, top, corners))
            if box.way:
                ways.append(self._way(box.way, plan, x, top))
        lines = [[self._at(*point) for point in line] for line in placed.lines]
        style: dict[str, Any] = {
            "colors": _LINE,
            "linewidths": plan.font * 0.09,
            "capstyle": "round",
            "zorder": 1,
        }
        self.axes.add_collection(LineCollection(lines, transform=self.axes.transAxes, **style), autolim=False)
        return drawn + ways

    def _at(self, x: float, y: float) -> tuple[float, float]:
        """Pixels from the left and the top as fractions of the axes, which survive a resize."""
        return x / self.space.width, 1 - y / self.space.height

    def _annotate(self, text: str, at: tuple[float, float], **style: Any) -> Annotation:
        return self.axes.annotate(
            text, at, xycoords="axes fraction", ha="center", parse_math=False, annotation_clip=False, **style
        )

    def _box(self, box: Box, text: str, plan: BoxPlan, x: float, top: float, corners: str) -> Annotation:
        patch = {
            "boxstyle": corners,
            "facecolor": box.fill,
            "edgecolor": _BORDER if box.leaf else _LINE,
            "linewidth": plan.font * (0.11 if box.leaf else 0.07),
        }
        return self._annotate(
            text,
            self._at(x, top + PAD * plan.em),
            va="top",
            fontsize=plan.font,
            linespacing=_SPACING,
            color=ink(box.fill),
            bbox=patch,
            zorder=3,
        )

    def _way(self, text: str, plan: BoxPlan, x: float, top: float) -> Annotation:
        from matplotlib.colors import to_hex

        # The axes are off: what is seen behind them is the figure.
        ground = to_hex(cast("Figure", self.axes.get_figure(root=False)).get_facecolor())
        return self._annotate(
            text,
            self._at(x, top - WAY_UP * plan.em),
            va="center",
            fontsize=plan.font * WAY_SIZE,
            style="italic",
            color=_WAYS[ink(ground)],
            bbox={"boxstyle": "square,pad=0.08", "facecolor": ground, "edgecolor": "none"},
            zorder=2,
        )
