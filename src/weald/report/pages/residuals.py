"""Residuals of a regression."""

from __future__ import annotations

from weald.pictures.svg.histogram import histogram
from weald.pictures.svg.lines import Line, lines
from weald.pictures.svg.markup import Markup
from weald.pictures.svg.matrix import density
from weald.pictures.svg.scales import number
from weald.report.pages.parts import charts, figure, section
from weald.report.records import Residuals


def residuals_section(found: Residuals, target: str) -> Markup:
    """Truths beside predictions, and what is left."""
    q05, q25, _, q75, q95 = found.quantiles
    lead = (
        f"Half of the errors lie between {number(q25)} and {number(q75)}, nine tenths between {number(q05)} "
        f"and {number(q95)}; on average truth − prediction is {number(found.mean, 3)} "
        f"± {number(1.96 * found.standard_error, 2)}."
    )
    bins = found.by_prediction
    columns = list(zip(*(each.quantiles for each in bins), strict=True))
    spread = [
        Line("median", columns[2], columns[1], columns[3]),
    ]
    by_prediction = lines(
        "Errors by prediction",
        "Truth − prediction in tenths of the rows: the median, and the middle half.",
        [each.predicted for each in bins],
        spread,
        x_name=f"predicted {target}",
        y_name="truth − prediction",
        level=("no error", 0.0),
        dots=True,
    )
    return section(
        "residuals",
        "What it says",
        lead,
        charts(
            figure(
                density(
                    "Truth and prediction",
                    "Rows counted in cells; the farthest half per cent stand in the end cells.",
                    found.x_edges,
                    found.y_edges,
                    found.counts,
                    x_name=f"predicted {target}",
                    y_name=f"true {target}",
                )
            ),
            figure(
                histogram(
                    "Errors",
                    "How truth − prediction is spread.",
                    found.histogram.edges,
                    found.histogram.counts,
                    of="truth − prediction",
                    zero=True,
                )
            ),
            figure(by_prediction) if len(bins) > 1 else None,
        ),
    )
