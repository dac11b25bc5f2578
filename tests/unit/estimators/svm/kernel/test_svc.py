"""`SVC`: hard and soft margins, several classes, weights, and everything that can be read of a fitted one."""

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn import svm
from sklearn.base import clone
from unit.estimators.svm.kernel.data import blobs

from weald import SVC, SVR, LinearSVC, load
from weald.errors import DataError, ParameterError

SQUARE = np.array([[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [3.0, 1.0]])


def widest_gap(X, y):
    """The width of the widest strip between two classes in the plane, by trying all pairs and triples.

    The widest strip leans on one row of each class, at right angles to their difference, or on two rows of
    one class, along their difference, and one of the other.
    """
    ones, others = X[y == 1], X[y == 0]
    normals = [a - b for a in ones for b in others]
    normals += [np.array([-(a - b)[1], (a - b)[0]]) for side in (ones, others) for a in side for b in side]
    best = 0.0
    for normal in normals:
        length = np.linalg.norm(normal)
        if length == 0:
            continue
        along, across = ones @ normal / length, others @ normal / length
        best = max(best, along.min() - across.max(), across.min() - along.max())
    return best


@pytest.mark.parametrize("seed", range(8))
def test_a_hard_margin_in_the_plane_is_the_widest_strip(seed):
    rng = np.random.default_rng(seed)
    X, normal = rng.normal(size=(24, 2)), rng.normal(size=2)
    y = (X @ normal > 0.1).astype(int)
    X[y == 1] += 0.2 * normal
    model = SVC(C=np.inf, kernel="linear", tol=1e-8).fit(X, y)
    assert model.margin_width_ == pytest.approx(widest_gap(X, y), rel=1e-6)
    assert model.functional_margin_.min() == pytest.approx(1, abs=1e-6)


def test_classes_that_touch_have_no_hard_margin():
    X, y = blobs(40, spread=3.0)
    with pytest.raises(DataError, match=r"C=inf of SVC.*labels 0 and 1 are not separable.*soft margin"):
        SVC(C=np.inf, kernel="linear").fit(X, y)


def test_equal_rows_of_different_labels_have_no_hard_margin_in_any_kernel():
    with pytest.raises(DataError, match="soft margin"):
        SVC(C=np.inf).fit([[0.0], [0.0], [1.0], [2.0]], [0, 1, 0, 1])


def test_c_of_a_linear_machine_is_finite():
    with pytest.raises(
        ParameterError, match=r"number above 0, and finite; got inf.*SVC\(kernel='linear', C=inf"
    ):
        LinearSVC(C=np.inf).fit(SQUARE, [0, 0, 1, 1])


def test_a_failed_fit_leaves_the_model_as_it_was():
    X, y = blobs()
    model = SVC().fit(X, y)
    before = copy.copy(vars(model))
    model.set_params(C=np.inf, kernel="linear")
    with pytest.raises(DataError):
        model.fit(np.zeros((4, 2)), [0, 1, 0, 1])
    assert {name: vars(model)[name] for name in before if name.endswith("_")} == {
        name: value for name, value in before.items() if name.endswith("_")
    }


def test_the_square_has_its_margin():
    model = SVC(C=np.inf, kernel="linear", tol=1e-9).fit(SQUARE, ["left", "left", "right", "right"])
    assert model.margin_width_ == pytest.approx(3)
    assert model.coef_ == pytest.approx(np.array([[2 / 3, 0.0]]), abs=1e-6)
    assert model.intercept_ == pytest.approx([-1])
    assert model.geometric_margin_ == pytest.approx([1.5] * 4)
    assert model.slack_ == pytest.approx([0] * 4, abs=1e-6)
    assert model.geometric_margin([[0.5, 0.5]], ["left"]) == pytest.approx([1.0])
    assert model.slack([[2.0, 0.0]], ["left"]) == pytest.approx([4 / 3])


@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
def test_the_conditions_of_optimality_hold(C):
    X, y = blobs(80, spread=2.0)
    model = SVC(C=C, tol=1e-6).fit(X, y)
    alpha, margin = model.alpha_, model.functional_margin_
    assert (alpha >= 0).all()
    assert (alpha <= C).all()
    sign = np.where(y == 1, 1, -1)
    assert alpha @ sign == pytest.approx(0, abs=1e-9)
    assert (margin[alpha == 0] >= 1 - 1e-5).all()
    assert margin[(alpha > 0) & (alpha < C)] == pytest.approx(1, abs=1e-5)
    assert (margin[alpha == C] <= 1 + 1e-5).all()
    slack = model.slack_
    assert np.array_equal(slack > 1, margin < 0)
    assert np.array_equal(slack > 1, model.predict(X) != y)
    assert model.total_slack_ == pytest.approx(slack.sum())
    assert model.functional_margin(X, y) == pytest.approx(margin, abs=1e-5)
    norm = 2 / model.margin_width_
    assert model.primal_objective_ == pytest.approx(norm**2 / 2 + C * slack.sum())
    assert 0 <= model.duality_gap_ <= 1e-4 * model.primal_objective_
    assert model.kkt_gap_ <= 1e-6
    assert model.dual_objective_ == pytest.approx(alpha.sum() - norm**2 / 2)


def test_moving_a_row_that_no_margin_leans_on_changes_nothing():
    X, y = blobs(60)
    model = SVC(kernel="linear", tol=1e-8).fit(X, y)
    idle = np.setdiff1d(np.arange(60), model.support_)
    moved = X.copy()
    side = np.where(y == 1, 1, -1)[idle, None]
    moved[idle] += side * model.coef_ * 0.7
    again = SVC(kernel="linear", tol=1e-8).fit(moved, y)
    assert again.coef_ == pytest.approx(model.coef_, abs=1e-5)
    assert np.array_equal(again.support_, model.support_)


def test_one_outlier_turns_a_stiff_line_and_not_a_soft_one():
    heights = np.linspace(-3, 3, 7)
    X = np.vstack([np.stack([np.repeat(x, 7), heights], axis=1) for x in (0.0, 4.0)])
    y = np.repeat([0, 1], 7)
    straight = SVC(C=1.0, kernel="linear").fit(X, y).coef_[0]
    X, y = np.vstack([X, [[4.5, 4.2]]]), np.append(y, 0)
    soft = SVC(C=1.0, kernel="linear").fit(X, y).coef_[0]
    hard = SVC(C=1e6, kernel="linear").fit(X, y).coef_[0]
    assert abs(straight[1] / straight[0]) < 1e-3
    assert abs(soft[1] / soft[0]) < 0.01
    assert abs(hard[1] / hard[0]) > 0.5


# --------------------------------------------------------------------------- several classes


@pytest.mark.parametrize("n_classes", [3, 5])
def test_pairs_are_scikit_learns(n_classes):
    X, y = blobs(150, n_classes, spread=1.5)
    ours, theirs = SVC(tol=1e-7).fit(X, y), svm.SVC(tol=1e-7).fit(X, y)
    assert np.array_equal(ours.support_, theirs.support_)
    assert np.array_equal(ours.n_support_, theirs.n_support_)
    assert ours.dual_coef_ == pytest.approx(theirs.dual_coef_, abs=1e-4)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-5)
    assert np.array_equal(ours.support_vectors_, theirs.support_vectors_)
    assert ours.dual_coef_.shape == theirs.dual_coef_.shape
    assert ours.decision_function(X) == pytest.approx(theirs.decision_function(X), abs=1e-4)
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    pairs = [model.set_params(decision_function_shape="ovo").decision_function(X) for model in (ours, theirs)]
    assert pairs[0] == pytest.approx(pairs[1], abs=1e-4)


