"""What all balanced ensembles share: tables, threads, files, probabilities, bad input."""

import pickle
import warnings

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from joblib import parallel_config
from scipy import sparse
from sklearn.base import clone
from unit.estimators.balanced.data import MAKERS, mixed, three

import weald
from weald.errors import DataError, ParameterError
from weald.resampling.priors import correct_priors

every = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


@every
def test_every_kind_of_table_gives_the_same_model(make):
    table, y = mixed()
    expected = make().fit(table, y).predict_proba(table)
    # Enum keeps the order of levels, which a conversion of ordered categories does not.
    grades = pl.Series("grade", table["grade"].astype(str).tolist(), dtype=pl.Enum(["low", "mid", "high"]))
    frame = pl.from_pandas(table.drop(columns="grade")).with_columns(grades)
    assert (make().fit(frame, y).predict_proba(frame) == expected).all()
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    assert (make().fit(arrow, y).predict_proba(arrow) == expected).all()


@every
def test_arrays_lists_and_sparse_matrices_give_the_same_model(make):
    X, y = three()
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    expected = make().fit(X, y).predict_proba(X)
    assert (make().fit(X.tolist(), y.tolist()).predict_proba(X.tolist()) == expected).all()
    assert (make().fit(sparse.csr_matrix(X), y).predict_proba(sparse.csr_matrix(X)) == expected).all()


@every
def test_threads_do_not_show(make):
    table, y = mixed()
    with parallel_config(backend="threading"):  # processes of joblib take seconds to start
        files = {make(n_jobs=n).fit(table, y).to_bytes() for n in (1, 2, 5)}
    assert len(files) == 1


@every
@pytest.mark.parametrize("labels", [[False, True], [1, 0], ["b", "a"], [3.0, -2.0]])
def test_labels_of_any_type(make, labels):
    table, y = mixed()
    named = np.array(labels)[(y == "rare").astype(int)]
    model = make().fit(table, named)
    predicted = model.predict(table)
    assert predicted.dtype == named.dtype
    assert predicted.tolist().count(labels[1]) > 24  # of 24 rare rows more are called so


@every
def test_a_file_brings_the_model_back(make):
    table, y = mixed()
    model = make().fit(table, y)
    for again in (weald.load(model.to_bytes()), pickle.loads(pickle.dumps(model))):
        assert (again.predict_proba(table) == model.predict_proba(table)).all()
        assert (again.predict(table) == model.predict(table)).all()
        assert again.to_bytes() == model.to_bytes()
        plain = again.set_params(correct_prior=False).predict_proba(table)
        assert (
            plain == clone(model).set_params(correct_prior=False).fit(table, y).predict_proba(table)
        ).all()


@every
def test_a_strategy_that_is_code_is_not_kept_in_a_file(make):
    table, y = mixed()
    model = make(sampling_strategy=lambda labels: {"usual": 30, "rare": 20}).fit(table, y)
    again = weald.load(model.to_bytes())
    assert (again.predict_proba(table) == model.predict_proba(table)).all()
    assert not callable(again.sampling_strategy)


@every
def test_predict_is_that_of_balanced_classes_and_probabilities_are_of_the_data(make):
    table, y = mixed(1000)
    model = make().fit(table, y)
    corrected = model.predict_proba(table)
    plain = clone(model).set_params(correct_prior=False).fit(table, y).predict_proba(table)
    called = model.predict(table)
    assert (called == np.array(["rare", "usual"])[(plain[:, 1] > plain[:, 0]).astype(int)]).all()
    if getattr(model, "_share_map", None) is None:
        assert np.allclose(corrected, correct_priors(plain, [60, 940], [1, 1]), atol=1e-3)
        # A row is called rare where that is more probable than the share of the class.
        surely = np.abs(corrected[:, 0] - 0.06) > 0.002
        assert ((called == "rare") == (corrected[:, 0] > 0.06))[surely].all()
    else:
        order = np.argsort(plain[:, 0], kind="stable")
        assert (np.diff(corrected[order, 0]) >= 0).all()
        new, truth = mixed(4000, seed=9)
        assert np.mean(model.predict_proba(new)[:, 0]) == pytest.approx(np.mean(truth == "rare"), rel=0.4)


@every
def test_rare_rows_are_found_that_a_plain_model_misses(make):
    table, y = mixed(2000, share=0.03)
    new, truth = mixed(2000, seed=5, share=0.03)
    rare = truth == "rare"
    found = make().fit(table, y).predict(new)
    plain = weald.RandomForestClassifier(20, random_state=0).fit(table, y).predict(new)
    assert np.mean(found[rare] == "rare") > np.mean(plain[rare] == "rare") + 0.1


@every
def test_three_classes(make):
    X, y = three()
    model = make().fit(X, y)
    assert model.classes_.tolist() == [0, 1, 2]
    recall = [np.mean(model.predict(X)[y == k] == k) for k in range(3)]
    assert min(recall) > 0.6
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)


@every
def test_no_rare_class_at_all(make):
    X, _ = three()
    y = np.arange(len(X)) % 2
    model = make().fit(X, y)
    plain = model.predict_proba(X)
    assert (model.set_params(correct_prior=False).predict_proba(X) == plain).all()


@every
def test_a_class_with_one_row(make):
    X, _ = three()
    y = (np.arange(len(X)) == 7).astype(int)
    model = make().fit(X, y)
    assert set(model.predict(X).tolist()) <= {0, 1}


@every
def test_one_class_alone_is_refused(make):
    X, _ = three()
    with pytest.raises(DataError, match="more than 1 class"):
        make().fit(X, np.zeros(len(X)))


@every
@pytest.mark.parametrize(
    ("strategy", "words"),
    [
        (1.5, "`sampling_strategy` of .* a number above 0 and at most 1"),
        ("everything", "`sampling_strategy` of .* must be 'auto'"),
        ({"usual": 5, "strange": 3}, "names 'strange', which no row of y has"),
        ({"usual": 10_000}, "asks for 10000 rows of class 'usual', which has 376"),
        ({"usual": 0, "rare": 0}, "leaves no row of any class"),
        (0.001, "Give a ratio of at least"),
    ],
)
def test_a_strategy_that_cannot_be(make, strategy, words):
    table, y = mixed()
    with pytest.raises(ParameterError, match=words):
        make(sampling_strategy=strategy).fit(table, y)


@every
def test_a_ratio_needs_two_classes(make):
    with pytest.raises(ParameterError, match="only two classes have"):
        make(sampling_strategy=0.5).fit(*three())


@every
def test_two_columns_of_labels_are_refused(make):
    X, y = three()
    with pytest.raises(DataError, match="one label per row"):
        make().fit(X, np.stack([y, y], axis=1))


@every
def test_an_unknown_parameter_is_refused(make):
    with pytest.raises(ParameterError, match="did you mean `sampling_strategy`"):
        make().set_params(sampling_strategie="all")


@every
def test_rows_of_weight_0_are_absent(make):
    X, y = three()
    keep = np.arange(len(X)) % 3 > 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # bagging without bootstrap warns of weights
        weighed = make().fit(X, y, sample_weight=keep.astype(float))
    counts = np.bincount(y[keep])
    rows = getattr(weighed, "estimators_samples_", [np.flatnonzero(keep)])[0]
    assert keep[rows].all()
    assert (weighed.predict_proba(X).mean(axis=0) > 0).all()
    assert counts.min() > 0


@every
def test_importances_add_up(make):
    X, y = three()
    found = make().fit(X, y).feature_importances_
    assert found.shape == (4,)
    assert found.sum() == pytest.approx(1)
    assert found.argmax() == 0
