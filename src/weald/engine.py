"""The only importer of the compiled core: typed calls, thread count, array checks."""

from __future__ import annotations

from weald import _core
