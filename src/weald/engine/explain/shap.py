"""SHAP values of a forest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald import _core
from weald.engine.columns import NativeColumns
from weald.engine.predict import PREDICTED_ARRAYS, walked

_NO_WEIGHTS = np.zeros(0)


class Explainer:
    """A forest laid out for explanations; several threads may use it at once.

    `arrays` holds at least PREDICTED_ARRAYS and the covers. A range of trees is [first, last).
    """

    def __init__(self, arrays: dict[str, NDArray[Any]], n_columns: int, width: int) -> None:
        kept = {name: np.ascontiguousarray(arrays[name]) for name in (*PREDICTED_ARRAYS, "cover")}
        for name in ("missing_left", "set_left"):
            kept[name] = kept[name].view(np.uint8)
        self._native = _core.make_explainer(kept, n_columns, width)

    def expected(self, trees: tuple[int, int]) -> NDArray[np.float64]:
        """What the trees predict in the mean, by their covers: (n_outputs,)."""
        return self._native.expected(*trees)

    def explain(
        self,
        rows: NativeColumns,
        out: NDArray[np.float64],
        trees: tuple[int, int],
        *,
        background: NativeColumns | None = None,
        weight: NDArray[np.float64] | None = None,
        n_threads: int,
        tell: Callable[[int], None] | None = None,
    ) -> None:
        """Add values to `out`, (n_rows, n_outputs, n_columns), or interactions if that has one axis more.

        `weight` has the share of each background row. `tell` hears of the rows times trees that are done.
        """
        against = None if background is None else walked(background)
        shares = _NO_WEIGHTS if weight is None else weight
        self._native.explain(walked(rows), len(out), against, shares, *trees, out, n_threads, tell)

    def approximate(
        self,
        rows: NativeColumns,
        out: NDArray[np.float64],
        trees: tuple[int, int],
        *,
        n_threads: int,
        tell: Callable[[int], None] | None = None,
    ) -> None:
        """Add what the means of the nodes change by along each row's paths."""
        self._native.approximate(walked(rows), len(out), *trees, out, n_threads, tell)
