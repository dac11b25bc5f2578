"""`ShareMap`: from what models of resampled rows say to probabilities, fitted on rows that none saw (R11).

Prior correction (R10) is right for probabilities. Shares of votes are none: trees that are sure of every row
vote for a class less often, or more often, than it is right. One power for all classes mends most of that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats, Integers
from weald.errors import ParameterError

#: the name of what `ShareMap.facts` gives
MAP_FACT = "prior_map"
#: rows of each class that tell the map; more change little
MOST_ROWS = 4000
#: with fewer of some class nothing is told
FEWEST_ROWS = 5
_MOST_STEPS = 100
#: a step that promises less ends the search, of the weight of all rows
_ENOUGH = 1e-12


@dataclass(frozen=True, slots=True)
class ShareMap:
    """Probabilities in proportion to exp(offset) · (share + floor) ** power, class by class."""

    power: float
    offsets: tuple[float, ...]
    floor: float

    def __call__(self, shares: Floats) -> Floats:
        """The probabilities of rows whose shares these are: (n_rows, n_classes)."""
        return _softmax(self.power * np.log(shares + self.floor) + np.array(self.offsets))

    def facts(self) -> dict[str, int | float | str]:
        """The same for a model file."""
        return {MAP_FACT: " ".join(map(repr, (self.power, self.floor, *self.offsets)))}

    @classmethod
    def from_facts(cls, facts: dict[str, int | float | str], n_classes: int) -> ShareMap | None:
        """What `facts` wrote, None if there is nothing; raises ParameterError for anything else."""
        if MAP_FACT not in facts:
            return None
        try:
            power, floor, *offsets = map(float, str(facts[MAP_FACT]).split())
        except ValueError:
            power, floor, offsets = np.nan, np.nan, []
        usable = len(offsets) == n_classes and bool(np.isfinite([power, floor, *offsets]).all())
        if not usable or not (power > 0 and floor > 0):
            raise ParameterError(
                "The map of shares to probabilities is not one number per class and two more."
            )
        return cls(power, tuple(offsets), floor)


def fitted_map(shares: Floats, labels: Integers, n_rows: Integers | Floats, floor: float) -> ShareMap | None:
    """The map under which labels are likeliest, or None where too few rows tell, or shares tell nothing.

    Parameters
    ----------
    shares : ndarray of shape (n, n_classes)
        What members say of rows that they did not see.
    labels : ndarray of shape (n,)
        The class of each.
    n_rows : ndarray of shape (n_classes,)
        How many rows each class has in the data, which those here stand for.
    floor : float
        What is added to shares: less than one vote.

    Examples
    --------
    >>> shares = np.repeat([[0.9, 0.1], [0.1, 0.9]], 50, axis=0)
    >>> labels = np.repeat([0, 1, 0, 1], [45, 5, 20, 30])
    >>> found = fitted_map(shares, labels, np.array([6500, 35]), 0.01)
    >>> found(np.array([[0.1, 0.9]])).round(3).tolist(), round(30 / (30 + 2000), 3)
    ([[0.985, 0.015]], 0.015)
    """
    n_classes = len(n_rows)
    there = np.bincount(labels, minlength=n_classes)
    if there.min() < FEWEST_ROWS:
        return None
    weight = (n_rows / there)[labels]
    # As Platt has it: a label is believed as far as so many rows of its class can tell, so that classes which
    # are told apart without a mistake leave the power finite.
    doubt = 1.0 / (np.asarray(n_rows, np.float64) + 2.0)[labels]
    target = np.repeat((doubt / (n_classes - 1))[:, np.newaxis], n_classes, axis=1)
    target[np.arange(len(labels)), labels] = 1.0 - doubt
    found = _likeliest(np.log(shares + floor), target, weight)
    return None if found is None else ShareMap(float(found[0]), tuple(found[1:].tolist()), floor)


def _likeliest(logs: Floats, target: Floats, weight: Floats) -> Floats | None:
    """Power and offsets by Newton's steps, the last offset 0; sums are NumPy's own, alike on any threads."""
    n_classes = logs.shape[1]
    total = float(weight.sum())
    at = np.concatenate(([1.0], np.log((weight[:, np.newaxis] * target).sum(axis=0) / total)))
    at[1:] -= at[-1]

    def loss_at(place: Floats) -> tuple[float, Floats]:
        z = place[0] * logs + place[1:]
        p = _softmax(z)
        with np.errstate(divide="ignore"):
            return -float((weight[:, np.newaxis] * target * np.log(np.maximum(p, 1e-300))).sum()), p

    loss, p = loss_at(at)
    for _ in range(_MOST_STEPS):
        gradient, hessian = _derivatives(logs, target, weight, p)
        step = np.zeros(n_classes + 1)
        step[:-1] = np.linalg.lstsq(hessian, -gradient, rcond=None)[0]
        promised = float((gradient * step[:-1]).sum())
        if not promised < -_ENOUGH * total:
            break
        for _ in range(40):
            new_loss, new_p = loss_at(at + step)
            if new_loss <= loss + 1e-4 * promised:
                break
            step, promised = step / 2, promised / 2
        else:
            break
        at, loss, p = at + step, new_loss, new_p
    return at if at[0] > 0 and bool(np.isfinite(at).all()) else None


def _derivatives(logs: Floats, target: Floats, weight: Floats, p: Floats) -> tuple[Floats, Floats]:
    """Gradient and Hessian by the power and by all offsets but the last."""
    n_classes = logs.shape[1]
    # The derivative of each class's score by each number: its logarithm, and 0 or 1.
    columns = [logs] + [np.broadcast_to(np.eye(n_classes)[k], logs.shape) for k in range(n_classes - 1)]
    means = [(p * each).sum(axis=1) for each in columns]
    gradient = np.array([(weight[:, np.newaxis] * (p - target) * each).sum() for each in columns])
    hessian = np.array(
        [
            [
                (weight * ((p * one * other).sum(axis=1) - mean * other_mean)).sum()
                for other, other_mean in zip(columns, means, strict=True)
            ]
            for one, mean in zip(columns, means, strict=True)
        ]
    )
    return gradient, hessian


def _softmax(z: Floats) -> Floats:
    z = np.exp(z - z.max(axis=1, keepdims=True))
    found: NDArray[np.float64] = z / z.sum(axis=1, keepdims=True)
    return found
