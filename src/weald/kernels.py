"""Kernels for `SVC`, `SVR`, `Landmarks` and `check_mercer`: `from weald.kernels import RBF, Polynomial`.

They add and multiply (`RBF(gamma=0.1) + 2.0 * Linear()`, `Polynomial() ** 2`) and run as functions.
"""

from weald.svm.kernels.functions import (
    RBF,
    ChiSquared,
    Constant,
    Intersection,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Product,
    Scaled,
    Sigmoid,
    Spectrum,
    Sum,
)

__all__ = [
    "RBF",
    "ChiSquared",
    "Constant",
    "Intersection",
    "Kernel",
    "Laplacian",
    "Linear",
    "Polynomial",
    "Product",
    "Scaled",
    "Sigmoid",
    "Spectrum",
    "Sum",
]