def test_ties_are_broken_as_scikit_learn_does():
    X, y = blobs(200, 6, spread=4.0)
    new = np.random.default_rng(1).normal(size=(2000, 3)) * 4
    for break_ties in (False, True):
        ours, theirs = (kind(break_ties=break_ties, tol=1e-6).fit(X, y) for kind in (SVC, svm.SVC))
        assert (ours.predict(new) != theirs.predict(new)).sum() <= 2
    assert (ours.predict(new) != ours.set_params(break_ties=False).predict(new)).any()


def test_one_against_the_rest_is_a_machine_a_class():
    X, y = blobs(90, 3, spread=1.5)
    model = SVC(multi_class="ovr", tol=1e-7).fit(X, y)
    decisions = model.decision_function(X)
    for k in range(3):
        alone = SVC(tol=1e-7, gamma=model._gamma).fit(X, y == k)
        assert decisions[:, k] == pytest.approx(alone.decision_function(X), abs=1e-4)
    assert np.array_equal(model.predict(X), decisions.argmax(axis=1))
    assert model.dual_coef_.shape == (3, len(model.support_))
    assert model.margin_width_.shape == (3,)


def test_margins_of_several_classes_are_nan_where_a_machine_does_not_know_a_row():
    X, y = blobs(30, 3)
    model = SVC(tol=1e-6).fit(X, y)
    margins = model.functional_margin(X, y)
    assert margins.shape == (30, 3)
    assert np.array_equal(np.isnan(margins[:3]), [[0, 0, 1], [0, 1, 0], [1, 0, 0]])
    assert model.functional_margin_ == pytest.approx(margins, abs=1e-5, nan_ok=True)
    assert np.nanmin(model.alpha_) >= 0


