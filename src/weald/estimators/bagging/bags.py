"""The draws of bagging: which rows and columns each bag has.

Every draw is a hash of (seed, purpose, bag, place): equation B1 of docs/methods/forests.md. So a bag does not
depend on who asks for it or when, and nothing but the seed, and weights if there are any, has to be
remembered.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.adaboost.weights import rows_by_units, weight_units
from weald.data.target import total_weight
from weald.errors import ParameterError, outside
from weald.estimators.shared.ensemble_options import BaggingOptions
from weald.random import Purpose, draw, uniform

#: draws of a bag that any table may ask for; of ten bags they take seconds and half a gigabyte
_MOST_DRAWN = 2**22


@dataclass(frozen=True, slots=True, eq=False)
class MemberBags:
    """How bags are drawn from the rows and columns of one table."""

    seed: int
    n_rows: int
    n_drawn: int  # rows a bag draws
    n_columns: int
    n_kept: int  # columns a bag draws
    bootstrap: bool
    bootstrap_features: bool
    used: NDArray[np.int64] | None  # rows of positive weight; None if all are
    units: NDArray[np.int64] | None  # what those weigh, in units; None if all weigh the same

    def rows(self, bag: int) -> NDArray[np.int64]:
        """The rows of a bag, ascending, as members without weights get them; bootstrap may repeat some."""
        n = self.n_rows if self.used is None else len(self.used)
        if self.units is None:
            found = _drawn(self.seed, Purpose.BAG_ROWS, bag, n, self.n_drawn, repeat=self.bootstrap)
        else:
            found = _drawn_by(self.units, self.seed, bag, self.n_drawn, repeat=self.bootstrap)
        return np.sort(found if self.used is None else self.used[found])

    def counts(self, bag: int) -> NDArray[np.int64]:
        """How often each row of the table is in a bag."""
        return np.bincount(self.rows(bag), minlength=self.n_rows)

    def columns(self, bag: int) -> NDArray[np.int64]:
        """The columns of a bag, ascending. One that is drawn twice is there once: names cannot repeat."""
        if not self.some_columns:
            return np.arange(self.n_columns)
        drawn = _drawn(
            self.seed, Purpose.BAG_COLUMNS, bag, self.n_columns, self.n_kept, repeat=self.bootstrap_features
        )
        return np.unique(drawn)

    def columns_of_all(self, n_bags: int) -> tuple[NDArray[np.int64], ...] | None:
        """The columns of each of so many bags; None if every bag has all."""
        return tuple(self.columns(bag) for bag in range(n_bags)) if self.some_columns else None

    @property
    def some_columns(self) -> bool:
        """Whether a bag may lack columns."""
        return self.bootstrap_features or self.n_kept < self.n_columns

    @property
    def leaves_rows_out(self) -> bool:
        """Whether a bag may lack rows, which then judge it."""
        return self.bootstrap or self.n_drawn < self.n_rows

    def differences(self, other: MemberBags) -> list[str]:
        """What differs in how two sets of bags are drawn, seeds aside, in the users' words."""
        words = {
            "n_rows": "the number of rows",
            "n_drawn": "max_samples",
            "n_columns": "the number of columns",
            "n_kept": "max_features",
            "used": "which rows have the weight 0",
            "units": "sample_weight",
        }
        names = [each.name for each in fields(self) if each.name != "seed"]
        return [
            words.get(name, name)
            for name in names
            if not np.array_equal(getattr(self, name), getattr(other, name))
        ]


