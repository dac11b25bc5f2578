"""`Booster`: rounds apart, one more round, files, and what is wrong named."""

import copy
import pickle

import numpy as np
import pytest
from unit.estimators.xgboost.data import numbers, three_classes

import weald
from weald.errors import DataError, DataTypeError, ParameterError, WealdError


@pytest.fixture(scope="module")
def trained():
    X, y = numbers()
    matrix = weald.DMatrix(X, label=y)
    return weald.train({"max_depth": 3, "eta": 0.3}, matrix, 6), matrix


def test_rounds_apart_add_up(trained):
    booster, matrix = trained
    base = booster[0].predict(matrix) * 0 + booster._fitted().forest_.base_score[0]
    parts = sum(one.predict(matrix) - base for one in booster)
    assert np.allclose(base + parts, booster.predict(matrix), atol=1e-12)
    assert [part.num_boosted_rounds() for part in (booster[:2], booster[2:], booster[::2], booster[-1])] == [
        2,
        4,
        3,
        1,
    ]
    assert booster[1:3].get_dump() == booster.get_dump()[1:3]
    assert booster[-1].get_dump() == booster.get_dump()[-1:]
    said = booster.predict(matrix, iteration_range=(1, 3))
    assert np.array_equal(booster[1:3].predict(matrix), said)
    for wrong in (slice(3, 3), slice(None, None, -1)):
        with pytest.raises(ParameterError):
            booster[wrong]
    with pytest.raises(IndexError, match="no round 6"):
        booster[6]
    with pytest.raises(DataTypeError):
        booster["1"]


def test_dart_and_parallel_trees_come_apart_too():
    X, y = three_classes()
    matrix = weald.DMatrix(X, label=y)
    params = {"objective": "multi:softprob", "num_class": 3, "num_parallel_tree": 2, "subsample": 0.7}
    booster = weald.train(params | {"booster": "dart", "rate_drop": 0.5}, matrix, 4)
    assert len(booster.get_dump()) == 24
    assert booster.predict(matrix, pred_leaf=True, strict_shape=True).shape == (240, 4, 3, 2)
    whole = booster.predict(matrix, output_margin=True)
    base = booster._fitted().forest_.base_score
    parts = sum(one.predict(matrix, output_margin=True) - base for one in booster)
    assert np.allclose(base + parts, whole, atol=1e-12)


def test_a_round_at_a_time_is_the_whole_training():
    X, y = numbers()
    matrix = weald.DMatrix(X, label=y)
    params = {"max_depth": 3, "subsample": 0.5, "seed": 7}
    whole = weald.train(params, matrix, 4)
    booster = weald.Booster(params, [matrix])
    with pytest.raises(WealdError, match="no trees"):
        booster.predict(matrix)
    for i in range(4):
        booster.update(matrix, i)
    assert booster.get_dump() == whole.get_dump()
    other = weald.DMatrix(X, label=y)
    rest = whole[:2]
    rest.set_param({"max_depth": 3})
    for i in range(2):
        rest.update(other, i)  # other rows: read anew
    assert np.allclose(rest.predict(matrix), whole.predict(matrix), atol=1e-9)


def test_own_gradients_of_one_round():
    X, y = numbers()
    matrix = weald.DMatrix(X, label=y)
    whole = weald.train({"max_depth": 3, "base_score": 0.0}, matrix, 3)
    booster = weald.Booster({"max_depth": 3, "base_score": 0.0})
    scores = np.zeros(len(y))
    for i in range(3):
        booster.boost(weald.DMatrix(X), i, grad=scores - y, hess=np.ones(len(y)))
        scores = booster.predict(matrix)
    assert np.allclose(scores, whole.predict(matrix), atol=1e-9)
    seen = []

    def squared(predt, dtrain):
        seen.append(dtrain)
        return predt - dtrain.get_label(), np.ones(len(predt))

    booster.update(matrix, 3, fobj=squared)
    assert seen == [matrix]
    assert booster.num_boosted_rounds() == 4


def test_parameters_may_change_between_rounds():
    X, y = numbers()
    matrix = weald.DMatrix(X, label=y)
    booster = weald.Booster({"eta": 0.3, "max_depth": 2})
    booster.update(matrix, 0)
    booster.set_param("learning_rate", 0.0001)
    before = booster.predict(matrix)
    booster.update(matrix, 1)
    assert np.abs(booster.predict(matrix) - before).max() < 1e-3
    booster.set_param([("eta", 0.5), ("lambda", 2.0)])
    with pytest.raises(ParameterError, match="max_depth"):
        booster.set_param("max_dept", 3)


