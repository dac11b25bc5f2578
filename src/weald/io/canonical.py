"""JSON with one spelling: sorted keys, no spaces, ASCII, finite numbers.

Equal descriptions give equal bytes, and the reader refuses what a writer of ours never makes: duplicate
keys, NaN, infinities, deep nesting.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import Any, NoReturn

import numpy as np

from weald.errors import ModelFileError

MAX_DEPTH = 32

# Possessive, and an open string runs to the end: hostile text costs one pass.
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_STEP = np.zeros(256, np.int8)
_STEP[list(b"[{")] = 1
_STEP[list(b"]}")] = -1
_CHUNK = 1 << 20


def dumps(value: object) -> str:
    """The one JSON text of `value`, whose mappings have text keys and whose floats are finite.

    >>> dumps({"b": 1.0, "a": [True, None, "é"]})
    '{"a":[true,null,"\\\\u00e9"],"b":1.0}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def loads(text: str, what: str) -> Any:
    """Parse untrusted JSON; `what` names it in the message. Anything irregular raises ModelFileError."""
    # The depth is measured before parsing: the parser itself recurses.
    if _depth(text) > MAX_DEPTH:
        raise ModelFileError(f"The {what} is nested more than {MAX_DEPTH} levels deep: not a model of weald.")
    try:
        return json.loads(
            text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite_float
        )
    except ModelFileError as error:
        raise ModelFileError(f"The {what} {error}.") from None
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"The {what} is not valid JSON ({error}).") from None


def _depth(text: str) -> int:
    """The deepest nesting of brackets outside strings, in one vectorised pass."""
    marks = np.frombuffer(_STRING.sub("", text).encode("utf-8", "replace"), np.uint8)
    depth = deepest = 0
    for start in range(0, len(marks), _CHUNK):
        levels = depth + np.cumsum(_STEP[marks[start : start + _CHUNK]], dtype=np.int64)
        depth, deepest = int(levels[-1]), max(deepest, int(levels.max()))
    return deepest


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ModelFileError(f"names {twice[:80]!r} twice in one object")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ModelFileError(f"holds the number {name}, which a model file never does")


def _finite_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ModelFileError(f"holds the number {text[:40]}, which is beyond float64")
    return number
