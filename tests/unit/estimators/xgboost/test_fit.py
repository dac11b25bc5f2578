"""`fit` of boosters: targets of every kind, sets, weights, margins, going on, and what goes wrong."""

import datetime as dt
import pickle

import numpy as np
import pytest
import xgboost
from scipy import sparse
from sklearn.base import clone
from unit.estimators.xgboost.data import numbers, three_classes, two_classes

from weald import TrainingCallback, XGBClassifier, XGBRegressor
from weald.errors import DataError, DataTypeError, ParameterError

LABELS = [
    ["no", "yes"],
    [False, True],
    [3, 7],
    [-1.0, 1.0],
    [dt.datetime(2020, 1, 1, 12), dt.datetime(2021, 1, 1)],
    np.array(["2020-01-01", "2021-01-01"], "datetime64[D]"),
]


@pytest.mark.parametrize("labels", LABELS, ids=lambda v: type(v[0]).__name__)
def test_labels_of_any_type(labels):
    X, _ = numbers()
    number = (X[:, 0] > 0).astype(int)
    y = labels[number] if isinstance(labels, np.ndarray) else [labels[k] for k in number]
    model = XGBClassifier(n_estimators=5).fit(X, y)
    assert model.classes_.tolist() == list(labels if not isinstance(labels, np.ndarray) else labels.tolist())
    assert model.predict(X).tolist() == (y.tolist() if isinstance(y, np.ndarray) else y)
    assert (model.n_classes_, model.objective_, model.n_outputs_) == (2, "binary:logistic", 1)
    expected = xgboost.XGBClassifier(n_estimators=5, tree_method="exact").fit(X, number).predict_proba(X)
    assert np.abs(model.predict_proba(X) - expected).max() < 1e-5


def test_more_classes_than_two():
    X, y = three_classes()
    model = XGBClassifier(n_estimators=5).fit(X, y * 10 - 5)
    assert model.classes_.tolist() == [-5, 5, 15]
    assert (model.n_classes_, model.objective_, model.forest_.n_outputs) == (3, "multi:softprob", 3)
    probabilities = model.predict_proba(X)
    assert probabilities.shape == (len(X), 3)
    assert np.allclose(probabilities.sum(axis=1), 1)
    assert np.array_equal(model.predict(X), model.classes_[probabilities.argmax(axis=1)])
    named = XGBClassifier(n_estimators=5, objective="binary:logistic").fit(X, y)
    assert named.objective_ == "multi:softprob"


def test_two_classes_by_softmax_and_one_class_alone():
    X, y = two_classes()
    model = XGBClassifier(n_estimators=5, objective="multi:softmax").fit(X, y)
    assert model.forest_.n_outputs == 2
    assert (model.predict(X) == y).mean() > 0.9
    assert np.array_equal(model.decision_function(X) > 0, model.predict(X) == "yes")
    alone = XGBClassifier(n_estimators=2).fit(X, ["a"] * len(X))
    assert alone.predict_proba(X).tolist() == [[1.0]] * len(X)
    assert set(alone.predict(X)) == {"a"}


@pytest.mark.parametrize("objective", ["binary:logistic", "binary:logitraw", "binary:hinge"])
def test_objectives_of_two_classes(objective):
    X, y = two_classes()
    model = XGBClassifier(n_estimators=20, objective=objective).fit(X, y)
    probabilities = model.predict_proba(X)
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    assert (model.predict(X) == y).mean() > 0.95
    assert np.array_equal(model.predict(X), model.classes_[(probabilities[:, 1] > 0.5).astype(int)])


