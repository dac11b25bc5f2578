"""`weald.counterfactual`: answers are the cheapest by brute force, true, allowed, plausible, and told."""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.linear_model import LinearRegression
from sklearn.linear_model import LogisticRegression as ForeignLogistic
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import weald
from weald.errors import DataError, DataTypeError, ParameterError

RNG = np.random.default_rng(0)
N = 250
FRAME = pd.DataFrame(
    {
        "age": RNG.integers(18, 80, N),
        "pay": RNG.lognormal(3, 0.6, N).round(1),
        "city": pd.Categorical(RNG.choice(["Bern", "Basel", "Genf"], N)),
        "grade": pd.Categorical(RNG.choice(["low", "mid", "high"], N), ["low", "mid", "high"], ordered=True),
        "none": RNG.normal(size=N).round(2),
    }
)
FRAME.loc[::11, "pay"] = np.nan
MERIT = 0.02 * FRAME["age"] + 0.04 * FRAME["pay"].fillna(15) + FRAME["grade"].cat.codes * 0.5
LABEL = np.where(MERIT + (FRAME["city"] == "Genf") > 2.8, "yes", "no")
FOREST = weald.RandomForestClassifier(12, max_depth=4, random_state=0).fit(FRAME, LABEL)


def quantile_cost(column: pd.Series, before: object, after: object) -> float:
    """The cost of a change by its definition: equation C1."""
    if before is None or (isinstance(column.dtype, pd.CategoricalDtype) and not column.cat.ordered):
        return 1.0
    values = column.cat.codes if isinstance(column.dtype, pd.CategoricalDtype) else column
    known = values[column.notna()].to_numpy(float)

    def share(x: float) -> float:
        return ((known < x).mean() + (known <= x).mean()) / 2

    if isinstance(column.dtype, pd.CategoricalDtype):
        before, after = (column.cat.categories.get_loc(each) for each in (before, after))
    return abs(share(after) - share(before))


def brute_force(model: Any, row: pd.Series, X: pd.DataFrame, wanted: str, size: int) -> float:
    """The least cost over all combinations of all values of X within its 1 % and 99 % quantiles."""
    best = np.inf
    for columns in combinations(X.columns, size):
        options = []
        for name in columns:
            values = X[name].dropna().unique().tolist()
            if pd.api.types.is_numeric_dtype(X[name]):
                low, high = np.quantile(X[name].dropna(), (0.01, 0.99), method="nearest")
                values = [value for value in values if low <= value <= high]
            own = None if pd.isna(row[name]) else row[name]
            costs = [(quantile_cost(X[name], own, value), value) for value in values if value != own]
            options.append(costs)
        made = list(product(*options))
        if not made:
            continue
        rows = pd.concat([row.to_frame().T] * len(made), ignore_index=True).astype(X.dtypes.to_dict())
        for k, name in enumerate(columns):
            rows[name] = pd.Series([each[k][1] for each in made]).astype(X[name].dtype)
        flips = np.flatnonzero(model.predict(rows) == wanted)
        if len(flips):
            best = min(best, *(sum(part[0] for part in made[i]) for i in flips))
    return best


