"""`weald.train` and `weald.cv`: xgboost's functions on tables."""

import numpy as np
import pytest
import xgboost
from sklearn.model_selection import KFold
from unit.estimators.xgboost.data import numbers, three_classes, two_classes

import weald
from weald.errors import DataError, DataTypeError, ParameterError


def test_the_objective_decides_the_class():
    X, y = two_classes()
    model = weald.train({"objective": "binary:logistic", "eta": 0.1, "lambda": 2.0}, X, y, 7)
    assert isinstance(model, weald.XGBClassifier)
    assert set(model.predict(X)) == {"no", "yes"}
    assert model.n_rounds_ == 7
    expected = weald.XGBClassifier(n_estimators=7, learning_rate=0.1, reg_lambda=2.0).fit(X, y)
    assert np.array_equal(model.predict_proba(X), expected.predict_proba(X))
    X, y = three_classes()
    assert weald.train({"objective": "multi:softprob", "num_class": 3}, X, y, 2).n_classes_ == 3
    X, y = numbers()
    model = weald.train({}, X, y)
    assert isinstance(model, weald.XGBRegressor)
    assert model.n_rounds_ == 10


def test_training_equals_that_of_xgboost():
    X, y = numbers()
    params = {"max_depth": 3, "eta": 0.2, "alpha": 0.1, "seed": 5, "tree_method": "exact"}
    log, theirs = {}, {}
    model = weald.train(params, X, y, 8, evals=[(X, y, "train"), (X[:50], y[:50], "part")], evals_result=log)
    data = xgboost.DMatrix(X, y)
    booster = xgboost.train(
        params,
        data,
        8,
        evals=[(data, "train"), (xgboost.DMatrix(X[:50], y[:50]), "part")],
        evals_result=theirs,
        verbose_eval=False,
    )
    assert np.abs(model.predict(X) - booster.predict(data)).max() < 1e-5
    assert log.keys() == theirs.keys()
    assert all(np.allclose(log[name]["rmse"], theirs[name]["rmse"], atol=1e-5) for name in log)


def test_early_stopping_going_on_and_own_functions():
    X, y = numbers()

    def squared(truth, raw):
        return raw - truth, np.ones_like(raw)

    def largest(truth, said):
        return np.abs(truth - said).max()

    first = weald.train(
        {}, X[:150], y[:150], 200, evals=[((X[150:], y[150:]), "test")], early_stopping_rounds=3
    )
    assert first.best_iteration < 199
    assert list(first.evals_result()) == ["test"]
    onward = weald.train({}, X, y, 5, xgb_model=first)
    assert onward.n_rounds_ == first.n_rounds_ + 5
    own = weald.train({}, X, y, 5, obj=squared, custom_metric=largest, evals=[(X, y)])
    assert list(own.evals_result()["validation_0"]) == ["rmse", "largest"]
    assert own.objective_ == "custom:squared"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"params": {"max_dept": 3}}, ParameterError, "did you mean `max_depth`"),
        ({"params": 3}, DataTypeError, "a dict of parameters"),
        ({"params": {"n_estimators": 5}}, ParameterError, "Give it once"),
        ({"evals": 3}, DataTypeError, "a list of"),
        ({"evals": [3]}, DataTypeError, "entry 0 is int"),
        ({"evals": [(np.zeros((2, 1)), [0.0, 1.0], "test")]}, DataError, r"evals\[0\]: X has 1"),
    ],
)
def test_what_is_wrong_is_named(arguments, error, message):
    X, y = numbers()
    with pytest.raises(error, match=message):
        weald.train(**{"params": {}, "X": X, "y": y, **arguments})


def test_cv_is_that_of_xgboost_on_the_same_folds():
    X, y = numbers()
    folds = list(KFold(4, shuffle=True, random_state=0).split(X))
    params = {"max_depth": 3, "tree_method": "exact"}
    ours = weald.cv(params, X, y, 6, folds=folds, metrics=["rmse", "mae"])
    theirs = xgboost.cv(params, xgboost.DMatrix(X, y), 6, folds=folds, metrics=["rmse", "mae"])
    assert list(ours.columns) == list(theirs.columns)
    assert np.allclose(ours.to_numpy(), theirs.to_numpy(), atol=1e-5)


def test_cv_stops_at_the_best_mean():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = X[:, 0] + 2 * rng.normal(size=200)
    whole = weald.cv({}, X, y, 60, as_pandas=False)
    stopped = weald.cv({}, X, y, 60, as_pandas=False, early_stopping_rounds=5)
    best = int(np.argmin(whole["test-rmse-mean"]))
    assert best < 40
    assert len(stopped["test-rmse-mean"]) == best + 1
    assert np.allclose(stopped["test-rmse-mean"], whole["test-rmse-mean"][: best + 1], atol=1e-12)
    again = weald.cv({}, X, y, 60, as_pandas=False, early_stopping_rounds=5)
    assert again == stopped
    assert weald.cv({}, X, y, 5, as_pandas=False, seed=1) != weald.cv({}, X, y, 5, as_pandas=False)