def make_bags(
    options: BaggingOptions,
    owner: str,
    *,
    seed: int,
    n_rows: int,
    n_columns: int,
    weight: NDArray[np.float64] | None,
) -> MemberBags:
    """The bags that the parameters ask for.

    Parameters
    ----------
    options : BaggingOptions
        The parameters; a fraction of rows is one of the sum of the weights, if there are any.
    owner : str
        The estimator's name, for messages.
    seed, n_rows, n_columns : int
        What the draws start from, and what there is to draw from.
    weight : ndarray of shape (n_rows,) or None
        How likely rows are drawn, in proportion; those of weight 0 never are.
    """
    used = None if weight is None or weight.all() else np.flatnonzero(weight)
    n_used = n_rows if used is None else len(used)
    n_drawn = _n_rows(options, owner, n_rows, n_used, weight)
    n_kept = _number(options.max_features, n_columns)
    if n_drawn > n_used and not options.bootstrap:
        what = "rows" if n_used == n_rows else "rows of positive weight"
        raise ParameterError(
            f"`max_samples` of {owner} must be at most the number of {what}, {n_used}, if they are drawn "
            f"without replacement; got {options.max_samples}. Use bootstrap=True to draw some again. "
            f"(Effective max_samples={n_drawn} must be <= n_samples={n_used} to be able to sample without "
            "replacement.)"
        )
    if n_kept > n_columns:
        raise ParameterError(
            f"`max_features` of {owner} must be at most the number of columns, {n_columns}; got "
            f"{options.max_features}. Use 1.0 for all of them."
        )
    return MemberBags(
        seed=seed,
        n_rows=n_rows,
        n_drawn=n_drawn,
        n_columns=n_columns,
        n_kept=n_kept,
        bootstrap=bool(options.bootstrap),
        bootstrap_features=bool(options.bootstrap_features),
        used=used,
        units=None if weight is None else _units(weight if used is None else weight[used]),
    )


def _units(weight: NDArray[np.float64]) -> NDArray[np.int64] | None:
    """What rows weigh in the draw; None if all weigh the same: then no weights are needed."""
    return None if (weight == weight[0]).all() else weight_units(weight)


def _n_rows(
    options: BaggingOptions, owner: str, n_rows: int, n_used: int, weight: NDArray[np.float64] | None
) -> int:
    """How many rows a bag draws: scikit-learn's numbers, with weights too."""
    limit = options.max_samples
    if limit is None:
        return n_rows if options.bootstrap else n_used
    if weight is None or isinstance(limit, int):
        _check_draws(_number(limit, n_rows), n_rows, f"`max_samples`={limit} of {owner}", "a smaller one")
        return _number(limit, n_rows)
    total = total_weight(weight)
    of = f"`max_samples`={limit} of {owner}, a fraction of the sum of the weights,"
    _check_draws(limit * total, n_rows, of, "a whole number, or divide the weights by their mean")
    n_drawn = max(1, int(limit * total))
    if n_drawn < max(10.0, n_rows ** (1 / 3)):
        warnings.warn(
            f"Using the fractional value max_samples={limit} when the total sum of sample weights is {total} "
            f"results in a low number ({n_drawn}) of bootstrap samples. We recommend passing `max_samples` "
            "as an integer instead.",
            UserWarning,
            stacklevel=outside(),
        )
    return n_drawn


def _check_draws(n_drawn: float, n_rows: int, what: str, remedy: str) -> None:
    """A bag keeps each draw: far more than there are rows fill memory, and say nothing new of them."""
    if n_drawn > max(_MOST_DRAWN, 16 * n_rows):
        raise ParameterError(f"{what} would draw {n_drawn:.3g} times from {n_rows} rows. Use {remedy}.")


def _number(limit: int | float | None, n: int) -> int:
    """A number of rows or columns that was given as such, as a fraction, or as None for all."""
    if limit is None:
        return n
    return limit if isinstance(limit, int) else max(1, int(limit * n))


def _drawn(seed: int, purpose: Purpose, bag: int, n: int, size: int, *, repeat: bool) -> NDArray[np.int64]:
    """`size` of the numbers 0 … n − 1: independent ones, or different ones in ascending order."""
    if repeat:
        words = draw(seed, purpose, bag, np.arange(size, dtype=np.uint64))
        return ((words >> np.uint64(11)).astype(np.float64) * 2.0**-53 * n).astype(np.int64)
    if size == n:
        return np.arange(n)
    words = draw(seed, purpose, bag, np.arange(n, dtype=np.uint64))
    return np.sort(np.argsort(words, kind="stable")[:size])


def _drawn_by(units: NDArray[np.int64], seed: int, bag: int, size: int, *, repeat: bool) -> NDArray[np.int64]:
    """Rows drawn in proportion to their units: independent ones, or each from those that are left."""
    if repeat:
        words = draw(seed, Purpose.BAG_ROWS, bag, np.arange(size, dtype=np.uint64))
        return rows_by_units(units, words)
    # The first of exponential clocks that run at these rates rings as if drawn by them, and so on.
    words = draw(seed, Purpose.BAG_ROWS, bag, np.arange(len(units), dtype=np.uint64))
    ring = -engine.log2(uniform(words)) / units
    return np.argsort(ring, kind="stable")[:size]
