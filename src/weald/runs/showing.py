"""A leaderboard in a notebook: a table, and the intervals drawn beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weald.pictures.svg.intervals import intervals
from weald.pictures.svg.markup import Markup, tag
from weald.pictures.svg.plot import Chart
from weald.pictures.svg.scales import number

if TYPE_CHECKING:
    from weald.runs.leaderboard import Leaderboard

_STYLE = """
.weald-board{font:14px/1.5 system-ui,sans-serif;max-width:46em}
.weald-board table{border-collapse:collapse;font-variant-numeric:tabular-nums}
.weald-board th,.weald-board td{padding:.2em .9em .2em 0;text-align:right;border-bottom:1px solid #8883}
.weald-board th:first-child{text-align:left}
.weald-board svg{width:100%;max-width:36em;height:auto;display:block;margin:.6em 0}
.weald-board text{font-size:12px;fill:currentColor}
.weald-board path{fill:none;stroke:currentColor;stroke-opacity:.25}
.weald-board .thick{stroke:#3b82c4;stroke-width:2.5;stroke-opacity:1}
.weald-board circle{fill:#3b82c4}
.weald-board caption{text-align:left;font-weight:600}
""".replace("\n", "")


def board_chart(board: Leaderboard) -> Chart:
    """Each method with its interval."""
    return intervals(
        f"{board.metric} by method",
        "With 95 % intervals over rows; every row was predicted by a model that did not see it.",
        [each.method for each in board.places],
        [each.score for each in board.places],
        [each.low for each in board.places],
        [each.high for each in board.places],
        of=board.metric,
        what="method",
    )


def board_cells(board: Leaderboard, *, times: bool) -> tuple[list[str], list[list[str]]]:
    """The head and the rows of the table; times differ between runs."""
    timed = ["fit s", "predict s"] if times else []
    rows = []
    for each in board.places:
        cells = [each.method, number(each.score), number(each.low), number(each.high)]
        cells.append("best" if each.p_value is None else number(each.p_value, 2))
        cells += [number(each.fit_seconds, 3), number(each.predict_seconds, 3)] if times else []
        cells.append("–" if each.model_bytes is None else number(each.model_bytes / 1000, 3))
        rows.append(cells)
    return ["method", board.metric, "95 % from", "to", "p", *timed, "KB"], rows


def leaderboard_html(board: Leaderboard) -> str:
    """The leaderboard as a part of a page."""
    head, rows = board_cells(board, times=True)
    body = [
        tag("tr", tag("th", row[0], scope="row"), *(tag("td", words) for words in row[1:])) for row in rows
    ]
    table = tag(
        "table",
        tag("caption", f"{board.metric} by {board.n_folds} folds of {board.n_rows:,} rows"),
        tag("thead", tag("tr", *(tag("th", each, scope="col") for each in head))),
        tag("tbody", *body),
    )
    remarks = [*board.notes, board.advice(), *(f"{name} failed: {why}" for name, why in board.failed.items())]
    return tag(
        "div",
        tag("style", Markup(_STYLE)),
        table,
        board_chart(board).svg,
        *(tag("p", each) for each in remarks),
        class_="weald-board",
    )
