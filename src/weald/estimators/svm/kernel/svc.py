"""`SVC`: support vector machines that classify, under scikit-learn's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from weald.arrays import CategoricalFeatures, ClassWeight, Floats, RandomState, TableLike, TargetLike
from weald.data.target import restore_labels
from weald.errors import ParameterError
from weald.estimators.shared.growth import drawn_seed
from weald.estimators.svm.kernel.base import BaseKernelMachine
from weald.estimators.svm.kernel.options import MachineOptions, SVCOptions
from weald.estimators.svm.kernel.svc_margins import ClassMargins
from weald.estimators.svm.kernel.svc_probabilities import ClassProbabilities
from weald.estimators.svm.kernel.training import MachineTarget
from weald.estimators.svm.kernel.work import Work
from weald.estimators.svm.targets import class_target
from weald.svm.binary_tasks import CoefficientLayout, class_tasks, layout_of
from weald.svm.calibration import Calibrator
from weald.svm.held_out import calibrators, fold_count
from weald.svm.kernels.choice import KernelLike
from weald.svm.machines import BinaryTask
from weald.svm.votes import most_votes, pairs, scores_by_class


class SVC(ClassMargins, ClassProbabilities, ClassifierMixin, BaseKernelMachine):  # type: ignore[misc]  # scikit-learn has no types
    """Support vector machines that classify: the boundary with the widest margin.

    Exact machines by a solver of our own, to LIBSVM's tolerance; of several classes a machine for each pair
    (votes as in LIBSVM), or for each class against the rest, all on one cache of kernel values. Any table:
    categories become 0/1 columns, missing values the median of their column.

    Parameters
    ----------
    C : float, default=1.0
        What a row on the wrong side of its margin costs, times how far. Small values widen the margin; inf
        allows no such row: a hard margin.
    kernel : str, kernel of `weald.kernels` or callable, default="rbf"
        What compares two rows: "linear", "poly", "rbf", "sigmoid", "laplacian", "chi2", "intersection",
        "spectrum" (of texts), "precomputed" (the table holds kernel values), a kernel object such as
        `weald.kernels.RBF(sigma=2.0) + weald.kernels.Linear()`, or a function f(X, Z) of two float64 arrays
        (sparse ones if the table is, arrays of str if it is a list of texts) that gives an array of shape
        (n_rows of X, n_rows of Z); it is asked for
        some rows at a time.
    degree : int, default=3
        The degree of "poly", and the length of the substrings of "spectrum".
    gamma : {"scale", "auto"} or float, default="scale"
        The steepness of "poly", "rbf", "sigmoid", "laplacian" and "chi2": "scale" is 1 / (columns · variance
        of all values), "auto" 1 / columns; both are 1 for "chi2".
    coef0 : float, default=0.0
        What "poly" and "sigmoid" add to the inner product.
    sigma : float, default=None
        Another way to say `gamma`: gamma = 1 / (2 sigma²), the width of the Gaussian.
    shrinking : bool, default=True
        Whether rows that are surely done are set aside for a while. It shapes nothing but the time.
    probability : bool or {"sigmoid", "isotonic"}, default=False
        Whether to learn probabilities: machines of five folds tell decision values of held-out rows, and a
        sigmoid (True) or a rising step function of these gives probabilities that agree with `predict`. Rows
        count by their weights, class weights included.
    tol : float, default=1e-3
        By how much the optimality conditions may be violated at the end, as in LIBSVM.
    cache_size : float, default=1000
        The memory for kernel values, in MB. The kernel matrix is never held beyond it. With solver="auto" a
        small one can change the model: see `solver`.
    class_weight : dict or "balanced", default=None
        Factors of `C` by label. "balanced": rows / (classes · rows of the class).
    verbose : int, default=0
        1 for a progress bar with the gap.
    max_iter : int, default=-1
        The most updates of a machine; -1 for no limit. Stopping there warns, and the model can be used.
    max_time : float, default=None
        The most seconds that all machines together may take; as `max_iter`.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Whether `decision_function` gives one score per class or one value per pair.
    break_ties : bool, default=False
        Whether classes with equally many votes are told apart by their scores; else the first wins.
    multi_class : {"ovo", "ovr"}, default="ovo"
        A machine for each pair of classes, or for each class against all others.
    solver : {"auto", "exact", "landmarks"}, default="auto"
        "exact" compares rows with rows; "landmarks" lets some rows stand for all, for large tables. "auto":
        exact up to 50,000 rows, as long as `cache_size` holds 1,024 rows of the kernel matrix (or all, if
        they are fewer) at 4 bytes per value; beyond that landmarks, or, if the kernel is linear, the same
        machine by its columns. Hard margins and precomputed kernels are always exact. What was decided and
        why: `solver_`, `solver_reason_`.
    n_landmarks : int, default=None
        How many landmarks; None for 5 % of the rows, from 100 to 2,000 and within `cache_size`.
    scale : bool, default=False
        Whether columns are standardised inside the model (divided by their maximum for "chi2" and
        "intersection", not centred if sparse). Without it, columns in large units outweigh others.
    unknown : {"missing", "error"}, default="missing"
        What to do at predict with categories that training did not see.
    categorical_features : list of names, positions or bools, default=None
        Numeric columns to treat as categories; None (or "from_dtype") to go by the columns' types.
    random_state : int or RandomState, default=None
        What draws the folds of `probability` and the landmarks. None draws anew every time.
    n_jobs : int, default=None
        Threads; None for every CPU of the process, -1 for the same, -2 for all but one. The model does not
        depend on it.

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted.
    support_ : ndarray of shape (n_support,)
        The numbers of the support rows in the training table, class by class.
    support_vectors_ : ndarray or scipy.sparse.csr_array of shape (n_support, n_matrix_columns)
        The support rows as the kernel sees them: expanded, filled and scaled. With solver_="landmarks" these
        are the landmarks.
    n_support_ : ndarray
        How many support rows each class has.
    dual_coef_ : ndarray, or scipy.sparse.csr_array where `support_vectors_` is sparse
        The coefficients of the support rows, α times ±1: (1, n_support) of two classes, (n_classes - 1,
        n_support) of more, laid out as scikit-learn's; (n_machines, n_support) with multi_class="ovr" or
        landmarks.
    intercept_ : ndarray of shape (n_machines,)
        The intercepts; those of pairs of classes in the order (0, 1), (0, 2), …, (1, 2), …
    coef_ : ndarray of shape (n_machines, n_matrix_columns)
        The weights of the columns; only of a linear kernel.
    column_names_ : tuple
        What the columns of `coef_` and `support_vectors_` are, such as 'colour=red'; substrings if the kernel
        is "spectrum". Not there if it is "precomputed".
    class_weight_ : ndarray
        The factors of `C` by class.
    alpha_, slack_, functional_margin_, geometric_margin_ : ndarray
        Of every training row: α, ξ, y f(x) and y f(x) / ‖w‖. (n_rows,), of more than two classes (n_rows,
        n_machines) with NaN where a row takes no part. The methods `slack`, `functional_margin` and
        `geometric_margin` tell them of any rows. Model files keep neither these nor `total_slack_`.
    margin_width_, primal_objective_, dual_objective_, duality_gap_, kkt_gap_, total_slack_ : float or ndarray
        2 / ‖w‖, ½‖w‖² + Σ C ξ, the dual objective, their difference, the worst violation of the optimality
        conditions, Σ ξ; one per machine if there are several.
    n_iter_ : ndarray of shape (n_machines,)
        Updates of each machine.
    fit_status_ : int
        0 if every machine converged, else 1.
    kernel_ : kernel
        The kernel with all its numbers.
    solver_, solver_reason_ : str
        What `solver` came to, and why.
    shape_fit_ : tuple
        Rows and columns of the training table.
    n_features_in_ : int
        How many columns the table had.
    feature_names_in_ : ndarray
        Their names; only if all of them are text.

    Examples
    --------
    >>> from weald import SVC
    >>> X = [[0, 0], [1, 1], [4, 4], [5, 5]]
    >>> model = SVC(kernel="linear", C=float("inf")).fit(X, ["low", "low", "high", "high"])
    >>> model.predict([[2, 2], [3, 3]])
    array(['low', 'high'], dtype='<U4')
    >>> round(model.margin_width_, 3), model.support_.tolist()
    (4.243, [2, 1])
    """

    _options = SVCOptions

    def __init__(
        self,
        C: float = 1.0,
        kernel: KernelLike = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        *,
        sigma: float | None = None,
        shrinking: bool = True,
        probability: bool | str = False,
        tol: float = 1e-3,
        cache_size: float = 1000,
        class_weight: ClassWeight = None,
        verbose: int | bool = 0,
        max_iter: int = -1,
        max_time: float | None = None,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        multi_class: str = "ovo",
        solver: str = "auto",
        n_landmarks: int | None = None,
        scale: bool = False,
        unknown: str = "missing",
        categorical_features: CategoricalFeatures = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.sigma = sigma
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.max_time = max_time
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.multi_class = multi_class
        self.solver = solver
        self.n_landmarks = n_landmarks
        self.scale = scale
        self.unknown = unknown
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs

    # ------------------------------------------------------------------ what fit asks

    def _read_target(
        self, y: TargetLike | None, n_rows: int, weight: Floats | None, options: MachineOptions
    ) -> MachineTarget:
        """Labels as class numbers, and the C of each row."""
        options = cast(SVCOptions, options)
        return class_target(y, n_rows, weight, options, type(self).__name__)

    def _tasks(
        self, target: MachineTarget, options: MachineOptions
    ) -> tuple[Sequence[BinaryTask], CoefficientLayout]:
        """A machine for two classes; of more, one per pair or one per class."""
        options = cast(SVCOptions, options)
        self._check_shape()
        asked = class_tasks(target.values, target.n_classes, target.upper, options.multi_class)
        return asked, layout_of(target.n_classes, options.multi_class)

    def _check_shape(self) -> None:
        """Refuse combinations that contradict each other."""
        owner = type(self).__name__
        if self.decision_function_shape == "ovo" and self.multi_class == "ovr":
            raise ParameterError(
                f"decision_function_shape='ovo' of {owner} asks for a value per pair of classes, and "
                "multi_class='ovr' trains a machine per class. Use 'ovr' for both, or 'ovo'."
            )

    def _check_ties(self) -> None:
        """Refuse to break ties by scores of classes where there are none."""
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ParameterError(
                f"break_ties must be False when decision_function_shape is 'ovo': {type(self).__name__} "
                "breaks ties by scores of classes, which are those of decision_function_shape='ovr'."
            )

    def _one_against_rest(self) -> bool:
        """Whether several machines are one per class."""
        return self.multi_class == "ovr"

    def _words(self, machine: int, target: MachineTarget) -> str:
        """The classes of a machine."""
        assert target.classes is not None
        names, n_classes = target.classes.tolist(), target.n_classes
        if n_classes > 2 and self.multi_class == "ovr":
            return f"the label {names[machine]!r} and all others"
        i, j = pairs(n_classes)[machine]
        return f"the labels {names[i]!r} and {names[j]!r}"

    def _n_folds(self, target: MachineTarget, options: MachineOptions) -> int:
        """As many as rows are held out in."""
        options = cast(SVCOptions, options)
        if not options.probability:
            return 0
        assert target.classes is not None
        return fold_count(target.values, target.classes, type(self).__name__)

    def _calibrators(
        self, work: Work, target: MachineTarget, options: MachineOptions
    ) -> tuple[Calibrator, ...] | None:
        """A curve per machine, if probabilities are asked for."""
        options = cast(SVCOptions, options)
        if not options.probability:
            return None
        return calibrators(
            target.values,
            target.n_classes,
            target.upper,
            target.weight,
            multi_class=options.multi_class,
            method="isotonic" if options.probability == "isotonic" else "sigmoid",
            n_folds=self._n_folds(target, options),
            seed=drawn_seed(options.random_state),
            solve=work.solve,
            values_at=work.trainer.values_at,
        )

    # ------------------------------------------------------------------ predictions

    @property
    def n_iter_(self) -> NDArray[np.int64]:
        """How many updates each machine took."""
        return self._fitted.facts.n_iter

    def _labels(self, decisions: Floats) -> NDArray[np.intp]:
        """The class number of each row."""
        n_classes = len(self.classes_)
        if n_classes == 2:
            return (decisions[:, 0] >= 0).astype(np.intp)
        if self._fitted.one_against_rest:
            return np.argmax(decisions, axis=1)  # type: ignore[no-any-return]
        if self.break_ties:
            return np.argmax(scores_by_class(decisions, n_classes), axis=1)  # type: ignore[no-any-return]
        return most_votes(decisions, n_classes)

    def predict(self, X: TableLike) -> NDArray[Any]:
        """The label of each row.

        Of more than two classes the one with the most votes; of equally many the first in `classes_`, or,
        with `break_ties`, the one with the highest score. With probabilities it is the likeliest class too.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels of the type that `fit` was given.
        """
        check_is_fitted(self)
        self._check_ties()
        return restore_labels(self.classes_, self._labels(self._decisions(X)))

    def decision_function(self, X: TableLike) -> Floats:
        """How far each row lies from the boundaries.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.

        Returns
        -------
        ndarray of shape (n_rows,), (n_rows, n_classes) or (n_rows, n_pairs)
            Of two classes one value, above 0 for the second. Of more one per class (votes of the pairs and
            within equal votes their sums, or with multi_class="ovr" the values of the machines), or with
            decision_function_shape="ovo" one per pair, above 0 for the first of the two.
        """
        check_is_fitted(self)
        decisions, n_classes = self._decisions(X), len(self.classes_)
        if n_classes == 2:
            return decisions[:, 0]
        if self.decision_function_shape == "ovr" and not self._fitted.one_against_rest:
            return scores_by_class(decisions, n_classes)
        return decisions
