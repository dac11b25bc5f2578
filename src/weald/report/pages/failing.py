"""Where the model fails: groups and rows."""

from __future__ import annotations

from weald.pictures.svg.intervals import intervals
from weald.pictures.svg.markup import Markup, tag
from weald.pictures.svg.scales import number
from weald.report.pages.parts import charts, figure, section, table
from weald.report.records import Failing


def failing_section(found: Failing) -> Markup:
    """Groups that fare worse, then the worst rows."""
    sure = sum(each.p_value < 0.05 for each in found.groups)
    lead = (
        f"Groups by the levels of columns and by quarters of numbers: {found.n_groups} with enough rows were "
        f"tried, {sure} of those shown fare worse than the other rows for sure (p < 0.05 by Holm, for all)."
    )
    return section(
        "fails",
        "Where it fails",
        lead,
        charts(_groups(found), _p_values(found)),
        _worst(found),
    )


def _groups(found: Failing) -> Markup | None:
    if not found.groups:
        return None
    chart = intervals(
        "Groups with the largest errors",
        f"The {found.metric} of each group with its 95 % interval; the line is that of all rows.",
        [f"{each.column}: {each.group}" for each in found.groups],
        [each.value for each in found.groups],
        [each.low for each in found.groups],
        [each.high for each in found.groups],
        of=found.metric,
        what="group",
        reference=("all rows", found.whole),
        reference_interval=(found.whole_low, found.whole_high),
    )
    return figure(chart)


def _p_values(found: Failing) -> Markup | None:
    if not found.groups:
        return None
    rows = [
        (
            each.column,
            each.group,
            f"{each.n_rows:,}",
            number(each.value),
            "< 0.001" if each.p_value < 0.001 else number(each.p_value, 2),
        )
        for each in found.groups
    ]
    head = ("column", "group", "rows", found.metric, "p")
    return tag("div", tag("h3", "How sure that is"), table("Groups", head, rows, texts=(1,)), class_="card")


def _worst(found: Failing) -> Markup | None:
    if not found.rows:
        return None
    columns = [name for name, _ in found.rows[0].values]
    rows = [
        (f"{each.row:,}", each.truth, each.said, number(each.loss), *(value for _, value in each.values))
        for each in found.rows
    ]
    head = ("row", "truth", "said", found.loss, *columns)
    return tag(
        "div",
        tag("h3", "The worst rows"),
        tag(
            "p",
            f"By {found.loss}, with the columns that matter most. Look for wrong labels first.",
        ),
        table("The worst rows", head, rows, texts=(1, 2)),
        class_="card",
    )
