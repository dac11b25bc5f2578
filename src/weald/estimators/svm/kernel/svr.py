"""`SVR`: support vector machines that predict numbers, under scikit-learn's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from sklearn.base import RegressorMixin

from weald.arrays import CategoricalFeatures, Floats, RandomState, TargetLike
from weald.estimators.svm.kernel.base import BaseKernelMachine
from weald.estimators.svm.kernel.options import MachineOptions, SVROptions
from weald.estimators.svm.kernel.training import MachineTarget
from weald.estimators.svm.margins import TubeAnswers
from weald.estimators.svm.targets import number_target
from weald.svm.binary_tasks import CoefficientLayout
from weald.svm.kernels.choice import KernelLike
from weald.svm.machines import BinaryTask


class SVR(TubeAnswers, RegressorMixin, BaseKernelMachine):  # type: ignore[misc]  # scikit-learn has no types
    """Support vector machines that predict numbers: errors within a tube cost nothing.

    The flattest function whose errors beyond `epsilon` cost little: min ½‖w‖² + C Σ max(0, |y - f(x)| - ε).
    Exact machines by a solver of our own, to LIBSVM's tolerance. Any table: categories become 0/1 columns,
    missing values the median of their column.

    Parameters
    ----------
    C : float, default=1.0
        What a row outside the tube costs, times how far; inf allows no such row.
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
    epsilon : float, default=0.1
        Half the width of the tube, in units of y.
    sigma : float, default=None
        Another way to say `gamma`: gamma = 1 / (2 sigma²), the width of the Gaussian.
    shrinking : bool, default=True
        Whether rows that are surely done are set aside for a while. It shapes nothing but the time.
    tol : float, default=1e-3
        By how much the optimality conditions may be violated at the end, as in LIBSVM.
    cache_size : float, default=1000
        The memory for kernel values, in MB. The kernel matrix is never held beyond it. With solver="auto" a
        small one can change the model: see `solver`.
    verbose : int, default=0
        1 for a progress bar with the gap.
    max_iter : int, default=-1
        The most updates of a machine; -1 for no limit. Stopping there warns, and the model can be used.
    max_time : float, default=None
        The most seconds that all machines together may take; as `max_iter`.
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
        What draws the landmarks. None draws anew every time.
    n_jobs : int, default=None
        Threads; None for every CPU of the process, -1 for the same, -2 for all but one. The model does not
        depend on it.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        The numbers of the support rows in the training table, class by class.
    support_vectors_ : ndarray or scipy.sparse.csr_array of shape (n_support, n_matrix_columns)
        The support rows as the kernel sees them: expanded, filled and scaled. With solver_="landmarks" these
        are the landmarks.
    n_support_ : ndarray of shape (1,)
        How many support rows there are.
    dual_coef_ : ndarray of shape (1, n_support), or csr_array where `support_vectors_` is sparse
        The coefficients of the support rows, α - α*.
    intercept_ : ndarray of shape (1,)
        The intercept.
    coef_ : ndarray of shape (1, n_matrix_columns)
        The weights of the columns; only of a linear kernel.
    column_names_ : tuple
        What the columns of `coef_` and `support_vectors_` are, such as 'colour=red'; substrings if the kernel
        is "spectrum". Not there if it is "precomputed".
    alpha_ : ndarray of shape (n_rows, 2)
        α and α* of every training row: above the tube, below it.
    slack_ : ndarray of shape (n_rows,)
        ξ of every training row: how far it lies outside the tube; `slack` tells it of any rows.
    margin_width_, primal_objective_, dual_objective_, duality_gap_, kkt_gap_, total_slack_ : float
        2 / ‖w‖, ½‖w‖² + Σ C ξ, the dual objective, their difference, the worst violation of the optimality
        conditions, Σ ξ. Model files keep neither `total_slack_` nor `alpha_` and `slack_`.
    n_iter_ : int
        Updates of the solver.
    fit_status_ : int
        0 if it converged, else 1.
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
    >>> from weald import SVR
    >>> model = SVR(kernel="linear", C=100.0, epsilon=0.5).fit([[0], [1], [2], [3]], [0.0, 2.0, 4.0, 6.0])
    >>> model.predict([[4]]).round(2)
    array([7.17])
    """

    _options = SVROptions

    def __init__(
        self,
        C: float = 1.0,
        kernel: KernelLike = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        *,
        epsilon: float = 0.1,
        sigma: float | None = None,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 1000,
        verbose: int | bool = 0,
        max_iter: int = -1,
        max_time: float | None = None,
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
        self.epsilon = epsilon
        self.sigma = sigma
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.max_time = max_time
        self.solver = solver
        self.n_landmarks = n_landmarks
        self.scale = scale
        self.unknown = unknown
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _read_target(
        self, y: TargetLike | None, n_rows: int, weight: Floats | None, options: MachineOptions
    ) -> MachineTarget:
        """Numbers, and the C of each row."""
        options = cast(SVROptions, options)
        return number_target(y, n_rows, weight, options, type(self).__name__)

    def _tasks(
        self, target: MachineTarget, options: MachineOptions
    ) -> tuple[Sequence[BinaryTask], CoefficientLayout]:
        """One machine."""
        options = cast(SVROptions, options)
        rows = np.arange(len(target.values), dtype=np.int32)
        return [BinaryTask(rows, target.values, target.upper, options.epsilon)], "lines"

    def _words(self, machine: int, target: MachineTarget) -> str:
        """What it learns."""
        edges = f"the upper and lower edges of a tube of ±{self.epsilon:g} around the rows"
        return f"{edges} (a larger epsilon moves them apart)"

    @property
    def n_iter_(self) -> int:
        """How many updates the solver took."""
        return int(self._fitted.facts.n_iter[0])

    @property
    def alpha_(self) -> Floats:
        """The dual variables α and α* of every training row, (n_rows, 2): above the tube, below it."""
        found = self._by_row("alpha_", lambda machine: machine.coefficients)
        return np.stack([np.maximum(found, 0), np.maximum(-found, 0)], axis=1)
