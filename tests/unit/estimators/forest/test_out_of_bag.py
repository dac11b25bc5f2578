"""What the trees of a forest say of rows they did not see."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score, r2_score
from unit.estimators.forest.data import ALL, CLASSIFIERS, NUMBERS, REGRESSORS, N, X, Y, named

from weald import RandomForestClassifier, RandomForestRegressor
from weald.estimators.forest import out_of_bag


@pytest.fixture(params=ALL, ids=named)
def forest(request):
    return request.param(n_estimators=40, bootstrap=True, oob_score=True, random_state=0)


def by_hand(model, said):
    """The mean, over the trees whose bag lacks a row, of what each says of it."""
    total, n_trees = np.zeros_like(said(model[0])), np.zeros(N)
    for t, tree in enumerate(model):
        unseen = model.bags_.counts(t) == 0
        total[unseen] += said(tree)[unseen]
        n_trees[unseen] += 1
    return total / n_trees.reshape(-1, *[1] * (total.ndim - 1))


class TestMeans:
    @pytest.mark.parametrize("kind", CLASSIFIERS, ids=named)
    def test_of_shares(self, kind):
        model = kind(40, bootstrap=True, oob_score=True, random_state=0).fit(X, Y)
        expected = by_hand(model, lambda tree: tree.predict_proba(X))
        np.testing.assert_array_equal(model.oob_decision_function_, expected)
        assert model.oob_score_ == (expected.argmax(axis=1) == Y).mean()

    @pytest.mark.parametrize("kind", REGRESSORS, ids=named)
    def test_of_numbers(self, kind):
        model = kind(40, bootstrap=True, oob_score=True, random_state=0).fit(X, NUMBERS)
        expected = by_hand(model, lambda tree: tree.predict(X))
        np.testing.assert_array_equal(model.oob_prediction_, expected)
        assert model.oob_score_ == r2_score(NUMBERS, expected)

    def test_of_several_outputs(self):
        both = np.column_stack([Y, Y > 0])
        model = RandomForestClassifier(40, oob_score=True, random_state=0).fit(X, both)
        shares = model.oob_decision_function_
        assert [each.shape for each in shares] == [(N, 3), (N, 2)]
        right = (shares[0].argmax(axis=1) == Y) & (shares[1].argmax(axis=1) == (Y > 0))
        assert model.oob_score_ == right.mean()
        numbers = RandomForestRegressor(40, oob_score=True, random_state=0)
        numbers.fit(X, np.column_stack([NUMBERS, X[:, 0]]))
        assert numbers.oob_prediction_.shape == (N, 2)

    def test_blocks_of_trees_never_show(self, forest, monkeypatch):
        whole = clone(forest).fit(X, Y)
        monkeypatch.setattr(out_of_bag, "_CELLS", 7 * N)
        assert forest.fit(X, Y).oob_score_ == whole.oob_score_

    def test_threads_never_show(self, forest):
        scores = {clone(forest).set_params(n_jobs=n).fit(X, Y).oob_score_ for n in (1, 2, 5)}
        assert len(scores) == 1

    def test_labels_are_the_users_own(self):
        names = np.array(["low", "mid", "top"])
        by_name, by_number = (
            RandomForestClassifier(40, oob_score=True, random_state=0).fit(X, y) for y in (names[Y], Y)
        )
        assert by_name.oob_score_ == by_number.oob_score_

    def test_rows_of_weight_zero_are_not_judged(self):
        weight = (np.arange(N) % 4 > 0).astype(float)
        model = RandomForestClassifier(60, oob_score=True, random_state=0).fit(X, Y, sample_weight=weight)
        without = RandomForestClassifier(60, oob_score=True, random_state=0).fit(X[weight > 0], Y[weight > 0])
        assert model.oob_score_ == without.oob_score_
        found = model.oob_decision_function_
        np.testing.assert_array_equal(found[weight > 0], without.oob_decision_function_)
        np.testing.assert_array_equal(found[weight == 0], model.predict_proba(X[weight == 0]))

    def test_max_samples_leaves_more_rows_out(self):
        model = RandomForestClassifier(20, max_samples=10, oob_score=True, random_state=0).fit(X, Y)
        assert not np.isnan(model.oob_decision_function_).any()


class TestScore:
    def test_a_metric_of_labels(self):
        names = np.array(["low", "mid", "top"])[Y]
        settings = {"n_estimators": 40, "random_state": 0}
        model = RandomForestClassifier(oob_score=balanced_accuracy_score, **settings).fit(X, names)
        shares = model.oob_decision_function_
        predicted = model.classes_[shares.argmax(axis=1)]
        assert model.oob_score_ == balanced_accuracy_score(names, predicted)

    def test_a_metric_of_numbers(self):
        seen = []

        def worst(y_true, y_pred):
            seen.append((y_true.shape, y_pred.shape))
            return float(np.abs(y_true - y_pred).max())

        model = RandomForestRegressor(40, oob_score=worst, random_state=0).fit(X, NUMBERS)
        assert model.oob_score_ == np.abs(NUMBERS - model.oob_prediction_).max()
        assert seen == [((N,), (N,))]

    def test_error_is_close_to_that_of_new_rows(self):
        rng = np.random.default_rng(11)
        table = rng.normal(size=(2600, 6))
        y = table[:, 0] * table[:, 1] + table[:, 2] + rng.normal(size=2600) > 0
        train, test = slice(0, 600), slice(600, None)
        model = RandomForestClassifier(100, oob_score=True, random_state=0).fit(table[train], y[train])
        error, on_new = 1 - model.oob_score_, 1 - model.score(table[test], y[test])
        noise = np.sqrt(on_new * (1 - on_new) * (1 / 600 + 1 / 2000))
        assert abs(error - on_new) < 3 * noise
        assert on_new - (1 - model.score(table[train], y[train])) > 6 * noise  # as training error is not

    def test_absent_unless_asked(self):
        model = RandomForestClassifier(40, oob_score=True, random_state=0).fit(X, Y)
        model.set_params(oob_score=False).fit(X, Y)
        assert not hasattr(model, "oob_score_")
        assert not hasattr(model, "oob_decision_function_")


class TestTooFewTrees:
    def test_rows_that_every_tree_saw_are_named(self, forest):
        forest.set_params(n_estimators=2)
        with pytest.warns(UserWarning, match="Some inputs do not have OOB scores") as caught:
            forest.fit(X, Y)
        seen = (forest.bags_.counts(0) > 0) & (forest.bags_.counts(1) > 0)
        rows = np.flatnonzero(seen)
        message = str(caught[0].message)
        assert f"every tree saw {len(rows)} of the {N} rows ({', '.join(map(str, rows[:5]))}, …)" in message
        assert "Use more trees (n_estimators)" in message
        assert caught[0].filename == __file__
        found = getattr(forest, "oob_decision_function_", None)
        found = forest.oob_prediction_[:, None] if found is None else found
        np.testing.assert_array_equal(np.isnan(found).all(axis=1), seen)
        np.testing.assert_array_equal(np.isnan(found).any(axis=1), seen)

    def test_the_score_is_that_of_the_others(self):
        model = RandomForestClassifier(2, oob_score=True, random_state=0)
        with pytest.warns(UserWarning, match="OOB scores"):
            model.fit(X, Y)
        shares = model.oob_decision_function_
        judged = ~np.isnan(shares[:, 0])
        assert model.oob_score_ == (shares[judged].argmax(axis=1) == Y[judged]).mean()

    def test_few_rows_are_all_named(self):
        model = RandomForestRegressor(1, oob_score=True, random_state=0)
        with pytest.warns(UserWarning, match=r"of the 6 rows \((\d, )*\d\)"):
            model.fit(X[:6], NUMBERS[:6])

    def test_no_row_is_judged(self, forest):
        with pytest.warns(UserWarning, match="every tree saw 1 of the 1 rows"):
            forest.fit(X[:1], Y[:1])
        assert np.isnan(forest.oob_score_)
