"""What a machine that did not converge advises: ways that were not gone already."""

from __future__ import annotations

from collections.abc import Sequence

ONE_SCALE = "bring the columns to one scale (scale=True)"


def one_of(ways: Sequence[str]) -> str:
    """A sentence of one or more ways.

    >>> one_of(["raise the limit", "lower C"])
    'Raise the limit, or lower C.'
    """
    listed = ", ".join(ways[:-1]) + ", or " + ways[-1] if len(ways) > 1 else ways[0]
    return listed[0].upper() + listed[1:] + "."
