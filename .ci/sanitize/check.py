"""Stops `make sanitize` unless the sanitised core is the one that gets imported."""

import sys
from pathlib import Path

from weald import _core

path = Path(_core.__file__)
if path.resolve().parent.name != "sanitize":
    sys.exit(f"Wrong core ({path.parent.name}/{path.name}): .ci/sanitize must be on PYTHONPATH.")