def test_metrics_in_one_line(trained):
    booster, matrix = trained
    said = booster.predict(matrix)
    rmse = np.sqrt(np.mean((said - matrix.get_label()) ** 2))
    start, _, value = booster.eval(matrix, "train", 3).partition("rmse:")
    assert start == "[3]\ttrain-"
    assert float(value) == pytest.approx(rmse)
    line = booster.eval_set([(matrix, "a"), (matrix, "b")], feval=lambda predt, data: ("own", 1.0))
    assert line.count("-own:1.000000") == 2


def test_files_and_copies(trained, tmp_path):
    booster, matrix = trained
    kept = copy.deepcopy(booster)
    kept.set_attr(owner="me", best_iteration=3, best_score=0.5)
    kept.feature_names = list("abcd")
    kept.feature_types = ["float", "int", "q", "i"]
    path = tmp_path / "b.weald"
    kept.save_model(path)
    again = weald.load(path)
    assert isinstance(again, weald.Booster)
    assert again.attributes()["owner"] == "me"
    assert (again.feature_names, again.feature_types) == (list("abcd"), ["float", "int", "q", "i"])
    named = weald.DMatrix(np.asarray(matrix.get_data().todense()), feature_names=list("abcd"))
    assert np.array_equal(again.predict(named), booster.predict(matrix))
    again.save(tmp_path / "c.weald")
    assert (tmp_path / "c.weald").read_bytes() == path.read_bytes()
    for other in (
        weald.Booster(model_file=path),
        weald.Booster(model_file=kept),
        pickle.loads(pickle.dumps(kept)),
    ):
        assert other.get_dump() == kept.get_dump()
    assert booster.attributes() == {}
    assert booster.feature_names is None
    fresh = weald.Booster()
    fresh.load_model(str(path))
    assert fresh.num_boosted_rounds() == 6
    for name in ("b.json", "b.ubj", "b"):
        with pytest.raises(ParameterError, match=r"save_model\('model\.weald'\)"):
            booster.save_model(tmp_path / name)
    with pytest.raises(ParameterError, match=r"model\.weald"):
        weald.Booster(model_file=str(tmp_path / "b.json"))


def test_a_model_of_an_estimator_goes_on_as_a_booster(tmp_path):
    X, y = numbers()
    model = weald.XGBRegressor(n_estimators=3, max_depth=2).fit(X, y)
    matrix = weald.DMatrix(X, label=y)
    expected = weald.XGBRegressor(n_estimators=2, max_depth=2).fit(X, y, xgb_model=model).predict(X)
    path = tmp_path / "m.weald"
    model.save(path)
    for start in (model, model.get_booster(), path):
        onward = weald.train({"max_depth": 2}, matrix, 2, xgb_model=start)
        assert np.allclose(onward.predict(matrix), expected, atol=1e-12)


def test_an_estimator_goes_on_from_a_booster(tmp_path):
    X, y = three_classes()
    labels = np.array(["a", "b", "c"])[y]
    for model in (
        weald.XGBClassifier(n_estimators=3, max_depth=2).fit(X, labels),
        weald.XGBRegressor(n_estimators=3, max_depth=2).fit(X, y),
    ):
        target = labels if hasattr(model, "classes_") else y
        more = type(model)(n_estimators=2, max_depth=2)
        expected = more.fit(X, target, xgb_model=model).predict(X, output_margin=True)
        path = tmp_path / "b.weald"
        model.get_booster().save(path)
        for start in (model.get_booster(), path):
            said = more.fit(X, target, xgb_model=start).predict(X, output_margin=True)
            assert np.array_equal(said, expected)
        assert np.array_equal(
            weald.load(path).predict(weald.DMatrix(X), output_margin=True).shape, expected.shape
        )
    with pytest.raises(ParameterError, match="xgb_model predicts 3 outputs"):
        weald.XGBRegressor().fit(X, y, xgb_model=weald.XGBClassifier(n_estimators=1).fit(X, y).get_booster())


def test_what_callbacks_keep_stays_with_the_model():
    X, y = numbers()
    kept = []

    class Keep(weald.callback.TrainingCallback):
        def after_iteration(self, model, epoch, evals_log):
            model.set_attr(last=epoch)
            model.best_score = 0.5
            kept.append(pickle.dumps(model))
            with pytest.raises(AttributeError, match="read-only"):
                model.update(None)
            return False

    model = weald.XGBRegressor(n_estimators=2, callbacks=[Keep()]).fit(X, y)
    assert model.get_booster().attributes() == {"last": "1", "best_score": "0.5"}
    first = pickle.loads(kept[0])
    assert first.num_boosted_rounds() == 1
    assert first.attr("last") == "0"


