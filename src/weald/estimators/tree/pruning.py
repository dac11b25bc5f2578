"""Pruning inside `fit`: by a given `ccp_alpha`, or by the one that cross-validation finds.

The table is coded once. A fold's tree grows on the same codes with the weights of its held-out rows at 0, and
one pass over those rows gives the loss of every candidate (docs/methods/pruning.md, equations 5 to 8).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald.arrays import TableLike
from weald.data.table import Table
from weald.data.target import total_weight
from weald.errors import DataError, ParameterError
from weald.estimators.shared.class_weight import Weights
from weald.estimators.shared.folds import Fold, folds
from weald.estimators.tree.pruning_table import PruningTable
from weald.model.forest import Forest
from weald.model.held_out import LOSS_NAMES, held_out_losses
from weald.model.predict import leaf_nodes
from weald.model.prune import pruned, pruning_path
from weald.parameters import TreeOptions
from weald.rows.growth import Grown

if TYPE_CHECKING:
    from weald.estimators.shared.fitted import Target

#: heavier held-out rows are scaled down, so that sums over them stay finite
LARGEST_WEIGHT = 1e150

#: losses this close, as a share of the largest, are the same: what differs is rounding
_SAME = 1e-14


class Pruned(NamedTuple):
    """The tree that is left, and what chose it, if cross-validation did."""

    forest: Forest
    table: PruningTable | None

    @property
    def learned(self) -> dict[str, Any]:
        """The fitted attributes."""
        if self.table is None:
            return {}
        alpha = float(self.table.alpha[self.table.chosen][0])
        return {"pruning_table_": self.table, "ccp_alpha_": alpha}


def check_pruning(options: TreeOptions, owner: str) -> None:
    """Refuse two ways of pruning at once."""
    if options.prune is not None and options.ccp_alpha != 0:
        raise ParameterError(
            f"`prune` of {owner} chooses ccp_alpha itself; got prune={options.prune!r} and "
            f"ccp_alpha={options.ccp_alpha!r}. Leave one of them at its default."
        )


def prune_by(
    options: TreeOptions,
    grown: Grown,
    X: TableLike | None,
    table: Table,
    target: Target,
    grow: Callable[[Weights], Grown],
    *,
    n_threads: int,
    owner: str,
) -> Pruned:
    """Prune a grown tree as `ccp_alpha`, or `prune` and `cv`, ask.

    Parameters
    ----------
    options : TreeOptions
        The parameters.
    grown : Grown
        The tree of all rows.
    X, table : table
        The rows: as the user gave them, and aligned to the schema.
    target : Target
        What the tree learns.
    grow : callable
        Grows another tree on the same rows and target with these weights.
    n_threads : int
        For predicting; the result does not depend on it.
    owner : str
        The estimator, for messages.
    """
    if options.prune is None:
        keep_all = options.ccp_alpha == 0  # as in scikit-learn: even splits that gain nothing
        return Pruned(grown.forest if keep_all else pruned(*grown, options.ccp_alpha), None)
    alpha, leaves = _candidates(grown.forest)
    tested = _tested(alpha)
    divided = folds(
        options.cv,
        X,
        target.values,
        target.weight,
        labels=target.classes is not None,
        random_state=options.random_state,
        owner=owner,
    )
    losses = np.stack(
        [_fold_losses(fold, options.criterion, tested, table, target, grow, n_threads) for fold in divided]
    )
    mean = losses.mean(axis=0)
    size = float(losses.max()) or 1.0  # squares of losses may leave float64
    error = (losses / size).std(axis=0, ddof=1) * size / math.sqrt(len(losses))
    chosen = choose(mean, error, one_standard_error=options.prune == "cv-1se")
    report = PruningTable(
        alpha=alpha,
        tested_alpha=tested,
        mean_loss=mean,
        standard_error=error,
        leaves=leaves,
        chosen=np.arange(len(alpha)) == chosen,
        loss=LOSS_NAMES[options.criterion],
        n_folds=len(losses),
    )
    return Pruned(pruned(*grown, float(alpha[chosen])), report)


def _fold_losses(
    fold: Fold,
    criterion: str,
    alphas: NDArray[np.float64],
    table: Table,
    target: Target,
    grow: Callable[[Weights], Grown],
    n_threads: int,
) -> NDArray[np.float64]:
    """The mean loss of a fold's tree on its held-out rows, for each alpha."""
    try:
        part = grow(fold.train)
    except DataError as error:
        raise DataError(
            f"A training part of the folds that `cv` asks for cannot be fitted. {error}"
        ) from error
    rows = np.flatnonzero(fold.held_out)
    weight = fold.held_out[rows]
    weight = np.ldexp(weight, -int(np.frexp(weight.max())[1])) if weight.max() > LARGEST_WEIGHT else weight
    losses = held_out_losses(
        *part,
        criterion=criterion,
        n_classes=target.n_classes,
        alphas=alphas,
        leaf=leaf_nodes(part.forest, table, n_threads=n_threads)[rows, 0],
        target=target.values[rows],
        weight=weight,
    )
    return losses / total_weight(weight)


def _candidates(forest: Forest) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The distinct alphas of the path, ascending, and the leaves that each leaves."""
    path = pruning_path(forest)
    last = np.append(path.ccp_alphas[1:] != path.ccp_alphas[:-1], True)
    return path.ccp_alphas[last], path.leaves[last]


def _tested(alpha: NDArray[np.float64]) -> NDArray[np.float64]:
    """Equation 5: between a candidate and the next, where trees of other rows are best compared with it."""
    middle = np.sqrt(alpha[:-1]) * np.sqrt(alpha[1:])
    return np.append(np.clip(middle, alpha[:-1], alpha[1:]), np.inf)


def choose(mean: NDArray[np.float64], error: NDArray[np.float64], *, one_standard_error: bool) -> int:
    """Equation 8: the candidate of the lowest mean loss, or the last within one standard error of it.

    Of equal ones the last, which has the smaller tree.
    """
    same = _SAME * float(mean.max())
    best = int(np.flatnonzero(mean <= mean.min() + same)[-1])
    if not one_standard_error:
        return best
    return int(np.flatnonzero(mean <= mean[best] + error[best] + same)[-1])
