"""Interactions of columns with each other, as a matrix of cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from weald.inspection.dependence.records import FriedmanH
from weald.pictures.canvas import figure_of
from weald.pictures.dependence.panels import GREY, INK, SMALL, quiet, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: columns that are drawn, and those whose numbers are written
MOST_COLUMNS, _MOST_WRITTEN = 20, 12


def draw_matrix(axes: Axes, record: FriedmanH, t: int) -> None:
    """Draw H² of pairs, and on the diagonal that of a column against all the rest, where it was asked for."""
    names, values = record.matrix(t)
    at = {name: i for i, name in enumerate(names)}
    for name, value in zip(record.columns, record.h2_all[t], strict=True):
        if name in at:
            values[at[name], at[name]] = value
    strongest = np.nan_to_num(values).max(axis=1, initial=0.0)
    shown = np.sort(np.argsort(-strongest, kind="stable")[:MOST_COLUMNS])
    part = values[np.ix_(shown, shown)]
    most = float(np.nanmax(part)) if np.isfinite(part).any() else 0.0
    drawn = axes.imshow(np.ma.masked_invalid(part), cmap="Blues", vmin=0.0, vmax=most or 1.0)
    texts = [short(names[i], 16) for i in shown]
    axes.set_xticks(range(len(shown)), texts, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(shown)), texts)
    if len(shown) <= _MOST_WRITTEN:
        _write(axes, part, most)
    quiet(axes)
    axes.spines[:].set_visible(False)
    from weald.pictures.ticks import plain_numbers_beside

    bar = figure_of(axes).colorbar(drawn, ax=axes, pad=0.02)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelcolor=GREY, color=GREY)
    plain_numbers_beside(bar)
    bar.set_label("H²", color=INK)
    notes = ["diagonal: against all the rest"] if np.isfinite(np.diag(part)).any() else []
    if len(shown) < len(names):
        notes.insert(0, f"{len(shown)} of {len(names)} columns, the strongest")
    if len(record.targets) > 1:
        notes.insert(0, f"target {record.targets[t]}")
    axes.set_title("; ".join(notes), loc="left", fontsize=SMALL, color=GREY)


def _write(axes: Axes, part: np.ndarray[Any, Any], most: float) -> None:
    digits = 2 if most >= 0.1 else 3
    for i, j in np.argwhere(np.isfinite(part)).tolist():
        ink = "white" if most and part[i, j] > 0.6 * most else INK
        axes.text(
            j,
            i,
            f"{part[i, j]:.{digits}f}" if part[i, j] else "0",
            ha="center",
            va="center",
            fontsize=SMALL - 1,
            color=ink,
        )
