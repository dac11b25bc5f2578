"""A leaderboard in a notebook: a table, and the intervals drawn beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weald.pictures.svg.intervals import intervals
from weald.pictures.svg.markup import Markup, tag
from weald.pictures.svg.scales import number

if TYPE_CHECKING:
    from weald.runs.comparing import Leaderboard

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


def leaderboard_html(board: Leaderboard) -> str:
    """The leaderboard as a part of a page."""
    title = f"{board.metric} by {board.n_folds} folds of {board.n_rows:,} rows"
    chart = intervals(
        title,
        "Each method with its 95 % interval.",
        [each.method for each in board.places],
        [each.score for each in board.places],
        [each.low for each in board.places],
        [each.high for each in board.places],
        of=board.metric,
        what="method",
    )
    head = ("method", board.metric, "95 % from", "to", "p", "fit s", "predict s", "KB")
    rows = [
        tag(
            "tr",
            tag("th", each.method, scope="row"),
            *(
                tag("td", words)
                for words in (
                    f"{each.score:.4f}",
                    f"{each.low:.4f}",
                    f"{each.high:.4f}",
                    "best" if each.p_value is None else f"{each.p_value:.3f}",
                    number(each.fit_seconds, 3),
                    number(each.predict_seconds, 3),
                    "–" if each.model_bytes is None else number(each.model_bytes / 1000, 3),
                )
            ),
        )
        for each in board.places
    ]
    table = tag(
        "table",
        tag("caption", title),
        tag("thead", tag("tr", *(tag("th", each, scope="col") for each in head))),
        tag("tbody", *rows),
    )
    failed = [tag("p", f"{method} failed: {why}") for method, why in board.failed.items()]
    return tag(
        "div",
        tag("style", Markup(_STYLE)),
        table,
        chart.svg,
        tag("p", board.advice()),
        *failed,
        class_="weald-board",
    )