def test_linear_weights_are_those_of_the_pairs():
    X, y = blobs(90, 3)
    ours, theirs = (kind(kernel="linear", tol=1e-7).fit(X, y) for kind in (SVC, svm.SVC))
    assert ours.coef_ == pytest.approx(theirs.coef_, abs=1e-5)
    with pytest.raises(AttributeError, match="linear kernel"):
        _ = SVC().fit(X, y).coef_


# --------------------------------------------------------------------------- weights


def test_weights_multiply_c():
    X, y = blobs(60, spread=2.0)
    weight = np.random.default_rng(2).random(60) + 0.2
    ours, theirs = (kind(tol=1e-7, C=2.0).fit(X, y, sample_weight=weight) for kind in (SVC, svm.SVC))
    assert ours.dual_coef_ == pytest.approx(theirs.dual_coef_, abs=1e-4)
    assert (ours.alpha_ <= 2.0 * weight).all()


def test_rows_of_weight_zero_are_absent():
    X, y = blobs(60, 3, spread=2.0)
    weight = np.where(np.arange(60) % 4 == 0, 0.0, 1.0)
    whole = SVC(probability=True, random_state=0).fit(X, y, sample_weight=weight)
    part = SVC(probability=True, random_state=0).fit(X[weight > 0], y[weight > 0])
    assert np.array_equal(whole.predict_proba(X), part.predict_proba(X))
    assert np.array_equal(whole.support_, np.flatnonzero(weight)[part.support_])
    assert np.isnan(whole.slack_[weight == 0]).all()
    assert whole.shape_fit_ == (60, 3)


def test_a_class_without_weight_is_absent():
    X, y = blobs(60, 3)
    assert SVC().fit(X, y, sample_weight=(y != 1) * 1.0).classes_.tolist() == [0, 2]


@pytest.mark.parametrize("class_weight", ["balanced", {0: 3.0}, {1: 0.2, 0: 5.0}])
def test_class_weights_are_scikit_learns(class_weight):
    X, y = blobs(80, spread=3.0)
    y = (np.arange(80) < 15).astype(int)
    ours, theirs = (kind(class_weight=class_weight, tol=1e-7).fit(X, y) for kind in (SVC, svm.SVC))
    assert ours.class_weight_ == pytest.approx(theirs.class_weight_)
    assert ours.dual_coef_ == pytest.approx(theirs.dual_coef_, abs=1e-4)


