"""What samplers do with little, odd or no data; draws; attributes; parameters."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_is_fitted

import weald
from weald.errors import (
    DataError,
    IgnoredParameterWarning,
    ParameterError,
    ResamplingWarning,
    UnsupportedTargetError,
)

DRAWING = [
    weald.RandomOverSampler,
    weald.RandomUnderSampler,
    weald.SMOTE,
    weald.SMOTENC,
    weald.SMOTEN,
    weald.BorderlineSMOTE,
    weald.ADASYN,
    weald.SMOTEENN,
    weald.SMOTETomek,
]
ALL = [*DRAWING, weald.TomekLinks, weald.EditedNearestNeighbours, weald.NearMiss]
by_class = pytest.mark.parametrize("cls", ALL, ids=lambda cls: cls.__name__)


def table(n: int = 200, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = (np.arange(n) % 7 == 0).astype(int)
    return np.round(rng.normal(size=(n, 4)) + 0.8 * y[:, None], 2), y


# --------------------------------------------------------------------------- draws


@pytest.mark.parametrize("cls", DRAWING, ids=lambda cls: cls.__name__)
def test_a_seed_repeats_the_draws_and_another_does_not(cls: Any) -> None:
    X, y = table()
    first, again, other = (cls(random_state=seed).fit_resample(X, y)[0] for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("cls", [c for c in ALL if "n_jobs" in c().get_params()], ids=lambda c: c.__name__)
def test_threads_never_show(cls: Any) -> None:
    X, y = table(400)
    X[::11, 0] = np.nan
    params = {"random_state": 0} if "random_state" in cls().get_params() else {}
    results = [cls(n_jobs=n_jobs, **params).fit_resample(X, y) for n_jobs in (1, 2, 5)]
    for found, labels in results[1:]:
        assert np.array_equal(found, results[0][0], equal_nan=True)
        assert (labels == results[0][1]).all()


def test_a_generator_goes_on_and_none_is_another_each_time() -> None:
    X, y = table()
    generator = np.random.RandomState(0)
    assert not np.array_equal(*(weald.SMOTE(random_state=generator).fit_resample(X, y)[0] for _ in range(2)))
    assert not np.array_equal(*(weald.SMOTE().fit_resample(X, y)[0] for _ in range(2)))


def test_classes_are_drawn_apart() -> None:
    """More rows of one class change nothing in those of another."""
    X, _ = table(210)
    y = np.repeat([0, 1, 2], [150, 40, 20])
    few = weald.SMOTE(sampling_strategy={1: 60, 2: 50}, random_state=0).fit_resample(X, y)[0]
    many = weald.SMOTE(sampling_strategy={1: 90, 2: 50}, random_state=0).fit_resample(X, y)[0]
    assert np.array_equal(few[-30:], many[-30:])


# --------------------------------------------------------------------------- attributes


@by_class
def test_attributes_tell_where_rows_come_from(cls: Any) -> None:
    X, y = table()
    sampler = cls()
    with pytest.raises(NotFittedError):
        check_is_fitted(sampler)
    found, labels = sampler.fit_resample(X, y)
    assert sampler.n_features_in_ == 4
    assert not hasattr(sampler, "feature_names_in_")
    assert len(sampler.sample_indices_) == len(sampler.synthetic_) == len(found) == len(labels)
    own = ~sampler.synthetic_
    assert np.array_equal(found[own], X[sampler.sample_indices_[own]])
    assert (labels == y[sampler.sample_indices_]).all()
    assert set(sampler.sampling_strategy_) <= {0, 1}
    check_is_fitted(sampler)


@by_class
def test_fit_only_looks(cls: Any) -> None:
    X, y = table()
    named = {f"x{j}": X[:, j] for j in range(4)}
    sampler = cls().fit(named, y)
    assert sampler.feature_names_in_.tolist() == list(named)
    assert sampler.sampling_strategy_
    assert not hasattr(sampler, "sample_indices_")


@by_class
def test_parameters_are_checked_by_name_and_range(cls: Any) -> None:
    X, y = table()
    with pytest.raises(ParameterError, match="did you mean `sampling_strategy`"):
        cls().set_params(sampling_strateg="auto")
    with pytest.raises(ParameterError, match=r"got 'minorty'\. Did you mean 'minority'"):
        cls(sampling_strategy="minorty").fit_resample(X, y)
    with pytest.raises(ParameterError, match="`sampling_strategy`"):
        cls(sampling_strategy=1.5).fit_resample(X, y)
    assert repr(clone(cls()))


@pytest.mark.parametrize(
    ("sampler", "words"),
    [
        (weald.SMOTE(k_neighbors=0), "`k_neighbors` of SMOTE must be a whole number of at least 1 or an obj"),
        (weald.ADASYN(n_neighbors=2.5), "`n_neighbors` of ADASYN"),
        (weald.NearMiss(version=4), "from 1 to 3"),
        (weald.BorderlineSMOTE(kind="borderline3"), "Did you mean 'borderline-1'"),
        (weald.EditedNearestNeighbours(kind_sel="most"), "'all' or 'mode'"),
        (weald.RandomOverSampler(shrinkage=-1), "`shrinkage`"),
        (weald.RandomOverSampler(shrinkage={1: -1}), "numbers of at least 0; got -1 for class 1"),
        (weald.RandomOverSampler(shrinkage={0: 1}), "has nothing for 1, which gets new rows"),
        (weald.RandomUnderSampler(replacement=2), "True or False"),
        (weald.SMOTE(n_jobs=0), "`n_jobs`"),
        (weald.SMOTE(k_neighbors=NearestNeighbors(n_neighbors=1)), "whose n_neighbors is 1; a whole number"),
        (weald.SMOTE(categorical_features=["x9"]), "x9"),
        (weald.SMOTEENN(smote=3), "`smote` of SMOTEENN must be None or a sampler"),
    ],
)
def test_what_is_refused(sampler: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        sampler.fit_resample(*table())


# --------------------------------------------------------------------------- little and odd data


@by_class
def test_one_class_alone_is_an_error(cls: Any) -> None:
    with pytest.raises(DataError, match="more than 1 class; y holds 0 alone"):
        cls().fit_resample(np.eye(5), np.zeros(5, int))


@pytest.mark.parametrize("cls", [c for c in DRAWING if c is not weald.SMOTEENN], ids=lambda cls: cls.__name__)
def test_equal_classes_get_nothing(cls: Any) -> None:
    X = np.arange(20.0).reshape(10, 2)
    y = np.repeat([0, 1], 5)
    found, labels = cls().fit_resample(X, y)
    assert np.bincount(labels).tolist() == [5, 5] or cls is weald.SMOTETomek
    if cls is not weald.RandomUnderSampler:
        assert np.array_equal(found, X[: len(found)]) or cls is weald.SMOTETomek


@pytest.mark.parametrize("name", ["SMOTE", "SMOTENC", "SMOTEN", "BorderlineSMOTE", "ADASYN"])
def test_fewer_rows_than_neighbours_use_all_and_say_so(name: str) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), np.repeat([0, 1], [26, 4])
    parameter = "n_neighbors" if name == "ADASYN" else "k_neighbors"
    with pytest.warns(ResamplingWarning, match=rf"Class 1 has 4 rows, fewer than {parameter} \+ 1 = 6"):
        found, labels = getattr(weald, name)(random_state=0).fit_resample(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again, _ = getattr(weald, name)(random_state=0, **{parameter: 3}).fit_resample(X, y)
    if name != "ADASYN":  # whose shares go by all rows
        assert np.array_equal(found, again)
    assert (labels == 1).sum() > 20


@pytest.mark.parametrize("name", ["SMOTE", "SMOTENC", "SMOTEN", "ADASYN"])
def test_a_class_of_one_row_is_an_error_with_the_way_out(name: str) -> None:
    X, y = np.arange(20.0).reshape(10, 2), np.repeat([0, 1], [9, 1])
    with pytest.raises(DataError, match=r"class 1 has only one\. Use RandomOverSampler"):
        getattr(weald, name)().fit_resample(X, y)
    assert np.bincount(weald.RandomOverSampler().fit_resample(X, y)[1]).tolist() == [9, 9]


def test_few_rare_rows_for_near_miss() -> None:
    X, y = np.arange(20.0).reshape(10, 2), np.repeat([0, 1], [8, 2])
    with pytest.warns(ResamplingWarning, match="The rarest class, 1, has 2 rows, fewer than n_neighbors = 3"):
        _, labels = weald.NearMiss().fit_resample(X, y)
    assert np.bincount(labels).tolist() == [2, 2]


def test_near_miss_of_the_rarest_class_itself() -> None:
    X, y = table()
    for version in (1, 2, 3):
        sampler = weald.NearMiss(version=version, sampling_strategy={1: 5}, n_neighbors=2)
        assert np.bincount(sampler.fit_resample(X, y)[1]).tolist() == [171, 5]


@pytest.mark.parametrize("cls", [weald.SMOTE, weald.SMOTENC, weald.SMOTEN, weald.BorderlineSMOTE], ids=str)
def test_rows_that_are_all_equal(cls: Any) -> None:
    X, y = np.ones((30, 3)), np.repeat([0, 1], [22, 8])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResamplingWarning)
        found, _ = cls(random_state=0).fit_resample(X, y)
    assert (found == 1).all()


def test_no_row_in_danger_is_told() -> None:
    X = np.concatenate([np.arange(30.0), 1000 + np.arange(12.0)])[:, None]
    with pytest.warns(ResamplingWarning, match="No row of class 1 is in danger"):
        found, _ = weald.BorderlineSMOTE().fit_resample(X, np.repeat([0, 1], [30, 12]))
    assert len(found) == 42


def test_adasyn_without_other_classes_near() -> None:
    X = np.concatenate([np.arange(30.0), 1000 + np.arange(12.0)])[:, None]
    with pytest.raises(DataError, match=r"no row of class 1 has any among its 5 nearest rows\. Use SMOTE"):
        weald.ADASYN().fit_resample(X, np.repeat([0, 1], [30, 12]))


def test_editing_that_would_drop_every_row() -> None:
    X = np.arange(12.0)[:, None]
    sampler = weald.EditedNearestNeighbours(sampling_strategy="all")
    with pytest.raises(DataError, match=r"would drop every row.*kind_sel='mode'"):
        sampler.fit_resample(X, np.arange(12) % 2)


@pytest.mark.parametrize("cls", [c for c in ALL if c is not weald.ADASYN], ids=lambda cls: cls.__name__)
def test_categories_alone(cls: Any) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [40, 12])
    colours, letters = rng.choice(["red", "blue", "green"], 52), rng.choice(["x", "y"], 52)
    X = [list(row) for row in zip(colours.tolist(), letters.tolist(), strict=True)]
    params = {"kind_sel": "mode"} if cls is weald.EditedNearestNeighbours else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResamplingWarning)
        found, _ = cls(**params).fit_resample(X, y)
    assert {row[0] for row in found} <= {"red", "blue", "green"}
    assert {row[1] for row in found} <= {"x", "y"}


@pytest.mark.parametrize("cls", ALL, ids=lambda cls: cls.__name__)
def test_a_column_that_is_missing_throughout(cls: Any) -> None:
    X, y = table()
    gone = np.column_stack([X, np.full(len(X), np.nan)])
    params = {"random_state": 0} if "random_state" in cls().get_params() else {}
    found, labels = cls(**params).fit_resample(gone, y)
    expected, expected_labels = cls(**params).fit_resample(X, y)
    assert np.isnan(found[:, 4]).all()
    assert np.array_equal(found[:, :4], expected)
    assert (labels == expected_labels).all()


@pytest.mark.parametrize("cls", [*ALL[2:4], *ALL[5:]], ids=lambda cls: cls.__name__)
def test_infinite_numbers_are_named(cls: Any) -> None:
    X, y = table()
    X[3, 2] = np.inf
    with pytest.raises(DataError, match=r"Column 2 contains inf: row"):
        cls().fit_resample(X, y)


@pytest.mark.parametrize(
    ("y", "error", "words"),
    [
        (None, DataError, "y"),
        ([0, 1], DataError, "rows"),
        (np.tile([[0, 1, 1]], (200, 1)), UnsupportedTargetError, "Multilabel and multioutput"),
        (np.linspace(0, 1, 200), DataError, "Unknown label type: continuous"),
        (np.where(np.arange(200) == 3, np.nan, np.arange(200) % 2), DataError, "Input y contains NaN"),
    ],
)
def test_bad_labels(y: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        weald.SMOTE().fit_resample(table()[0], y)


def test_sparse_gaps_and_duplicates() -> None:
    matrix = sparse.random_array((60, 5), density=0.4, rng=np.random.default_rng(0), format="csr")
    matrix.data[::7] = np.nan
    y = np.repeat([0, 1], [48, 12])
    found, _ = weald.SMOTE(random_state=0).fit_resample(matrix, y)
    dense, _ = weald.SMOTE(random_state=0).fit_resample(matrix.toarray(), y)
    np.testing.assert_allclose(found.toarray(), dense, rtol=1e-9)


def test_an_encoder_is_said_to_have_no_effect() -> None:
    from sklearn.preprocessing import OneHotEncoder

    X, y = table()
    with pytest.warns(IgnoredParameterWarning, match="`categorical_encoder` of SMOTENC has no effect"):
        weald.SMOTENC([0], categorical_encoder=OneHotEncoder()).fit_resample(X, y)


def test_dates_do_not_drown_numbers() -> None:
    """A column of dates is as far as its spread says, and not a billion times farther than numbers."""
    rng = np.random.default_rng(0)
    when = np.datetime64("2024-01-01") + rng.integers(0, 100, 60).astype("m8[D]")
    X = {"x": np.where(np.arange(60) < 30, 0.0, 100.0) + rng.normal(size=60), "when": when.astype("M8[s]")}
    y = np.repeat([0, 1, 0, 1], [18, 12, 18, 12])
    found, _ = weald.SMOTE(random_state=0).fit_resample(X, y)
    between = (found["x"] > 10) & (found["x"] < 90)
    assert not between.any()
    loose, _ = weald.SMOTE(random_state=0, scale=False).fit_resample(X, y)
    assert ((loose["x"] > 10) & (loose["x"] < 90)).any()


def test_scaled_columns_count_alike() -> None:
    X, y = table()
    wide = X * np.array([1.0, 1e6, 1.0, 1.0])
    scaled = weald.SMOTE(scale=True, random_state=0)
    one, two = scaled.fit_resample(X, y)[0], scaled.fit_resample(wide, y)[0]
    np.testing.assert_allclose(one * np.array([1.0, 1e6, 1.0, 1.0]), two, rtol=1e-9)
