"""Model files of kernel machines: what comes back, what is refused, what a changed file cannot do."""

import json
import pickle

import numpy as np
import pytest
from scipy import sparse
from unit.io import machines

import weald
from weald import SVC, SVR, BaggingClassifier
from weald.errors import ModelFileError
from weald.io import canonical, container
from weald.io.model_file import to_bytes

pytestmark = pytest.mark.filterwarnings("ignore::weald.errors.ScaleWarning")


def there_and_back(model, tmp_path):
    path = tmp_path / "m.weald"
    model.save(path)
    back = weald.load(path)
    assert to_bytes(back) == path.read_bytes()
    return back


@pytest.mark.parametrize("name", machines.MACHINES)
def test_what_is_saved_comes_back(name, tmp_path):
    model, X = machines.machine(name)
    back = there_and_back(model, tmp_path)
    assert type(back) is type(model)
    for ask in ("predict", "decision_function", "predict_proba", "transform"):
        if hasattr(model, ask):
            assert np.array_equal(getattr(back, ask)(X), getattr(model, ask)(X))
    if not isinstance(model, SVC | SVR):
        return
    for told in (
        "support_",
        "n_support_",
        "intercept_",
        "n_iter_",
        "margin_width_",
        "kkt_gap_",
    ):
        assert np.array_equal(getattr(back, told), getattr(model, told))
    both = (back.dual_coef_, model.dual_coef_)
    assert np.array_equal(*(each.toarray() if sparse.issparse(each) else each for each in both))
    for told in ("primal_objective_", "dual_objective_", "duality_gap_", "fit_status_", "shape_fit_"):
        assert np.array_equal(getattr(back, told), getattr(model, told))
    assert back.solver_reason_ == model.solver_reason_
    assert repr(back.kernel_) == repr(model.kernel_)
    if hasattr(model, "classes_"):
        assert back.classes_.tolist() == model.classes_.tolist()
        assert np.array_equal(back.class_weight_, model.class_weight_)


def test_only_support_rows_are_kept(tmp_path):
    X = np.random.default_rng(0).normal(size=(2000, 20))
    model = SVC(kernel="linear").fit(X + 3 * (np.arange(2000) % 2)[:, None], np.arange(2000) % 2)
    assert len(model.support_) < 100
    model.save(tmp_path / "m.weald")
    assert (tmp_path / "m.weald").stat().st_size < 8 * 20 * 100 + 10_000
    back = weald.load(tmp_path / "m.weald")
    with pytest.raises(
        AttributeError, match=r"`slack_` speaks of the training rows, and this SVC was loaded"
    ):
        _ = back.slack_


@pytest.mark.parametrize("kind", [SVC, SVR])
def test_equal_training_gives_equal_bytes_for_any_number_of_threads(kind):
    X, y = machines.numbers(400) + np.arange(400)[:, None] % 11 / 7, np.arange(400) % 3
    files = {to_bytes(kind(n_jobs=n).fit(X, y)) for n in (1, 2, 5)}
    assert len(files) == 1
    if kind is SVC:
        files = {to_bytes(SVC(n_jobs=n, probability=True, random_state=0).fit(X, y)) for n in (1, 2, 5)}
        assert len(files) == 1


def dots(A, B):
    return A @ B.T


def test_a_kernel_that_is_code_points_to_pickle(tmp_path):
    X, y = machines.numbers(), machines.words()
    model = SVC(kernel=dots).fit(X, y)
    with pytest.raises(ModelFileError, match=r"The kernel dots of this SVC .* cannot keep\. Use pickle"):
        model.save(tmp_path / "m.weald")
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    assert not list(tmp_path.iterdir())


def test_ensembles_hold_kernel_machines(tmp_path):
    X, y = machines.numbers(), machines.words()
    model = BaggingClassifier(SVC(gamma=0.1), n_estimators=2, random_state=0).fit(X, y)
    assert np.array_equal(there_and_back(model, tmp_path).predict(X), model.predict(X))


# --------------------------------------------------------------------------- changed files


def changed(tmp_path, model, change):
    """Load the model's file after a change to its description and arrays, the checksum set right."""
    path = tmp_path / "m.weald"
    model.save(path)
    text, tensors = container.read(path, mmap=False)
    content = json.loads(text)
    del content["checksum"]
    change(content, tensors)
    content["checksum"] = container.checksum(canonical.dumps(content), tensors)
    path.write_bytes(container.pack(canonical.dumps(content), tensors))
    return weald.load(path)


