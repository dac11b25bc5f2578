"""Bad parameters, tables and second fits of forests: a clear error with the way out."""

import numpy as np
import pytest
from unit.estimators.forest.data import ALL, NUMBERS, N, X, Y, named

import weald
from weald import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor
from weald.errors import DataError, ModelFileError, ParameterError, WealdError
from weald.io import model_file

NAN, INF = float("nan"), float("inf")


@pytest.fixture(params=ALL, ids=named)
def forest(request):
    return request.param(n_estimators=4, random_state=0)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_estimators": 0}, "`n_estimators` of {} must be a whole number of at least 1; got 0"),
        ({"n_estimators": 2.5}, "`n_estimators` of {} must be a whole number"),
        ({"n_estimators": "many"}, "`n_estimators` of {} must be"),
        ({"bootstrap": "yes"}, "`bootstrap` of {} must be True or False; got 'yes'"),
        (
            {"max_samples": 0, "bootstrap": True},
            "`max_samples` of {} must be None, a whole number of",
        ),
        ({"max_samples": float("inf"), "bootstrap": True}, "`max_samples` of {} must be None"),
        ({"max_samples": 2**32, "bootstrap": True}, "`max_samples` of {} asks for 4,294,967,296 draws"),
        ({"oob_score": "accuracy", "bootstrap": True}, "`oob_score` of {} must be True or False"),
        ({"oob_score": True, "bootstrap": False}, "`oob_score` of {} needs bootstrap=True"),
        (
            {"max_samples": 0.5, "bootstrap": False},
            "`max_samples` of {} needs bootstrap=True",
        ),
        ({"warm_start": 1}, "`warm_start` of {} must be True or False"),
        ({"verbose": -1}, "`verbose` of {} must be"),
        ({"max_features": "third!"}, r"`max_features` of {} must be .*Did you mean 'third'\?"),
        ({"max_features": 0}, "`max_features` of {} must be"),
        ({"criterion": "ginni"}, "`criterion` of {} must be"),
        ({"min_weight_fraction_leaf": 0.7}, "`min_weight_fraction_leaf` of {} must be"),
        ({"random_state": -1}, "`random_state` of {} must be"),
        ({"n_jobs": 0}, "`n_jobs` of {} must be"),
        ({"max_bins": 1}, "`max_bins` of {} must be"),
        ({"ccp_alpha": -1.0}, "`ccp_alpha` of {} must be"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_parameters(forest, params, message):
    forest.set_params(**params)
    with pytest.raises(ParameterError, match=message.format(type(forest).__name__)):
        forest.fit(X, Y)
    assert not hasattr(forest, "forest_")


def test_unknown_parameter(forest):
    with pytest.raises(ParameterError, match="did you mean `n_estimators`"):
        forest.set_params(n_estimator=5)


@pytest.mark.parametrize("class_weight", ["balance", ["balanced_subsample"], {"0": 1}, {0: -1.0}], ids=str)
def test_class_weight(class_weight):
    with pytest.raises(ParameterError, match=r"`class_weight(\[0\])?` of RandomForestClassifier"):
        RandomForestClassifier(3, class_weight=class_weight).fit(X, Y)


def test_monotone_constraints_need_two_classes_or_one_number():
    with pytest.raises(ParameterError, match="not supported with multiclass classification"):
        RandomForestClassifier(3, monotonic_cst={0: 1}).fit(X, Y)
    with pytest.raises(ParameterError, match="Fit a RandomForestRegressor for each"):
        RandomForestRegressor(3, monotonic_cst={0: 1}).fit(X, np.column_stack([NUMBERS, NUMBERS]))


@pytest.mark.parametrize(
    ("table", "target", "weight", "message"),
    [
        (np.empty((0, 3)), [], None, r"0 sample\(s\)"),
        (np.where(X > 2, INF, X), Y, None, "contains inf"),
        (X, Y[:-1], None, r"\[150, 149\]"),
        (X, None, None, "requires y to be passed"),
        (X, np.where(np.arange(N) == 3, NAN, 1.0), None, "y contains NaN: row 3"),
        (X, Y, np.full(N, -1.0), "sample_weight contains negative values: row 0"),
        (X, Y, np.zeros(N), "sample_weight is zero in every row"),
        (X, Y, np.ones(3), "sample_weight has 3 values for 150 rows"),
    ],
)
def test_tables_targets_and_weights(forest, table, target, weight, message):
    with pytest.raises(WealdError, match=message):
        forest.fit(table, target, sample_weight=weight)
    assert not hasattr(forest, "forest_")


def test_targets_of_criteria():
    with pytest.raises(DataError, match="negative which is not allowed for Poisson"):
        RandomForestRegressor(3, criterion="poisson").fit(X, NUMBERS - 100)
    with pytest.raises(DataError, match="Unknown label type: continuous"):
        RandomForestClassifier(3).fit(X, NUMBERS)


class TestSecondFit:
    @pytest.fixture
    def warm(self, forest):
        return forest.set_params(warm_start=True).fit(X, Y)

    def fails(self, model, message, *arguments, **more):
        before = dict(vars(model))
        with pytest.raises(ParameterError, match=message):
            model.fit(*arguments, **more)
        assert vars(model) == before

    def test_fewer_trees(self, warm):
        warm.set_params(n_estimators=3)
        self.fails(warm, "n_estimators=3 must be larger or equal to the 4 trees", X, Y)

    def test_other_columns(self, warm):
        warm.set_params(n_estimators=6)
        self.fails(warm, "this one has other columns. Use warm_start=False", X[:, :3], Y)

    def test_other_categories(self, forest):
        town = [f"town {i % 5}" for i in range(N)]
        forest.set_params(warm_start=True).fit({"town": town}, Y).set_params(n_estimators=6)
        other = ["town 9", *town[1:]]
        self.fails(forest, "this one has other columns", {"town": other}, Y)

    def test_other_labels(self):
        model = RandomForestClassifier(4, warm_start=True).fit(X, Y).set_params(n_estimators=6)
        self.fails(model, "this one has other labels or outputs", X, np.minimum(Y, 1))
        self.fails(model, "this one has other labels or outputs", X, Y + 1)

    def test_other_outputs(self):
        model = RandomForestRegressor(4, warm_start=True).fit(X, NUMBERS).set_params(n_estimators=6)
        self.fails(model, "this one has other labels or outputs", X, np.column_stack([NUMBERS, NUMBERS]))

    def test_other_rows(self, warm):
        warm.set_params(n_estimators=6)
        message = r"this one has other rows \(120 instead of 150\)"
        self.fails(warm, message, X[:120], np.resize([0, 1, 2], 120))

    def test_other_draws(self, warm):
        warm.set_params(n_estimators=6, bootstrap=not warm.bootstrap)
        self.fails(warm, r"this one has other draws \(bootstrap, max_samples, weights\)", X, Y)
        if not warm.bootstrap:
            return
        warm.set_params(bootstrap=True, max_samples=0.5)
        self.fails(warm, "this one has other draws", X, Y)


@pytest.mark.parametrize("method", ["predict", "apply", "decision_path"])
def test_predict_on_other_columns(forest, method):
    forest.fit({"a": X[:, 0], "b": X[:, 1]}, Y)
    for table, message in [
        ({"a": X[:, 0]}, "b"),
        ({"a": X[:, 0], "c": X[:, 1]}, "b"),
        ({"a": X[:, 0], "b": ["x"] * N}, "Column 'b' was numeric"),
        ({"a": X[:, 0], "b": X[:, 1] * INF}, "Column 'b' contains inf"),
    ]:
        with pytest.raises(DataError, match=message):
            getattr(forest, method)(table)


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ("seed", -1),
        ("seed", 0.5),
        ("n_rows", "many"),
        ("n_draws", 2**62),
        ("n_draws", 2**32),
        ("n_absent", N + 1),
    ],
)
def test_a_file_with_bags_that_cannot_be_is_refused(entry, value, tmp_path, monkeypatch):
    model = RandomForestClassifier(3).fit(X, Y)
    state = model._saved_state()
    state.extra[entry] = value
    monkeypatch.setattr(model, "_saved_state", lambda: state, raising=False)
    (tmp_path / "m.weald").write_bytes(model_file.to_bytes(model))
    with pytest.raises(ModelFileError, match="bags"):
        weald.load(tmp_path / "m.weald")


def test_saving_needs_a_fit(forest, tmp_path):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        forest.save(tmp_path / "m.weald")
    assert list(tmp_path.iterdir()) == []


def test_out_of_bag_of_extra_trees_says_how():
    with pytest.raises(ParameterError, match="without it every tree sees every row"):
        ExtraTreesClassifier(5, oob_score=True).fit(X, Y)
