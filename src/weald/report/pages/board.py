"""A leaderboard of methods."""

from __future__ import annotations

from weald.pictures.svg.intervals import intervals
from weald.pictures.svg.markup import Markup, tag
from weald.pictures.svg.scales import number
from weald.report.pages.parts import charts, figure, remarks, section, table
from weald.runs.comparing import Leaderboard


def board_section(board: Leaderboard, *, times: bool) -> Markup:
    """Methods from the best down; times differ between runs, so they stand here only when asked for."""
    chart = intervals(
        f"{board.metric} by method",
        "With 95 % intervals over rows; every row was predicted by a model that did not see it.",
        [each.method for each in board.places],
        [each.score for each in board.places],
        [each.low for each in board.places],
        [each.high for each in board.places],
        of=board.metric,
        what="method",
    )
    head = ["method", board.metric, "95 % from", "to", "p", *(["fit s", "predict s"] if times else []), "KB"]
    rows = []
    for each in board.places:
        cells = [each.method, number(each.score), number(each.low), number(each.high)]
        cells.append("best" if each.p_value is None else number(each.p_value, 2))
        cells += [number(each.fit_seconds, 3), number(each.predict_seconds, 3)] if times else []
        cells.append("–" if each.model_bytes is None else number(each.model_bytes / 1000, 3))
        rows.append(cells)
    lead = (
        f"{board.n_folds} folds of {board.n_rows:,} rows; p: that the best is no better. "
        f"{_advice(board, times=times)}"
    )
    return section(
        "board",
        "Methods compared",
        lead,
        charts(
            figure(chart),
            tag("div", tag("h3", "Leaderboard"), table("Leaderboard", head, rows), class_="card"),
        ),
        remarks([f"{method} failed: {why}" for method, why in board.failed.items()]),
    )


def _advice(board: Leaderboard, *, times: bool) -> str:
    """The line of advice; it goes by times, so without these only what scores say is told."""
    if times:
        return board.advice()
    best, *others = board.places
    alike = [each.method for each in others if (each.p_value or 0) > 0.05 and each.score >= best.low]
    return f"{best.method} scores best" + (f"; {', '.join(alike)} cannot be told from it." if alike else ".")
