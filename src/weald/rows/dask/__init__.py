"""Rows on the workers of a Dask cluster, and the only package that knows Dask.

`reading` says what of a user's partition is learnt from and what is kept, `work` is what workers do with one
partition, `cluster` submits it and fetches what comes of it, `table` makes coded partitions of the user's.
Every task is a function of its arguments alone, so that what is lost with a worker is worked out again. Dask
itself is imported by `cluster` and `table` alone, and these by who is given something of Dask's.
"""

from weald.rows.dask.given import is_dask

__all__ = ["is_dask"]
