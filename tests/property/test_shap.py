"""SHAP values of random small forests are those of the definition, both kinds, with categories and gaps."""

import numpy as np
import pandas as pd
import pytest
from reference.shapley import by_background, by_covers, plain_rows, shapley

import weald
from weald.inspection.shap.trees import Background, shap_values


def table(rng, n):
    columns = {
        "x": rng.normal(size=n).round(1),
        "n": rng.choice([0.0, 1.0, 2.0, np.nan], n),
        "c": pd.Categorical(rng.choice([*"abcde", None], n)),
        "o": pd.Categorical(rng.choice(["s", "m", "l", None], n), categories=["s", "m", "l"], ordered=True),
    }
    return pd.DataFrame(columns)


def fitted(rng, number):
    X = table(rng, 60)
    y = (X.x.to_numpy() * 2).round() + X.c.isin(["a", "d"]) * 2 + X.n.fillna(5) * (X.o == "l")
    y = y + rng.normal(size=60)
    classes = np.digitize(y, [1.0, 3.0])
    seed, depth = int(rng.integers(1000)), int(rng.integers(1, 6))
    makers = (
        lambda: weald.XGBRegressor(n_estimators=2, max_depth=depth, cat_l2=0, cat_smooth=0).fit(X, y),
        lambda: weald.RandomForestClassifier(2, max_depth=depth, random_state=seed).fit(X, classes),
        lambda: weald.XGBClassifier(n_estimators=1, max_depth=depth).fit(X, classes),
        lambda: weald.ExtraTreesRegressor(2, max_depth=depth, random_state=seed).fit(X, y),
        lambda: weald.XGBRegressor(n_estimators=2, max_depth=depth, booster="dart", rate_drop=0.5).fit(X, y),
    )
    return makers[number % len(makers)]()._shap_model()


def close(found, truth):
    return np.abs(found - truth).max() < 1e-9 * max(1.0, np.abs(truth).max())


@pytest.mark.parametrize("part", range(4))
def test_values_and_interactions_are_those_of_the_definition(part):
    rng = np.random.default_rng(part)
    for number in range(50):
        model = fitted(rng, number)
        given = model.read(table(rng, 2).assign(c=pd.Categorical(["a", rng.choice(["e", "unseen"])])))
        # As many rows as make tables worth while, the same ones again and again.
        many = model.read(table(rng, 300))
        other = model.read(table(rng, 3))
        weight = rng.random(3)
        background = Background.of(other, weight)
        rows = plain_rows(given)
        for kind, game in (
            ({}, by_covers(model.forest, rows)),
            (
                {"background": background},
                by_background(model.forest, rows, plain_rows(other), weight / weight.sum()),
            ),
        ):
            values, pairs = shapley(game)
            found, rest = shap_values(model.forest, given, **kind)
            assert close(found, values)
            assert close(rest, game[0, 0])
            assert close(shap_values(model.forest, given, interactions=True, **kind)[0], pairs)
            # Tables and walks, lists and tables agree on rows that are many.
            found, rest = shap_values(model.forest, many, **kind)
            few = model.read(table_rows(many, 20))
            assert close(shap_values(model.forest, few, **kind)[0], found[:20])
            whole = shap_values(model.forest, many, interactions=True, **kind)[0]
            assert close(shap_values(model.forest, few, interactions=True, **kind)[0], whole[:20])
            assert close(whole.sum(axis=3), found)


def table_rows(aligned, n):
    from weald.data.rows import take_rows

    return take_rows(aligned, np.arange(n))


def test_deep_paths_against_the_definition():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 9))
    y = (X > 0) @ 2.0 ** np.arange(9)
    model = weald.DecisionTreeRegressor(random_state=0, max_features=2).fit(X, y)._shap_model()
    rows, other = model.read(X[:2]), model.read(X[10:14])
    equal = np.full(4, 0.25)
    values, pairs = shapley(by_covers(model.forest, plain_rows(rows)))
    assert close(shap_values(model.forest, rows)[0], values)
    assert close(shap_values(model.forest, rows, interactions=True)[0], pairs)
    values, pairs = shapley(by_background(model.forest, plain_rows(rows), plain_rows(other), equal))
    background = Background.of(other, None)
    assert close(shap_values(model.forest, rows, background=background)[0], values)
    assert close(shap_values(model.forest, rows, background=background, interactions=True)[0], pairs)
