"""`solver="landmarks"` and machines by columns: the exact machine where they must be, near it elsewhere."""

import numpy as np
import pytest
from unit.estimators.svm.kernel.data import blobs, waves

from weald import SVC, SVR, load
from weald.errors import ParameterError
from weald.io.model_file import to_bytes
from weald.kernels import RBF
from weald.svm import solver_choice


def difference(one, other, X):
    ask = "decision_function" if hasattr(one, "decision_function") else "predict"
    return np.abs(getattr(one, ask)(X) - getattr(other, ask)(X)).max()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_all_rows_as_landmarks_are_the_exact_machine(n_classes, multi_class):
    X, y = blobs(120, n_classes, spread=2.0)
    params = {"tol": 1e-9, "multi_class": multi_class, "C": 2.0}
    exact = SVC(**params).fit(X, y)
    landmarks = SVC(solver="landmarks", n_landmarks=120, **params).fit(X, y)
    assert difference(exact, landmarks, X) < 1e-6
    assert np.array_equal(exact.predict(X), landmarks.predict(X))
    assert landmarks.primal_objective_ == pytest.approx(exact.primal_objective_, rel=1e-6)
    assert landmarks.alpha_ == pytest.approx(exact.alpha_, abs=1e-4, nan_ok=True)
    assert np.max(landmarks.kkt_gap_) < 1e-3


def test_all_rows_as_landmarks_are_the_exact_machine_of_numbers():
    X, y = waves(100)
    exact = SVR(tol=1e-9).fit(X, y)
    landmarks = SVR(tol=1e-9, solver="landmarks", n_landmarks=100).fit(X, y)
    assert difference(exact, landmarks, X) < 1e-6
    assert landmarks.kkt_gap_ < 1e-3


def test_some_landmarks_come_near():
    X, y = blobs(1500, 3, spread=1.5)
    exact, few = SVC().fit(X, y), SVC(solver="landmarks", n_landmarks=75, random_state=0).fit(X, y)
    assert (few.predict(X) == y).mean() > (exact.predict(X) == y).mean() - 0.01
    assert few.solver_ == "landmarks"
    assert few.dual_coef_.shape == (3, 75)
    assert few.n_support_.sum() == 75
    assert np.array_equal(few.support_vectors_, X[few.support_])
    by_hand = RBF(few._gamma)(X[:5], few.support_vectors_) @ few.dual_coef_.T + few.intercept_
    few.set_params(decision_function_shape="ovo")
    assert few.decision_function(X[:5]) == pytest.approx(by_hand)


def test_the_number_of_landmarks_is_five_per_cent():
    X, y = blobs(3000)
    assert len(SVC(solver="landmarks", random_state=0).fit(X, y).support_) == 150


def test_landmarks_follow_the_seed_and_no_thread():
    X, y = blobs(800, 3, spread=2.0)
    params = {"solver": "landmarks", "n_landmarks": 30, "probability": True}
    files = {to_bytes(SVC(random_state=0, n_jobs=n, **params).fit(X, y)) for n in (1, 2, 5)}
    assert len(files) == 1
    assert to_bytes(SVC(random_state=1, **params).fit(X, y)) not in files


def test_weights_and_probabilities_go_by_landmarks_too():
    X, y = blobs(400, 3, spread=2.0)
    weight = np.where(np.arange(400) % 4 == 0, 0.0, 1.5)
    model = SVC(solver="landmarks", n_landmarks=60, probability=True, random_state=0).fit(X, y, weight)
    assert not np.isin(model.support_, np.flatnonzero(weight == 0)).any()
    shares = model.predict_proba(X)
    assert np.array_equal(shares.argmax(axis=1), model.predict(X))


@pytest.fixture
def few_rows_are_many(monkeypatch):
    monkeypatch.setattr(solver_choice, "MOST_ROWS", 50)


@pytest.mark.usefixtures("few_rows_are_many")
def test_auto_goes_by_landmarks_or_columns_and_says_so(caplog):
    X, y = blobs(300, spread=2.0)
    with caplog.at_level("INFO", logger="weald.svm"):
        model = SVC(random_state=0).fit(X, y)
    assert model.solver_ == "landmarks"
    assert "300 rows and 3 columns: above 50 rows" in model.solver_reason_
    assert any("solver='landmarks'" in text for text in caplog.messages)
    assert SVC(C=np.inf, gamma=50.0).fit(X, y).solver_ == "exact"
    assert SVC(solver="exact").fit(X, y).solver_ == "exact"
    assert SVC(kernel="precomputed").fit(X @ X.T, y).solver_ == "exact"


@pytest.mark.usefixtures("few_rows_are_many")
@pytest.mark.parametrize("kind", [SVC, SVR])
def test_a_linear_kernel_by_its_columns_is_the_exact_machine(kind):
    X, y = blobs(300, 3 if kind is SVC else 2, spread=2.0)
    exact, columns = (kind(kernel="linear", solver=s, tol=1e-8).fit(X, y) for s in ("exact", "auto"))
    assert columns.solver_ == "linear"
    assert difference(exact, columns, X) < 1e-4
    assert np.array_equal(columns.support_, exact.support_)
    assert columns.coef_ == pytest.approx(exact.coef_, abs=1e-4)


@pytest.mark.usefixtures("few_rows_are_many")
@pytest.mark.parametrize(
    "options",
    [{"kernel": "linear"}, {}, {"solver": "exact"}, {"kernel": "linear", "solver": "exact"}],
    ids=["columns", "landmarks", "rows", "linear rows"],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_model_predicts_what_was_solved(options, n_classes, tmp_path):
    X, y = blobs(400, n_classes, spread=3.0)
    model = SVC(random_state=0, multi_class="ovr", **options).fit(X, y)
    assert model.functional_margin(X, y) == pytest.approx(model.functional_margin_, abs=1e-9)
    numbers = SVR(random_state=0, **options).fit(X, X[:, 0] ** 2)
    assert numbers.slack(X, X[:, 0] ** 2) == pytest.approx(numbers.slack_, abs=1e-9)
    model.save(tmp_path / "model.weald")
    loaded = load(tmp_path / "model.weald")
    assert loaded.decision_function(X).tobytes() == model.decision_function(X).tobytes()
    if options.get("kernel") == "linear":
        assert loaded.coef_.tobytes() == model.coef_.tobytes()


def test_what_landmarks_cannot_do_is_refused():
    X, y = blobs(200)
    with pytest.raises(ParameterError, match=r"solver='landmarks' of SVC chooses among rows of a table"):
        SVC(solver="landmarks", kernel="precomputed").fit(X @ X.T, y)
    with pytest.raises(ParameterError, match=r"C=inf of SVC asks for a hard margin, which landmarks"):
        SVC(solver="landmarks", C=np.inf).fit(X, y)
    with pytest.raises(
        ParameterError, match=r"`n_landmarks`=150 of SVC takes 0 MB.*Use at most 65 landmarks"
    ):
        SVC(solver="landmarks", n_landmarks=150, cache_size=0.1).fit(X, y)


def test_little_time_means_few_landmarks():
    assert solver_choice.landmark_count(None, 100_000, 10**9) == 625
    assert solver_choice.landmark_count(None, 100_000, 10**10) == 2000
    assert solver_choice.landmark_count(None, 100_000, 10**10, max_time=1.0) == 158
    assert solver_choice.landmark_count(None, 100_000, 10**10, max_time=1e-3) == 100
    assert solver_choice.landmark_count(700, 100_000, 10**10, max_time=1.0) == 700
