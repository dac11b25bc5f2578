"""What estimators share whose model is one `Forest`: their target, checked parameters, reading tables."""

from __future__ import annotations

from abc import ABCMeta
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from weald.arrays import CategoricalFeatures, TableLike
from weald.data.adapters import categorical_positions
from weald.data.schema import Schema
from weald.data.table import Table
from weald.engine import thread_count
from weald.errors import ParameterError
from weald.estimators.shared.class_weight import Weights
from weald.estimators.shared.contract import CheckedParameters, TableManners
from weald.estimators.shared.saving import Saving
from weald.estimators.shared.tree_shap import TreeShap
from weald.inspection.shap.model import TreeModel, names_of_outputs
from weald.model.forest import Forest
from weald.model.predict import raw_scores
from weald.model.read import read_aligned
from weald.parameters import GrowthOptions


@dataclass(frozen=True, slots=True)
class Target:
    """What a tree learns: numbers or class numbers, one column per output, and the weights of the rows."""

    values: NDArray[Any]  # (n_rows, n_outputs): int32 class numbers or float64
    classes: tuple[NDArray[Any], ...] | None  # the labels of each output; None for numbers
    weight: Weights | None

    @property
    def n_outputs(self) -> int:
        """How many columns the target has."""
        return int(self.values.shape[1])

    @property
    def n_present(self) -> int:
        """How many rows count."""
        return len(self.values) if self.weight is None else int(np.count_nonzero(self.weight))

    @property
    def n_classes(self) -> list[int]:
        """How many labels each output has."""
        return [] if self.classes is None else [len(labels) for labels in self.classes]


class FittedForest(
    TreeShap,
    TableManners,
    CheckedParameters,
    Saving,
    BaseEstimator,  # type: ignore[misc]  # scikit-learn has no types
    metaclass=ABCMeta,
):
    """The shared base of single trees and of forests."""

    _options: ClassVar[type[GrowthOptions]]

    categorical_features: CategoricalFeatures

    forest_: Forest
    schema_: Schema
    n_outputs_: int

    def _read(self, X: TableLike) -> tuple[Table, int]:
        """A new table in the order and codes of the fitted one, and the threads to use on it."""
        check_is_fitted(self)
        options = self._checked_options()
        owner = type(self).__name__
        table = read_aligned(X, self.schema_, declared=options.categorical_features, owner=owner)
        return table, thread_count(options.n_jobs)

    def _check_declared(self, schema: Schema) -> None:
        """Refuse columns, from a file, that are not what `categorical_features` says."""
        for j in categorical_positions(schema.names, self.categorical_features):
            column = schema.columns[j]
            if column.kind != "categorical":
                raise ParameterError(f"`categorical_features` names {column.name!r}, which is {column.kind}.")

    def _raw_scores(self, X: TableLike) -> NDArray[np.float64]:
        """The leaf values of each row: (rows, outputs)."""
        table, n_threads = self._read(X)
        return raw_scores(self.forest_, table, n_threads=n_threads)

    def _shap_model(self) -> TreeModel:
        check_is_fitted(self)
        return TreeModel(
            self.forest_,
            self.schema_,
            read=lambda X: self._read(X)[0],
            n_threads=thread_count(self._checked_options().n_jobs),
            owner=type(self).__name__,
            output_names=names_of_outputs(self._classes_by_output(), self.forest_.n_outputs),
        )

    def _classes_by_output(self) -> tuple[NDArray[Any], ...] | None:
        """The labels of each output; None for numbers."""
        classes = getattr(self, "classes_", None)
        if classes is None:
            return None
        return tuple(classes) if self.n_outputs_ > 1 else (classes,)
