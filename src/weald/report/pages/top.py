"""The head of the page: what was asked, how good the model is, and the scores."""

from __future__ import annotations

from weald.pictures.svg.intervals import intervals
from weald.pictures.svg.markup import Markup, tag
from weald.pictures.svg.plot import Chart
from weald.pictures.svg.scales import number
from weald.report.finding.checks import LOOK, WARN
from weald.report.pages.parts import charts, figure, remarks, section, table
from weald.report.records import Scores
from weald.report.summary import Summary
from weald.runs.training import Score


def header(summary: Summary) -> Markup:
    """Title, the question in a sentence, and the answer in a few numbers."""
    asked = summary.asked
    return tag(
        "header",
        tag("p", "weald report", class_="eyebrow"),
        tag("h1", asked.title),
        tag("p", _question(summary), class_="question"),
        _tiles(summary),
    )


def _question(summary: Summary) -> str:
    asked = summary.asked
    where = f" of {asked.source}" if asked.source else ""
    if asked.task == "comparison":
        return f"Which method tells “{asked.target}” best? Tried on {asked.n_rows:,} rows{where}."
    learned = f", having learned from {asked.n_training_rows:,}" if asked.n_training_rows is not None else ""
    if asked.task == "classification":
        few = ", ".join(asked.labels[:6]) + (
            f" and {len(asked.labels) - 6} more" if len(asked.labels) > 6 else ""
        )
        what = f"Which “{asked.target}” is it: {few}?"
    else:
        what = f"How much is “{asked.target}”?"
    columns = "1 column" if asked.n_columns == 1 else f"{asked.n_columns:,} columns"
    article = "An" if asked.estimator[:1] in "AEIOUX" else "A"
    return (
        f"{what} {article} {asked.estimator} says it by {columns}. It is judged on {asked.n_rows:,} "
        f"rows{where} that it did not see{learned}."
    )


def _tiles(summary: Summary) -> Markup | None:
    tiles = []
    if summary.scores is not None:
        first = True
        for each in summary.scores.rows:
            tiles.append(_tile(each.name, number(each.value), _beside(each), main=first))
            first = False
    if summary.checks:
        asking = [check for check in summary.checks if check.state in (LOOK, WARN)]
        judged = sum(check.state in (LOOK, WARN, "ok") for check in summary.checks)
        words = ", ".join(check.name.lower() for check in asking[:3]) or "nothing stands out"
        more = f" and {len(asking) - 3} more" if len(asking) > 3 else ""
        tiles.append(_tile("Checks to look at", f"{len(asking)} of {judged}", words + more))
    if summary.leaderboard is not None and summary.scores is None:
        best = summary.leaderboard.places[0]
        range_ = f"95 % {number(best.low)} to {number(best.high)}"
        tiles.append(
            _tile(f"{summary.leaderboard.metric} of {best.method}", number(best.score), range_, main=True)
        )
    return tag("ul", *tiles, class_="tiles") if tiles else None


def _beside(score: Score) -> str:
    return f"95 % {number(score.low)} to {number(score.high)} · baseline {number(score.baseline)}"


def _tile(name: str, value: str, beside: str, *, main: bool = False) -> Markup:
    return tag(
        "li",
        tag("span", name, class_="name"),
        tag("strong", value),
        tag("span", beside, class_="beside"),
        class_="main" if main else None,
    )


def scores_section(scores: Scores) -> Markup:
    """The metrics as a table, and as intervals beside the baseline."""
    seen = {each.name: each for each in scores.training or ()}
    head = ["metric", "score", "95 % interval", "baseline", *(["in training"] if seen else [])]
    rows = []
    for each in scores.rows:
        interval = f"{number(each.low)} to {number(each.high)}"
        cells = [each.name, number(each.value), interval, number(each.baseline)]
        if seen:
            cells.append(number(seen[each.name].value) if each.name in seen else "–")
        rows.append(cells)
    said = [f"{each.name}: {each.note}" for each in scores.rows if each.note]
    lead = (
        f"On {scores.n_rows:,} rows that the model did not see. The interval tells what other rows of the "
        "same source would give; the baseline always says the commonest label, or the mean."
    )
    return section(
        "scores",
        "How good it is",
        lead,
        charts(
            tag("div", tag("h3", "Scores"), table("Scores", head, rows), class_="card wide"),
            *(figure(_against(each, seen.get(each.name))) for each in scores.rows),
        ),
        remarks([*said, *scores.notes]),
    )


def _against(score: Score, seen: Score | None) -> Chart:
    shown = [("rows not seen", score), *([("training rows", seen)] if seen is not None else [])]
    return intervals(
        score.name,
        "With its 95 % interval, beside the baseline.",
        [name for name, _ in shown],
        [each.value for _, each in shown],
        [each.low for _, each in shown],
        [each.high for _, each in shown],
        of=score.name,
        what="rows",
        reference=("baseline", score.baseline),
    )
