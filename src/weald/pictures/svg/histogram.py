"""Counts of values in bins, of one table or of two beside each other; small ones for rows of a table."""

from __future__ import annotations

from collections.abc import Sequence

from weald.pictures.svg.markup import Markup, tag
from weald.pictures.svg.plot import Chart, Plot, box, line, path_of, told
from weald.pictures.svg.scales import Scale


def histogram(
    title: str,
    says: str,
    edges: Sequence[float],
    counts: Sequence[int],
    others: Sequence[int] | None = None,
    *,
    of: str,
    words: tuple[str, str] = ("rows", "training rows"),
    zero: bool = False,
) -> Chart:
    """Shares of rows by value; those of other rows as a line of steps.

    Parameters
    ----------
    title, says : str
        What it shows, in a few words and in a sentence.
    edges, counts : sequence
        One edge more than counts.
    others : sequence of int, default=None
        Counts of other rows in the same bins.
    of : str
        What the values are.
    words : tuple of str
        What both kinds of rows are called.
    zero : bool, default=False
        Whether to mark 0.
    """
    plot = Plot(440, 240)
    shares = _shares(counts)
    theirs = None if others is None else _shares(others)
    x = Scale(edges[0], edges[-1], *plot.across)
    y = Scale(0, max([*shares, *(theirs or []), 1e-9]) * 1.05, *plot.up)
    plot.y_axis(Scale(0, 100 * y.high, *plot.up), "% of rows", 4)
    plot.x_axis(x, of)
    for k, share in enumerate(shares):
        left, right = x(edges[k]), x(edges[k + 1])
        if share > 0:
            plot.add(box(left, y(0), right - left, y(share) - y(0), "fill c0 bin"))
    if theirs is not None:
        plot.add(tag("path", d=_steps(x, y, edges, theirs), class_="stroke c1"))
    if zero and edges[0] < 0 < edges[-1]:
        plot.add(line(x(0), plot.up[1], x(0), plot.up[0], "zero dashed"))
    plot.add(line(plot.left, y(0), plot.across[1], y(0), "zero"))
    rows = tuple(
        told(edges[k], edges[k + 1], str(counts[k]), *([] if others is None else [str(others[k])]))
        for k in range(len(counts))
    )
    head = ("from", "to", words[0], *(() if others is None else (words[1],)))
    legend = () if others is None else (("c0", words[0]), ("c1", words[1]))
    return Chart(title, says, plot.done(title, says), head, rows, legend)


def _shares(counts: Sequence[int]) -> list[float]:
    total = sum(counts) or 1
    return [count / total for count in counts]


def _steps(x: Scale, y: Scale, edges: Sequence[float], shares: Sequence[float]) -> str:
    points = [(x(edges[0]), y(0))]
    for k, share in enumerate(shares):
        points += [(x(edges[k]), y(share)), (x(edges[k + 1]), y(share))]
    return path_of([*points, (x(edges[-1]), y(0))])


def spark(counts: Sequence[int], words: str, others: Sequence[int] | None = None) -> Markup:
    """Bars of 84 by 22, without axes; those of other rows as a line over them."""
    shares = _shares(counts)
    theirs = None if others is None else _shares(others)
    most = max([*shares, *(theirs or []), 1e-9])
    width = 84 / max(len(shares), 1)
    bars = "".join(
        f"M{k * width:.3g} 22V{22 - 21 * share / most:.3g}h{width * 0.88:.3g}V22Z"
        for k, share in enumerate(shares)
        if share > 0
    )
    over = None
    if theirs is not None:
        steps = "".join(f"V{22 - 21 * share / most:.3g}h{width:.3g}" for share in theirs)
        over = tag("path", d=f"M0 22{steps}", class_="stroke c1 thin")
    label = {"role": "img", "aria_label": words}
    return tag(
        "svg", tag("path", d=bars, class_="fill c0"), over, viewBox="0 0 84 22", class_="spark", **label
    )
