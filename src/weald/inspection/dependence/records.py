"""What users get: curves, effects and interactions as plain records that turn into frames."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from weald.arrays import Floats
from weald.data.frames.new_frame import NewFrame, library_for, new_frame
from weald.data.table import Kind
from weald.errors import ParameterError, told


@dataclass(frozen=True, eq=False, repr=False)
class DependenceCurves:
    """Values at the points of one column, or of every pair of points of two.

    Attributes
    ----------
    columns : tuple
        The names of one or two columns.
    kinds : tuple of {"numeric", "ordinal", "categorical"}
        What they are.
    grid : tuple of ndarray
        The points of each; the last one is NaN, NaT or None where a missing value is a point.
    values : ndarray of shape (n_targets, n_points) or (n_targets, n_points, n_points)
        By target and point.
    standard_error : ndarray
        That of `values`, over rows.
    targets : tuple
        Classes, or numbers of outputs.
    response : str
        What the model was asked.
    model : str
        The class of the model.
    deciles : tuple of ndarray
        Where tenths of the rows are in each column; empty for categories.
    library : str or None
        The frame library of the table.
    """

    columns: tuple[Hashable, ...]
    kinds: tuple[Kind, ...]
    grid: tuple[NDArray[Any], ...]
    values: Floats
    standard_error: Floats
    targets: tuple[object, ...]
    response: str
    model: str
    deciles: tuple[Floats, ...] = field(repr=False)
    library: str | None = field(repr=False)

    def __repr__(self) -> str:
        """One line: of which columns, at how many points."""
        points = " x ".join(f"{len(each):,}" for each in self.grid)
        targets = f", {len(self.targets)} targets" if len(self.targets) > 1 else ""
        names = " and ".join(repr(name) for name in self.columns)
        return f"<{type(self).__name__} of {names}: {points} points{targets}, {self.model}>"

    @property
    def missing(self) -> tuple[bool, ...]:
        """Whether the last point of each column is a missing value."""
        return tuple(bool(len(points)) and _is_missing(points[-1]) for points in self.grid)

    def band(self, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """The ends of a normal interval for the mean over all rows there might be, the model as it is.

        It tells how much the rows of the table leave open, and nothing of how sure the model is.

        Parameters
        ----------
        confidence : float, default=0.95
            How often such an interval holds the mean.

        Returns
        -------
        tuple of ndarray
            Lower and upper ends, in the shape of `values`.
        """
        if not 0 < confidence < 1:
            raise ParameterError(f"`confidence` must be between 0 and 1; got {told(confidence)}. Use 0.95.")
        half = stats.norm.ppf(0.5 + confidence / 2) * self.standard_error
        return self.values - half, self.values + half

    def to_frame(self, library: str | None = None) -> NewFrame:
        """The values as a table, one row per target and point.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow", "dict"}, default=None
            The frame library; None for that of the table, or else one that is installed.
        """
        return new_frame(self._table(), library_for(library, self.library))

    def _table(self) -> dict[str, Any]:
        n_targets = len(self.targets)
        points = np.meshgrid(*(np.arange(len(each)) for each in self.grid), indexing="ij")
        columns: dict[str, Any] = {}
        if n_targets > 1:
            n_points = points[0].size
            columns["target"] = [target for target in self.targets for _ in range(n_points)]
        for name, values, at in zip(self.columns, self.grid, points, strict=True):
            columns[str(name)] = np.tile(values[at.ravel()], n_targets)
        columns["value"] = self.values.ravel()
        columns["standard_error"] = self.standard_error.ravel()
        return columns


@dataclass(frozen=True, eq=False, repr=False)
class PartialDependence(DependenceCurves):
    """The mean prediction while one column, or two, is set to one value after another; `partial_dependence`.

    Attributes
    ----------
    individual : ndarray of shape (n_targets, n_rows, n_points, ...), or None
        The curve of each row; only with `kind="individual"` or "both".
    model_error : ndarray in the shape of `values`, or None
        The standard error over other training tables of the same source; only with `jackknife=True`.
    weight : ndarray of shape (n_rows,), or None
        The weights of the rows.
    centred : bool
        Whether every curve starts from 0.
    """

    individual: Floats | None = field(repr=False, default=None)
    model_error: Floats | None = field(repr=False, default=None)
    weight: Floats | None = field(repr=False, default=None)
    centred: bool = False
    kind: str = "average"

    def _table(self) -> dict[str, Any]:
        more = {} if self.model_error is None else {"model_error": self.model_error.ravel()}
        return {**super()._table(), **more}

    @property
    def average(self) -> Floats:
        """The same as `values`, by scikit-learn's name."""
        return self.values

    @property
    def grid_values(self) -> tuple[NDArray[Any], ...]:
        """The same as `grid`, by scikit-learn's name."""
        return self.grid

    def quantiles(self, *shares: float) -> Floats:
        """Quantiles over rows of the individual curves, point by point.

        Parameters
        ----------
        *shares : float
            From 0 to 1; by default 0.1, 0.5 and 0.9.

        Returns
        -------
        ndarray of shape (n_shares, n_targets, n_points, ...)
            The smallest value for which rows of that share of the weight are at or below it.
        """
        if self.individual is None:
            raise ParameterError(
                "Quantiles are of individual curves, and none were kept. Use kind='individual' or 'both'."
            )
        wanted = shares or (0.1, 0.5, 0.9)
        if not all(0 <= share <= 1 for share in wanted):
            raise ParameterError(f"Quantiles must be from 0 to 1; got {told(wanted)}.")
        weight = np.ones(self.individual.shape[1]) if self.weight is None else self.weight
        flat = self.individual.reshape(len(self.targets), len(weight), -1)
        order = np.argsort(flat, axis=1, kind="stable")
        reached = np.cumsum(weight[order], axis=1)
        ordered = np.take_along_axis(flat, order, axis=1)
        out = []
        for share in wanted:
            # What rounding takes from a sum must not lift the quantile to the next row.
            enough = reached >= share * reached[:, -1:] * (1 - 1e-12)
            at = np.argmax(enough & (weight[order] > 0), axis=1)
            out.append(np.take_along_axis(ordered, at[:, None], axis=1)[:, 0])
        return np.stack(out).reshape(len(wanted), *self.values.shape)