def test_several_yes_or_no_questions():
    X, y = two_classes()
    target = np.column_stack([y == "yes", X[:, 2] > 0]).astype(int)
    model = XGBClassifier(n_estimators=10).fit(X, target)
    assert model.predict(X).shape == model.predict_proba(X).shape == (len(X), 2)
    assert np.array_equal(model.predict(X), (model.predict_proba(X) > 0.5).astype(int))
    assert (model.predict(X) == target).mean() > 0.95
    assert model.score(X, target) > 0.9
    assert not hasattr(model, "decision_function")
    assert [labels.tolist() for labels in model.classes_] == [[0, 1], [0, 1]]
    with pytest.raises(DataError, match=r"column 1 has 3 classes.*MultiOutputClassifier"):
        XGBClassifier().fit(X, np.column_stack([y == "yes", np.arange(len(X)) % 3]).astype(int))


def test_several_numbers_and_several_quantiles():
    X, y = numbers()
    model = XGBRegressor(n_estimators=10).fit(X, np.column_stack([y, -y]))
    assert model.predict(X).shape == (len(X), 2)
    assert model.n_outputs_ == 2
    assert np.allclose(model.predict(X)[:, 0], -model.predict(X)[:, 1])
    quantiles = XGBRegressor(
        n_estimators=30, objective="reg:quantileerror", quantile_alpha=[0.1, 0.5, 0.9], max_depth=2
    ).fit(X, y)
    said = quantiles.predict(X)
    assert said.shape == (len(X), 3)
    assert np.all(np.diff(said, axis=1) >= 0)
    assert np.array_equal(np.sort(quantiles.predict(X, output_margin=True), axis=1), said)


def test_class_weight_and_scale_pos_weight():
    X, y = two_classes()
    weight = np.where(y == "yes", 3.0, 1.0)
    by_class = XGBClassifier(n_estimators=5, class_weight={"yes": 3.0, "no": 1.0}).fit(X, y)
    by_row = XGBClassifier(n_estimators=5).fit(X, y, sample_weight=weight)
    assert np.array_equal(by_class.predict_proba(X), by_row.predict_proba(X))
    scaled = XGBClassifier(n_estimators=5, scale_pos_weight=3.0, base_score=0.5).fit(X, y)
    plain = XGBClassifier(n_estimators=5, base_score=0.5).fit(X, y)
    assert scaled.predict_proba(X)[:, 1].mean() > plain.predict_proba(X)[:, 1].mean()


def test_rows_of_weight_zero_are_absent():
    X, y = two_classes()
    weight = (np.arange(len(X)) % 3 > 0).astype(float)
    kept = weight > 0
    a = XGBClassifier(n_estimators=5).fit(X, y, sample_weight=weight)
    b = XGBClassifier(n_estimators=5).fit(X[kept], y[kept])
    assert np.array_equal(a.predict_proba(X), b.predict_proba(X))
    odd = np.where(kept, y, "absent")
    assert XGBClassifier(n_estimators=2).fit(X, odd, sample_weight=weight).classes_.tolist() == ["no", "yes"]


def test_a_margin_takes_the_place_of_the_base_score():
    X, y = numbers()
    first = XGBRegressor(n_estimators=5).fit(X, y)
    margin = first.predict(X, output_margin=True)
    onward = XGBRegressor(n_estimators=5).fit(X, y, base_margin=margin)
    continued = XGBRegressor(n_estimators=5).fit(X, y, xgb_model=first)
    assert np.allclose(onward.predict(X, base_margin=margin), continued.predict(X), atol=1e-12)
    assert continued.n_rounds_ == 10
    with pytest.raises(DataError, match=r"base_margin has shape \(3,\), and there are 200 rows"):
        XGBRegressor().fit(X, y, base_margin=[1, 2, 3])
    with pytest.raises(DataError, match="2 raw scores per row, and the model has 1 output"):
        XGBRegressor().fit(X, y, base_margin=np.zeros((200, 2)))
    with pytest.raises(DataError, match="row 4"):
        XGBRegressor().fit(X, y, base_margin=np.where(np.arange(200) == 4, np.nan, 0))