def test_dumps_to_files_with_a_map_of_names(trained, tmp_path):
    booster, _ = trained
    fmap = tmp_path / "map.txt"
    fmap.write_text("0 age q\n1 size int\n2\tflag\ti\n")
    booster.dump_model(tmp_path / "d.txt", fmap)
    text = (tmp_path / "d.txt").read_text()
    assert text.startswith("booster[0]:\n0:[")
    assert "size<" in text
    assert set(booster.get_score(fmap)) <= {"age", "size", "flag", "f3"}
    booster.dump_model(tmp_path / "d.json", dump_format="json")
    import json

    assert len(json.loads((tmp_path / "d.json").read_text())) == 6
    fmap.write_text("0 age\n")
    with pytest.raises(DataError, match="line 1"):
        booster.get_dump(fmap)
    with pytest.raises(ParameterError, match="dump_format"):
        booster.get_dump(dump_format="yaml")


def test_categories_are_dumped_as_they_are():
    rng = np.random.default_rng(0)
    city = rng.choice(["Bern", "Basel", "Chur"], 200)
    matrix = weald.DMatrix({"city": list(city), "x": rng.normal(size=200)}, label=(city == "Bern") * 3.0)
    booster = weald.train({"max_depth": 1}, matrix, 1)
    assert "[city:{Bern}]" in booster.get_dump()[0]
    assert matrix.feature_types == booster.feature_types == ["c", "float"]
    frame = booster.trees_to_dataframe()
    assert frame.Category[0] == ["Bern"]
    assert np.isnan(frame.Split[0])


def test_histogram_of_thresholds(trained):
    booster, _ = trained
    table = booster.get_split_value_histogram("f1")
    assert list(table.columns) == ["SplitValue", "Count"]
    assert table.Count.sum() == booster.get_score()["f1"]
    assert len(booster.get_split_value_histogram("f9", as_pandas=False)) == 0


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda b, m: b.predict(np.zeros((2, 4))), DataTypeError, r"weald\.DMatrix"),
        (lambda b, m: b.predict(m, approx_contribs=True), ParameterError, "pred_contribs=True"),
        (lambda b, m: b.predict(m, iteration_range=(0, 9)), ParameterError, "iteration_range"),
        (lambda b, m: b.predict(m, iteration_range=(0, 2), ntree_limit=2), ParameterError, "ntree_limit"),
        (lambda b, m: b.inplace_predict(m.get_data(), predict_type="raw"), ParameterError, "predict_type"),
        (lambda b, m: b.get_score(importance_type="gains"), ParameterError, "gain"),
        (lambda b, m: b.best_iteration, AttributeError, "early stopping"),
        (lambda b, m: weald.train({}, m, 2, evals=[m]), DataTypeError, "entry 0"),
        (lambda b, m: weald.train({}, m, 2, evals=[(m._table, "d")]), DataTypeError, "DMatrix"),
        (lambda b, m: weald.train({}, m, 2, sample_weight=[1]), ParameterError, "DMatrix"),
        (lambda b, m: weald.train({}, m, y=[1]), DataTypeError, "no y beside a DMatrix"),
        (lambda b, m: weald.train({}, m, 2, [], None, 3), DataTypeError, "by place"),
        (lambda b, m: weald.train({}, m, 2, num_boost_round=2), DataTypeError, "twice"),
        (lambda b, m: weald.train({}, weald.DMatrix(np.zeros((3, 1)))), DataError, "no label"),
        (lambda b, m: weald.train({"objective": "multi:softprob"}, m), ParameterError, "num_class"),
        (lambda b, m: weald.train({"objective": "rank:ndcg"}, m), ParameterError, "qid"),
        (lambda b, m: weald.train({"objective": "survival:cox"}, m), ParameterError, "survival"),
        (lambda b, m: weald.train({"early_stopping": 0.1}, m), ParameterError, "early_stopping_rounds"),
        (lambda b, m: weald.train({}, m, early_stopping_rounds=3), ParameterError, "validation dataset"),
        (lambda b, m: b.eval_set([(m, "d")], feval=lambda p, d: 1.0), DataTypeError, "pair"),
        (lambda b, m: weald.train({}, np.zeros((2, 1))), DataTypeError, "needs a target"),
        (lambda b, m: weald.cv({}, np.zeros((2, 1)), [1, 2], fpreproc=print), ParameterError, "DMatrix"),
        (lambda b, m: weald.cv({}, m, fpreproc=lambda a, b, c: a), DataTypeError, "fpreproc must return"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(trained, ask, error, message):
    with pytest.raises(error, match=message):
        ask(*trained)
