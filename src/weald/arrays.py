"""The types of what users hand in and of what the code hands on: arrays, tables, targets, weights, members.

Every other module imports these; none defines its own.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
