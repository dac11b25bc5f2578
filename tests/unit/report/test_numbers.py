"""The record of a report: its numbers are those of the functions they come from, and the same every time."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import weald
from weald.data.adapters import to_table
from weald.errors import DataError, DataTypeError, ParameterError
from weald.report import Report
from weald.report.finding.classes import calibration_p
from weald.report.finding.drift import hashed_rows, holm
from weald.runs.training import scores
from weald.uncertainty.scores.calibration import wilson

RNG = np.random.default_rng(7)
N = 400
X = pd.DataFrame(
    {
        "height": RNG.normal(size=N),
        "count": RNG.integers(0, 5, N),
        "<script>alert(1)</script>": RNG.choice(["a", "b & c", "<u>d</u>"], N),
        "idle": RNG.normal(size=N),
    }
)
RAW = X["height"] + 0.5 * X["count"] + RNG.normal(size=N) * 0.5
LABELS = np.where(RAW > 1, "yes", "no")
TRAIN, TEST = slice(0, 200), slice(200, None)


@pytest.fixture(scope="module")
def model() -> weald.RandomForestClassifier:
    return weald.RandomForestClassifier(25, random_state=0).fit(X[TRAIN], LABELS[TRAIN])


@pytest.fixture(scope="module")
def made(model: weald.RandomForestClassifier) -> Report:
    return weald.report(
        model, X[TEST], LABELS[TEST], train=(X[TRAIN], LABELS[TRAIN]), target="<em>grown</em>"
    )


@pytest.fixture(scope="module")
def numbers() -> Report:
    fitted = weald.XGBRegressor(n_estimators=30).fit(X[TRAIN], RAW[TRAIN])
    return weald.report(fitted, X[TEST], RAW[TEST].to_numpy(), train=(X[TRAIN], RAW[TRAIN].to_numpy()))


def test_scores_and_curves(made: Report, model: weald.RandomForestClassifier) -> None:
    found, y = made.summary, LABELS[TEST]
    assert found.scores.rows == scores(model, X[TEST], y, "classification", LABELS[TRAIN])
    shares = model.predict_proba(X[TEST])[:, 1]
    band = weald.calibration_band(shares, None, y, n_bins=10)
    assert found.classes.calibration.share == tuple(band.estimate)
    assert found.classes.calibration.low == tuple(band.low)
    options = {"n_points": 51, "n_resamples": 500, "random_state": 0}
    roc = weald.roc_band(shares, None, y == "yes", **options)
    assert found.classes.roc.y == tuple(roc.estimate)
    assert (found.classes.roc.low, found.classes.roc.area) == (tuple(roc.low), roc.area.score)
    curve = weald.precision_recall_band(shares, None, y == "yes", **options)
    assert found.classes.precision_recall.high == tuple(curve.high)


def test_counts(made: Report, model: weald.RandomForestClassifier) -> None:
    found, y, said = made.summary.classes, LABELS[TEST], model.predict(X[TEST])
    assert found.counts == tuple(
        tuple(int(((y == a) & (said == b)).sum()) for b in found.labels) for a in found.labels
    )
    yes = found.by_label[1]
    n = int((y == "yes").sum())
    right = int(((y == "yes") & (said == "yes")).sum())
    low, high = wilson(np.array([right / n]), np.array([float(n)]), 0.95)
    assert (yes.n_rows, yes.recall, yes.recall_low, yes.recall_high) == (n, right / n, low[0], high[0])
    thresholds, shares = found.thresholds, model.predict_proba(X[TEST])[:, 1]
    for k in (0, 30, 50, 77, 100):
        above = shares >= thresholds.at[k]
        assert thresholds.n_flagged[k] == above.sum()
        assert thresholds.n_right[k] == (above & (y == "yes")).sum()


def test_what_matters(made: Report, model: weald.RandomForestClassifier) -> None:
    found, y = made.summary, LABELS[TEST]
    asked = weald.importance(model, X[TEST], y, metric="roc_auc", random_state=0)
    assert found.matters.names == asked.names
    assert found.matters.importance == tuple(asked.importances_mean)
    assert found.matters.standard_error == tuple(asked.importances_se)
    effect = found.effects[0]
    curve = weald.partial_dependence(model, X[TEST], effect.column, grid=40)
    assert effect.values == (tuple(curve.values[0]),)
    assert effect.standard_error == (tuple(curve.standard_error[0]),)
    told = weald.explain(model, X[TEST])
    for row in found.explained.singles:
        at = row.row
        assert sum(part.adds for part in row.parts) + row.base == pytest.approx(row.total)
        assert row.total == pytest.approx(model.predict_proba(X[TEST])[at, 1])
        place = told.feature_names.index(row.parts[0].column)
        assert row.parts[0].adds == told.values[at, place, 1]
    assert [each.mean_size for each in found.explained.columns] == sorted(
        np.abs(told.values[:, :, 1]).mean(axis=0), reverse=True
    )


def test_the_table(made: Report) -> None:
    by_name = {each.name: each for each in made.summary.data.columns}
    test = stats.ks_2samp(X["height"][TEST], X["height"][TRAIN], method="asymp")
    height = by_name["height"]
    assert height.drift.distance == test.statistic
    assert height.quantiles == tuple(np.quantile(X["height"][TEST], [0, 0.25, 0.5, 0.75, 1]))
    assert sum(height.spread.counts) == 200 == sum(height.spread.training)
    levels = by_name["<script>alert(1)</script>"].spread
    assert dict(zip(levels.names, levels.counts, strict=True)) == dict(X.iloc[TEST, 2].value_counts())
    assert made.summary.data.n_seen == 0


def test_rows_in_both_parts(model: weald.RandomForestClassifier) -> None:
    both = pd.concat([X[TEST][:150], X[TRAIN][:50]])
    y = np.concatenate([LABELS[TEST][:150], LABELS[TRAIN][:50]])
    found = weald.report(model, both, y, train=(X[TRAIN], LABELS[TRAIN]), mute=["WR03"]).summary
    assert found.data.n_seen == 50
    states = {each.code: each.state for each in found.checks}
    assert (states["WR05"], states["WR03"]) == ("warn", "muted")


def test_where_it_fails(numbers: Report) -> None:
    found = numbers.summary
    away = np.abs(found_residuals())
    assert [each.row for each in found.failing.rows] == np.argsort(-away, kind="stable")[:10].tolist()
    assert found.failing.whole == pytest.approx(away.mean())
    assert found.residuals.mean == pytest.approx(found_residuals().mean())
    assert found.residuals.widening == pytest.approx(stats.spearmanr(away, said()).statistic)
    assert sum(map(sum, found.residuals.counts)) == 200
    for each in found.failing.groups:
        assert each.low <= each.value <= each.high
        assert each.value > found.failing.whole


def said() -> np.ndarray:
    return weald.XGBRegressor(n_estimators=30).fit(X[TRAIN], RAW[TRAIN]).predict(X[TEST])


def found_residuals() -> np.ndarray:
    return RAW[TEST].to_numpy() - said()


def test_the_trees(made: Report, model: weald.RandomForestClassifier) -> None:
    root = made.summary.model.trees[0].root
    assert made.summary.model.n_trees == 25
    assert root.n_rows == pytest.approx(model.estimators_[0].tree_.n_node_samples[0])

    def leaves(node: object) -> int:
        return sum(map(leaves, node.below)) if node.below else node.n_hidden or 1

    assert leaves(root) == made.summary.model.trees[0].n_leaves


def test_the_same_bytes(made: Report, model: weald.RandomForestClassifier) -> None:
    again = weald.report(
        model, X[TEST], LABELS[TEST], train=(X[TRAIN], LABELS[TRAIN]), target="<em>grown</em>"
    )
    assert again.to_html() == made.to_html()
    assert again.to_json() == made.to_json()
    other = weald.report(model, X[TEST], LABELS[TEST], times={"fit": 1.25})
    assert "1.25" in other.to_html()


class Reader(HTMLParser):
    """Tags, and what is in the style and the script."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] in ("style", "script"):
            self.inside.setdefault(self.tags[-1][0], data)


