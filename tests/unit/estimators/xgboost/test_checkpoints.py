"""`fit(…, checkpoint=…, resume=True)`: ended anywhere, it goes on to the model of a fit without a stop."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import weald
from weald import XGBClassifier, XGBRanker, XGBRegressor, XGBRFClassifier, scan
from weald.errors import DataError, DataTypeError, ModelFileError, ParameterError

SHAPE = {"n_estimators": 9, "max_depth": 3, "n_jobs": 1}
LEARNT = ["a", "b", "city"]


class EndedError(Exception):
    """What ends a fit in these tests."""


class EndAfter(weald.TrainingCallback):
    """Ends a fit as a lost client would: after a round, by an error."""

    def __init__(self, n_rounds: int) -> None:
        self.n_rounds = n_rounds

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        if epoch + 1 == self.n_rounds:
            raise EndedError
        return False


class Count(weald.TrainingCallback):
    """Remembers the rounds it was asked in."""

    def __init__(self) -> None:
        self.rounds: list[int] = []

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        self.rounds.append(epoch)
        assert model.num_boosted_rounds() == epoch + 1
        return False


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    n = 1_500
    a = rng.normal(size=n).round(3)
    late = rng.normal(size=n) + a
    return pd.DataFrame(
        {
            "a": np.where(rng.random(n) < 0.1, np.nan, a),
            "b": rng.integers(0, 40, n),
            "city": np.where(rng.random(n) < 0.02, None, rng.choice([f"city {i}" for i in range(9)], n)),
            "late": late,
            "label": np.where(late > 0.5, "late", "on time"),
            "kind": np.digitize(late, [-0.5, 1.0]),
            "w": rng.integers(0, 3, n).astype(np.float64),
            "q": np.sort(rng.integers(0, 100, n)),
        }
    )


def squared(y_true: Any, y_pred: Any) -> Any:
    return y_pred - y_true, np.ones_like(y_true)


SETTINGS: dict[str, tuple[type, dict[str, Any], str]] = {
    "exact": (XGBRegressor, {"subsample": 0.5}, "late"),
    "hist": (XGBRegressor, {"tree_method": "hist", "max_bin": 32, "colsample_bynode": 0.7}, "late"),
    "approx": (XGBRegressor, {"tree_method": "approx"}, "late"),
    "classes": (XGBClassifier, {"num_parallel_tree": 2}, "kind"),
    "shared trees": (XGBClassifier, {"multi_strategy": "multi_output_tree"}, "kind"),
    "dart": (
        XGBClassifier,
        {"booster": "dart", "rate_drop": 0.5, "normalize_type": "forest", "one_drop": True},
        "label",
    ),
    "medians": (XGBRegressor, {"objective": "reg:absoluteerror"}, "late"),
    "by gradient": (XGBRegressor, {"sampling_method": "gradient_based", "subsample": 0.3}, "late"),
    "function": (XGBRegressor, {"objective": squared}, "late"),
}


def ended(model: Any, fit: Callable[..., Any], file: Path, n_rounds: int, every: int = 2) -> None:
    """A fit that is kept and ends after some rounds."""
    model.set_params(callbacks=[EndAfter(n_rounds)])
    with pytest.raises(EndedError):
        fit(checkpoint=file, checkpoint_rounds=every)
    model.set_params(callbacks=None)


@pytest.mark.parametrize("name", SETTINGS)
def test_the_model_is_that_of_a_fit_without_a_stop(frame: pd.DataFrame, tmp_path: Path, name: str) -> None:
    make, options, target = SETTINGS[name]
    rest = frame.iloc[1_000:]
    rows = {"X": frame[LEARNT], "y": frame[target]}
    sets = {"eval_set": [(rest[LEARNT], rest[target]), (rows["X"], rows["y"])]}
    known = make(**SHAPE | options).fit(**rows, **sets)
    model, file = make(**SHAPE | options), tmp_path / "kept.weald"

    def fit(**keeping: Any) -> Any:
        return model.fit(**rows, **sets, **keeping)

    ended(model, fit, file, 7)
    so_far = weald.load(file)
    assert so_far.n_rounds_ == 6
    found = fit(checkpoint=file, resume=True)
    assert found.to_bytes() == known.to_bytes()
    assert found.evals_result_ == known.evals_result_
    assert weald.load(file).n_rounds_ == 9
    assert weald.load(file).to_bytes() == weald.load(known.to_bytes()).to_bytes()
    six = make(**SHAPE | options | {"n_estimators": 6}).fit(**rows)
    np.testing.assert_array_equal(so_far.predict(rest[LEARNT]), six.predict(rest[LEARNT]))


def test_rankings_remember_positions(frame: pd.DataFrame, tmp_path: Path) -> None:
    model = XGBRanker(**SHAPE, lambdarank_unbiased=True)
    rows = {"X": frame[LEARNT], "y": frame["kind"], "qid": frame["q"].to_numpy()}
    known = model.fit(**rows).to_bytes()
    file = tmp_path / "kept.weald"
    ended(model, lambda **keeping: model.fit(**rows, **keeping), file, 5)
    assert model.fit(**rows, checkpoint=file, resume=True).to_bytes() == known


def test_early_stopping_and_callbacks_go_through_the_rounds_again(
    frame: pd.DataFrame, tmp_path: Path
) -> None:
    shape = SHAPE | {"n_estimators": 40, "learning_rate": 1.0, "early_stopping_rounds": 3}
    train, test = frame.iloc[:1_000], frame.iloc[1_000:]
    sets = {"eval_set": [(test[LEARNT], test["label"])]}
    model, file, count = XGBClassifier(**shape), tmp_path / "kept.weald", Count()
    rows = (train[LEARNT], train["label"])
    known = model.fit(*rows, **sets)
    best, n_rounds, told = known.best_iteration, known.n_rounds_, known.to_bytes()
    assert 3 < n_rounds < 40
    ended(model, lambda **keeping: model.fit(*rows, **sets, **keeping), file, n_rounds - 1)
    for _ in range(2):  # the second time nothing is left to be grown
        model.set_params(callbacks=[count])
        found = model.fit(*rows, **sets, checkpoint=file, resume=True)
        assert count.rounds == list(range(n_rounds))
        assert (found.best_iteration, found.to_bytes()) == (best, told)
        count.rounds.clear()
    model.set_params(callbacks=[weald.EarlyStopping(3, save_best=True)], early_stopping_rounds=None)
    again = model.fit(*rows, **sets, checkpoint=file, resume=True)
    assert again.n_rounds_ == best + 1


def test_more_rounds_and_fewer(frame: pd.DataFrame, tmp_path: Path) -> None:
    """Trees do not depend on how many are wanted: those of DART neither, whose weights change."""
    rows, file = (frame[LEARNT], frame["label"]), tmp_path / "kept.weald"
    shape = SHAPE | {"booster": "dart", "rate_drop": 0.4, "learning_rate": 0.3}
    XGBClassifier(**shape).fit(*rows, checkpoint=file)
    before = file.read_bytes()
    for n in (4, 0):
        fewer = XGBClassifier(**shape | {"n_estimators": n})
        assert fewer.fit(*rows, checkpoint=file, resume=True).to_bytes() == fewer.fit(*rows).to_bytes()
        assert file.read_bytes() == before
    more = XGBClassifier(**shape | {"n_estimators": 14})
    assert more.fit(*rows, checkpoint=file, resume=True).to_bytes() == more.fit(*rows).to_bytes()
    assert weald.load(file).n_rounds_ == 14


def test_a_model_to_go_on_from(frame: pd.DataFrame, tmp_path: Path) -> None:
    rows, file = (frame[LEARNT], frame["late"]), tmp_path / "kept.weald"
    start = XGBRegressor(**SHAPE | {"n_estimators": 3}).fit(frame[LEARNT][:500], frame["late"][:500])
    model = XGBRegressor(**SHAPE, booster="dart", rate_drop=0.5)
    known = model.fit(*rows, xgb_model=start).to_bytes()
    ended(model, lambda **keeping: model.fit(*rows, xgb_model=start, **keeping), file, 5)
    assert model.fit(*rows, xgb_model=start, checkpoint=file, resume=True).to_bytes() == known
    with pytest.raises(DataError, match="xgb_model"):
        model.fit(*rows, checkpoint=file, resume=True)


@pytest.mark.parametrize("shape", [{}, {"booster": "dart", "rate_drop": 0.5}, {"num_parallel_tree": 2}])
def test_pages_and_memory_go_on_from_one_another(
    frame: pd.DataFrame, tmp_path: Path, shape: dict[str, Any]
) -> None:
    kept = frame[[*LEARNT, "kind", "w"]]
    kept.to_parquet(tmp_path / "rows.parquet", row_group_size=400)
    rows, file = scan(tmp_path / "rows.parquet"), tmp_path / "kept.weald"
    model = XGBClassifier(**SHAPE | {"max_bin": 32, "tree_method": "hist"} | shape)
    in_memory = {"X": kept[LEARNT], "y": kept["kind"], "sample_weight": kept["w"].to_numpy()}
    on_disk = {"X": rows, "y": "kind", "sample_weight": "w", "eval_set": [(rows, "kind")]}
    known = model.fit(**in_memory).to_bytes()
    ended(model, lambda **keeping: model.fit(**on_disk, **keeping), file, 4)
    ended(model, lambda **keeping: model.fit(**in_memory, resume=True, **keeping), file, 7)
    found = model.fit(**on_disk, checkpoint=file, resume=True)
    assert found.to_bytes() == known
    assert found.evals_result_ == model.fit(**on_disk).evals_result_


def test_sparse_columns_and_forests(tmp_path: Path) -> None:
    from scipy import sparse

    rng = np.random.default_rng(0)
    X = sparse.random(400, 30, 0.1, "csr", random_state=rng)
    y = np.asarray(X.sum(axis=1)).ravel() > 1.5
    model, file = XGBClassifier(**SHAPE, tree_method="hist"), tmp_path / "kept.weald"
    known = model.fit(X, y).to_bytes()
    ended(model, lambda **keeping: model.fit(X, y, **keeping), file, 5)
    assert model.fit(X, y, checkpoint=file, resume=True).to_bytes() == known
    assert model.fit(X.toarray(), y, checkpoint=file, resume=True).to_bytes() == known
    forest = XGBRFClassifier(n_estimators=5, max_depth=3)
    known = forest.fit(X, y, checkpoint=file).to_bytes()
    assert forest.fit(X, y, checkpoint=file, resume=True).to_bytes() == known


def test_a_killed_process(tmp_path: Path) -> None:
    """SIGKILL in mid-fit; who goes on has only the file."""
    script = textwrap.dedent(
        """
        import os, signal, sys
        import numpy as np
        from weald import TrainingCallback, XGBRegressor

        class Kill(TrainingCallback):
            def before_iteration(self, model, epoch, evals_log):
                if epoch == 5:
                    os.kill(os.getpid(), signal.SIGKILL)

        X = np.load(sys.argv[1])
        model = XGBRegressor(n_estimators=12, max_depth=3, subsample=0.5, callbacks=[Kill()])
        model.fit(X, X[:, 0] * X[:, 1], checkpoint=sys.argv[2], checkpoint_rounds=2)
        """
    )
    X = np.random.default_rng(0).normal(size=(2_000, 5))
    np.save(tmp_path / "X.npy", X)
    file = tmp_path / "kept.weald"
    command = [sys.executable, "-c", script, str(tmp_path / "X.npy"), str(file)]
    ended = subprocess.run(command, capture_output=True, timeout=300, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()
    assert weald.load(file).n_rounds_ == 4
    model, y = XGBRegressor(n_estimators=12, max_depth=3, subsample=0.5), X[:, 0] * X[:, 1]
    known = model.fit(X, y).to_bytes()
    assert model.fit(X, y, checkpoint=file, resume=True).to_bytes() == known
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".partial")]


def test_what_is_refused(frame: pd.DataFrame, tmp_path: Path) -> None:
    file, (X, y) = tmp_path / "kept.weald", (frame[LEARNT], frame["late"])
    model = XGBRegressor(**SHAPE, learning_rate=0.3).fit(X, y, checkpoint=file, resume=True)  # there is none
    written = file.read_bytes()
    for other, message in (
        ({"max_depth": 4}, r"max_depth=3, and this one has max_depth=4"),
        ({"random_state": 1}, r"seed=0, and this one has seed=1"),
        ({"learning_rate": 0.2}, r"Round 0 .* learning_rate=0\.3, and this fit asks for 0\.2"),
        ({"objective": "reg:pseudohubererror"}, "objective='reg:squarederror'"),
    ):
        with pytest.raises(ParameterError, match=message):
            XGBRegressor(**SHAPE | {"learning_rate": 0.3} | other).fit(X, y, checkpoint=file, resume=True)
    turned = X.iloc[::-1].reset_index(drop=True)
    for rows, message in (
        ((turned, y), "values of the columns are not those of this fit"),
        ((X, y + (np.arange(len(y)) == 7) * 1e-9), "target"),
        ((X.iloc[:1_200], y.iloc[:1_200]), "target"),
    ):
        with pytest.raises((DataError, ParameterError), match=message):
            model.fit(*rows, checkpoint=file, resume=True)
    with pytest.raises(DataError, match="weights"):
        model.fit(X, y, sample_weight=np.ones(len(y)), checkpoint=file, resume=True, base_margin=None)
    assert file.read_bytes() == written
    model.save(tmp_path / "plain.weald")
    with pytest.raises(ParameterError, match="not a checkpoint"):
        model.fit(X, y, checkpoint=tmp_path / "plain.weald", resume=True)
    (tmp_path / "damaged.weald").write_bytes(written[:-3])
    with pytest.raises(ModelFileError):
        model.fit(X, y, checkpoint=tmp_path / "damaged.weald", resume=True)
    with pytest.raises(ParameterError, match="resume=True of XGBRegressor needs the file"):
        model.fit(X, y, resume=True)
    with pytest.raises(ParameterError, match="checkpoint_rounds of XGBRegressor needs the file"):
        model.fit(X, y, checkpoint_rounds=3)
    with pytest.raises(ParameterError, match="`checkpoint_rounds` of XGBRegressor must be a whole number"):
        model.fit(X, y, checkpoint=file, checkpoint_rounds=0)
    with pytest.raises(ParameterError, match="`resume`"):
        model.fit(X, y, checkpoint=file, resume="yes")
    with pytest.raises(DataTypeError, match="the path of a file"):
        model.fit(X, y, checkpoint=3)
    with pytest.raises(FileNotFoundError, match="its folder does not exist"):
        model.fit(X, y, checkpoint=tmp_path / "nowhere" / "m.weald")
