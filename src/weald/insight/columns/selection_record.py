"""What `select_columns` gives back."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats, TableLike
from weald.data.frames.user_rows import indexable, outline, take
from weald.errors import DataError, listing
from weald.insight.frames import Frame, frame_in, shown_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True, eq=False)
class SelectionStep:
    """A set of columns on the way of a selection.

    Attributes
    ----------
    columns : tuple of int
        Positions of the columns.
    score : float
        Of a model that was fitted on them; more is better, so that a loss has its sign turned.
    standard_error : float
        Of the score.
    importances : dict
        Of each column or group that was there.
    dropped : tuple
        What was left out after this step.
    """

    columns: tuple[int, ...]
    score: float
    standard_error: float
    importances: Mapping[Hashable, float]
    dropped: tuple[Hashable, ...]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ColumnSelection:
    """The way from all columns to the fewest, and where to stop.

    Attributes
    ----------
    names : tuple
        All columns.
    path : tuple of SelectionStep
        From all columns to the fewest.
    rule : {"one_se", "best"}
        How the step was chosen.
    by : {"oob", "held_out", "cv"}
        What judged.
    metric : str
        Of the scores.
    """

    names: tuple[Hashable, ...]
    path: tuple[SelectionStep, ...]
    rule: str
    by: str
    metric: str
    frame_library: str | None = None

    @property
    def scores(self) -> Floats:
        """The score of each step."""
        return np.array([step.score for step in self.path])

    @property
    def best(self) -> int:
        """The step with the best score; of equals that with the fewest columns."""
        scores = self.scores
        return int(np.flatnonzero(scores == np.nanmax(scores))[-1])

    @property
    def chosen(self) -> int:
        """The step that the rule chooses: equation I6 of docs/methods/importance.md."""
        if self.rule == "best":
            return self.best
        error = self.path[self.best].standard_error
        enough = self.path[self.best].score - (0.0 if np.isnan(error) else error)
        return int(np.flatnonzero(self.scores >= enough)[-1])

    @property
    def support(self) -> NDArray[np.bool_]:
        """Whether each column is chosen."""
        mask = np.zeros(len(self.names), np.bool_)
        mask[list(self.path[self.chosen].columns)] = True
        return mask

    @property
    def columns(self) -> tuple[Hashable, ...]:
        """The chosen columns, in the order of the table."""
        return tuple(self.names[j] for j in self.path[self.chosen].columns)

    def take(self, X: TableLike) -> TableLike:
        """The chosen columns of a table, as a table of its kind."""
        table = indexable(X)
        given = list(outline(table).names)
        absent = [name for name in self.columns if name not in given]
        if absent:
            raise DataError(f"X lacks the chosen columns {listing(absent)}.")
        return take(table, None, [given.index(name) for name in self.columns])  # type: ignore[no-any-return]

    def to_frame(self, library: str | None = None) -> Frame:
        """The steps as a frame, from all columns to the fewest.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow", "dict"}, default=None
            The library; None for that of the table, or else one that is installed.

        Returns
        -------
        frame
            With the columns "n_columns", "score", "standard_error", "dropped" (after the step) and "chosen".
        """
        steps = self.path
        columns: dict[str, list[object]] = {
            "n_columns": [len(step.columns) for step in steps],
            "score": [step.score for step in steps],
            "standard_error": [step.standard_error for step in steps],
            "dropped": ["; ".join(map(shown_name, step.dropped)) for step in steps],
            "chosen": [k == self.chosen for k in range(len(steps))],
        }
        return frame_in(columns, library, self.frame_library)

    def plot(self, ax: Axes | None = None) -> Axes:
        """The score of each step with a line of one standard error to either side, and the chosen step.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None for a new figure.

        Returns
        -------
        matplotlib axes
            Those that were drawn into.
        """
        from weald.pictures.columns.selection_path import draw_path

        errors = np.array([step.standard_error for step in self.path])
        counts = np.array([len(step.columns) for step in self.path])
        return draw_path(counts, self.scores, errors, self.best, self.chosen, self.metric, self.rule, ax=ax)

    def __repr__(self) -> str:
        step, best = self.path[self.chosen], self.path[self.best]
        lines = [
            f"{len(step.columns)} of {len(self.names)} columns by {self.by}: {self.metric} {step.score:.4g} "
            f"± {step.standard_error:.2g}; best {best.score:.4g} with {len(best.columns)}",
            f"  kept: {', '.join(map(shown_name, self.columns))}",
        ]
        return "\n".join(lines)
