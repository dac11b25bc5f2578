"""Losses that users write for stagewise boosting: any object with `value` and `gradient`."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from weald.arrays import Floats
from weald.boosting.newton.base_scores import RowSums
from weald.boosting.stage.line_search import minimise
from weald.boosting.stage.losses import MOST_LOG_ODDS, Rule
from weald.errors import ParameterError


class Loss(Protocol):
    """A loss of the user's own."""

    def value(self, y: Floats, raw: Floats, /) -> ArrayLike:
        """The loss of each row."""

    def gradient(self, y: Floats, raw: Floats, /) -> ArrayLike:
        """Its slope by the raw scores."""


class CustomStageLoss:
    """A user's loss, bound to the training rows; see `weald.boosting.stage.losses.StageLoss`.

    Parameters
    ----------
    loss : object
        `value(y, raw)` gives the loss of each row, (n_rows,); `gradient(y, raw)` its slope by the raw scores,
        in their shape: (n_rows,), or (n_rows, n_classes) for more than two classes. `hessian(y, raw)`, of the
        same shape, is not needed; with it leaves take one Newton step, without it they are searched for.
        y holds numbers, or class numbers.
    target : ndarray of shape (n_rows,)
        Numbers, or class numbers.
    weight : ndarray of shape (n_rows,) or None
        Weights; they are multiplied in by the caller, not by the loss.
    n_classes : int or None
        For classes.
    """

    def __init__(self, loss: Loss, target: Floats, weight: Floats | None, *, n_classes: int | None) -> None:
        self.name: str = getattr(loss, "__name__", type(loss).__name__)
        self.target, self.weight = target, weight
        several = n_classes is not None and n_classes > 2
        self.n_outputs: int = n_classes if several and n_classes else 1
        self.link = "identity" if n_classes is None else "softmax" if several else "logistic"
        self.most = math.inf if n_classes is None else MOST_LOG_ODDS
        self._loss: object = loss  # with a hessian, or without
        self._hessian = callable(getattr(loss, "hessian", None))
        self.rule: Rule = "newton" if self._hessian else "search"

    def start(self) -> Floats:
        """The constants of least loss, found by turns, one output after another."""
        n_rows = len(self.target)
        sums = RowSums(self.weight)
        scores = np.zeros((self.n_outputs, n_rows))
        g, h = np.empty_like(scores), np.empty_like(scores)
        found = np.zeros(self.n_outputs)
        for turn in range(1 if self.n_outputs == 1 else 20):
            before = found.copy()
            for k in range(self.n_outputs):

                def slopes(places: Floats, k: int = k) -> tuple[Floats, None]:
                    scores[k] = places[0]
                    self.gradients(scores, g, h, n_threads=1)
                    return np.array([sums.mean(g[k])]), None

                found[k] = minimise(slopes, 1, most=self.most)[0]
                scores[k] = found[k]
            if turn and np.allclose(found, before, rtol=0, atol=1e-12):
                break
        return found

    def prepare(self, scores: Floats) -> None:
        """Nothing changes from round to round."""

    def gradients(self, scores: Floats, g: Floats, h: Floats, *, n_threads: int) -> None:
        """Slopes of the loss, and its hessians or 1."""
        g[...] = self._asked("gradient", self.target, scores, self.weight)
        h[...] = self._asked("hessian", self.target, scores, self.weight) if self._hessian else 1.0

    def mean(self, scores: Floats, target: Floats, weight: Floats | None, *, n_threads: int) -> float:
        """The weighted mean loss; NaN where no row counts."""
        values = self._asked("value", target, scores, weight)[0]
        total = math.fsum(np.ones(len(target)) if weight is None else weight)
        if total == 0:
            return math.nan
        return math.fsum(values if weight is None else values[weight > 0] * weight[weight > 0]) / total

    def _asked(self, method: str, target: Floats, scores: Floats, weight: Floats | None) -> Floats:
        """What the object returns, one row per output; it may write into what it is given.

        What it returns for rows of weight 0, which count as absent, need not be finite: there it is 0.
        """
        one = self.n_outputs == 1
        raw = scores[0].copy() if one else np.array(scores.T, order="C")
        wanted = raw.shape if method != "value" else (len(target),)
        returned = getattr(self._loss, method)(target.copy(), raw)
        try:
            found = np.asarray(returned, np.float64)
        except (TypeError, ValueError):
            raise ParameterError(
                f"`{method}` of the loss {self.name!r} returned {type(returned).__name__}, which is not "
                f"numbers. Return a float array of shape {wanted}."
            ) from None
        if found.shape != wanted:
            raise ParameterError(
                f"`{method}` of the loss {self.name!r} returned the shape {found.shape}. Return one number "
                f"for each row{'' if one or method == 'value' else ' and class'}: shape {wanted}."
            )
        rows = found.reshape(len(target), -1)
        bad = ~np.isfinite(rows).all(axis=1)
        if weight is not None and bad.any():
            rows = np.where((bad & (weight == 0))[:, np.newaxis], 0.0, rows)
            bad &= weight > 0
        if bad.any():
            row = int(np.argmax(bad))
            raise ParameterError(
                f"`{method}` of the loss {self.name!r} returned {rows[row].tolist()} in row {row}. It must "
                "be finite: look for a division by 0, a logarithm of 0 or an overflow of exp there."
            )
        return np.ascontiguousarray(rows.T)