SMALL = FRAME.iloc[:30][["age", "pay", "city", "grade"]]
MODELS = [
    weald.DecisionTreeClassifier(max_depth=4, random_state=0),
    weald.XGBClassifier(n_estimators=6, max_depth=2, learning_rate=0.8),
    weald.RandomForestClassifier(7, max_depth=3, random_state=1),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_cost_is_the_least_there_is(model: Any) -> None:
    model.fit(FRAME[["age", "pay", "city", "grade"]], LABEL)
    for i in (0, 3, 11):
        row = SMALL.iloc[i]
        wanted = "no" if model.predict(SMALL.iloc[[i]])[0] == "yes" else "yes"
        one = brute_force(model, row, SMALL, wanted, 1)
        two = min(one, brute_force(model, row, SMALL, wanted, 2))
        for most, least in ((1, one), (2, two)):
            found = weald.counterfactual(model, row, X=SMALL, max_columns=most, n=2)
            if np.isinf(least):
                assert len(found) == 0
            else:
                assert found[0].cost == pytest.approx(least, abs=1e-12)
                assert found.exact
        more = weald.counterfactual(model, row, X=SMALL, max_columns=3)
        assert np.isinf(two) or more[0].cost <= two + 1e-12


@pytest.mark.parametrize("seed", range(8))
def test_cost_is_the_least_on_random_tables(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 24
    table = pd.DataFrame(
        {
            "x": rng.normal(size=n).round(1),
            "k": rng.integers(0, 4, n),
            "c": pd.Categorical(rng.choice(list("abcd"), n)),
            "o": pd.Categorical(rng.choice(list("pqr"), n), list("pqr"), ordered=True),
        }
    )
    table.loc[rng.random(n) < 0.2, "x"] = np.nan
    labels = rng.choice(["u", "v", "w"], n)
    models = [
        weald.DecisionTreeClassifier(random_state=seed),
        weald.RandomForestClassifier(5, random_state=seed),
        weald.AdaBoostClassifier(n_estimators=4),
        weald.GradientBoostingClassifier(n_estimators=3, random_state=seed),
    ]
    model = models[seed % 4].fit(table, labels)
    for i in (0, 1):
        row, now = table.iloc[i], model.predict(table.iloc[[i]])[0]
        wanted = str(rng.choice([label for label in "uvw" if label != now]))
        one = brute_force(model, row, table, wanted, 1)
        two = min(one, brute_force(model, row, table, wanted, 2))
        for most, least in ((1, one), (2, two)):
            found = weald.counterfactual(model, row, X=table, target=wanted, max_columns=most)
            assert (found[0].cost if len(found) else np.inf) == pytest.approx(least, abs=1e-12)


def test_answers_are_true_and_told() -> None:
    for i in range(12):
        found = weald.counterfactual(FOREST, FRAME.iloc[[i]], X=FRAME)
        assert found.before == FOREST.predict(FRAME.iloc[[i]])[0]
        assert FOREST.predict(found.rows)[0] == found.before
        assert [answer.prediction for answer in found] == FOREST.predict(found.rows)[1:].tolist()
        assert all(answer.prediction != found.before for answer in found)
        shares = FOREST.predict_proba(found.rows)
        for k, answer in enumerate(found, 1):
            changed = {change.column: change for change in answer.changes}
            assert 1 <= len(changed) <= 3
            for name in FRAME:
                now, then = found.rows[name].iloc[0], found.rows[name].iloc[k]
                if name in changed:
                    assert then == changed[name].after
                    assert then in FRAME[name].dropna().tolist()
                    before = changed[name].before
                    assert changed[name].cost == pytest.approx(quantile_cost(FRAME[name], before, then))
                else:
                    assert now == then or (pd.isna(now) and pd.isna(then))
            assert answer.cost == pytest.approx(sum(change.cost for change in answer.changes))
            assert answer.probability == pytest.approx(shares[k].max())
        costs = [answer.cost for answer in found]
        assert costs == sorted(costs)
        sets = [{change.column for change in answer.changes} for answer in found]
        assert not any(a < b for a in sets[:1] for b in sets[1:])


def test_what_is_not_allowed_is_not_proposed() -> None:
    row = FRAME[(LABEL == "no") & FRAME["pay"].notna()].iloc[0]
    assert FOREST.predict(row.to_frame().T.astype(FRAME.dtypes.to_dict()))[0] == "no"
    free = weald.counterfactual(FOREST, row, X=FRAME, n=5)
    assert len(free) >= 2
    first = free[0].changes[0].column
    held = weald.counterfactual(FOREST, row, X=FRAME, fixed=[first], n=5)
    assert all(change.column != first for answer in held for change in answer.changes)
    assert held[0].cost >= free[0].cost
    down = weald.counterfactual(FOREST, row, X=FRAME, directions={"age": -1, "pay": -1, "grade": -1}, n=5)
    for change in (change for answer in down for change in answer.changes):
        assert change.column not in ("age", "pay") or change.after < change.before
        assert change.column != "grade" or change.after == "low"
    limited = weald.counterfactual(
        FOREST, row, X=FRAME, ranges={"age": (30, 50), "pay": (None, 25), "city": ["Basel"], "grade": ["mid"]}
    )
    for change in (change for answer in limited for change in answer.changes):
        assert change.column != "age" or 30 <= change.after <= 50
        assert change.column != "pay" or change.after <= 25
        assert change.column != "city" or change.after == "Basel"
        assert change.column != "grade" or change.after == "mid"
    assert all(change.after is not None for answer in free for change in answer.changes)
    assert all(
        change.column != "none" or FOREST.feature_importances_[4] for a in free for change in a.changes
    )


def test_a_gap_may_stay_or_be_filled() -> None:
    tree = weald.DecisionTreeRegressor(max_depth=2).fit(FRAME[["pay"]], MERIT)
    row = FRAME[["pay"]].iloc[[0]]
    found = weald.counterfactual(tree, row, X=FRAME[["pay"]], target=(3, None))
    assert found[0].changes[0].before is None
    assert found[0].cost == 1.0
    assert "pay: missing → " in repr(found)


def test_numbers_in_a_range() -> None:
    model = weald.GradientBoostingRegressor(n_estimators=30, random_state=0).fit(FRAME, MERIT)
    row = FRAME.iloc[5]
    now = float(model.predict(FRAME.iloc[[5]])[0])
    up = weald.counterfactual(model, row, X=FRAME, target=(now + 0.3, None))
    assert all(answer.prediction >= now + 0.3 for answer in up)
    assert up.wanted.startswith("at least")
    band = weald.counterfactual(model, row, X=FRAME, target=(now - 0.4, now - 0.3), max_columns=2)
    assert len(band) > 0
    assert all(now - 0.4 <= answer.prediction <= now - 0.3 for answer in band)
    there = weald.counterfactual(model, row, X=FRAME, target=(now - 1, None))
    assert len(there) == 0


def test_probability_and_chosen_label() -> None:
    kinds = np.select([MERIT < 2, MERIT < 3], ["low", "mid"], "high")
    model = weald.RandomForestClassifier(15, max_depth=5, random_state=0).fit(FRAME, kinds)
    row = FRAME.iloc[np.flatnonzero(model.predict(FRAME) == "low")[0]]
    any_other = weald.counterfactual(model, row, X=FRAME)
    high = weald.counterfactual(model, row, X=FRAME, target="high")
    assert any_other[0].prediction in ("mid", "high")
    assert high[0].prediction == "high"
    assert high[0].cost >= any_other[0].cost
    sure = weald.counterfactual(model, row, X=FRAME, target="high", min_probability=0.6)
    assert all(answer.probability >= 0.6 for answer in sure)
    assert sure[0].cost >= high[0].cost


def test_models_without_trees_of_weald() -> None:
    numbers = FRAME[["age", "none"]].assign(pay=FRAME["pay"].fillna(10))
    for model in (
        make_pipeline(StandardScaler(), ForeignLogistic()),
        weald.LogisticRegression(scale=True) if hasattr(weald.LogisticRegression(), "scale") else weald.SVC(),
        weald.LinearSVC(),
        weald.VotingClassifier([("a", ForeignLogistic()), ("b", weald.DecisionTreeClassifier(max_depth=3))]),
    ):
        model.fit((numbers - numbers.mean()) / numbers.std(), LABEL)
        scaled = (numbers - numbers.mean()) / numbers.std()
        found = weald.counterfactual(model, scaled.iloc[0], X=scaled)
        assert len(found) > 0, type(model).__name__
        assert all(answer.prediction != found.before for answer in found)
    text = make_pipeline(OneHotEncoder(handle_unknown="ignore"), ForeignLogistic())
    words = FRAME[["city", "grade"]].astype(str)
    text.fit(words, LABEL)
    found = weald.counterfactual(text, words.iloc[[0]], X=words)
    assert set(found.rows["city"]) <= set(words["city"])
    slope = LinearRegression().fit(numbers, MERIT)
    up = weald.counterfactual(slope, numbers.iloc[0], X=numbers, target=(3.5, None))
    assert up[0].prediction >= 3.5


def test_sums_of_columns() -> None:
    numbers = RNG.normal(size=(150, 3))
    label = np.where(numbers[:, 0] + numbers[:, 1] > 0, "r", "l")
    forest = weald.RandomForestClassifier(5, random_state=0, feature_combinations=(2, 4)).fit(numbers, label)
    found = weald.counterfactual(forest, numbers[0], X=numbers)
    assert found[0].prediction != found.before
    assert weald.importance(forest, numbers, label).names[-1] == 2


def test_every_kind_of_table() -> None:
    found = weald.counterfactual(FOREST, FRAME.iloc[4], X=FRAME)
    record = {name: None if pd.isna(value) else value for name, value in FRAME.iloc[4].items()}
    polars, arrow = pl.from_pandas(FRAME), pa.Table.from_pandas(FRAME, preserve_index=False)
    for row, X in ((record, polars), (polars[4], polars), (arrow.slice(4, 1), arrow), (record, arrow)):
        other = weald.counterfactual(FOREST, row, X=X)
        assert [answer.cost for answer in other] == [answer.cost for answer in found]
        assert type(other.rows) is type(X)
        assert type(other.to_frame()) is type(X)
    numbers = FRAME[["age", "none"]].to_numpy(float)
    tree = weald.DecisionTreeClassifier(max_depth=4, random_state=0).fit(numbers, LABEL)
    dense = weald.counterfactual(tree, numbers[0], X=numbers)
    for row, X in (
        (numbers[0].tolist(), numbers.tolist()),
        (numbers[:1], numbers),
        (sparse.csr_array(numbers[:1]), sparse.csr_array(numbers)),
    ):
        assert [a.cost for a in weald.counterfactual(tree, row, X=X)] == [a.cost for a in dense]
    moved = FRAME[FRAME.columns[::-1]]
    assert [a.cost for a in weald.counterfactual(FOREST, record, X=moved)] == [a.cost for a in found]


def test_dates_stay_dates() -> None:
    days = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=60)})
    late = np.where(np.arange(60) > 30, "late", "soon")
    model = weald.DecisionTreeClassifier().fit(days, late)
    found = weald.counterfactual(model, days.iloc[10], X=days)
    assert found[0].changes[0].after == pd.Timestamp("2024-02-01")
    assert str(found[0].changes[0]) == "day: 2024-01-11 → 2024-02-01"


