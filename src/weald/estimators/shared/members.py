"""What ensembles of estimators share: seeds of members, work side by side, errors that name the member."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import get_tags

from weald.arrays import Estimator, TableLike, TargetLike
from weald.data.frames.user_rows import indexable, outline, take
from weald.data.schema import Schema
from weald.data.target import positions_among
from weald.engine.memory import has, stack_bytes
from weald.engine.threads import MOST_THREADS
from weald.errors import DataError, lacks_memory
from weald.estimators.shared.helper_threads import HelperThreads
from weald.random import Purpose, draw

if TYPE_CHECKING:
    from sklearn.utils import Tags

Found = TypeVar("Found")

Member = TypeVar("Member", bound=Estimator)

#: predictions of so many members are in memory at once
_BATCH = 32
#: bytes that joblib should have here for the threads that wait for its processes, besides their stacks
_OF_JOBLIB, _THREADS_OF_JOBLIB = 2**28, 4


def seeded(template: Member, seed: int, number: int) -> Member:
    """A fresh copy of an estimator; each part of it that has a `random_state` gets one of its own."""
    member: Member = clone(template)
    names = sorted(
        name for name in member.get_params() if name == "random_state" or name.endswith("__random_state")
    )
    words = draw(seed, Purpose.BAG_SEED, number, np.arange(len(names), dtype=np.uint64)) >> np.uint64(33)
    if names:
        member.set_params(**dict(zip(names, words.tolist(), strict=True)))
    return member


def fit_member(member: Member, X: TableLike, y: TargetLike | None, **params: object) -> Member:
    """The estimator itself, fitted, whatever its `fit` returns."""
    member.fit(X, y, **params)
    return member


@contextmanager
def showing(n_members: int, verbose: object) -> Iterator[Callable[[], None]]:
    """What to call when a member is fitted: shows progress on stderr if that is asked for."""
    if not verbose:
        yield lambda: None
        return
    from weald.progress import Progress

    with Progress(n_members, word="member") as progress:
        yield lambda: progress.advance({})


def on_threads(
    work: Callable[[int], Found], numbers: Sequence[int], n_threads: int, done: Callable[[], None]
) -> list[Found]:
    """`work` of each number, on threads of their own; `done` is told of each here, as results arrive.

    The first error in order is raised. Nothing runs on when this ends: after an error or Ctrl-C, what has
    begun ends first and the rest is never begun. So it is for short work, which cannot be interrupted.
    """
    with HelperThreads(work, numbers, n_threads - 1) as threads:
        found = []
        for place in range(len(numbers)):
            found.append(threads.result(place))
            done()
        return found


def in_parallel(work: Callable[..., Found], arguments: Iterable[Any], n_jobs: int | None) -> Iterator[Found]:
    """`work(*each)` for each of the arguments, in their order, by joblib; a few results ahead at most.

    One after the other here, if memory is short: joblib waits for ever where a thread of its own finds none.
    """
    from joblib import effective_n_jobs
    from sklearn.utils.parallel import Parallel, delayed

    n_jobs = None if n_jobs is None else min(n_jobs, MOST_THREADS)
    if effective_n_jobs(n_jobs) == 1 or not has(_OF_JOBLIB + _THREADS_OF_JOBLIB * stack_bytes()):
        return (work(*each) for each in arguments)
    parallel = Parallel(n_jobs=n_jobs)

    def results(batch: list[Any]) -> list[Found]:
        try:
            found: list[Found] = parallel(delayed(work)(*each) for each in batch)
        except OSError as error:
            if lacks_memory(error):
                raise MemoryError(str(error)) from error
            raise
        return found

    return chain.from_iterable(results(batch) for batch in _batches(arguments))


def _batches(arguments: Iterable[Any]) -> Iterator[list[Any]]:
    batch: list[Any] = []
    for each in arguments:
        batch.append(each)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def label_positions(labels: ArrayLike, classes: NDArray[Any]) -> NDArray[np.int64]:
    """Where each label stands among the classes."""
    predicted = np.asarray(labels)
    if predicted.ndim != 1:
        raise DataError(f"It predicts {predicted.ndim} dimensions of labels where one per row is needed.")
    found, which = np.unique(predicted, return_inverse=True)
    places = positions_among(found, classes)
    if (places < 0).any():
        strange = found[places < 0].tolist()[0]
        raise DataError(f"It predicts {strange!r}, which is none of the labels it was given.")
    return places[which.reshape(-1)]


def numbers_of(member: Estimator, X: TableLike, **params: object) -> NDArray[np.float64]:
    """What a regressor says of some rows: (n_rows, n_outputs)."""
    predicted: NDArray[np.float64] = np.asarray(member.predict(X, **params), np.float64)
    if predicted.ndim == 0:
        raise DataError("it predicts one number where one per row is needed.")
    return predicted[:, np.newaxis] if predicted.ndim == 1 else predicted.reshape(len(predicted), -1)


def number_of_row(member: Estimator, X: TableLike, n_rows: int) -> NDArray[np.float64]:
    """What a regressor of one output predicts for each row, finite: (n_rows,)."""
    predicted = numbers_of(member, X)
    if predicted.shape[1:] != (1,):
        raise DataError(f"it predicts {predicted.shape[1]} numbers per row where one is needed.")
    check_predicted(predicted, n_rows)
    return np.ascontiguousarray(predicted[:, 0])


def check_predicted(predicted: NDArray[np.float64], n_rows: int) -> None:
    """Refuse what was predicted of another number of rows, or is not finite."""
    if len(predicted) != n_rows:
        raise DataError(f"it predicts {len(predicted)} rows where there are {n_rows}.")
    strange = ~np.isfinite(predicted)
    if strange.any():
        raise DataError(f"it predicts {predicted[strange][0]}, where finite numbers are needed.")


def limit_input_tags(tags: Tags, members: Iterable[object]) -> None:
    """Let scikit-learn expect of an ensemble no more than what all its members take."""
    try:
        theirs = [get_tags(member).input_tags for member in members]
    except (AttributeError, TypeError, ValueError):
        return  # not estimators, which `fit` will say
    for name in ("allow_nan", "sparse", "string", "categorical"):
        setattr(tags.input_tags, name, all(getattr(each, name) for each in theirs))


def in_order(X: TableLike, schema: Schema, owner: str, *, any_shape: bool = False) -> TableLike:
    """A table whose rows can be taken, with the columns of training in their order, as members read it."""
    X = indexable(X, any_shape=any_shape)
    given = outline(X)
    order = list(schema.order(given, owner))
    return X if order == list(range(given.n_columns)) else take(X, columns=order)
