"""A Dask cluster as one fit sees it: tasks with names of their own in, what they return out.

Only `submit`, futures and their results are used, and `run` once to ask for versions. Nothing is scattered
and nothing names a worker: whatever a worker held is worked out again on another from the arguments of its
tasks.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeAlias, TypeVar
from weakref import WeakSet

import dask
from distributed import Client, Future, KilledWorker, get_client, wait

from weald.errors import ClusterError, listing

#: what stands for a result on the cluster
Remote: TypeAlias = Future
T = TypeVar("T")
FAN_IN = 8  # results that one task adds up
_ADDED_HERE = 4  # so few are added up by who asks: a task more would cost another round of messages
_NO_WARNING = "distributed.admin.large-graph-warning-threshold"


def current_client() -> Client:
    """The client of the current context; raises ClusterError if there is none."""
    try:
        client = get_client()
    except ValueError:
        raise ClusterError(
            "The rows are on Dask, and there is no Dask client. Start one first: "
            "`from dask.distributed import Client; client = Client()` on this machine, or "
            'Client("tcp://scheduler:8786") for a cluster.'
        ) from None
    if client.asynchronous:
        raise ClusterError(
            "The current Dask client is asynchronous, and `fit` waits for results. Use a client made with "
            "asynchronous=False."
        )
    return client


class Cluster:
    """Submits the tasks of one fit.

    Parameters
    ----------
    client : Client, optional
        By default that of the current context.
    """

    def __init__(self, client: Client | None = None) -> None:
        self.client = client if client is not None else current_client()
        self.fit = uuid.uuid4().hex[:12]
        self._n = 0
        self._futures: WeakSet[Remote] = WeakSet()
        check_versions(self.client)

    def submit(self, word: str, where: tuple[object, ...], task: Callable[..., T], *args: object) -> Remote:
        """A task; `word` and `where`, such as (round, level, partition), make its name."""
        key = f"weald-{word}-{self.fit}-" + "-".join(map(str, where))
        with dask.config.set({_NO_WARNING: 2**40}):
            future = self.client.submit(task, *args, key=key, pure=False)
        self._futures.add(future)
        return future

    def each(
        self,
        word: str,
        where: tuple[object, ...],
        task: Callable[..., T],
        parts: Sequence[tuple[object, ...]],
        *shared: object,
    ) -> list[Remote]:
        """The same task for every partition, in one message; `shared` is what all of them are given."""
        name = f"weald-{word}-{self.fit}-" + "".join(f"{part}-" for part in where)
        keys = [f"{name}{p}" for p in range(len(parts))]
        with dask.config.set({_NO_WARNING: 2**40}):
            # Not as keywords: Dask gives large ones their own names for keys, which then mean the first.
            columns = [*map(list, zip(*parts, strict=True)), *([value] * len(parts) for value in shared)]
            futures: list[Remote] = self.client.map(task, *columns, key=keys, pure=False)
        self._futures.update(futures)
        return futures

    def close(self) -> None:
        """Let go of everything that is still on the cluster, whoever points to it here."""
        for future in list(self._futures):
            future.release()

    def started(self, parts: Sequence[object]) -> list[Remote]:
        """Delayed objects set to work; futures as they are."""
        wanted = [part for part in parts if not isinstance(part, Future)]
        found = iter(self.client.compute(wanted) if wanted else ())
        return [part if isinstance(part, Future) else next(found) for part in parts]

    def gather(self, futures: Sequence[Remote]) -> list[Any]:
        """The results."""
        with explaining(self.client):
            found: list[Any] = self.client.gather(list(futures))
            return found

    def wait(self, futures: Sequence[Remote]) -> None:
        """Wait until these are worked out, and raise what went wrong."""
        with explaining(self.client):
            wait(list(futures))
            for each in futures:
                if each.status == "error":
                    each.result()

    def total(
        self, word: str, where: tuple[object, ...], add: Callable[..., T], futures: Sequence[Remote]
    ) -> T:
        """What `add` makes of all results: by tasks that each add up some, in their order."""
        found: list[T] = self.gather(self._added(word, where, add, futures, _ADDED_HERE))
        return add(*found) if len(found) > 1 else found[0]

    def combined(
        self, word: str, where: tuple[object, ...], add: Callable[..., T], futures: Sequence[Remote]
    ) -> Remote:
        """As `total`, and left on the cluster."""
        return self._added(word, where, add, futures, 1)[0]

    def _added(
        self,
        word: str,
        where: tuple[object, ...],
        add: Callable[..., T],
        futures: Sequence[Remote],
        most: int,
    ) -> Sequence[Remote]:
        """Results that `add` makes of neighbours, until they are few."""
        step = 0
        while len(futures) > most:
            groups = [futures[i : i + FAN_IN] for i in range(0, len(futures), FAN_IN)]
            futures = [
                self.submit(word, (*where, step, g), add, *group) if len(group) > 1 else group[0]
                for g, group in enumerate(groups)
            ]
            step += 1
        return futures

    def number(self) -> int:
        """Another number with every call, for names."""
        self._n += 1
        return self._n


@contextmanager
def explaining(client: Client) -> Iterator[None]:
    """Say in weald's words what the cluster could not do."""
    try:
        yield
    except KilledWorker as error:
        raise ClusterError(
            f"Workers died {error.allowed_failures + 1} times while they ran one task "
            f"({str(error.task).split('-')[1]}). The usual cause is memory: give workers more, or the "
            "data more and smaller partitions (repartition). The workers' logs say more; "
            "distributed.scheduler.allowed-failures sets how many deaths a task may see."
        ) from error
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("weald"):
            raise
        raise ClusterError(
            "A worker of the Dask cluster has no weald. Install the same version on all of them."
        ) from error


def check_versions(client: Client) -> None:
    """Raise ClusterError unless all workers have this version of weald."""
    found = client.run(version, "weald", on_error="return")
    mine = version("weald")
    without = [str(name) for name, said in found.items() if isinstance(said, PackageNotFoundError)]
    if without:
        raise ClusterError(
            f"These workers of the Dask cluster have no weald: {listing(without)}. Install weald {mine} on "
            "all of them: pip install weald[dask]."
        )
    other = {name: said for name, said in found.items() if said != mine}
    if other:
        told = listing([f"{name} has {said}" for name, said in other.items()])
        raise ClusterError(
            f"Workers have another version of weald than this process, which has {mine}: {told}. Install the "
            "same everywhere: only one version gives one model."
        )
