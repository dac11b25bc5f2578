"""What a classifier says: confusion, calibration, curves, thresholds."""

from __future__ import annotations

from weald.pictures.svg.intervals import intervals
from weald.pictures.svg.lines import Line, lines
from weald.pictures.svg.markup import Markup, tag
from weald.pictures.svg.matrix import confusion
from weald.pictures.svg.plot import Chart
from weald.pictures.svg.scales import number, percent
from weald.report.pages.parts import charts, figure, remarks, section, table
from weald.report.records import Calibration, Classes, Curve, Thresholds


def classes_section(classes: Classes) -> Markup:
    """Everything about labels."""
    said = (
        "Which labels are taken for which, whether probabilities mean what they say, and where to part the "
        "labels."
    )
    return section(
        "labels",
        "What it says",
        said,
        charts(
            figure(
                confusion(
                    "Truth and prediction",
                    "Rows by label; shades are shares of a line.",
                    classes.labels,
                    classes.counts,
                )
            ),
            None if classes.calibration is None else figure(_calibration(classes.calibration)),
            figure(_recalls(classes))
            if classes.roc is None
            else figure(_roc(classes.roc, classes.positive or "")),
            None
            if classes.precision_recall is None
            else figure(_precision(classes.precision_recall, classes)),
        ),
        None if classes.thresholds is None else _thresholds(classes.thresholds, classes.positive or ""),
        remarks(classes.notes),
    )


def _calibration(found: Calibration) -> Chart:
    p = "p < 0.001" if found.p_value < 0.001 else f"p = {number(found.p_value, 2)}"
    says = (
        f"How often {found.of} comes where so much was predicted: off by {number(100 * found.error, 2)} "
        f"points on average ({p})."
    )
    band = Line("share that came", found.share, found.low, found.high)
    return lines(
        "Calibration", says, found.predicted, [band],
        x_name="predicted probability", y_name="share that came", square=True, diagonal="as it should be",
        dots=True,
    )  # fmt: skip


def _recalls(classes: Classes) -> Chart:
    shown = [each for each in classes.by_label if each.n_rows]
    return intervals(
        "Share found by label",
        "Of the rows of each label, how many the model says right.",
        [each.label for each in shown],
        [each.recall for each in shown],
        [each.recall_low for each in shown],
        [each.recall_high for each in shown],
        of="recall",
        what="label",
    )


def _roc(found: Curve, positive: str) -> Chart:
    says = (
        f"Found among “{positive}” against false alarms. Area {number(found.area)} "
        f"({number(found.area_low)} to {number(found.area_high)})."
    )
    curve = Line("true positive rate", found.y, found.low, found.high)
    return lines(
        "ROC curve", says, found.x, [curve],
        x_name="false positive rate", y_name="true positive rate", square=True, diagonal="by chance",
    )  # fmt: skip


def _precision(found: Curve, classes: Classes) -> Chart:
    says = (
        "How many alarms are right against how many are found. Average precision "
        f"{number(found.area)} ({number(found.area_low)} to {number(found.area_high)})."
    )
    curve = Line("precision", found.y, found.low, found.high)
    level = None
    if classes.thresholds is not None:
        level = ("by chance", classes.thresholds.n_positive / classes.thresholds.n_rows)
    return lines(
        "Precision and recall", says, found.x, [curve],
        x_name="recall", y_name="precision", square=True, level=level,
    )  # fmt: skip


def _thresholds(found: Thresholds, positive: str) -> Markup:
    """Curves over thresholds, three places to part, and a slider."""
    recall = [right / found.n_positive for right in found.n_right]
    precision = [
        right / flagged if flagged else float("nan")
        for right, flagged in zip(found.n_right, found.n_flagged, strict=True)
    ]
    flagged = [each / found.n_rows for each in found.n_flagged]
    last = next((p for p in reversed(precision) if p == p), 0.0)
    chart = lines(
        "Where to part the labels",
        f"“{positive}” is said from the threshold on: what is found, what is right, what is flagged.",
        found.at,
        [
            Line("recall: share found", recall),
            Line("precision: share right", [last if p != p else p for p in precision]),
            Line("share flagged", flagged),
        ],
        x_name=found.score,
        y_name="share",
        mark=("usual threshold", found.chosen[0].at),
    )
    rows = [
        (each.why, number(each.at), percent(each.recall), percent(each.precision), percent(each.flagged))
        for each in found.chosen
    ]
    head = ("threshold", "at", "found", "right", "flagged")
    return tag(
        "div",
        figure(chart),
        tag(
            "div",
            tag("h3", "Choose a threshold"),
            table("Thresholds", head, rows),
            _slider(found, positive),
            class_="card",
        ),
        class_="charts",
    )


def _slider(found: Thresholds, positive: str) -> Markup:
    """Moved by the script; without it the table above stands."""
    usual = min(range(len(found.at)), key=lambda k: abs(found.at[k] - found.chosen[0].at))
    joined = {
        "data_at": " ".join(number(each).replace("−", "-").replace(",", "") for each in found.at),
        "data_flagged": " ".join(map(str, found.n_flagged)),
        "data_right": " ".join(map(str, found.n_right)),
        "data_positive": found.n_positive,
        "data_rows": found.n_rows,
    }
    return tag(
        "div",
        tag("label", f"Threshold of the {found.score}", for_="threshold"),
        tag("input", type="range", id="threshold", min="0", max=str(len(found.at) - 1), value=str(usual)),
        tag("p", f"“{positive}” from there on.", id="threshold-says", aria_live="polite"),
        class_="slider",
        hidden=True,
        **joined,
    )
