"""What matters: importances, effects of columns, SHAP values, single rows."""

from __future__ import annotations

from weald.pictures.svg.bars import bars
from weald.pictures.svg.lines import Line, levels, lines
from weald.pictures.svg.markup import Markup, tag
from weald.pictures.svg.plot import Chart
from weald.pictures.svg.scales import number
from weald.pictures.svg.swarm import swarm
from weald.pictures.svg.waterfall import waterfall
from weald.report.pages.parts import charts, figure, remarks, section
from weald.report.records import Effect, Explained, Matters, SingleRow
from weald.report.summary import Summary

#: bars of columns; the others stand in the table
_SHOWN = 20
_METRICS = {"roc_auc": "AUC", "accuracy": "accuracy", "r2": "R²"}


def matters_section(summary: Summary) -> Markup | None:
    """Which columns the model goes by, and how."""
    found, explained = summary.matters, summary.explained
    if found is None and explained is None:
        return None
    lead = None
    if found is not None:
        metric = _METRICS.get(found.metric, found.metric)
        lead = (
            f"How much {metric} drops, from {number(found.score)}, when a column takes the values of other "
            f"rows: on {found.n_rows:,} rows, with 95 % intervals over rows and repeats. Columns that tell "
            "the same share what they are worth."
        )
    notes = []
    if found is not None and found.n_tried is not None:
        notes.append(f"The {found.n_tried} columns that the model reads most were tried.")
    if explained is not None and explained.estimated:
        notes.append(
            "The values of single rows are estimated by a few orders of the columns; see weald.explain."
        )
    return section(
        "matters",
        "What matters",
        lead,
        charts(
            None if found is None else _importance(found),
            None if explained is None or not explained.columns else figure(_swarm(explained)),
        ),
        _effects(summary.effects),
        remarks(notes),
    )


def _importance(found: Matters) -> Markup:
    more = f" The first {_SHOWN} of {len(found.names)}." if len(found.names) > _SHOWN else ""
    chart = bars(
        "Importance",
        f"Longer bars matter more; a line that reaches 0 is not sure.{more}",
        found.names,
        found.importance,
        found.standard_error,
        of=f"drop of {_METRICS.get(found.metric, found.metric)}",
        most=_SHOWN,
    )
    return figure(chart)


def _swarm(found: Explained) -> Chart:
    return swarm(
        "What columns add",
        f"A dot for each of {found.n_rows} rows: how far a column moves the {found.of}; its colour is the "
        "column's value.",
        [each.name for each in found.columns],
        [each.adds for each in found.columns],
        [each.rank for each in found.columns],
        of=f"adds to the {found.of}",
    )


def _effects(effects: tuple[Effect, ...]) -> Markup | None:
    if not effects:
        return None
    intro = (
        "The mean prediction while one column is set to one value after another and the others stay as they "
        "are (partial dependence), with 95 % bands over rows. Short lines below are tenths of the rows."
    )
    return tag(
        "div",
        tag("h3", "What the columns do"),
        tag("p", intro, class_="lead"),
        charts(*(figure(effect_chart(each), level=4) for each in effects)),
    )


def effect_chart(effect: Effect) -> Chart:
    """One curve per target, or dots above categories."""
    title = effect.column
    what = {"predict_proba": "probability", "decision_function": "score"}.get(effect.response, "prediction")
    numeric = [k for k, point in enumerate(effect.points) if not isinstance(point, str)]
    kept = numeric if len(numeric) > 1 and effect.kind == "numeric" else range(len(effect.points))

    def shown(index: int) -> Line:
        y = [effect.values[index][k] for k in kept]
        half = [1.96 * effect.standard_error[index][k] for k in kept]
        ends = [[a - b for a, b in zip(y, half, strict=True)], [a + b for a, b in zip(y, half, strict=True)]]
        return Line(effect.targets[index] if len(effect.targets) > 1 else what, y, *ends)

    every = [shown(index) for index in range(len(effect.targets))]
    of = f" of “{effect.targets[0]}”" if what != "prediction" and len(effect.targets) == 1 else ""
    if kept is not numeric:
        names = [each if isinstance(each, str) else number(each) for each in effect.points]
        more = " Highest and lowest levels." if len(names) > 14 else ""
        return levels(title, f"Mean {what}{of} by level.{more}", names, every, of=what)
    lacks = len(numeric) < len(effect.points)
    says = f"Mean {what}{of}."
    if lacks:
        says += f" Where it is missing: {number(effect.values[0][-1])}."
    x = [float(effect.points[k]) for k in kept]
    inside = [each for each in effect.deciles if x[0] <= each <= x[-1]]
    return lines(title, says, x, every, x_name=title, y_name=what, marks=inside, dots=len(x) <= 12)


def rows_section(found: Explained) -> Markup | None:
    """Five rows, step by step."""
    if not found.singles:
        return None
    lead = (
        "Five rows from the average to what the model says of them: each bar is what a column adds to the "
        f"{found.of}."
    )
    return section(
        "rows", "Single rows", lead, charts(*(figure(_waterfall(each, found)) for each in found.singles))
    )


def _waterfall(row: SingleRow, found: Explained) -> Chart:
    steps = [
        (f"{each.column} = {each.value}" if each.value else each.column, each.adds) for each in row.parts
    ]
    says = (
        f"{row.why[:1].upper()}{row.why[1:]}. Said {row.said}, true is {row.truth}. "
        f"The bars end at {number(row.total)}."
    )
    return waterfall(f"Row {row.row:,}", says, row.base, steps, of=found.of)