def test_going_on_equals_training_longer(tmp_path):
    X, y = three_classes()
    params = {"subsample": 0.7, "colsample_bytree": 0.5, "random_state": 3}
    whole = XGBClassifier(n_estimators=10, **params).fit(X, y)
    half = XGBClassifier(n_estimators=4, **params).fit(X, y)
    onward = XGBClassifier(n_estimators=6, **params).fit(X, y, xgb_model=half)
    assert np.allclose(onward.predict_proba(X), whole.predict_proba(X), atol=1e-12)
    assert half.n_rounds_ == 4
    half.save(tmp_path / "half.weald")
    loaded = XGBClassifier(n_estimators=6, **params).fit(X, y, xgb_model=tmp_path / "half.weald")
    assert np.array_equal(onward.predict_proba(X), loaded.predict_proba(X))


def test_going_on_from_a_model_that_does_not_fit():
    X, y = three_classes()
    model = XGBClassifier(n_estimators=2).fit(X, y)
    with pytest.raises(DataError, match="3 features"):
        XGBClassifier().fit(X[:, :3], y, xgb_model=model)
    with pytest.raises(DataError, match="label 9, which training did not see"):
        XGBClassifier().fit(X, np.where(y == 0, 9, y), xgb_model=model)
    with pytest.raises(DataTypeError, match="fitted XGBRegressor"):
        XGBRegressor().fit(X, y, xgb_model=model)
    with pytest.raises(ParameterError, match="the objective that the model was trained with"):
        XGBRegressor(objective="count:poisson").fit(X, y, xgb_model=XGBRegressor(n_estimators=1).fit(X, y))


def test_sets_are_followed_by_name_and_weight():
    X, y = numbers()
    model = XGBRegressor(n_estimators=4, eval_metric=["rmse", "mae"])
    weight = np.arange(100.0)
    model.fit(X, y, eval_set=[(X, y), (X[:100], y[:100])], sample_weight_eval_set=[None, weight])
    log = model.evals_result()
    assert log is model.evals_result_
    assert {name: list(each) for name, each in log.items()} == {
        "validation_0": ["rmse", "mae"],
        "validation_1": ["rmse", "mae"],
    }
    stages = list(model.staged_predict(X))
    assert len(stages) == 4
    for stage, rmse, mae in zip(stages, log["validation_0"]["rmse"], log["validation_1"]["mae"], strict=True):
        assert np.isclose(np.sqrt(np.mean((stage - y) ** 2)), rmse)
        assert np.isclose(np.average(np.abs(stage - y)[:100], weights=weight), mae)


def test_the_curves_are_those_of_xgboost():
    X, y = three_classes()
    sets = {"eval_set": [(X, y), (X[::2] + 0.1, y[::2])]}
    ours = XGBClassifier(n_estimators=8, eval_metric=["merror", "mlogloss"]).fit(X, y, **sets)
    theirs = xgboost.XGBClassifier(
        n_estimators=8, tree_method="exact", eval_metric=["merror", "mlogloss"]
    ).fit(X, y, verbose=False, **sets)
    for name, metrics in theirs.evals_result().items():
        for metric, values in metrics.items():
            assert np.allclose(ours.evals_result()[name][metric], values, atol=1e-5)


def test_metrics_and_objectives_of_ones_own():
    X, y = two_classes()

    def logistic(truth, raw):
        p = 1 / (1 + np.exp(-raw))
        return p - truth, p * (1 - p)

    def worst(truth, p):
        return np.abs(truth - p).max()

    built_in = XGBClassifier(n_estimators=5, base_score=0.5).fit(X, y)
    own = XGBClassifier(n_estimators=5, objective=logistic, eval_metric=worst).fit(X, y, eval_set=[(X, y)])
    assert np.allclose(built_in.predict_proba(X), own.predict_proba(X), atol=1e-7)
    assert own.objective_ == "custom:logistic"
    assert list(own.evals_result()["validation_0"]) == ["logloss", "worst"]
    alone = clone(own).set_params(disable_default_eval_metric=True).fit(X, y, eval_set=[(X, y)])
    assert list(alone.evals_result()["validation_0"]) == ["worst"]


