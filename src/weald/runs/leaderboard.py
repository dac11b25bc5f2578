"""`Leaderboard`: what a comparison of methods found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from weald.errors import listing


@dataclass(frozen=True, slots=True)
class Place:
    """How one method did."""

    method: str
    estimator: str
    score: float
    low: float
    high: float
    fold_scores: tuple[float, ...]
    #: that the best one scores no higher on other rows; None for the best one
    p_value: float | None
    fit_seconds: float
    predict_seconds: float
    model_bytes: int | None


@dataclass(frozen=True)
class Leaderboard:
    """Methods from the best score down; `failed` names those that could not be trained, and why."""

    metric: str
    n_rows: int
    n_folds: int
    places: tuple[Place, ...]
    failed: Mapping[str, str] = field(default_factory=dict)
    #: rows there were to draw from; 0 where that was not told
    n_given_rows: int = 0
    #: what the shape of the table says of methods
    by_shape: str = ""
    #: what else is to be known: columns dropped, methods that learned from fewer rows or were left out
    notes: tuple[str, ...] = ()

    def advice(self) -> str:
        """One line: what to take, and what the shape of the table says."""
        return f"{self._take()} {self.by_shape}".strip()

    def _take(self) -> str:
        best, *others = self.places
        alike = [each for each in others if (each.p_value or 0) > 0.05 and each.score >= best.low]
        quicker = min((best, *alike), key=lambda each: each.fit_seconds)
        if quicker is best:
            tail = f"; {listing([each.method for each in alike])} cannot be told from it" if alike else ""
            return f"Take {best.method}{tail}."
        return f"{best.method} scores best; {quicker.method} cannot be told from it and trains faster."

    def __str__(self) -> str:
        """As a table of text."""
        lines = [f"{self.metric} by {self.n_folds} folds of {self.n_rows:,} rows"]
        for each in self.places:
            p = "" if each.p_value is None else f"  p {each.p_value:.3f}"
            lines.append(f"{each.method:16}{each.score:.4f}  {each.low:.4f} … {each.high:.4f}{p}")
        lines += [f"{method:16}failed: {why}" for method, why in self.failed.items()]
        return "\n".join([*lines, *self.notes, self.advice()])

    def _repr_html_(self) -> str:
        """For notebooks."""
        from weald.runs.showing import leaderboard_html

        return leaderboard_html(self)
