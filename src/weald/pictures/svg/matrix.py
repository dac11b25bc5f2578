"""Counts in cells: which labels are taken for which; where predictions lie for which truths."""

from __future__ import annotations

from collections.abc import Sequence
from math import log1p

from weald.pictures.svg.markup import Markup
from weald.pictures.svg.plot import LETTER, Chart, Plot, box, line, name_at_left, room_for, told
from weald.pictures.svg.plot import text as words_at
from weald.pictures.svg.scales import Scale, clipped, percent

#: shades from pale to strong
SHADES = 7


def confusion(title: str, says: str, labels: Sequence[str], counts: Sequence[Sequence[int]]) -> Chart:
    """Truths downwards, what was said across; cells by the share of their row."""
    n = len(labels)
    left = room_for(labels, 120) + 22
    size = min(84.0 if n < 4 else 64.0, (440 - left - 12) / n)
    plot = Plot(440, 62 + n * size, left=left, top=22, bottom=40)
    plot.add(words_at(left + n * size / 2, 13, "predicted", "name", anchor="middle"))
    plot.add(_sideways(plot, n * size))
    for i, row in enumerate(counts):
        total = sum(row) or 1
        y = plot.top + i * size
        plot.add(name_at_left(left - 7, y + size / 2 + 4, labels[i], left - 34))
        for j, count in enumerate(row):
            share = count / total
            words = f"{labels[i]} predicted as {labels[j]}: {count:,} ({percent(share)})"
            plot.add(box(left + j * size, y, size, size, f"shade q{shade(share)} cell", words))
            if size >= 30 and count:
                strong = " strong" if shade(share) >= 4 else ""
                plot.add(
                    words_at(
                        left + (j + 0.5) * size,
                        y + size / 2 + 4,
                        f"{count:,}",
                        f"count{strong}",
                        anchor="middle",
                    )
                )
    for j, label in enumerate(labels):
        x, y = left + (j + 0.5) * size, plot.top + n * size + 13
        if size >= 44:
            plot.add(words_at(x, y, clipped(label, int(size / LETTER)), anchor="middle"))
        else:
            turn = f"rotate(-45 {x:.0f} {y:.0f})"
            plot.add(words_at(x, y, clipped(label, 6), anchor="end", transform=turn))
    rows = tuple((labels[i], *(f"{count:,}" for count in row)) for i, row in enumerate(counts))
    head = ("truth ↓ predicted →", *labels)
    return Chart(title, says, plot.done(title, says), head, rows)


def _sideways(plot: Plot, length: float) -> Markup:
    y = plot.top + length / 2
    return words_at(12, y, "truth", "name", anchor="middle", transform=f"rotate(-90 12 {y:.0f})")


def shade(share: float) -> int:
    """The shade of a share: 0 for none.

    >>> shade(0.0), shade(0.01), shade(1.0)
    (0, 1, 6)
    """
    return 0 if share <= 0 else min(SHADES - 1, 1 + int(share * (SHADES - 1)))


def density(
    title: str,
    says: str,
    x_edges: Sequence[float],
    y_edges: Sequence[float],
    counts: Sequence[Sequence[int]],
    *,
    x_name: str,
    y_name: str,
) -> Chart:
    """Rows by two numbers, counted in cells (rows of `counts` are of y); the diagonal is drawn."""
    plot = Plot(440, 320, left=56)
    x, y = Scale(x_edges[0], x_edges[-1], *plot.across), Scale(y_edges[0], y_edges[-1], *plot.up)
    plot.x_axis(x, x_name)
    plot.y_axis(y, y_name)
    most = log1p(max((count for row in counts for count in row), default=1)) or 1.0
    rows = []
    for i, row in enumerate(counts):
        for j, count in enumerate(row):
            if count:
                strength = min(SHADES - 1, 1 + int((SHADES - 2) * log1p(count) / most))
                left, low = x(x_edges[j]), y(y_edges[i])
                plot.add(
                    box(left, low, x(x_edges[j + 1]) - left, y(y_edges[i + 1]) - low, f"shade q{strength}")
                )
                rows.append(told(x_edges[j], x_edges[j + 1], y_edges[i], y_edges[i + 1], str(count)))
    start, end = max(x.low, y.low), min(x.high, y.high)
    if end > start:
        plot.add(line(x(start), y(start), x(end), y(end), "zero dashed"))
    head = (f"{x_name} from", "to", f"{y_name} from", "to", "rows")
    return Chart(title, says, plot.done(title, says), head, tuple(rows), (("zero", "perfect"),))
