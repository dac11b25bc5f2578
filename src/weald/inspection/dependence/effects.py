"""Accumulated local effects: bins of a column, differences across them, and their sums (equations E5 to E7).

A number is in one bin, between two edges; a level takes part in two steps, from the level before and to the
next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats
from weald.inspection.dependence.axes import Axis

#: bins for which standard errors are worked out: beyond, the matrix between bins is too large
MOST_BINS = 2500


@dataclass(frozen=True, slots=True, eq=False)
class Bins:
    """The edges of one column, as points of an axis, and the bins that each row is in."""

    axis: Axis  # the edges; of levels in the order in which they are stepped through
    #: for each step a row takes part in, its bin (-1: none): one array of numbers, two of levels
    members: tuple[NDArray[np.intp], ...]
    #: the share of the weight at each edge, adding up to 1: where the effect is 0 on average
    shares: Floats
    places: NDArray[np.intp]  # for each row the edge that it is at or below, -1 where missing

    @property
    def n_bins(self) -> int:
        """How many steps there are between edges."""
        return max(0, len(self.axis.codes) - 1)

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many rows are at each edge."""
        return np.bincount(self.places[self.places >= 0], minlength=len(self.axis.codes))


def number_bins(axis: Axis, places: NDArray[np.intp], weight: Floats) -> Bins:
    """The bins between ascending edges; `places` is the first edge at or above each row, -1 where missing."""
    n_edges = len(axis.codes)
    bins = np.where(places < 0, -1, np.maximum(places - 1, 0)) if n_edges > 1 else np.full(len(places), -1)
    n_bins = max(0, n_edges - 1)
    inside = bins >= 0
    by_bin = np.bincount(bins[inside], weight[inside], n_bins) if n_bins else np.zeros(0)
    ends = np.zeros(n_edges)
    # Within a bin rows are taken to be half at the one end and half at the other.
    ends[:-1] += by_bin / 2
    ends[1:] += by_bin / 2
    return Bins(axis, (bins,), _shares(ends), places)


def level_bins(axis: Axis, places: NDArray[np.intp], weight: Floats) -> Bins:
    """The steps between levels in the order of the axis; `places` is each row's level, -1 where missing."""
    n_levels = len(axis.codes)
    up = np.where((places >= 0) & (places < n_levels - 1), places, -1)
    down = np.where(places > 0, places - 1, -1)
    inside = places >= 0
    by_level: Floats = np.bincount(places[inside], weight[inside], n_levels).astype(np.float64)
    return Bins(axis, (up, down), _shares(by_level), places)


