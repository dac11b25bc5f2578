"""The table that pruning by cross-validation leaves behind: what was tried, what it cost, what was taken."""

from __future__ import annotations

import html
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

_HEADER = ("ccp_alpha", "mean loss", "standard error", "leaves")
_MOST_ROWS, _ENDS, _AROUND = 20, 3, 5


@dataclass(frozen=True, eq=False, kw_only=True)
class PruningTable:
    """What cross-validation found for each pruning of the tree: one row per candidate, the whole tree first.

    Printed, it is a table of text, cut around the chosen row if it is long; `to_dict` gives the columns for
    a frame of any library.

    Parameters
    ----------
    alpha : ndarray
        From this `ccp_alpha` on, up to that of the next row, pruning gives this row's tree.
    tested_alpha : ndarray
        The alpha the trees of the folds were pruned with: the geometric mean of this row's alpha and the
        next one's; infinite in the last row, which stands for the root alone.
    mean_loss : ndarray
        The mean over folds of the loss on held-out rows.
    standard_error : ndarray
        Its standard error: the standard deviation of the folds' losses over the root of their number.
    leaves : ndarray
        The leaves of the tree of all rows, pruned with this alpha.
    chosen : ndarray of bool
        The row whose alpha was taken.
    loss : str
        What the loss is.
    n_folds : int
        How many folds.
    """

    alpha: NDArray[np.float64]
    tested_alpha: NDArray[np.float64]
    mean_loss: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    leaves: NDArray[np.int64]
    chosen: NDArray[np.bool_]
    loss: str
    n_folds: int

    def __len__(self) -> int:
        """How many candidates."""
        return len(self.alpha)

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns by name, as lists."""
        columns = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: column.tolist() for name, column in columns.items() if isinstance(column, np.ndarray)}

    def __repr__(self) -> str:
        """The table as text; a star marks the chosen row."""
        rows = [("", *_HEADER), *self._shown()]
        cells = [row if len(row) > 1 else ("", *row, *[""] * (len(_HEADER) - 1)) for row in rows]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ("  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in cells)
        return "\n".join([self._caption(), *(line.rstrip() for line in lines)])

    def _repr_html_(self) -> str:
        """The table for notebooks; the chosen row is bold."""
        header = "".join(f"<th>{name}</th>" for name in _HEADER)
        body = []
        for row in self._shown():
            if len(row) == 1:
                body.append(f'<tr><td colspan="{len(_HEADER)}">…</td></tr>')
                continue
            style = ' style="font-weight: bold"' if row[0] else ""
            body.append(f"<tr{style}>" + "".join(f"<td>{cell}</td>" for cell in row[1:]) + "</tr>")
        caption = f"<caption>{html.escape(self._caption())}</caption>"
        return f"<table>{caption}<thead><tr>{header}</tr></thead><tbody>{''.join(body)}</tbody></table>"

    def _caption(self) -> str:
        at = int(np.argmax(self.chosen))
        leaves = f"{self.leaves[at]:,} {'leaf' if self.leaves[at] == 1 else 'leaves'}"
        return (
            f"Pruning by cross-validation, {self.n_folds} folds, {self.loss}: "
            f"ccp_alpha {self.alpha[at]:.6g}, {leaves} of {self.leaves[0]:,}"
        )

    def _shown(self) -> list[tuple[str, ...]]:
        """Rows as text; of a long table both ends and what is around the chosen row, ("…",) for the rest."""
        n, at = len(self), int(np.argmax(self.chosen))
        numbers = np.arange(n)
        near = (numbers < _ENDS) | (numbers >= n - _ENDS) | (np.abs(numbers - at) <= _AROUND)
        kept = numbers[near] if n > _MOST_ROWS else numbers
        rows: list[tuple[str, ...]] = []
        for before, k in zip([-1, *kept.tolist()], kept.tolist(), strict=False):
            if k > before + 1:
                rows.append(("…",))
            columns = (self.alpha, self.mean_loss, self.standard_error)
            mark = "*" if self.chosen[k] else ""
            rows.append((mark, *(f"{column[k]:.6g}" for column in columns), f"{self.leaves[k]:,}"))
        return rows