def test_unseen_category_counts_as_a_gap() -> None:
    row = dict(FRAME.iloc[4], city="Zug", pay=20.0)
    found = weald.counterfactual(FOREST, row, X=FRAME)
    gap = weald.counterfactual(FOREST, row | {"city": None}, X=FRAME)
    assert [answer.cost for answer in found] == [answer.cost for answer in gap]
    strict = weald.RandomForestClassifier(3, random_state=0, unknown="error").fit(FRAME, LABEL)
    with pytest.raises(DataError, match="'Zug'"):
        weald.counterfactual(strict, row, X=FRAME)


def test_search_beyond_its_budget_says_so() -> None:
    row = FRAME[LABEL == "no"].iloc[1]
    full = weald.counterfactual(FOREST, row, X=FRAME, max_columns=2)
    little = weald.counterfactual(FOREST, row, X=FRAME, max_columns=2, budget=5)
    assert full.exact
    assert len(little) == 0 or little[0].cost >= full[0].cost
    if len(little) and len(little[0].changes) == 1 and full[0].cost < little[0].cost:
        assert not little.exact


def test_spread_as_cost() -> None:
    row = FRAME[LABEL == "no"].iloc[0]
    found = weald.counterfactual(FOREST, row, X=FRAME, cost="spread", fixed=["city", "grade"])
    unit = {
        name: 1.4826 * (FRAME[name] - FRAME[name].median()).abs().median() for name in ("age", "pay", "none")
    }
    for change in (change for answer in found for change in answer.changes):
        expected = 1.0 if change.before is None else abs(change.after - change.before) / unit[change.column]
        assert change.cost == pytest.approx(expected)