def test_cv_of_classes_is_stratified():
    X, y = three_classes(n=90)
    y = np.where(np.arange(90) % 30 == 0, 7, y)  # three rows
    table = weald.cv({"objective": "multi:softprob"}, X, y, 3, as_pandas=False)
    assert len(table["test-mlogloss-mean"]) == 3
    folds = [(np.flatnonzero(y != 7), np.flatnonzero(y == 7)), (np.arange(45), np.arange(45, 90))]
    with pytest.raises(DataError, match=r"Fold \d of `folds` of cv trains on no row of the class 7"):
        weald.cv({"objective": "multi:softprob"}, X, y, folds=folds)
    with pytest.raises(ParameterError, match="`nfold` of cv"):
        weald.cv({}, X, y, nfold=1)
    with pytest.raises(ParameterError, match="`nfold` of cv asks for 3 folds of 2 rows"):
        weald.cv({}, X[:2], y[:2])


def test_cv_with_weights_and_sampling_goes_on_as_one_training():
    X, y = numbers()
    weight = np.arange(200) % 4 + 0.5
    params = {"subsample": 0.6, "colsample_bytree": 0.5, "booster": "dart", "rate_drop": 0.3}
    whole = weald.cv(params, X, y, 30, sample_weight=weight, as_pandas=False)
    parts = weald.cv(params, X, y, 30, sample_weight=weight, as_pandas=False, early_stopping_rounds=30)
    n = len(parts["test-rmse-mean"])
    assert np.allclose(whole["test-rmse-mean"][:n], parts["test-rmse-mean"], atol=1e-9)


def test_maximize_turns_early_stopping_round():
    X, y = numbers()
    ways = {
        way: weald.train({}, X, y, 30, evals=[(X, y)], early_stopping_rounds=3, maximize=way)
        for way in (None, False, True)
    }
    assert ways[None].best_iteration == ways[False].best_iteration == 29
    assert (ways[True].best_iteration, ways[True].n_rounds_) == (0, 4)
    with pytest.raises(ParameterError, match="`maximize` of early stopping must be True, False or None"):
        weald.train({}, X, y, evals=[(X, y)], early_stopping_rounds=3, maximize="yes")


def test_cv_without_shuffling_is_that_of_xgboost():
    X, y = numbers()
    params = {"max_depth": 3, "tree_method": "exact"}
    ours = weald.cv(params, X, y, 4, nfold=4, shuffle=False, as_pandas=False)
    theirs = xgboost.cv(params, xgboost.DMatrix(X, y), 4, nfold=4, shuffle=False, as_pandas=False)
    assert ours.keys() == theirs.keys()
    assert all(np.allclose(ours[name], theirs[name], atol=1e-5) for name in ours)
    assert weald.cv(params, X, y, 4, nfold=4, as_pandas=False) != ours
    with pytest.raises(ParameterError, match="`shuffle` of cv must be True or False"):
        weald.cv(params, X, y, shuffle=0)


def test_cv_without_shuffling_keeps_queries_in_order():
    X, y = numbers()
    relevance, qid = np.floor(np.clip(y + 2, 0, 4)), np.repeat(np.arange(20), 10)
    blocks = [(np.r_[0:start, stop:200], np.r_[start:stop]) for start, stop in ((0, 100), (100, 200))]
    params = {"objective": "rank:ndcg"}
    plain = weald.cv(params, X, relevance, 3, nfold=2, qid=qid, shuffle=False, as_pandas=False)
    assert plain == weald.cv(params, X, relevance, 3, folds=blocks, qid=qid, as_pandas=False)


@pytest.mark.parametrize(
    ("verbose", "rounds"),
    [(True, range(1, 13)), (5, (1, 6, 11, 12)), (100, (1, 12)), (False, ()), (0, ()), (None, ())],
)
def test_cv_shows_every_so_many_rounds(verbose, rounds, capsys):
    X, y = numbers()
    table = weald.cv({"eval_metric": ["mae", "rmse"]}, X, y, 12, as_pandas=False, verbose_eval=verbose)
    shown = capsys.readouterr()
    lines = shown.err.splitlines()
    assert not shown.out
    assert [line.split()[1] for line in lines] == [f"{round_}/12" for round_ in rounds]
    for round_, line in zip(rounds, lines, strict=True):
        mean, deviation = (table[f"test-rmse-{kind}"][round_ - 1] for kind in ("mean", "std"))
        assert line.endswith(f"  test-rmse {mean:.5g} ± {deviation:.2g}")
        assert line.count("±") == 4
    assert table == weald.cv({"eval_metric": ["mae", "rmse"]}, X, y, 12, as_pandas=False)