def test_the_page_is_alone_and_escaped(made: Report) -> None:
    page, read = made.to_html(), Reader()
    read.feed(page)
    assert "<script>alert" not in page
    assert "<u>d" not in page
    assert "<em>" not in page
    assert [tag for tag, _ in read.tags].count("script") == 1
    assert not {"link", "iframe", "img", "object"} & {tag for tag, _ in read.tags}
    for _, attributes in read.tags:
        assert not [name for name in attributes if name.startswith("on") or name in ("style", "src")]
        assert attributes.get("href", "#").startswith("#")
    assert "http" not in re.sub(r"http-equiv", "", page)
    policy = dict(next(a for t, a in read.tags if a.get("http-equiv") == "Content-Security-Policy"))[
        "content"
    ]
    assert policy.startswith("default-src 'none'")
    for kind in ("style", "script"):
        digest = b64encode(hashlib.sha256(read.inside[kind].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    headings = [int(tag[1]) for tag, _ in read.tags if re.fullmatch(r"h[1-6]", tag)]
    assert headings[0] == 1
    assert all(b - a <= 1 for a, b in pairwise(headings))
    assert page.count("<figure") > 10


def test_every_chart_has_its_numbers(made: Report, numbers: Report) -> None:
    for page in (made.to_html(), numbers.to_html()):
        figures = re.findall(r"<figure.*?</figure>", page, re.DOTALL)
        assert len(figures) >= 12
        assert all(
            'class="numbers"' in each and "<tbody><tr>" in each and "<desc>" in each for each in figures
        )


def test_fifty_columns_are_small() -> None:
    rng = np.random.default_rng(1)
    wide = pd.DataFrame({f"column number {j}": rng.normal(size=600) for j in range(40)})
    for j in range(10):
        wide[f"kind of thing {j}"] = rng.choice([f"level {k}" for k in range(30)], 600)
    y = np.where(wide.iloc[:, 0] + wide.iloc[:, 1] > 0, 1, 0)
    fitted = weald.XGBClassifier(n_estimators=30).fit(wide[:400], y[:400])
    made = weald.report(fitted, wide[400:], y[400:], train=(wide[:400], y[:400]), max_rows=150)
    assert len(made.to_html().encode()) <= 500_000
    assert made.summary.left_out == ()


def test_json_holds_the_record(made: Report, tmp_path: Path) -> None:
    made.save(tmp_path / "report.json")
    read = json.loads((tmp_path / "report.json").read_text())
    assert read["scores"]["rows"][0]["value"] == made.summary.scores.rows[0].value
    assert read["matters"]["names"] == list(made.summary.matters.names)
    made.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text() == made.to_html()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["report.html", "report.json"]
    assert made._repr_html_().startswith("<iframe")
    assert "AUC" in str(made)


def test_a_leaderboard() -> None:
    board = weald.compare(X[TRAIN], LABELS[TRAIN], methods=["tree", "knn"], folds=3)
    shown = board._repr_html_()
    assert shown.count("<tr>") == 3
    alone, again = weald.report(board), weald.report(board)
    assert alone.to_html() == again.to_html()
    assert alone.summary.leaderboard is board
    assert "fit_seconds" not in alone.to_json()
    assert "fit s" in weald.report(board, times={"compare": 2.0}).to_html()


def test_statistics() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    rng = np.random.default_rng(0)
    shares = rng.random(4000)
    assert calibration_p(shares, rng.random(4000) < shares) > 0.01
    assert calibration_p(shares, rng.random(4000) < shares**2) < 1e-6  # too high
    assert calibration_p(shares, rng.random(4000) < 0.25 + shares / 2) < 1e-6  # too sure
    rows = to_table({"a": [1.0, 1.0, 2.0, None], "b": ["x", "x", "x", "y"]})
    found = hashed_rows(rows)
    assert found[0] == found[1]
    assert len(set(found.tolist())) == 3


def test_refusals(model: weald.RandomForestClassifier) -> None:
    y = LABELS[TEST]
    with pytest.raises(ParameterError, match="Did you mean 'WR03'"):
        weald.report(model, X[TEST], y, mute=["WR3"])
    with pytest.raises(ParameterError, match="max_rows"):
        weald.report(model, X[TEST], y, max_rows=1)
    with pytest.raises(DataTypeError, match="X and y"):
        weald.report(model)
    with pytest.raises(DataError, match="has 200 rows and its target 199"):
        weald.report(model, X[TEST], y[1:])
    with pytest.raises(DataError, match="No label of y is known"):
        weald.report(model, X[TEST], np.full(200, "maybe"))
    with pytest.raises(DataError, match="missing in 1 row"):
        weald.report(model, X[TEST], np.where(np.arange(200) == 3, None, y.astype(object)))
    with pytest.raises(DataTypeError, match=r"must be \(X, y\)"):
        weald.report(model, X[TEST], y, train=X[TRAIN])
    ranker = weald.XGBRanker(n_estimators=2).fit(X[["height"]][TRAIN], X["count"][TRAIN], group=[100, 100])
    with pytest.raises(DataTypeError, match="XGBRanker learns neither"):
        weald.report(ranker, X[["height"]][TEST], X["count"][TEST])


def test_labels_that_training_lacks(model: weald.RandomForestClassifier) -> None:
    y = LABELS[TEST].copy()
    y[5] = "new"
    found = weald.report(model, X[TEST], y, max_rows=50).summary
    assert found.asked.n_rows == 199
    assert "1 row has a label" in found.asked.notes[0]
    assert 5 not in {each.row for each in found.failing.rows}


def test_saving_in_vain(tmp_path: Path) -> None:
    """The message names the file asked for, and nothing stays beside it."""
    tree = weald.DecisionTreeRegressor(max_depth=2).fit(X, RAW)
    made = weald.report(tree, X, RAW)
    with pytest.raises(FileNotFoundError) as caught:
        made.save(tmp_path / "none" / "report.html")
    assert caught.value.filename == str(tmp_path / "none" / "report.html")
    with pytest.raises(DataTypeError, match="name of a file; got 3"):
        made.save(3)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []
    infinite = np.where(np.arange(N) == 5, np.inf, RAW)
    with pytest.raises(DataError, match=r"infinite in 1 row.*row 5"):
        weald.report(tree, X, infinite)
