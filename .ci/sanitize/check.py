"""Stops `make sanitize` unless the sanitised core is the one that gets imported."""

import sys
from pathlib import Path

from weald import _core

path = Path(_core.__file__)
if path.resolve().parent.name != "sanitize":
    sys.exit(f"make sanitize would test the wrong core, {path.parent.name}/{path.name}; is .ci/sanitize on PYTHONPATH?")
