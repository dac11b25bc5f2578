"""A leaderboard of methods."""

from __future__ import annotations

from weald.pictures.svg.markup import Markup, tag
from weald.report.pages.parts import charts, figure, remarks, section, table
from weald.runs.leaderboard import Leaderboard
from weald.runs.showing import board_cells, board_chart


def board_section(board: Leaderboard, *, times: bool) -> Markup:
    """Methods from the best down; times differ between runs, so they stand here only when asked for."""
    head, rows = board_cells(board, times=times)
    lead = (
        f"{board.n_folds} folds of {board.n_rows:,} rows; p: that the best is no better. "
        f"{_advice(board, times=times)}"
    )
    return section(
        "board",
        "Methods compared",
        lead,
        charts(
            figure(board_chart(board)),
            tag("div", tag("h3", "Leaderboard"), table("Leaderboard", head, rows), class_="card wide"),
        ),
        remarks([*board.notes, *(f"{method} failed: {why}" for method, why in board.failed.items())]),
    )


def _advice(board: Leaderboard, *, times: bool) -> str:
    """The line of advice; it goes by times, so without these only what scores say is told."""
    if times:
        return board.advice()
    best, *others = board.places
    alike = [each.method for each in others if (each.p_value or 0) > 0.05 and each.score >= best.low]
    return f"{best.method} scores best" + (f"; {', '.join(alike)} cannot be told from it." if alike else ".")
