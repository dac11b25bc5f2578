"""Training rows of trees and forests: read, checked and coded, in one way for all of them."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from weald.arrays import MonotoneConstraints, TableLike, TargetLike, WeightLike
from weald.data.adapters import to_table
from weald.data.codes import Codes, encode
from weald.data.schema import Schema
from weald.data.table import Table
from weald.data.target import read_weight
from weald.data.training import learn_columns
from weald.engine import thread_count
from weald.estimators.shared.class_weight import Weights
from weald.estimators.shared.fitted import FittedForest, Target
from weald.estimators.shared.monotone_constraints import check_constrainable, monotone_directions
from weald.estimators.shared.paged import rows_of_store
from weald.parameters import GrowthOptions
from weald.rows.blocks import PagedCodes
from weald.rows.paged import Store
from weald.rows.paged.counters import IoCounters


@dataclass(frozen=True, slots=True)
class Coded:
    """Rows read, checked and coded once, on which any number of trees can grow."""

    options: GrowthOptions
    schema: Schema
    table: Table  # aligned to the schema
    codes: Codes
    target: Target
    weight: Weights | None  # as the user gave them; the target has them times the factors of the classes
    monotone: tuple[int, ...] | None
    n_threads: int

    def spent(self) -> dict[str, IoCounters]:
        """What reading pages has cost, as the fitted attribute; nothing of rows in memory."""
        spent = self.codes.io if isinstance(self.codes, PagedCodes) else None
        return {} if spent is None else {"io_": spent}


class CodedForest(FittedForest):
    """An estimator that grows trees on codes: single trees and forests."""

    monotonic_cst: MonotoneConstraints

    @abstractmethod
    def _read_target(
        self, y: TargetLike | None, n_rows: int, weight: Weights | None, options: GrowthOptions
    ) -> Target:
        """The target as numbers, the classes if it has any, and the weights to train with."""

    def _coded(
        self,
        X: TableLike,
        y: TargetLike | None,
        sample_weight: WeightLike | None,
        schema: Schema | None = None,
    ) -> Coded:
        """All that comes before growing; `schema`: of a model that more trees are to join.

        X may be a store: `opened` gives its columns in place of their names.
        """
        options, owner = self._checked_options(), type(self).__name__
        n_threads = thread_count(options.n_jobs)
        if isinstance(X, Store):
            table = rows_of_store(X)
        else:
            table = to_table(X, categorical_features=options.categorical_features)
        weight = read_weight(sample_weight, n_rows=table.n_rows)
        target = self._read_target(y, table.n_rows, weight, options)
        codes: Codes
        if isinstance(X, Store):
            schema, aligned, codes = X.schema, table, PagedCodes(X)
        else:
            schema, aligned = learn_columns(
                table, target.weight, unknown=options.unknown, owner=owner, schema=schema
            )
            codes = encode(aligned, max_bins=options.max_bins, weight=target.weight, n_threads=n_threads)
        monotone = monotone_directions(options.monotonic_cst, schema, owner)
        if monotone is not None:
            check_constrainable(target.n_classes, target.n_outputs, owner, y)
        if target.n_classes == [1]:
            monotone = None  # the share of the only class neither rises nor falls
        return Coded(options, schema, aligned, codes, target, weight, monotone, n_threads)
