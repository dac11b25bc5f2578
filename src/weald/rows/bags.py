"""The bags of a forest: which rows each tree was grown on, told again from the seed instead of kept."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from weald import engine
from weald.errors import DataError
from weald.rows.growth import ClassDraws, TreeBags


@dataclass(frozen=True, slots=True)
class BagRecord:
    """What tells the bags of a fitted forest: with the rows of the fit, everything about them follows."""

    seed: int
    n_rows: int  # of the table
    n_draws: int  # rows drawn for each tree; 0: every tree had all of them
    n_absent: int = 0  # rows whose weight was 0, which are in no bag
    #: (n_rows,) the other rows, if some were absent; files do not keep which
    present: NDArray[np.bool_] | None = field(default=None, compare=False, repr=False)
    #: rows of each class that a bag has, if classes are drawn apart; `n_draws` are then drawn from those
    by_class: ClassDraws | None = None
    #: (n_rows,) the class of each row, -1 for an absent one, if classes are drawn apart; files do not keep it
    labels: NDArray[np.int32] | None = field(default=None, compare=False, repr=False)

    @property
    def leaves_rows_out(self) -> bool:
        """Whether a bag may lack rows, which then judge its tree."""
        return self.n_draws > 0 or (self.by_class is not None and self.by_class.leaves_rows_out)

    def counts(self, tree: int, present: NDArray[np.bool_] | None = None) -> NDArray[np.uint32]:
        """How often the bag of a tree has each row of the table it was fitted on: (n_rows,).

        Parameters
        ----------
        tree : int
            Its number.
        present : ndarray of shape (n_rows,), optional
            The rows whose weight was not 0, if not all; only needed for a forest that was loaded from a file.
        """
        if self.by_class is not None:
            return self.of_trees(1, tree).counts(0, self._labels())
        if present is None and self.n_absent > 0:
            present = self._present_rows()
        n_present = self.n_rows if present is None else int(np.count_nonzero(present))
        if self.n_draws == 0:
            drawn = np.ones(n_present, np.uint32)
        else:
            drawn = engine.draw_bag(self.seed, tree, self.n_draws, n_present)
        if present is None:
            return drawn
        counts = np.zeros(self.n_rows, np.uint32)
        counts[present] = drawn
        return counts

    def rows(self, tree: int) -> NDArray[np.int32]:
        """The rows in the bag of a tree, ascending, each as often as it was drawn."""
        counts = self.counts(tree)
        return np.repeat(np.arange(self.n_rows, dtype=np.int32), counts)

    def _labels(self) -> NDArray[np.int32]:
        if self.labels is None:
            raise DataError(
                "The rows of a bag depend on the labels of the training rows, which a model file does not "
                "keep. Give y to a method that takes it, fit again, or keep the model with pickle."
            )
        return self.labels

    def _present_rows(self) -> NDArray[np.bool_]:
        if self.present is None:
            raise DataError(
                f"{self.n_absent:,} of the {self.n_rows:,} rows had the weight 0 when the forest was fitted, "
                "and its file does not tell which. Use bags_.counts(tree, sample_weight > 0)."
            )
        return self.present

    def of_trees(self, n_trees: int, first_tree: int = 0, min_weight_share: float = 0.0) -> TreeBags:
        """The bags of some of the trees."""
        return TreeBags(
            n_trees=n_trees,
            first_tree=first_tree,
            n_draws=self.n_draws or None,
            seed=self.seed,
            min_weight_share=min_weight_share,
            by_class=self.by_class,
        )