@dataclass(frozen=True, eq=False, repr=False)
class AccumulatedLocalEffects(DependenceCurves):
    """Local differences of predictions, added up along one column, or two; `accumulated_local_effects`.

    Attributes
    ----------
    counts : ndarray of shape (n_points,) or (n_points, n_points)
        How many rows are at each point: those from the point before up to it.
    """

    counts: NDArray[np.int64] = field(repr=False, default_factory=lambda: np.zeros(0, np.int64))

    def _table(self) -> dict[str, Any]:
        counts = np.tile(self.counts.ravel(), len(self.targets))
        return {**super()._table(), "count": counts}


@dataclass(frozen=True, eq=False, repr=False)
class FriedmanH:
    """How far columns act together rather than each by itself; `friedman_h`.

    Attributes
    ----------
    pairs : tuple of tuple
        Two columns each.
    h2 : ndarray of shape (n_targets, n_pairs)
        The share of the joint effect of two columns that is no sum of an effect of each: H² of the pair.
    strength : ndarray of shape (n_targets, n_pairs)
        The same in the units of predictions: the root mean square of what is no sum.
    columns : tuple
        Those whose interaction with all other columns together was asked for.
    h2_all : ndarray of shape (n_targets, n_columns)
        H² of each of these against all the rest.
    targets, response, model, library
        As in `PartialDependence`.
    """

    pairs: tuple[tuple[Hashable, Hashable], ...]
    h2: Floats
    strength: Floats
    columns: tuple[Hashable, ...]
    h2_all: Floats
    targets: tuple[object, ...]
    response: str
    model: str
    library: str | None = field(repr=False)

    def __repr__(self) -> str:
        """One line: of how many pairs and columns, and the strongest."""
        counts = ((len(self.pairs), "pair", ""), (len(self.columns), "column", " against the rest"))
        of = [f"{n} {word}{'s' if n > 1 else ''}{rest}" for n, word, rest in counts if n]
        best = ""
        if self.pairs and np.isfinite(self.h2[0]).any():
            k = int(np.nanargmax(self.h2[0]))
            best = f", most {self.h2[0, k]:.3g} of {' and '.join(repr(name) for name in self.pairs[k])}"
        return f"<FriedmanH of {' and '.join(of) or 'nothing'}{best}, {self.model}>"

    @property
    def h(self) -> Floats:
        """The square root of `h2`."""
        return np.sqrt(self.h2)

    def matrix(self, target: int = 0) -> tuple[tuple[Hashable, ...], Floats]:
        """The columns in any pair, and H² between them: NaN where it was not asked for.

        Parameters
        ----------
        target : int, default=0
            The position in `targets`.
        """
        names = tuple(dict.fromkeys([name for pair in self.pairs for name in pair] or self.columns))
        at = {name: i for i, name in enumerate(names)}
        out = np.full((len(names), len(names)), np.nan)
        for (a, b), value in zip(self.pairs, self.h2[target], strict=True):
            out[at[a], at[b]] = out[at[b], at[a]] = value
        return names, out

    def to_frame(self, library: str | None = None) -> NewFrame:
        """One row per target and pair, the strongest first; pairs with None are one column against the rest.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow", "dict"}, default=None
            The frame library; None for that of the table, or else one that is installed.
        """
        rows: list[tuple[Any, ...]] = []
        for t, target in enumerate(self.targets):
            for p, (a, b) in enumerate(self.pairs):
                rows.append((target, str(a), str(b), float(self.h2[t, p]), float(self.strength[t, p])))
            for c, name in enumerate(self.columns):
                rows.append((target, str(name), None, float(self.h2_all[t, c]), None))
        rows.sort(key=lambda row: (str(row[0]), row[2] is None, -row[3]))
        names = ("target", "column", "other", "h2", "strength")
        kept = names if len(self.targets) > 1 else names[1:]
        return new_frame(
            {name: [row[names.index(name)] for row in rows] for name in kept},
            library_for(library, self.library),
        )


def _is_missing(value: object) -> bool:
    return value is None or bool(value != value)
