"""What an estimator made of trees hands over to be explained, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from weald.arrays import Floats, TableLike, WeightLike
from weald.data.frames.user_rows import count_rows
from weald.data.schema import Schema
from weald.data.table import Table
from weald.errors import DataError, WealdError
from weald.inspection.shap.trees import Background, no_rows, shap_values
from weald.model.forest import Forest


@dataclass(frozen=True, slots=True)
class TreeExplanation:
    """What columns, or pairs of them, add to the raw scores of rows."""

    values: Floats  # (n_rows, n_outputs, n_columns), of pairs one axis of columns more
    base: Floats  # (n_rows, n_outputs)
    table: Table  # the rows, aligned to the model's schema

    @property
    def shaped(self) -> Floats:
        """The values with outputs last; without them if there is one."""
        if self.values.shape[1] == 1:
            return self.values[:, 0]
        return np.moveaxis(self.values, 1, -1)


@dataclass(frozen=True, slots=True)
class TreeModel:
    """The trees of a fitted estimator: `scale` times their sum are its raw scores.

    Parameters
    ----------
    forest : Forest
        The trees.
    schema : Schema
        The columns.
    read : callable
        Brings a table of the user's into the columns of the model.
    n_threads : int
        Threads.
    owner : str
        The estimator's class, for messages.
    scale : float
        1 over the number of trees where predictions are means.
    trees : (int, int), optional
        The trees that predictions use; None for all.
    start : callable, optional
        Raw scores of rows before the first tree, where another model gives them.
    output_names : tuple of str, optional
        What the outputs are called, where there are several.
    """

    forest: Forest
    schema: Schema
    read: Callable[[TableLike], Table]
    n_threads: int
    owner: str
    scale: float = 1.0
    trees: tuple[int, int] | None = None
    start: Callable[[TableLike], Floats] | None = None
    output_names: tuple[str, ...] | None = None

    def explain(
        self,
        X: TableLike,
        *,
        background: TableLike | None = None,
        background_weight: WeightLike | None = None,
        interactions: bool = False,
        approximate: bool = False,
        verbose: bool | int = False,
    ) -> TreeExplanation:
        """The values of the rows of a table; see `weald.explain`."""
        table = self.read(X)
        against = self._background(background, background_weight)
        values, rest = shap_values(
            self.forest,
            table,
            self.trees,
            background=against,
            interactions=interactions,
            approximate=approximate,
            n_threads=self.n_threads,
            verbose=verbose,
        )
        base = np.tile((self.forest.base_score + rest) * self.scale, (table.n_rows, 1))
        if self.start is not None:
            base += self.start(X)
        if self.scale != 1.0:
            values *= self.scale
        return TreeExplanation(values, base, table)

    def _background(self, given: TableLike | None, weight: WeightLike | None) -> Background | None:
        if given is None:
            if weight is not None:
                raise DataError("background_weight was given without a background. Give both, or neither.")
            return None
        if count_rows(given) == 0:
            raise no_rows()
        with_words = f"The background does not fit this {self.owner}: "
        try:
            table = self.read(given)
        except WealdError as error:
            raise DataError(f"{with_words}{error}") from error
        return Background.of(table, weight)


def names_of_outputs(classes: tuple[object, ...] | None, n_outputs: int) -> tuple[str, ...] | None:
    """What outputs are called: the labels, where there is one for each; their positions otherwise.

    `classes` has the labels of each target; with several of these their number comes first.
    """
    if n_outputs == 1:
        return None
    if classes is None:
        return tuple(map(str, range(n_outputs)))
    lists = [np.asarray(labels).tolist() for labels in classes]
    if sum(map(len, lists)) != n_outputs:
        return tuple(map(str, range(n_outputs)))
    if len(lists) == 1:
        return tuple(map(str, lists[0]))
    return tuple(f"{k}: {label}" for k, labels in enumerate(lists) for label in labels)
