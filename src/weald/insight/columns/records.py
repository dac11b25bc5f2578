"""What `importance` gives back."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.insight.frames import Frame, frame_in, shown_name, shown_names
from weald.inspection.importance import ColumnImportances

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: what an importance is, by method
_MEANS = {
    "permutation": "{change} of {metric} when permuted",
    "conditional": "{change} of {metric} when permuted among rows alike",
    "oob": "{change} of {metric} out of bag when permuted",
    "shap": "mean |SHAP value|",
    "gain": "share of the gains",
    "cover": "share of the cover of splits",
    "count": "number of splits",
}
#: rows of the text
_SHOWN = 20


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Importance(ColumnImportances):
    """How much columns, or groups of columns, matter to a model: the most important first.

    Attributes
    ----------
    names : tuple
        The columns or groups.
    importances_mean : ndarray of shape (n_names,)
        The importances.
    importances_se : ndarray of shape (n_names,)
        Their standard errors: over rows and permutations, over rows (SHAP), over trees (out of bag; gain,
        cover and count of forests and bags). NaN where there is none.
    importances_repeat_se : ndarray of shape (n_names,) or None
        The part of the permutations alone, which more repeats make smaller.
    importances : ndarray of shape (n_names, n_repeats) or None
        Of every permutation.
    method : str
        How they were found.
    metric : str or None
        What permuting lowers.
    score : float or None
        The metric on the rows as they are.
    n_rows : int or None
        How many rows were looked at.
    less_is_better : bool
        Whether the metric is a loss, which permuting makes rise.
    """

    method: str
    importances_repeat_se: Floats | None = None
    importances: Floats | None = None
    metric: str | None = None
    score: float | None = None
    n_rows: int | None = None
    less_is_better: bool = False
    frame_library: str | None = None

    @property
    def meaning(self) -> str:
        """What the importances are, in words."""
        return _MEANS[self.method].format(
            change="rise" if self.less_is_better else "drop", metric=self.metric
        )

    def __len__(self) -> int:
        """How many columns or groups there are."""
        return len(self.names)

    def to_frame(self, library: str | None = None) -> Frame:
        """The importances as a frame, a row per column or group, the most important first.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow", "dict"}, default=None
            The library; None for that of the table, or else one that is installed.

        Returns
        -------
        frame
            With the columns "column", "importance", "standard_error" and, of permutations,
            "repeat_error".
        """
        columns: dict[str, Any] = {
            "column": shown_names(self.names),
            "importance": self.importances_mean.tolist(),
            "standard_error": self.importances_se.tolist(),
        }
        if self.importances_repeat_se is not None:
            columns["repeat_error"] = self.importances_repeat_se.tolist()
        return frame_in(columns, library, self.frame_library)

    def plot(self, ax: Axes | None = None, *, max_columns: int = 20) -> Axes:
        """Bars, the most important at the top, with a line of one standard error to either side.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None for a new figure.
        max_columns : int, default=20
            The most bars; how many are left out is said.

        Returns
        -------
        matplotlib axes
            Those that were drawn into.
        """
        from weald.pictures.columns.importance_bars import draw_bars

        return draw_bars(
            [shown_name(name) for name in self.names],
            self.importances_mean,
            self.importances_se,
            self.meaning,
            ax=ax,
            most=max_columns,
        )

    def __repr__(self) -> str:
        names = [shown_name(name) for name in self.names[:_SHOWN]]
        width = max(map(len, names), default=0)
        rows = "" if self.n_rows is None else f", {self.n_rows:,} rows"
        score = "" if self.score is None else f", {self.metric} {self.score:.4g}"
        lines = [f"Importance by {self.method}: {self.meaning}{rows}{score}"]
        for k, name in enumerate(names):
            error = self.importances_se[k]
            told = "" if np.isnan(error) else f" ± {error:.2g}"
            lines.append(f"  {name:<{width}}  {self.importances_mean[k]: .4g}{told}")
        if len(self) > _SHOWN:
            lines.append(f"  … and {len(self) - _SHOWN} more")
        return "\n".join(lines)


def sorted_importance(
    names: Sequence[Hashable], mean: Floats, error: Floats, method: str, **rest: Any
) -> Importance:
    """The record, its columns by falling importance; of equal ones in their order."""
    order: NDArray[np.intp] = np.argsort(-np.nan_to_num(mean, nan=-np.inf), kind="stable")
    for name in ("importances_repeat_se", "importances"):
        if rest.get(name) is not None:
            rest[name] = rest[name][order]
    return Importance(tuple(names[k] for k in order.tolist()), mean[order], error[order], method, **rest)
