"""`Landmarks`: columns that make a linear machine a kernel machine, in time and memory linear in the rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from weald.arrays import CategoricalFeatures, Floats, RandomState, TableLike, TargetLike
from weald.data.adapters import to_table
from weald.data.matrix.matrix import Matrix
from weald.engine import thread_count
from weald.estimators.shared.contract import CheckedParameters, TableManners
from weald.estimators.shared.growth import drawn_seed
from weald.estimators.shared.saving import Saving
from weald.estimators.shared.state import set_fitted
from weald.estimators.svm.kernel.reading import TableReading, TextReading
from weald.estimators.svm.kernel.training import check_texts, read_columns, tell_spreads
from weald.estimators.svm.landmarks.options import LandmarksOptions
from weald.estimators.svm.landmarks.saving import SavedLandmarks
from weald.svm.kernels.choice import KernelLike, chosen_kernel
from weald.svm.kernels.functions import Kernel, Linear, Spectrum
from weald.svm.kernels.spectrum import SpectrumPlan
from weald.svm.landmarks import LandmarkMap, choose_landmarks, nystroem_map, similarity_map

Reading: TypeAlias = TableReading | TextReading


class Landmarks(
    TableManners,
    CheckedParameters,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]  # scikit-learn has no types
    TransformerMixin,  # type: ignore[misc]
    SavedLandmarks,
    Saving,
    BaseEstimator,  # type: ignore[misc]
):
    """Turn every row into its likeness to a few landmarks, for a linear machine to go on with.

    A kernel machine compares all rows with each other, which past some 50,000 rows takes too long. Landmarks
    stand for the rows: the result has a column for each of them, whatever the number of rows, and a linear
    machine on it (`LinearSVC`, or any other) is a kernel machine in all but name. With all rows as landmarks
    it is the same one. Tables are read as `SVC` reads them.

    Parameters
    ----------
    n_landmarks : int or float, default=100
        How many landmarks, or which share of the rows if a fraction up to 1.0. Of fewer rows all are taken.
    kernel : str, Kernel or function, default="rbf"
        "linear", "poly", "rbf", "sigmoid", "laplacian", "chi2", "intersection", "spectrum" (of texts), a
        kernel of `weald.kernels`, or a function f(X, Z) of two arrays.
    degree : int, default=3
        Of "poly"; of "spectrum" the length of substrings.
    gamma : float, "scale" or "auto", default="scale"
        Above 0; "scale" is 1 / (columns · variance of all numbers), "auto" is 1 / columns.
    coef0 : float, default=0.0
        Of "poly" and "sigmoid".
    sigma : float, default=None
        In place of gamma = 1 / (2 sigma²).
    landmarks : {"k-means++", "random"} or table, default="k-means++"
        How landmarks are chosen: one after another, the further from those before the likelier (in the space
        of the kernel), or any rows alike. A table of rows is taken as it is.
    features : {"nystroem", "similarity"}, default="nystroem"
        "nystroem" gives columns whose inner products are the kernel, as well as the landmarks span it: what a
        linear machine needs. "similarity" gives the kernel values themselves, one column per landmark.
    scale : bool, default=False
        Standardise columns first (divide by the maximum for "chi2" and "intersection").
    unknown : {"missing", "error"}, default="missing"
        What a category that training never saw means.
    categorical_features : names, positions, a mask, "from_dtype" or None, default=None
        Columns to read as categories whatever their type.
    random_state : int or RandomState, default=None
        What the draws start from.
    n_jobs : int, default=None
        Threads; None for every CPU of the process.

    Attributes
    ----------
    components_ : ndarray or scipy.sparse.csr_array of shape (n_landmarks, n_columns of the matrix)
        The landmarks as numbers.
    component_indices_ : ndarray of shape (n_landmarks,), or None
        Which training rows they are; None if they were given.
    kernel_ : Kernel or function
        With its numbers, such as gamma.
    n_features_in_ : int
        Columns of the training table.
    feature_names_in_ : ndarray of str
        Their names, if they had any.

    Examples
    --------
    >>> import numpy as np
    >>> from weald import Landmarks
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> Landmarks(n_landmarks=50, random_state=0).fit_transform(X).shape
    (1000, 50)
    """

    _options = LandmarksOptions
    _mark = "_map_"

    _reading_: Reading
    _map_: LandmarkMap

    def __init__(
        self,
        n_landmarks: int | float = 100,
        *,
        kernel: KernelLike = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        sigma: float | None = None,
        landmarks: str | TableLike = "k-means++",
        features: str = "nystroem",
        scale: bool = False,
        unknown: str = "missing",
        categorical_features: CategoricalFeatures = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_landmarks = n_landmarks
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.sigma = sigma
        self.landmarks = landmarks
        self.features = features
        self.scale = scale
        self.unknown = unknown
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: TableLike, y: TargetLike | None = None) -> Self:
        """Choose the landmarks.

        Parameters
        ----------
        X : table
            A pandas, polars or Arrow frame, a NumPy array, a SciPy sparse matrix or a list of rows; texts for
            the kernel "spectrum". Missing values and categories are welcome.
        y : ignored
            For pipelines.

        Returns
        -------
        self
            The fitted transformer.
        """
        options, owner = self._checked_options(), type(self).__name__
        n_threads = thread_count(options.n_jobs)
        kernel = chosen_kernel(options, owner)
        assert kernel is not None  # a kernel matrix has no rows to choose from
        reading, matrix = _read_training(X, kernel, options, owner)
        if isinstance(kernel, Spectrum):
            kernel = Linear()
        if isinstance(kernel, Kernel):
            kernel = kernel.resolved(matrix)
        landmarks, rows = self._landmarks(reading, matrix, kernel, options, n_threads)
        if options.features == "nystroem":
            found = nystroem_map(kernel, landmarks, n_threads=n_threads)
        else:
            found = similarity_map(kernel, landmarks)
        self._set_fitted(reading, found, rows)
        return self

    def _landmarks(
        self,
        reading: Reading,
        matrix: Matrix,
        kernel: Kernel | Callable[..., Any],
        options: LandmarksOptions,
        n_threads: int,
    ) -> tuple[Matrix, NDArray[np.int64] | None]:
        """The landmarks and the rows they are; None if they were given."""
        if not isinstance(options.landmarks, str):
            return reading.read(options.landmarks, type(self).__name__), None
        wanted = options.n_landmarks
        n_landmarks = wanted if isinstance(wanted, int) else math.ceil(wanted * matrix.n_rows)
        rows = choose_landmarks(
            kernel,
            matrix,
            n_landmarks,
            method=options.landmarks,  # type: ignore[arg-type]  # one of two words
            seed=drawn_seed(options.random_state),
            n_threads=n_threads,
        )
        return matrix.take(rows), rows

    def transform(self, X: TableLike) -> Floats:
        """The columns that the landmarks give to rows.

        Kernel values are worked out block by block: beside the result, memory does not grow with the rows.

        Parameters
        ----------
        X : table
            As in `fit`.

        Returns
        -------
        ndarray of shape (n_rows, n_features)
            One column per landmark; with features="nystroem" fewer, if landmarks repeat each other.
        """
        check_is_fitted(self)
        options = self._checked_options()
        matrix = self._reading_.read(X, type(self).__name__)
        return self._map_.apply(matrix, n_threads=thread_count(options.n_jobs))

    def _set_fitted(self, reading: Reading, found: LandmarkMap, rows: NDArray[np.int64] | None) -> None:
        """Assign everything a fit (or a model file) brings, at once."""
        learned: dict[str, Any] = {
            "_reading_": reading,
            "_map_": found,
            "components_": found.landmarks.values,
            "component_indices_": rows,
            "kernel_": reading.plan.kernel if isinstance(reading, TextReading) else found.kernel,
        }
        set_fitted(self, learned, schema=reading.schema)

    @property
    def _n_features_out(self) -> int:
        """How many columns `transform` gives, for scikit-learn's names of them."""
        return self._map_.n_features


def _read_training(
    X: TableLike, kernel: Kernel | Callable[..., Any], options: LandmarksOptions, owner: str
) -> tuple[Reading, Matrix]:
    """How tables are read from now on, and the matrix of this one."""
    if isinstance(kernel, Spectrum):
        texts = SpectrumPlan.of(X, kernel)
        check_texts(texts)
        return TextReading(texts), texts.read(X, owner)
    table = to_table(X, categorical_features=options.categorical_features)
    reading, matrix = read_columns(table, kernel, None, options, owner)
    tell_spreads(reading.plan.hint(), kernel, owner)
    return reading, matrix
