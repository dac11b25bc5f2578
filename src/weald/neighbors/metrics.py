"""Distances by name: those of Minkowski, the angle between rows, and the mixed one for tables as they are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from weald.errors import ParameterError, nearest
from weald.numbers import as_float

MetricLike: TypeAlias = str | tuple[str, float]
#: how differences of columns are put together: the sum of their powers, the largest, or by the angle
Rule: TypeAlias = Literal["powers", "largest", "cosine"]

#: other names, as scikit-learn has them
ALIASES = {"l2": "euclidean", "l1": "manhattan", "cityblock": "manhattan"}
NAMES = ("minkowski", "euclidean", "manhattan", "chebyshev", "cosine", "mixed")
_POWERS = {"euclidean": 2.0, "mixed": 2.0, "manhattan": 1.0, "chebyshev": math.inf, "cosine": 2.0}
_BY_POWER = {2.0: "euclidean", 1.0: "manhattan", math.inf: "chebyshev"}


@dataclass(frozen=True, slots=True)
class Metric:
    """A distance: its name, and the power p of the differences of columns.

    `name` is the plainest one: Minkowski's distance with p=2 is "euclidean". `p` of the cosine is 2: it is
    the angle in the space where that distance is taken.
    """

    name: str
    p: float

    @classmethod
    def of(cls, metric: MetricLike | Metric) -> Metric:
        """The metric of a name, or of ("minkowski", p).

        >>> Metric.of(("minkowski", 2))
        Metric(name='euclidean', p=2.0)
        """
        if isinstance(metric, Metric):
            return metric
        name, p = metric if isinstance(metric, tuple) else (metric, 2.0)
        name = ALIASES.get(name, name)
        if name not in NAMES:
            close = nearest(str(name), [*NAMES, *ALIASES])
            hint = f" Did you mean {close!r}?" if close else f" Use one of {', '.join(map(repr, NAMES))}."
            raise ParameterError(f"There is no metric {name!r}.{hint}")
        if name != "minkowski":
            return cls(name, _POWERS[name])
        p = as_float(p)
        if not p > 0:
            raise ParameterError(f"The power p of 'minkowski' must be a number above 0; got {metric[1]!r}.")
        return cls(_BY_POWER.get(p, name), p)

    @property
    def rule(self) -> Rule:
        """How the differences of columns are put together."""
        if self.name == "cosine":
            return "cosine"
        return "largest" if math.isinf(self.p) else "powers"

    @property
    def always_scaled(self) -> bool:
        """Whether columns are standardised without being asked."""
        return self.name == "mixed"
