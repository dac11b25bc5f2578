"""The table: its target and its columns."""

from __future__ import annotations

from weald.pictures.svg.bars import bars, pairs
from weald.pictures.svg.histogram import histogram, spark
from weald.pictures.svg.markup import Markup, tag
from weald.pictures.svg.plot import Chart
from weald.pictures.svg.scales import number, percent
from weald.report.pages.parts import charts, figure, numbers, remarks, section, table
from weald.report.records import Asked, ColumnFacts, DataFacts, Drift, Histogram, Levels
from weald.report.subject import date


def data_section(asked: Asked, data: DataFacts) -> Markup:
    """Target first, then a line per column."""
    drift = any(each.drift is not None for each in data.columns)
    notes = [*asked.notes, *data.notes]
    lead = "The rows that the model is judged on"
    lead += (
        ", held against the training rows: drift is the largest distance of the two spreads, from 0 to 1."
        if drift
        else "."
    )
    return section(
        "data",
        "The data",
        lead,
        charts(figure(target_chart(asked, data)), _drift_figure(data) if drift else None),
        tag("div", tag("h3", "Columns"), _columns(data, drift=drift), _spreads(data), class_="card"),
        remarks(notes),
    )


def target_chart(asked: Asked, data: DataFacts) -> Chart:
    """How the target is spread."""
    spread, title = data.target, f"The target: {asked.target}"
    moved = "" if data.target_drift is None else f" {drift_words(data.target_drift)}"
    if isinstance(spread, Histogram):
        return histogram(
            title,
            f"How its values are spread.{moved}",
            spread.edges,
            spread.counts,
            spread.training,
            of=asked.target,
        )
    total = sum(spread.counts) + spread.others or 1
    shares = [100 * count / total for count in spread.counts]
    says = f"How often each label comes.{moved}"
    if spread.training is None:
        return bars(title, says, spread.names, shares, of="% of rows", what="label")
    seen_total = (asked.n_training_rows or sum(spread.training)) or 1
    seen = [100 * count / seen_total for count in spread.training]
    return pairs(
        title, says, spread.names, shares, seen, words=("rows", "training rows"), of="% of rows", what="label"
    )


def drift_words(drift: Drift) -> str:
    """A drift in a sentence."""
    if drift.p_value >= 0.01:
        return "Spread as in training."
    return f"Spread otherwise than in training: distance {number(drift.distance, 2)}."


def _drift_figure(data: DataFacts) -> Markup | None:
    moved = sorted(
        ((each.name, each.drift) for each in data.columns if each.drift is not None),
        key=lambda pair: -pair[1].distance,
    )[:12]
    if not moved:
        return None
    sure = sum(drift.p_value < 0.01 for _, drift in moved)
    chart = bars(
        "Drift",
        f"The columns farthest from training; {sure} of them for sure (p < 0.01 by Holm).",
        [name for name, _ in moved],
        [drift.distance for _, drift in moved],
        of="distance of spreads",
    )
    return figure(chart)


def _columns(data: DataFacts, *, drift: bool) -> Markup:
    head = [
        "column",
        "holds",
        "missing",
        "distinct",
        "spread",
        "from … median … to",
        *(["drift"] if drift else []),
    ]
    return table(
        "Columns",
        head,
        (_line(each, data, drift=drift) for each in data.columns),
        sortable=True,
        texts=(1, 4, 5),
    )


def _line(facts: ColumnFacts, data: DataFacts, *, drift: bool) -> list[str | Markup]:
    n = _n_rows(data)
    cells: list[str | Markup] = [
        facts.name,
        facts.kind,
        percent(facts.n_missing / n) if facts.n_missing else "",
        f"{facts.n_distinct:,}",
        _spark(facts),
        _range(facts),
    ]
    if drift:
        moved = facts.drift
        if moved is None:
            cells.append("–")
        else:
            sure = moved.p_value < 0.01
            cells.append(tag("strong" if sure else "span", number(moved.distance, 2)))
    return cells


def _n_rows(data: DataFacts) -> int:
    spread = data.target
    others = spread.others if isinstance(spread, Levels) else 0
    return (sum(spread.counts) + others) or 1


def _spark(facts: ColumnFacts) -> Markup:
    spread = facts.spread
    return spark(spread.counts, f"Spread of {facts.name}", spread.training)


def _range(facts: ColumnFacts) -> str:
    if isinstance(facts.spread, Levels):
        more = f" and {facts.spread.n_other:,} more" if facts.spread.n_other else ""
        return ", ".join(facts.spread.names[:3]) + (more if len(facts.spread.names) <= 3 else " …")
    if facts.quantiles is None:
        return "–"
    low, _, middle, _, high = facts.quantiles
    if facts.kind == "dates":
        return f"{date(low)} … {date(high)}"
    return f"{number(low)} … {number(middle)} … {number(high)}"


def _spreads(data: DataFacts) -> Markup:
    """The counts behind the small histograms."""
    rows = []
    for each in data.columns:
        spread = each.spread
        training = spread.training or (None,) * len(spread.counts)
        names = (
            list(spread.names)
            if isinstance(spread, Levels)
            else [
                f"{number(a)} to {number(b)}"
                for a, b in zip(spread.edges[:-1], spread.edges[1:], strict=True)
            ]
        )
        for name, count, seen in zip(names, spread.counts, training, strict=True):
            rows.append((each.name, name, f"{count:,}", "–" if seen is None else f"{seen:,}"))
    return numbers("the spreads of columns", ("column", "values", "rows", "training rows"), rows)