# --------------------------------------------------------------------------- kernels and input


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid"])
@pytest.mark.parametrize("gamma", ["scale", "auto", 0.3])
def test_kernels_are_scikit_learns(kernel, gamma):
    X, y = blobs(50, spread=2.0)
    ours, theirs = (
        kind(kernel=kernel, gamma=gamma, coef0=0.5, degree=2, tol=1e-6).fit(X, y) for kind in (SVC, svm.SVC)
    )
    assert ours._gamma == pytest.approx(0 if kernel == "linear" else theirs._gamma)
    if kernel != "sigmoid":  # which has several solutions
        assert ours.decision_function(X) == pytest.approx(theirs.decision_function(X), abs=1e-3)


def test_sigma_is_another_word_for_gamma():
    X, y = blobs()
    one, other = SVC(sigma=2.0).fit(X, y), SVC(gamma=0.125).fit(X, y)
    assert np.array_equal(one.decision_function(X), other.decision_function(X))


def test_sparse_and_dense_rows_give_one_machine():
    X, y = blobs(60, 3)
    X[np.abs(X) < 0.7] = 0
    dense, thin = SVC(tol=1e-6).fit(X, y), SVC(tol=1e-6).fit(sparse.csr_matrix(X), y)
    assert sparse.issparse(thin.support_vectors_)
    assert thin.support_vectors_.toarray() == pytest.approx(dense.support_vectors_)
    assert thin.decision_function(X) == pytest.approx(dense.decision_function(X), abs=1e-5)
    assert dense.decision_function(sparse.csc_matrix(X)) == pytest.approx(dense.decision_function(X))


def dots(A, B):
    return A @ B.T


def test_a_function_is_a_kernel():
    X, y = blobs(60, 3)
    ours, named = SVC(kernel=dots, tol=1e-6).fit(X, y), SVC(kernel="linear", tol=1e-6).fit(X, y)
    assert ours.decision_function(X) == pytest.approx(named.decision_function(X), abs=1e-4)
    assert np.array_equal(ours.support_, named.support_)
    assert np.array_equal(pickle.loads(pickle.dumps(ours)).predict(X), ours.predict(X))


def test_a_function_is_asked_for_no_more_rows_than_the_budget_holds():
    X, y = blobs(400)
    most = []

    def kernel(A, B):
        most.append(A.shape[0] * B.shape[0])
        return A @ B.T

    SVC(kernel=kernel, cache_size=0.1, solver="exact").fit(X, y)
    assert max(most) * 8 <= 0.1 * 2**20


def test_a_given_kernel_matrix_is_scikit_learns():
    X, y = blobs(60, 3)
    K, new = X @ X.T, X[:7] @ X.T
    ours, theirs = (kind(kernel="precomputed", tol=1e-7).fit(K, y) for kind in (SVC, svm.SVC))
    assert np.array_equal(ours.support_, theirs.support_)
    assert ours.dual_coef_ == pytest.approx(theirs.dual_coef_, abs=1e-4)
    assert ours.decision_function(new) == pytest.approx(theirs.decision_function(new), abs=1e-4)
    assert ours.support_vectors_.size == 0
    weight = np.arange(60) % 5 > 0
    part = SVC(kernel="precomputed").fit(K, y, sample_weight=weight)
    alone = SVC(kernel="precomputed").fit(K[np.ix_(weight, weight)], y[weight])
    assert np.array_equal(part.decision_function(new), alone.decision_function(new[:, weight]))


def test_labels_of_any_type_come_back():
    X, y = blobs(30, 2)
    for labels in (np.array(["no", "yes"]), np.array([True, False]), np.array([7, -3])):
        model = SVC().fit(X, labels[y])
        assert model.predict(X).dtype == labels.dtype
        assert (model.predict(X) == labels[y]).mean() > 0.8