def test_callbacks_see_the_model_and_can_stop_it():
    X, y = two_classes()

    class Watch(TrainingCallback):
        def __init__(self):
            self.said = []

        def after_iteration(self, model, epoch, evals_log):
            self.said.append(
                (epoch, model.predict(X[:3]).tolist(), len(evals_log["validation_0"]["logloss"]))
            )
            return epoch == 2

    watch = Watch()
    model = XGBClassifier(n_estimators=10, callbacks=[watch]).fit(X, y, eval_set=[(X, y)])
    assert model.n_rounds_ == 3
    assert [epoch for epoch, _, _ in watch.said] == [0, 1, 2]
    assert [n for _, _, n in watch.said] == [1, 2, 3]
    assert watch.said[-1][1] == model.predict(X[:3]).tolist()


def test_nothing_prints_unless_asked(capfd):
    X, y = two_classes()
    XGBClassifier(n_estimators=2, verbosity=3).fit(X, y, eval_set=[(X, y)])
    assert capfd.readouterr() == ("", "")
    XGBClassifier(n_estimators=2).fit(X, y, eval_set=[(X, y)], verbose=True)
    assert capfd.readouterr() != ("", "")


def test_every_kind_of_table():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    rng = np.random.default_rng(0)
    city = rng.choice(["Bern", "Oslo", "Rome"], 120).tolist()
    size = np.where(rng.random(120) < 0.1, np.nan, rng.normal(size=120))
    y = [a == "Rome" or b > 0 for a, b in zip(city, size, strict=True)]
    tables = [
        {"city": city, "size": size},
        pd.DataFrame({"city": pd.Categorical(city), "size": size}),
        pl.DataFrame({"city": city, "size": size}).with_columns(pl.col("size").fill_nan(None)),
    ]
    models = [XGBClassifier(n_estimators=5).fit(X, y) for X in tables]
    said = [model.predict_proba(X) for model in models for X in tables]
    assert all(np.array_equal(each, said[0]) for each in said)
    assert (models[0].predict(tables[0]) == y).mean() > 0.95
    assert models[0].feature_names_in_.tolist() == ["city", "size"]
    assert models[1].predict(tables[1][["size", "city"]]).tolist() == models[0].predict(tables[0]).tolist()


def test_sparse_tables_with_absent_as_zero_or_missing():
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((150, 6)) < 0.3, rng.normal(size=(150, 6)), 0.0)
    y = dense[:, 0] + (dense[:, 1] != 0)
    same = XGBRegressor(n_estimators=5).fit(dense, y)
    for form in (sparse.csr_matrix, sparse.csc_matrix):
        model = XGBRegressor(n_estimators=5).fit(form(dense), y)
        assert np.array_equal(model.predict(form(dense)), same.predict(dense))
        absent = XGBRegressor(n_estimators=5, missing=0).fit(form(dense), y)
        assert np.array_equal(
            absent.predict(form(dense)), XGBRegressor(n_estimators=5, missing=0).fit(dense, y).predict(dense)
        )
        theirs = xgboost.XGBRegressor(n_estimators=5, tree_method="exact").fit(form(dense), y)
        assert np.abs(theirs.predict(form(dense)) - absent.predict(form(dense))).max() < 1e-5