def test_cv_shows_means_alone_and_stops_showing_with_the_training(capsys):
    X, y = numbers()
    weald.cv({}, X, y, 100, verbose_eval=1, show_stdv=False, early_stopping_rounds=3, maximize=True)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split()[1] for line in lines] == ["1/100", "2/100", "3/100", "4/100"]
    assert "±" not in "".join(lines)
    for wrong in (-1, 2.5, "yes"):
        with pytest.raises(ParameterError, match="`verbose_eval` of cv must be"):
            weald.cv({}, X, y, verbose_eval=wrong)


class Follow(weald.TrainingCallback):
    """Writes down what a callback of cv is shown, and stops after a round."""

    def __init__(self, last):
        self.last, self.seen, self.ends = last, [], []

    def before_training(self, model):
        self.ends.append((model.n_rounds, [fold.forest.n_trees for fold in model.folds]))

    def after_training(self, model):
        self.ends.append((model.num_boosted_rounds(), [fold.forest.n_trees for fold in model.folds]))

    def after_iteration(self, model, epoch, evals_log):
        self.seen.append((model.n_rounds, {name: log["rmse"][-1] for name, log in evals_log.items()}))
        self.said = [fold.predict(np.zeros((1, 4)))[0] for fold in model.folds]
        return epoch == self.last


def test_cv_asks_callbacks_after_each_round_of_all_folds():
    X, y = numbers()
    X = X[:, :4]
    whole = weald.cv({}, X, y, 9, as_pandas=False)
    follow = Follow(5)
    table = weald.cv({}, X, y, 9, as_pandas=False, callbacks=[follow])
    assert follow.ends == [(0, [0, 0, 0]), (6, [6, 6, 6])]
    assert [n_rounds for n_rounds, _ in follow.seen] == [1, 2, 3, 4, 5, 6]
    assert follow.seen[-1][1] == {
        name: (whole[f"{name}-rmse-mean"][5], whole[f"{name}-rmse-std"][5]) for name in ("train", "test")
    }
    assert len(set(follow.said)) == 3
    assert table == {name: values[:6] for name, values in whole.items()}
    with pytest.raises(ParameterError, match="Give an object"):
        weald.cv({}, X, y, callbacks=[Follow])


def test_early_stopping_and_learning_rates_as_callbacks_of_cv():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = X[:, 0] + 2 * rng.normal(size=200)
    by_rounds = weald.cv({}, X, y, 60, as_pandas=False, early_stopping_rounds=5)
    by_callback = weald.cv({}, X, y, 60, as_pandas=False, callbacks=[weald.EarlyStopping(5)])
    assert by_callback == by_rounds
    rates = [0.5, 0.1, 0.05, 0.2, 0.3]
    folds = list(KFold(3).split(X))
    params = {"tree_method": "exact", "max_depth": 2}
    ours = weald.cv(
        params, X, y, 6, folds=folds, as_pandas=False, callbacks=[weald.LearningRateScheduler(rates)]
    )
    theirs = xgboost.cv(
        params,
        xgboost.DMatrix(X, y),
        6,
        folds=folds,
        as_pandas=False,
        callbacks=[xgboost.callback.LearningRateScheduler([*rates, 1.0])],
    )
    assert all(np.allclose(ours[name], theirs[name], atol=1e-5) for name in ours)


def test_the_callbacks_of_cv_may_stop_before_the_first_round():
    class Never:
        def before_iteration(self, model, epoch, evals_log):
            return True

    X, y = numbers()
    assert weald.cv({}, X, y, 9, as_pandas=False, callbacks=[Never()]) == {}


def test_cv_reads_early_stopping_of_params():
    X, y = numbers()
    by_argument = weald.cv({}, X, y, 60, as_pandas=False, early_stopping_rounds=5)
    by_params = weald.cv({"early_stopping_rounds": 5}, X, y, 60, as_pandas=False)
    assert by_params == by_argument
    assert len(by_argument["test-rmse-mean"]) < 60
    with pytest.raises(ParameterError, match="Give it once"):
        weald.cv({"early_stopping_rounds": 5}, X, y, 60, early_stopping_rounds=6)
    with pytest.raises(ParameterError, match="holds rows out"):
        weald.cv({"early_stopping": 0.1}, X, y, 60)


def test_folds_of_early_stopping_learn_at_the_rates_of_callbacks():
    """As in xgboost, a scheduler sets the rates of the rounds after the first."""
    X, y = numbers()
    gains = []
    for callbacks in (None, [weald.LearningRateScheduler([0.001] * 40)]):
        model = weald.XGBRegressor(
            n_estimators=40, early_stopping="cv", early_stopping_rounds=5, random_state=0, callbacks=callbacks
        ).fit(X, y)
        curve = model.cv_results_["test-rmse-mean"]
        gains.append(curve[0] - curve[1])
    assert 0 < gains[1] < gains[0] / 50
