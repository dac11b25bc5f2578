"""The file fuzzer by hand: new seeds for as long as you like.

    python tests/fuzz/files_run.py --seconds 3600 --seed 7
    python tests/fuzz/files_run.py --seed 7 --case 1234        # one case again

Prints each finding with the numbers that give it again; exits 1 if there was one.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzz import files

#: memory that the process may have: what a file asks of the core is not seen otherwise
_MOST = 6 << 30


def main() -> int:
    """Run cases until the time is over."""
    options = _options()
    if not options.unlimited:
        resource.setrlimit(resource.RLIMIT_AS, (_MOST, _MOST))
    outcomes: Counter[str] = Counter()
    findings, number, end = 0, options.case or 0, time.monotonic() + options.seconds
    while True:
        try:
            outcomes[files.run(options.seed, number)] += 1
        except Exception as error:
            findings += 1
            print(f"--seed {options.seed} --case {number}: {type(error).__name__}: {error}"[:900], flush=True)
            if options.case is not None or options.trace:
                traceback.print_exc()
        number += 1
        if options.case is not None or time.monotonic() > end:
            break
    print(f"{number - (options.case or 0)} cases, {findings} findings: {dict(outcomes)}")
    return min(findings, 1)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int, help="run this one case, with its traceback")
    parser.add_argument("--unlimited", action="store_true", help="no limit of memory (sanitizers map a lot)")
    parser.add_argument("--trace", action="store_true", help="print the traceback of every finding")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
