"""The rounds of a fitted AdaBoost as a table to read."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.adaboost.records import Round
from weald.adaboost.weights import exp

_MOST_ROWS, _ENDS = 20, 8


@dataclass(frozen=True, eq=False, kw_only=True)
class RoundTable:
    """What happened in each round, one row per round.

    Printed, it is a table of text, cut in the middle if it is long; `to_dict` gives the columns for a frame
    of any library.

    Parameters
    ----------
    error : ndarray
        The weighted error of the round's member, on the rows it was judged on.
    say : ndarray
        The vote of the member: for labels ½ ln((1 − error) / error), and half of ln(classes − 1) more, times
        the learning rate; half of `estimator_weights_`. For numbers the same as `estimator_weights_`.
    training_error : ndarray
        The share of training rows, by weight, that the ensemble up to here has wrong. NaN for numbers.
    bound : ndarray
        What that error cannot exceed, Π 2√(error (1 − error)); NaN where it need not hold: it is for two
        classes, learning rate 1, and rows that are reweighed or compound.
    """

    error: NDArray[np.float64]
    say: NDArray[np.float64]
    training_error: NDArray[np.float64]
    bound: NDArray[np.float64]

    def __len__(self) -> int:
        """How many rounds."""
        return len(self.error)

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns by name, as lists; rounds count from 1."""
        columns: dict[str, list[Any]] = {"round": list(range(1, len(self) + 1))}
        for name in ("error", "say", "training_error", "bound"):
            values: NDArray[np.float64] = getattr(self, name)
            if not len(values) or not np.isnan(values).all():
                columns[name] = values.tolist()
        return columns

    def __repr__(self) -> str:
        """The table as text."""
        header, rows = self._shown()
        widths = [max(len(row[k]) for row in (header, *rows)) for k in range(len(header))]
        lines = ("  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)) for row in (header, *rows))
        return "\n".join(line.rstrip() for line in lines)

    def _repr_html_(self) -> str:
        """The table for notebooks."""
        header, rows = self._shown()
        head = "".join(f"<th>{html.escape(name)}</th>" for name in header)
        body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _shown(self) -> tuple[list[str], list[list[str]]]:
        columns = self.to_dict()
        n = len(self)
        places = list(range(n))
        if n > _MOST_ROWS:
            places = [*range(_ENDS), -1, *range(n - _ENDS, n)]
        rows = [
            ["…" if place < 0 else _cell(values[place]) for values in columns.values()] for place in places
        ]
        return [name.replace("_", " ") for name in columns], rows


def _cell(value: float) -> str:
    return str(value) if isinstance(value, int) else "" if np.isnan(value) else f"{value:.4f}"


def round_table(rounds: Sequence[Round], *, labels: bool, bounded: bool) -> RoundTable:
    """The table of some rounds.

    Parameters
    ----------
    rounds : sequence of Round
        In their order.
    labels : bool
        Whether labels are learnt: a member's say is then half its weight.
    bounded : bool
        Whether the bound holds until weights are set back.
    """
    error = np.array([each.error for each in rounds])
    say = np.array([each.weight for each in rounds]) * (0.5 if labels else 1.0)
    n_bounded = next((t for t, each in enumerate(rounds) if each.restarted), len(rounds)) if bounded else 0
    bound = np.full(len(rounds), np.nan)
    bound[:n_bounded] = np.cumprod([_factor(e, s) for e, s in zip(error[:n_bounded], say, strict=False)])
    return RoundTable(
        error=error,
        say=say,
        training_error=np.array([each.training_error for each in rounds]),
        bound=bound,
    )


def _factor(error: float, say: float) -> float:
    """What a member multiplies the bound with.

    That is 2√(ε (1 − ε)) where say is ½ ln((1 − ε) / ε), and holds for a perfect member too, whose say is ½.
    """
    return (1.0 - float(error)) * exp(-float(say)) + float(error) * exp(float(say))