def test_none_found_is_told() -> None:
    found = weald.counterfactual(FOREST, FRAME.iloc[0], X=FRAME, fixed=list(FRAME.columns))
    assert len(found) == 0
    assert not found.exact
    assert "No change of up to 3 columns among 0 that may change was found" in repr(found)
    assert found.to_frame("dict")["column"] == []


def test_loaded_model_and_bad_input(tmp_path: Path) -> None:
    FOREST.save(tmp_path / "m.weald")
    loaded = weald.load(tmp_path / "m.weald")
    with pytest.raises(DataError, match="does not keep them, loaded from a file or not"):
        weald.counterfactual(loaded, FRAME.iloc[0])
    same = weald.counterfactual(loaded, FRAME.iloc[0], X=FRAME)
    assert [a.cost for a in same] == [a.cost for a in weald.counterfactual(FOREST, FRAME.iloc[0], X=FRAME)]

    def ask(row: object = FRAME.iloc[0], **options: Any) -> None:
        weald.counterfactual(FOREST, row, **{"X": FRAME, **options})

    with pytest.raises(DataError, match="about one row; `row` has 2"):
        ask(FRAME.iloc[:2])
    with pytest.raises(DataError, match="It lacks 'none'"):
        ask({"age": 1, "pay": 2.0, "city": "Bern", "grade": "low"})
    with pytest.raises(DataError, match="has 2 values, and X has 5 columns"):
        ask([1, 2])
    with pytest.raises(ParameterError, match="none of the labels that the model knows: 'no', 'yes'"):
        ask(target="maybe")
    with pytest.raises(ParameterError, match="`fixed` of counterfactual names the column 'town'"):
        ask(fixed=["town"])
    with pytest.raises(ParameterError, match="categories have no order"):
        ask(directions={"city": 1})
    with pytest.raises(ParameterError, match="must be 1"):
        ask(directions={"age": 2})
    with pytest.raises(ParameterError, match="must be a list of categories for 'city'"):
        ask(ranges={"city": "Bern"})
    with pytest.raises(ParameterError, match=r"must be \(low, high\) for 'age'"):
        ask(ranges={"age": (50, 30)})
    with pytest.raises(ParameterError, match="`quantiles`"):
        ask(quantiles=(0.9, 0.1))
    with pytest.raises(ParameterError, match="`max_columns`"):
        ask(max_columns=0)
    with pytest.raises(ParameterError, match="min_probability"):
        ask(min_probability=1.5)
    with pytest.raises(DataError, match=r"0 sample\(s\)"):
        ask(X=FRAME[:0])
    with pytest.raises(ValueError, match="now missing:\n- none"):
        ask(X=FRAME.drop(columns="none"))
    slope = LinearRegression().fit(FRAME[["age"]], MERIT)
    with pytest.raises(ParameterError, match="must say which numbers are wanted"):
        weald.counterfactual(slope, [30], X=FRAME[["age"]])
    with pytest.raises(ParameterError, match="must be a range"):
        weald.counterfactual(slope, [30], X=FRAME[["age"]], target=(5, 1))
    both = weald.RandomForestRegressor(3, random_state=0).fit(FRAME, np.column_stack([MERIT, MERIT]))
    with pytest.raises(DataError, match="for models of one output"):
        weald.counterfactual(both, FRAME.iloc[0], X=FRAME, target=(1, 2))
    with pytest.raises(DataTypeError, match="needs a fitted estimator"):
        weald.counterfactual(None, FRAME.iloc[0], X=FRAME)