def test_models_are_cloned_and_pickled():
    X, y = blobs(60, 3)
    model = SVC(C=3.0, probability=True, random_state=1).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert clone(model).get_params() == model.get_params()
    assert not hasattr(clone(model), "support_")


@pytest.mark.parametrize(
    ("model", "name", "way_out"),
    [
        (SVC(), "alpha_", "`dual_coef_` has what is not 0"),
        (SVR(), "alpha_", "`dual_coef_` has what is not 0"),
        (SVC(solver="landmarks", random_state=0), "alpha_", "coefficients of landmarks do not tell it"),
        (SVC(), "total_slack_", r"Add up `slack\(X, y\)`"),
        (SVR(), "total_slack_", r"Add up `slack\(X, y\)`"),
        (SVC(), "slack_", r"Ask `slack\(X, y\)`"),
        (SVC(), "functional_margin_", r"Ask `functional_margin\(X, y\)`"),
        (SVC(), "geometric_margin_", r"Ask `geometric_margin\(X, y\)`"),
    ],
)
def test_what_a_file_does_not_keep_can_be_had_as_the_message_says(tmp_path, model, name, way_out):
    X, y = blobs(60)
    model = clone(model).fit(X, y)
    model.save(tmp_path / "model.weald")
    loaded = load(tmp_path / "model.weald")
    with pytest.raises(AttributeError, match=f"`{name}` speaks of the training rows.*{way_out}"):
        getattr(loaded, name)
    if name == "total_slack_":
        assert loaded.slack(X, y).sum() == pytest.approx(model.total_slack_, abs=1e-3)
    elif name != "alpha_":
        assert getattr(loaded, name[:-1])(X, y) == pytest.approx(getattr(model, name), abs=1e-3)
    elif model.solver_ == "exact":
        alpha = model.alpha_.sum(axis=1) if isinstance(model, SVR) else model.alpha_
        assert np.abs(loaded.dual_coef_[0]) == pytest.approx(alpha[loaded.support_])
        assert np.count_nonzero(alpha) == len(loaded.support_)


def test_the_model_does_not_depend_on_the_number_of_threads():
    X, y = blobs(300, 3, spread=2.0)
    models = [SVC(n_jobs=n, probability=True, random_state=0).fit(X, y) for n in (1, 2, 5)]
    for model in models[1:]:
        assert np.array_equal(model.dual_coef_, models[0].dual_coef_)
        assert np.array_equal(model.predict_proba(X), models[0].predict_proba(X))


@pytest.mark.parametrize("offset", [1e3, 1e6, 1e9])
@pytest.mark.parametrize("kind", [SVC, SVR])
def test_a_linear_machine_is_the_same_for_columns_far_from_zero(kind, offset):
    random = np.random.default_rng(1)
    rows = np.round(random.normal(size=(300, 3)), 3)
    noisy = rows @ [1.0, 2.0, -1.0] + random.normal(size=300)
    target = noisy > 0 if kind is SVC else noisy
    near = kind(kernel="linear", tol=1e-8).fit(rows, target)
    far = kind(kernel="linear", tol=1e-8).fit(rows + offset, target)
    assert far.coef_ == pytest.approx(near.coef_, abs=1e-5)
    ask = "decision_function" if kind is SVC else "predict"
    assert getattr(far, ask)(rows + offset) == pytest.approx(getattr(near, ask)(rows), abs=1e-4)
    assert far.duality_gap_ == pytest.approx(near.duality_gap_, abs=1e-4)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_kernel_values_that_hide_the_gap_are_not_called_converged():
    random = np.random.default_rng(1)
    rows = random.normal(size=(100, 3)) + 1e9
    assert SVC(kernel="poly").fit(rows, rows[:, 0] > 1e9).fit_status_ == 1
