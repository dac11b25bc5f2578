"""JSON with one spelling: sorted keys, no spaces, ASCII, finite numbers.

Equal descriptions give equal bytes, and the reader refuses what a writer of ours never makes: duplicate
keys, NaN, infinities, deep nesting.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any, NoReturn

from weald.errors import ModelFileError
from weald.io import budget, json_size

MAX_DEPTH = 32
#: Whole numbers of more digits are beyond float64; nothing that a model keeps is.
MAX_DIGITS = 300


def dumps(value: object) -> str:
    """The one JSON text of `value`, whose mappings have text keys and whose floats are finite.

    >>> dumps({"b": 1.0, "a": [True, None, "é"]})
    '{"a":[true,null,"\\\\u00e9"],"b":1.0}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def loads(text: str, what: str) -> Any:
    """Parse untrusted JSON; `what` names it in the message. Anything irregular raises ModelFileError."""
    if not text.isascii():
        raise ModelFileError(f"The {what} is not plain ASCII: not a model of weald.")
    # Depth and size are measured before parsing: the parser recurses, and two letters can be an object.
    size = json_size.measure(text)
    if size.depth > MAX_DEPTH:
        raise ModelFileError(f"The {what} is nested more than {MAX_DEPTH} levels deep: not a model of weald.")
    budget.spend(size.n_bytes, f"the {what} has too many entries for its length")
    try:
        return json.loads(
            text,
            object_pairs_hook=_unique,
            parse_constant=_no_constant,
            parse_float=_finite_float,
            parse_int=_short_int,
        )
    except ModelFileError as error:
        raise ModelFileError(f"The {what} {error}.") from None
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"The {what} is not valid JSON ({error}).") from None


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


def _short_int(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise ModelFileError(f"holds a whole number of {len(text)} digits, which a model file never does")
    return int(text)
