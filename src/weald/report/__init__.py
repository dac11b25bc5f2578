"""The report of a model: `weald.report(model, X, y)`.

`making` puts the parts together, `finding` computes each, `records` is what they are, `pages` renders them.
The module can be called itself: it has the name of the function that users know it by.
"""

from __future__ import annotations

import sys
from types import ModuleType

from weald.report.making import report
from weald.report.result import Report

__all__ = ["Report", "report"]


class _Callable(ModuleType):
    """A module that is called as the function that it is named after.

    Importing a package sets its name on the package above, so `weald.report` is this module whatever
    `weald` would like it to be.
    """

    __call__ = staticmethod(report)


sys.modules[__name__].__class__ = _Callable
