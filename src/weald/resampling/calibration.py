"""`ShareMap`: from what models of resampled rows say to probabilities, fitted on rows that none saw (R11).

Prior correction (R10) is right for probabilities. Shares of votes are none: trees that are sure of every row
vote for a class less often, or more often, than it is right. One power for all classes mends most of that.
What it cannot mend is what resampling lost: a second power, of what a model of the rows as they are says, can
(R12).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats, Integers
from weald.errors import ParameterError

#: the name of what `ShareMap.facts` gives
MAP_FACT = "prior_map"
#: and what it has besides if a model of the rows as they are takes part
PLAIN_FACT = "prior_map_plain"
#: rows of each class that tell the map; more change little
MOST_ROWS = 4000
#: with fewer of some class nothing is told
FEWEST_ROWS = 5
_MOST_STEPS = 100
#: a step that promises less ends the search, of the weight of all rows
_ENOUGH = 1e-12


@dataclass(frozen=True, slots=True)
class ShareMap:
    """Probabilities in proportion to exp(offset) · (share + floor) ** power, class by class.

    With a `plain_power` above 0 also to (plain share + plain floor) ** plain power, of a model of the rows as
    they are; then the other may be 0.
    """

    power: float
    offsets: tuple[float, ...]
    floor: float
    plain_power: float = 0.0
    plain_floor: float = 1.0

    def __call__(self, shares: Floats, plain: Floats | None = None) -> Floats:
        """The probabilities of rows whose shares these are: (n_rows, n_classes)."""
        z = self.power * np.log(shares + self.floor) + np.array(self.offsets)
        if plain is not None:
            z += self.plain_power * np.log(plain + self.plain_floor)
        return _softmax(z)

    @property
    def blends(self) -> bool:
        """Whether it asks for the shares of a model of the rows as they are."""
        return self.plain_power > 0

    def facts(self) -> dict[str, int | float | str]:
        """The same for a model file."""
        found: dict[str, int | float | str] = {MAP_FACT: _text(self.power, self.floor, *self.offsets)}
        return found | ({PLAIN_FACT: _text(self.plain_power, self.plain_floor)} if self.blends else {})

    @classmethod
    def from_facts(cls, facts: dict[str, int | float | str], n_classes: int) -> ShareMap | None:
        """What `facts` wrote, None if there is nothing; raises ParameterError for anything else."""
        if MAP_FACT not in facts:
            return None
        blends = PLAIN_FACT in facts
        power, floor, *offsets = _numbers(facts[MAP_FACT], n_classes + 2)
        plain = _numbers(facts[PLAIN_FACT], 2) if blends else [0.0, 1.0]
        if power < 0 or (power == 0 and not blends) or not floor > 0 or (blends and not min(plain) > 0):
            raise ParameterError("The powers and floors of a map of shares to probabilities are above 0.")
        return cls(power, tuple(offsets), floor, *plain)


def _text(*numbers: float) -> str:
    return " ".join(map(repr, numbers))


def _numbers(text: object, n: int) -> list[float]:
    """So many finite numbers of a file, which may hold anything."""
    try:
        found = [float(word) for word in str(text).split()]
    except ValueError:
        found = []
    if len(found) != n or not np.isfinite(found).all():
        raise ParameterError("The map of shares to probabilities is not one number per class and two more.")
    return found


def fitted_map(
    shares: Floats,
    labels: Integers,
    n_rows: Integers | Floats,
    floor: float,
    plain: tuple[Floats, float] | None = None,
) -> ShareMap | None:
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
    plain : ndarray of shape (n, n_classes) and float, optional
        What models of the rows as they are say of the same rows, and the floor of that.

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
    logs = [np.log(shares + floor)]
    if plain is not None:
        logs.append(np.log(plain[0] + plain[1]))
    found = _likeliest(logs, target, weight)
    if found is None:
        return None
    powers, offsets = found
    plain_floor = 1.0 if plain is None or not powers[-1] > 0 else plain[1]
    plain_power = 0.0 if plain is None else powers[-1]
    return ShareMap(powers[0], offsets, floor, plain_power, plain_floor)


def _likeliest(
    logs: Sequence[Floats], target: Floats, weight: Floats
) -> tuple[list[float], tuple[float, ...]] | None:
    """The likeliest powers, none below 0, and offsets; None if no power is above 0."""
    best: tuple[float, list[int], Floats] | None = None
    ways = [list(range(len(logs)))] if len(logs) == 1 else [[0, 1], [0], [1]]
    for used in ways:
        loss, at = _free([logs[k] for k in used], target, weight)
        if not ((at[: len(used)] > 0).all() and np.isfinite(at).all()):
            continue
        if best is None or loss < best[0]:
            best = loss, used, at
        if len(used) == len(logs):
            break  # the likeliest of all: what uses fewer is one of these
    if best is None:
        return None
    _, used, at = best
    powers = [float(at[used.index(k)]) if k in used else 0.0 for k in range(len(logs))]
    return powers, tuple(at[len(used) :].tolist())


def _free(logs: Sequence[Floats], target: Floats, weight: Floats) -> tuple[float, Floats]:
    """Powers and offsets by Newton's steps, the last offset 0; sums are NumPy's own, alike on any threads."""
    n_powers, total = len(logs), float(weight.sum())
    at = np.concatenate(
        (np.full(n_powers, 1.0 / n_powers), np.log((weight[:, np.newaxis] * target).sum(axis=0) / total))
    )
    at[n_powers:] -= at[-1]

    def loss_at(place: Floats) -> tuple[float, Floats]:
        z = place[n_powers:] + sum(
            (place[k] * each for k, each in enumerate(logs)), start=np.zeros_like(target)
        )
        p = _softmax(z)
        with np.errstate(divide="ignore"):
            return -float((weight[:, np.newaxis] * target * np.log(np.maximum(p, 1e-300))).sum()), p

    loss, p = loss_at(at)
    for _ in range(_MOST_STEPS):
        gradient, hessian = _derivatives(logs, target, weight, p)
        step = np.zeros(len(at))
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
    return loss, at


def _derivatives(logs: Sequence[Floats], target: Floats, weight: Floats, p: Floats) -> tuple[Floats, Floats]:
    """Gradient and Hessian by the powers and by all offsets but the last."""
    n_classes = target.shape[1]
    # The derivative of each class's score by each number: its logarithms, and 0 or 1.
    columns = [*logs] + [np.broadcast_to(np.eye(n_classes)[k], target.shape) for k in range(n_classes - 1)]
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