def _shares(by_edge: Floats) -> Floats:
    total = by_edge.sum()
    return by_edge / total if total > 0 else np.full(len(by_edge), 1.0 / max(1, len(by_edge)))


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Local differences: for each step that a row takes, its cell and what the prediction does there."""

    cells: Sequence[NDArray[np.intp]]  # one array per kind of step: by row, -1 for none
    differences: Sequence[Floats]  # (rows, targets) each
    weight: Floats
    n_cells: int

    def means(self) -> tuple[Floats, Floats]:
        """The weighted mean difference in each cell, (cells, targets), and the weight of the cells."""
        n_targets = self.differences[0].shape[1]
        sums, total = np.zeros((self.n_cells, n_targets)), np.zeros(self.n_cells)
        for cells, values in zip(self.cells, self.differences, strict=True):
            inside = cells >= 0
            total += np.bincount(cells[inside], self.weight[inside], self.n_cells)
            for t in range(n_targets):
                scaled = self.weight[inside] * values[inside, t]
                sums[:, t] += np.bincount(cells[inside], scaled, self.n_cells)
        with np.errstate(invalid="ignore", divide="ignore"):
            found = np.where(total[:, None] > 0, sums / total[:, None], 0.0)
        return found, total

    def errors(self, operator: Floats, means: Floats, total: Floats) -> Floats:
        """Standard errors of `operator @ means`: (values, targets). Rows are independent, steps are not.

        A cell of one row has the spread that cells have on average.
        """
        n_targets = means.shape[1]
        out = np.empty((len(operator), n_targets))
        for t in range(n_targets):
            spread = np.zeros((self.n_cells, self.n_cells))
            residuals = [
                np.where(cells >= 0, values[:, t] - means[np.maximum(cells, 0), t], 0.0)
                for cells, values in zip(self.cells, self.differences, strict=True)
            ]
            scaled = [
                np.where(
                    cells >= 0,
                    self.weight * rest / np.where(total > 0, total, 1.0)[np.maximum(cells, 0)],
                    0.0,
                )
                for cells, rest in zip(self.cells, residuals, strict=True)
            ]
            for a, first in zip(self.cells, scaled, strict=True):
                for b, second in zip(self.cells, scaled, strict=True):
                    both = (a >= 0) & (b >= 0)
                    np.add.at(spread, (a[both], b[both]), first[both] * second[both])
            spread = self._of_few_rows(spread, residuals)
            variance = np.einsum("vc,vc->v", operator @ spread, operator)
            out[:, t] = np.sqrt(np.maximum(variance, 0.0))
        return out

    def _of_few_rows(self, spread: Floats, residuals: Sequence[Floats]) -> Floats:
        """Spreads as if the mean of a cell had not been taken from its own rows."""
        count = np.zeros(self.n_cells)
        squares, n_free = 0.0, 0.0
        for cells, rest in zip(self.cells, residuals, strict=True):
            inside = (cells >= 0) & (self.weight > 0)
            count += np.bincount(cells[inside], minlength=self.n_cells)
            squares += float(np.square(rest[inside]).sum())
        n_free = float(np.maximum(count - 1, 0).sum())
        factor = np.sqrt(count / np.maximum(count - 1, 1))
        out: Floats = spread * factor[:, None] * factor[None, :]
        alone = np.flatnonzero(count == 1)
        out[alone, alone] = squares / n_free if n_free else np.nan
        return out


def summed(bins: Bins) -> Floats:
    """What makes of mean differences, bin by bin, the effect at each edge, 0 on average: (edges, bins)."""
    n_edges = len(bins.axis.codes)
    up_to = np.tril(np.ones((n_edges, bins.n_bins)), -1)
    centred: Floats = up_to - bins.shares @ up_to
    return centred


def summed_twice(first: Bins, second: Bins, filled: Floats, weight: Floats) -> Floats:
    """From mean differences by cell: effects at pairs of edges without those of either column alone.

    Parameters
    ----------
    first, second : Bins
        The columns.
    filled : ndarray of shape (n_cells, n)
        Mean differences, cells of the second column within those of the first; none empty.
    weight : ndarray of shape (n_cells,)
        The weight of the rows of each cell.

    Returns
    -------
    ndarray of shape (n_edges, n_edges, n)
        Effects.
    """
    shape = (first.n_bins, second.n_bins)
    cells = filled.reshape(*shape, -1)
    total = np.zeros((shape[0] + 1, shape[1] + 1, cells.shape[2]))
    total[1:, 1:] = cells.cumsum(axis=0).cumsum(axis=1)
    by_cell = weight.reshape(*shape, 1)
    along_first = _own_effect(np.diff(total, axis=0), by_cell, 1)
    along_second = _own_effect(np.diff(total, axis=1).swapaxes(0, 1), by_cell.swapaxes(0, 1), 1)
    apart = total - along_first[:, None] - along_second[None, :]
    corners = (apart[:-1, :-1] + apart[1:, :-1] + apart[:-1, 1:] + apart[1:, 1:]) / 4
    constant = (corners * by_cell).sum(axis=(0, 1)) / max(float(weight.sum()), 1e-300)
    centred: Floats = apart - constant
    return centred


def _own_effect(steps: Floats, weight: Floats, axis: int) -> Floats:
    """What a column does alone in an effect of two: steps (bins, edges, n) averaged over the other."""
    middle = (steps[:, :-1] + steps[:, 1:]) / 2
    total = weight.sum(axis=axis)
    mean = np.where(total > 0, (middle * weight).sum(axis=axis) / np.where(total > 0, total, 1.0), 0.0)
    return np.concatenate([np.zeros((1, steps.shape[2])), mean.cumsum(axis=0)])


def filling(first: Bins, second: Bins, total: Floats) -> NDArray[np.intp]:
    """For each cell the one whose differences it takes: itself, or, if it has no rows, the nearest that has.

    Distance is counted in bins, as a share of all bins of the column; of equally near cells the first.
    """
    filled = np.flatnonzero(total > 0)
    source = np.arange(len(total))
    if not len(filled):
        return source
    shape: Any = (first.n_bins, second.n_bins)
    at = np.stack(np.unravel_index(filled, shape)) / np.array(shape)[:, None]
    for cell in np.flatnonzero(total <= 0).tolist():
        here = np.array(np.unravel_index(cell, shape)) / np.array(shape)
        source[cell] = filled[np.argmin(np.square(at - here[:, None]).sum(axis=0))]
    return source
