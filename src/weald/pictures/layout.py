"""Where the boxes of a drawn tree go: parents centred over their children, subtrees as close as they fit.

Boxes of one depth stand in one row, aligned at the top. A subtree is known by its contour, the leftmost and
rightmost edge at each depth; two subtrees are pushed apart until their contours keep the gap everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class BoxLayout:
    """Positions: x of the centres, by box; y of the tops (counted downwards) and heights, by depth."""

    x: NDArray[np.float64]
    top: NDArray[np.float64]
    row_height: NDArray[np.float64]
    width: float
    height: float


def tidy(
    parent: Sequence[int],
    width: NDArray[np.float64],
    height: NDArray[np.float64],
    *,
    across: float,
    down: float,
) -> BoxLayout:
    """Lay out boxes in preorder.

    Parameters
    ----------
    parent : sequence of int
        The parent of each box, which comes before it; -1 for the root.
    width, height : ndarray
        Of each box.
    across : float
        The least gap between boxes of one depth.
    down : float
        The gap between the rows.

    Returns
    -------
    BoxLayout
        The leftmost edge is 0, the top of the root is 0.
    """
    n = len(parent)
    depth = np.zeros(n, np.int64)
    children: list[list[int]] = [[] for _ in range(n)]
    for box in range(1, n):
        depth[box] = depth[parent[box]] + 1
        children[parent[box]].append(box)
    offset = _offsets(children, width, across)
    x = np.zeros(n)
    for box in range(1, n):
        x[box] = x[parent[box]] + offset[box]
    left = float((x - width / 2).min())
    row_height = np.zeros(int(depth.max()) + 1)
    np.maximum.at(row_height, depth, height)
    top = np.concatenate([[0.0], np.cumsum(row_height[:-1] + down)])
    return BoxLayout(
        x - left, top, row_height, float((x + width / 2).max()) - left, float(top[-1] + row_height[-1])
    )


def _offsets(children: list[list[int]], width: NDArray[np.float64], across: float) -> NDArray[np.float64]:
    """How far each box stands to the right of its parent."""
    offset = np.zeros(len(children))
    # Contours relative to the subtree's root, deepest row first, so that a new root is appended at the end.
    contours: dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
    for box in range(len(children) - 1, -1, -1):
        half = width[box] / 2
        below = children[box]
        if not below:
            contours[box] = np.array([-half]), np.array([half])
            continue
        left, right = contours.pop(below[0])
        places = [0.0]
        for child in below[1:]:
            near, far = contours.pop(child)
            shared = min(len(right), len(near))
            place = float((right[-shared:] - near[-shared:]).max()) + across
            places.append(place)
            left = (
                np.concatenate([(near + place)[: len(near) - shared], left])
                if len(near) > len(left)
                else left
            )
            far = far + place
            right = np.concatenate([right[: len(right) - len(far)], far]) if len(right) > len(far) else far
        middle = (places[0] + places[-1]) / 2
        for child, place in zip(below, places, strict=True):
            offset[child] = place - middle
        contours[box] = np.append(left - middle, -half), np.append(right - middle, half)
    return offset
