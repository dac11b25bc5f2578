"""The command `weald`: a table of contents of its subcommands.

click and rich come with the extra `cli`; without them the command says so and ends.
"""

from __future__ import annotations

import importlib.util
import sys

_NEEDED = ("click", "rich")


def main() -> None:
    """Run the command line."""
    absent = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if absent:
        sys.exit(f"The command line needs {' and '.join(absent)}. Install with: pip install weald[cli]")
    try:
        from weald.cli.commands import weald

        weald(prog_name="weald")
    except KeyboardInterrupt:  # while modules are imported
        sys.exit(130)
