"""Numbers along axes: thousands with commas, and no more of them than have room. Imports matplotlib."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib import rcParams
from matplotlib.font_manager import FontProperties
from matplotlib.ticker import AutoLocator, MaxNLocator, ScalarFormatter

from weald.pictures.axes import as_power
from weald.pictures.canvas import figure_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.colorbar import Colorbar

#: numbers up to here have no commas, as years have none
_PLAIN = 10_000
#: from ten to this on the axis says by which power of ten to multiply
_POWER = 9
_MOST = 9
#: the width of a digit in sizes of its font, and the gap between two numbers in digits
_DIGIT, _GAP = 0.64, 1.5


class Numbers(ScalarFormatter):
    """Plain numbers, with commas where there are large ones."""

    def __init__(self) -> None:
        super().__init__(useOffset=False)
        self.set_powerlimits((-5, _POWER))
        self._largest = 0.0

    def set_locs(self, locs: Sequence[float]) -> None:
        """The numbers that are written together."""
        self._largest = max((abs(at) for at in locs), default=0.0)
        super().set_locs(list(locs))

    def __call__(self, x: float, pos: int | None = None) -> str:
        """The words for a number."""
        text = super().__call__(x, pos)
        if super().get_offset() or self._largest < _PLAIN:
            return text
        return re.sub(r"\d+", lambda digits: f"{int(digits[0]):,}", text, count=1)

    def get_offset(self) -> str:
        """The power of ten that all numbers are multiplied by."""
        text = super().get_offset()
        return as_power(f"1{text[1:]}").replace("1×", "×", 1) if text.startswith("1e") else text


class Roomy(MaxNLocator):
    """matplotlib's round numbers, fewer of them where their words would touch."""

    def __init__(self, axis: Axis) -> None:
        super().__init__(nbins=_MOST, steps=[1, 2, 2.5, 5, 10])
        self._of = axis

    def tick_values(self, vmin: float, vmax: float) -> Sequence[float]:
        """Where the ticks are."""
        ticks: Sequence[float] = []
        for n in range(max(2, min(_MOST, int(self._of.get_tick_space()))), 0, -1):
            self.set_params(nbins=n)
            ticks = super().tick_values(vmin, vmax)
            if self._fit(ticks, min(vmin, vmax), max(vmin, vmax)):
                break
        return ticks

    def _fit(self, ticks: Sequence[float], low: float, high: float) -> bool:
        """Whether the words below an axis have gaps between them."""
        inside = [at for at in ticks if low <= at <= high]
        if self._of is not self._of.axes.xaxis or len(inside) < 2:
            return True
        longest = max(map(len, self._of.get_major_formatter().format_ticks(inside)))
        axes = self._of.axes
        points = 72.0 * axes.get_window_extent().width / figure_of(axes).dpi
        size = FontProperties(size=rcParams["xtick.labelsize"]).get_size_in_points()
        return _DIGIT * size * (longest + _GAP) <= points * (inside[1] - inside[0]) / (high - low)


def plain_numbers(axes: Axes) -> None:
    """Have the axes that nobody chose ticks for write their numbers so."""
    for axis in (axes.xaxis, axes.yaxis):
        if type(axis.get_major_formatter()) is not ScalarFormatter:
            continue
        axis.set_major_formatter(Numbers())
        if type(axis.get_major_locator()) is AutoLocator:
            axis.set_major_locator(Roomy(axis))


def plain_numbers_beside(bar: Colorbar) -> None:
    """The same for a bar of colours."""
    bar.formatter = Numbers()
    bar.update_ticks()
