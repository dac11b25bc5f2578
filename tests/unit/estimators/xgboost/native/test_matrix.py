"""`DMatrix`: what it holds, files, batches, slices."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xgboost
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

import weald
from weald.errors import DataError, DataTypeError, ParameterError


def test_it_holds_what_xgboosts_does():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6, 3)), rng.normal(size=(6, 2))
    X[0, 0] = np.nan
    info = {"weight": np.arange(1, 7), "base_margin": np.zeros((6, 2)), "feature_names": ["a", "b", "c"]}
    ours, theirs = (library.DMatrix(X, label=y, **info) for library in (weald, xgboost))
    assert (ours.num_row(), ours.num_col(), ours.num_nonmissing()) == (6, 3, 17)
    assert theirs.num_nonmissing() == 17
    assert ours.feature_names == theirs.feature_names
    for name in ("label", "weight", "base_margin"):
        assert np.allclose(ours.get_float_info(name), theirs.get_float_info(name), atol=1e-6)
    assert np.allclose(ours.get_data().toarray(), theirs.get_data().toarray(), atol=1e-6)
    part, other = ours.slice([4, 1]), theirs.slice([4, 1])
    assert np.allclose(part.get_label(), other.get_label(), atol=1e-6)
    assert np.allclose(part.get_weight(), other.get_weight())
    assert part.feature_names == ["a", "b", "c"]
    plain = weald.DMatrix(X)
    assert plain.get_label().size == plain.get_weight().size == plain.get_group().size == 0
    plain.set_label(y[:, 0])
    plain.set_weight(np.ones(6))
    plain.set_base_margin(np.ones(6))
    plain.set_group([2, 4])
    plain.set_float_info("feature_weights", [1, 0, 1])
    assert plain.get_base_margin().shape == plain.get_label().shape == (6,)
    assert plain.get_uint_info("group_ptr").tolist() == [0, 2, 6]
    assert plain.feature_weights.tolist() == [1, 0, 1]
    plain.get_label()[:] = 7  # a copy
    assert not (plain.get_label() == 7).any()


def test_types_are_told_as_xgboost_tells_them():
    frame = pd.DataFrame({"n": [1, 2], "b": [True, False], "x": [0.5, 1.5], "c": pd.Categorical(["u", "v"])})
    ours = weald.DMatrix(frame)
    theirs = xgboost.DMatrix(frame, enable_categorical=True)
    assert ours.feature_types == theirs.feature_types == ["int", "i", "float", "c"]
    assert weald.DMatrix(pl.from_pandas(frame)).feature_types == ours.feature_types
    array = weald.DMatrix([[1.0, 2.0], [2.0, 1.0]])
    assert array.feature_types is None
    array.feature_types = ["q", "c"]
    array.feature_names = ["a", "b"]
    assert (array.feature_types, array.feature_names) == (["q", "c"], ["a", "b"])
    array.feature_names = None
    assert array.feature_names is None


def test_columns_declared_categorical_are_split_by_sets():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=80), rng.integers(0, 4, 80)])
    y = np.where(X[:, 1] % 2 == 1, 5.0, 0.0)
    types = ["q", "c"]
    given, later = weald.DMatrix(X, label=y, feature_types=types), weald.DMatrix(X, label=y)
    later.feature_types = types
    frame = pd.DataFrame({"f0": X[:, 0], "f1": pd.Categorical(X[:, 1])})
    matrices = (given, later, weald.DMatrix(frame, label=y))
    dumps = [weald.train({"max_depth": 1}, matrix, 2).get_dump() for matrix in matrices]
    assert dumps[0] == dumps[1] == dumps[2]
    assert "[f1:{" in dumps[0][0]
    plain = weald.train({"max_depth": 1}, weald.DMatrix(X, label=y), 2)
    assert "{" not in plain.get_dump()[0]


def test_what_stands_for_missing():
    X = np.array([[0.0, 1.0], [2.0, 0.0], [3.0, 4.0]])
    assert weald.DMatrix(X, missing=0.0).num_nonmissing() == 4
    assert weald.DMatrix(X).num_nonmissing() == 6
    y = [1.0, 2.0, 3.0]
    params = {"min_child_weight": 0, "tree_method": "exact"}
    stored = weald.train(params, weald.DMatrix(sparse.csr_matrix(X), label=y, missing=0), 2)
    marked = weald.train(params, weald.DMatrix(X, label=y, missing=0), 2)
    assert stored.get_dump() == marked.get_dump()


def test_files_of_numbers(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(20, 5)).astype(float)
    y = rng.integers(0, 2, 20).astype(float)
    path = tmp_path / "rows.txt"
    dump_svmlight_file(X, y, str(path), zero_based=True)
    for address in (path, str(path), f"{path}?format=libsvm"):
        matrix = weald.DMatrix(address)
        assert np.array_equal(matrix.get_label(), y)
        assert np.array_equal(matrix.get_data().toarray(), X[:, : matrix.num_col()])
    dump_svmlight_file(X, y, str(path), zero_based=True, query_id=np.repeat([1, 2], 10))
    assert weald.DMatrix(path).get_group().tolist() == [10, 10]
    table = tmp_path / "rows.csv"
    np.savetxt(table, np.column_stack([X[:, :2], y, np.arange(20) + 1, X[:, 2:]]), delimiter=",")
    matrix = weald.DMatrix(f"{table}?format=csv&label_column=2&weight_column=3")
    assert np.array_equal(matrix.get_data().toarray(), X)
    assert np.array_equal(matrix.get_label(), y)
    assert np.array_equal(matrix.get_weight(), np.arange(20) + 1)
    assert weald.DMatrix(str(table)).num_col() == 7
    (tmp_path / "gap.csv").write_text("1,,3\n4,5,6\n")
    assert weald.DMatrix(str(tmp_path / "gap.csv")).num_nonmissing() == 5
    with pytest.raises(FileNotFoundError):
        weald.DMatrix(str(tmp_path / "none.txt"))
    (tmp_path / "bad.txt").write_text("a b c\n")
    for address, error, message in (
        (f"{tmp_path / 'bad.txt'}", DataError, "LIBSVM"),
        (f"{tmp_path / 'bad.txt'}?format=csv", DataError, "without a header"),
        (f"{table}?format=parquet", ParameterError, "libsvm"),
        (f"{table}?label_column=9", ParameterError, "numbered from 0"),
        (f"{table}?labels=9", ParameterError, "label_column"),
    ):
        with pytest.raises(error, match=message):
            weald.DMatrix(address)


class Batches(weald.DataIter):
    """Arrays cut into parts."""

    def __init__(self, parts):
        super().__init__(cache_prefix="cache")
        self.parts, self.at = parts, 0

    def reset(self):
        self.at = 0

    def next(self, input_data):
        if self.at == len(self.parts):
            return False
        input_data(**self.parts[self.at])
        self.at += 1
        return True


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("kind", [weald.DMatrix, weald.QuantileDMatrix, weald.ExtMemQuantileDMatrix])
def test_batches_are_put_together(form, kind):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    parts = [
        {"data": form(X[i : i + 10]), "label": y[i : i + 10], "weight": np.ones(10)} for i in (0, 10, 20)
    ]
    matrix = kind(Batches(parts))
    assert matrix.num_row() == 30
    assert np.array_equal(matrix.get_label(), y)
    whole = weald.train({}, weald.DMatrix(form(X), label=y, weight=np.ones(30)), 3)
    assert weald.train({}, matrix, 3).get_dump() == whole.get_dump()


def test_batches_that_do_not_fit():
    X = np.zeros((2, 1))
    for parts, error, message in (
        ([], DataError, "no batch"),
        ([{"data": X, "label": [1, 2]}, {"data": X}], DataError, "1 of 2 batches have a label"),
        ([{"data": X}, {"data": sparse.csr_matrix(X)}], DataTypeError, "csr_matrix, ndarray"),
        ([{"data": X, "group": [2]}], ParameterError, "'group'"),
    ):
        with pytest.raises(error, match=message):
            weald.DMatrix(Batches(parts))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda X: weald.DMatrix(X, label=["a", "b", "c"]), DataError, r"weald\.train\(params, X, y\)"),
        (lambda X: weald.DMatrix(X, label=[1, 2]), DataError, "label"),
        (lambda X: weald.DMatrix(X, label=[1, np.nan, 2]), DataError, "label"),
        (lambda X: weald.DMatrix(X, weight=[1, 2]), DataError, "weight"),
        (lambda X: weald.DMatrix(X, label_lower_bound=[1, 2, 3]), ParameterError, "survival"),
        (lambda X: weald.DMatrix(X, feature_names=["a"]), DataError, "1 names and the table has 2"),
        (lambda X: weald.DMatrix(X, feature_names=["a", "a"]), DataError, "another"),
        (lambda X: weald.DMatrix(X, feature_types=["q"]), ParameterError, "feature_types"),
        (lambda X: weald.DMatrix(X, feature_types=["q", "z"]), ParameterError, "'z'"),
        (lambda X: weald.DMatrix(X, feature_weights=[1]), DataError, "feature_weights"),
        (lambda X: weald.DMatrix(weald.DMatrix(X)), DataTypeError, "already"),
        (lambda X: weald.DMatrix(X).slice([3]), DataError, "0 to 2"),
        (lambda X: weald.DMatrix(X).slice([0.5]), DataTypeError, "rindex"),
        (lambda X: weald.DMatrix(X, qid=[1, 1, 2]).slice([0]), DataError, "allow_groups"),
        (lambda X: weald.DMatrix(X).get_float_info("labels"), ParameterError, "label"),
        (lambda X: weald.DMatrix(X).save_binary("x"), ParameterError, "format of xgboost's own"),
    ],
)
def test_what_is_wrong_is_named(make, error, message):
    with pytest.raises(error, match=message):
        make(np.arange(6.0).reshape(3, 2))