def test_feature_types_make_categories():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (200, 2)).astype(float)
    y = np.isin(X[:, 0], [1, 4]).astype(int)
    model = XGBClassifier(n_estimators=2, max_depth=1, feature_types=["c", "q"]).fit(X, y)
    assert (model.predict(X) == y).all()
    assert model.schema_.columns[0].kind == "categorical"
    assert model.schema_.columns[1].kind == "numeric"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X, np.where(np.arange(200) == 7, np.nan, y), {}), "row 7"),
        (lambda X, y: (X, np.where(np.arange(200) == 7, np.inf, y), {}), "row 7"),
        (lambda X, y: (X, y[:50], {}), "inconsistent numbers"),
        (lambda X, y: (X, y, {"sample_weight": [1, 2]}), "2 values for 200 rows"),
        (lambda X, y: (X, y, {"eval_set": (X, y)}), r"list of pairs \(X, y\)"),
        (lambda X, y: (X, y, {"eval_set": [(X[:, :2], y)]}), r"eval_set\[0\]: X has 2 features"),
        (lambda X, y: (X, y, {"eval_set": [(X, y), (X + 0, y[:9])]}), r"eval_set\[1\]: .*inconsistent"),
        (
            lambda X, y: (X, y, {"eval_set": [(X, y)], "sample_weight_eval_set": [[1.0]]}),
            r"eval_set\[0\]: sample_weight has 1",
        ),
        (
            lambda X, y: (X, y, {"eval_set": [(X, y)], "sample_weight_eval_set": [None, None]}),
            "one entry for each of the 1 sets",
        ),
        (lambda X, y: (X, y, {"sample_weight_eval_set": [None]}), "without eval_set"),
        (lambda X, y: (X, y, {"feature_weights": [1.0]}), "4 columns"),
    ],
)
def test_bad_rows_say_which_and_what(change, message):
    X, y, more = change(*numbers())
    with pytest.raises((DataError, DataTypeError), match=message):
        XGBRegressor(n_estimators=2).fit(X, y, **more)


def test_labels_of_a_set_must_be_known():
    X, y = two_classes()
    with pytest.raises(DataError, match=r"eval_set\[0\]: y holds the label 'maybe'.*'no', 'yes'"):
        XGBClassifier().fit(X, y, eval_set=[(X, np.where(y == "no", "maybe", y))])


def test_columns_of_a_set_are_named():
    X, y = numbers()
    named = {name: X[:, j] for j, name in enumerate("abcd")}
    other = {name: X[:, j] for j, name in enumerate("abce")}
    with pytest.raises(DataError, match=r"eval_set\[0\]: The feature names(.|\n)*- e\n(.|\n)*- d\n"):
        XGBRegressor().fit(named, y, eval_set=[(other, y)])


def test_a_failed_fit_leaves_the_model_as_it_was():
    X, y = numbers()
    model = XGBRegressor(n_estimators=2).fit(X, y)
    before = dict(vars(model))
    with pytest.raises(DataError):
        model.fit(X, y, eval_set=[(X[:, :1], y)])
    assert vars(model) == before


def test_pickle_and_refit():
    X, y = two_classes()
    model = XGBClassifier(n_estimators=3, early_stopping=0.2).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(model.predict_proba(X), again.predict_proba(X))
    assert again.best_iteration == model.best_iteration
    model.set_params(early_stopping=None).fit(X[:, :2], y)
    assert model.n_features_in_ == 2
    assert not hasattr(model, "evals_result_")
    with pytest.raises(AttributeError, match="only defined when early stopping"):
        _ = model.best_iteration


@pytest.mark.parametrize(
    ("name", "way_out"),
    [("save_model", r"save\(path\)"), ("load_model", r"weald\.load\(path\)")],
)
def test_methods_of_xgboost_that_are_elsewhere_say_where(name, way_out):
    model = XGBClassifier()
    assert not hasattr(model, name)
    with pytest.raises(AttributeError, match=f"'XGBClassifier' object has no attribute '{name}'.*{way_out}"):
        getattr(model, name)


def test_names_of_metrics_are_checked_without_a_set_to_measure():
    X, y = two_classes()
    with pytest.raises(ParameterError, match=r"'eror' is not a metric\. Did you mean 'error'"):
        XGBClassifier(n_estimators=1, eval_metric=["logloss", "eror"]).fit(X, y)
    # as in xgboost, one that would not fit the objective does no harm while it is not measured
    assert XGBClassifier(n_estimators=1, eval_metric="mlogloss").fit(X, y).n_rounds_ == 1


def test_a_set_of_three_says_so():
    X, y = two_classes()
    with pytest.raises(DataTypeError, match="entry 0 is a tuple of 3"):
        XGBClassifier(n_estimators=1).fit(X, y, eval_set=[(X, y, "test")])