def put(name, value):
    def change(content, tensors):
        tensors[f"machine.{name}"] = np.asarray(value)

    return change


def fact(name, value):
    def change(content, tensors):
        content["machine"][name] = value

    return change


@pytest.mark.parametrize(
    ("which", "change", "message"),
    [
        ("pairs", put("coefficients", np.full((2, 3), 1.0)), "'coefficients' .* has shape"),
        ("pairs", put("intercept", [np.nan, 0.0, 0.0]), "'intercept' .* finite numbers"),
        ("pairs", put("n_support", [1, -1, 2]), "'n_support' .* leaves its range"),
        ("two classes", put("support", np.zeros((3, 2))), "'support' .* has shape"),
        ("two classes", put("support_rows", np.zeros(2)), "'support_rows'"),
        ("two classes", put("class_weight", [-1.0, 1.0]), "'class_weight' .* from 0 up"),
        ("two classes", put("news", [1.0]), "nobody asked for"),
        ("two classes", put("plan.divisor", np.zeros(30)), "'divisor' .* should hold"),
        ("sigmoids", put("sigmoid", np.ones((6, 2))), "falls where its machine's value rises"),
        ("each against the rest", put("steps.shares", [0.5]), "'steps.shares' .* has shape"),
        ("counts", put("support.indices", [900]), "'support.indices'"),
        ("counts", put("support.indptr", [0, 1]), "'support.indptr'|do not follow|'support.data'|as many as"),
        ("given", fact("plan", {"scale": None, "is_sparse": False}), "has columns of its own"),
        ("pairs", fact("layout", "diagonal"), "laid out in an unknown manner"),
        ("pairs", fact("one_against_rest", True), "pairs of classes and one against the rest"),
        ("two classes", fact("layout", "pairs"), "laid out as several"),
        ("two classes", fact("shape", [80, 3]), "impossible size"),
        ("two classes", fact("shape", [2**40, 3]), "impossible size"),
        ("two classes", fact("solver", "guess"), "unknown manner"),
        ("two classes", fact("calibration", "magic"), "unknown kind"),
        ("two classes", fact("kernel", {"kernel": "rbf", "gamma": "scale", "sigma": None}), "no number"),
        ("two classes", fact("kernel", {"kernel": "chi2", "gamma": 1.0}), "no negative values"),
        ("two classes", fact("kernel", "rbf"), "kernel"),
        ("two classes", fact("news", 1), "there are others"),
        ("numbers", fact("calibration", "sigmoid"), "unknown kind"),
        ("texts", fact("plan", {"kernel": "spectrum", "length": 3}), "vocabulary|kernel"),
        ("neighbours", fact("metric", "euclidean"), "not the one of their parameters"),
        ("neighbours", fact("metric", 3), "has the wrong form"),
        ("neighbours", fact("p", 3), "not the one of their parameters"),
        ("neighbours", fact("scaled", False), "not the one of their parameters"),
        ("neighbours", fact("n_rows", 79), "'codes' .* has shape"),
        ("neighbours", fact("n_rows", -1), "have the wrong form"),
        ("neighbours", fact("news", 1), "there are others"),
        ("neighbours", put("space.divisor", np.zeros(3)), "'space.divisor' .* has shape|impossible numbers"),
        ("neighbours", put("space.shares", [2.0]), "'space.shares' .* has shape"),
        ("neighbours", put("labels", np.full(80, 9)), "'labels' .* leaves its range"),
        ("neighbours", put("codes", np.full(80, 99)), "'codes'"),
        ("neighbours", put("gaps", [1]), "'gaps'"),
        ("neighbours", put("news", [1.0]), "nobody asked for"),
        ("neighbours of two outputs", put("labels", np.zeros(80)), "'labels' .* has shape"),
        ("neighbours of sparse rows", put("rows.indices", [900]), "'rows.indices'"),
        ("neighbours of sparse rows", put("target", [1.0]), "'target' .* has shape"),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_parts_that_do_not_fit_are_refused(which, change, message, tmp_path):
    model, _ = machines.machine(which)
    with pytest.raises(ModelFileError, match=message):
        changed(tmp_path, model, change)


def test_a_file_of_a_newer_format_may_say_more(tmp_path):
    model, X = machines.machine("two classes")

    def newer(content, tensors):
        content["format"] = [1, 99]
        content["machine"]["news"] = 1
        tensors["machine.news"] = np.ones(3)

    assert np.array_equal(changed(tmp_path, model, newer).predict(X), model.predict(X))
