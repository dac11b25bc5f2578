"""The colours of nodes: a hue for each class, paler where classes are mixed; one hue by value for numbers."""

from __future__ import annotations

import colorsys

import numpy as np
from numpy.typing import NDArray

from weald.pictures.nodes import ShownTree

# Far apart in hue and in lightness, so that they are told apart with any colour vision.
_CLASSES = ("#3b7dbf", "#e6892b", "#2f9e77", "#c6538c", "#8b6fc4", "#b8a02a", "#4fb3c9", "#a8563a")
_VALUE = "#2f7f9e"
_STRONGEST = 0.8  # of a colour mixed with white: dark text stays readable on it

RGB = tuple[float, float, float]


def class_colour(k: int) -> str:
    """The colour of class k; beyond the fixed ones, hues by the golden ratio.

    >>> class_colour(0), class_colour(8)
    ('#3b7dbf', '#4d9d55')
    """
    if k < len(_CLASSES):
        return _CLASSES[k]
    hue = (0.35 + (k - len(_CLASSES)) * 0.618034) % 1
    return _hex(colorsys.hls_to_rgb(hue, 0.46, 0.34))


def node_colours(tree: ShownTree, nodes: list[int]) -> list[str]:
    """The fill of each of these nodes."""
    value = tree.value[nodes]
    if tree.outputs.n_outputs > 1:
        return [tint(_VALUE, strength) for strength in _purity(tree, nodes)]
    if tree.outputs.classes is None:
        half = value[:, 0] / 2  # so that no span is beyond float64
        low, span = float(half.min()), float(half.max() - half.min())
        return [tint(_VALUE, (float(v) - low) / span if span > 0 else 0.0) for v in half]
    n_classes = value.shape[1]
    even = 1 / n_classes
    colours = []
    for shares in value:
        best = int(np.argmax(shares))
        strength = (float(shares[best]) - even) / (1 - even) if n_classes > 1 else 1.0
        colours.append(tint(class_colour(best), strength))
    return colours


def _purity(tree: ShownTree, nodes: list[int]) -> NDArray[np.float64]:
    """From 0, as mixed as the most mixed node, to 1."""
    if tree.impurity is None:
        return np.zeros(len(nodes))
    impurity = tree.impurity[nodes]
    worst = float(impurity.max())
    return 1 - impurity / worst if worst > 0 else np.ones(len(nodes))


def tint(colour: str, strength: float) -> str:
    """A colour mixed with white, from nearly white (0) to strong (1).

    >>> tint("#000000", 0.0), tint("#000000", 1.0)
    ('#f7f7f7', '#333333')
    """
    share = 0.03 + (_STRONGEST - 0.03) * min(max(0.0, strength), 1.0)  # NaN, of infinite values, is 0
    red, green, blue = (1 - share * (1 - part) for part in _rgb(colour))
    return _hex((red, green, blue))


def ink(fill: str) -> str:
    """Dark or white text, whichever stands out more from a fill.

    >>> ink("#ffffff"), ink("#333333")
    ('#1a1a1a', '#ffffff')
    """
    dark, light = _luminance(_rgb("#1a1a1a")), 1.0
    here = _luminance(_rgb(fill))
    return "#1a1a1a" if (here + 0.05) / (dark + 0.05) >= (light + 0.05) / (here + 0.05) else "#ffffff"


def _luminance(rgb: RGB) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _rgb(colour: str) -> RGB:
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return red, green, blue


def _hex(rgb: RGB) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in rgb)
