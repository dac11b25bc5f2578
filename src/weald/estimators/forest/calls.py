"""How a forest is grown: in one native call, or in several behind a progress bar."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from weald.estimators.forest.options import ForestOptions
from weald.model.forest import Forest


def calls(
    past: Sequence[Forest], options: ForestOptions, n_threads: int
) -> Generator[tuple[int, int], None, None]:
    """(first tree, how many) of each native call: one for all, or some at a time behind a progress bar."""
    n_past, n_trees = sum(forest.n_trees for forest in past), options.n_estimators
    if n_trees == n_past:
        return
    if not options.verbose:
        yield n_past, n_trees - n_past
        return
    from weald.progress import Progress

    at_once = 4 * n_threads
    with Progress(n_trees - n_past, word="tree") as progress:
        for first in range(n_past, n_trees, at_once):
            n = min(at_once, n_trees - first)
            yield first, n
            for _ in range(n):
                progress.advance({})
