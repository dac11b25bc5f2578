"""The place of each category along the first principal axis of what its rows are: a fixed power iteration."""

from __future__ import annotations

import numpy as np

from weald.arrays import Floats

_STEPS = 40


def positions(profile: Floats, weight: Floats) -> Floats:
    """Positions of the rows of `profile`, (m, d), weighted. Sums are added in order, for their rounding."""
    m, d = profile.shape
    mean, total = np.zeros(d), 0.0
    for i in range(m):
        total += float(weight[i])
        mean = mean + weight[i] * profile[i]
    centred = profile - mean / total
    spread = np.zeros((d, d))
    for i in range(m):
        spread = spread + np.outer(weight[i] * centred[i], centred[i])
    widest = 0
    for k in range(1, d):
        widest = k if spread[k, k] > spread[widest, widest] else widest
    axis = spread[widest]
    for _ in range(_STEPS):
        turned = np.zeros(d)
        for k in range(d):
            turned = turned + spread[:, k] * axis[k]
        length = float(np.abs(turned).max(initial=0.0))
        if not length > 0:
            break
        axis = turned / length
    found = np.zeros(m)
    for k in range(d):
        found = found + axis[k] * centred[:, k]
    return found
