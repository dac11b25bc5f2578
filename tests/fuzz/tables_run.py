"""The table fuzzer by hand: new seeds for as long as you like.

    python tests/fuzz/tables_run.py --seconds 3600 --seed 7
    python tests/fuzz/tables_run.py --seed 7 --case 1234        # one case again

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

from fuzz.rules import check, random_case

#: memory that the process may have, so that a fit that takes too much is a finding and not the end
_MOST = 6 << 30


def main() -> int:
    """Run cases until the time is over."""
    options = _options()
    if not options.unlimited:
        resource.setrlimit(resource.RLIMIT_AS, (_MOST, _MOST))
    names = tuple(options.only.split(",")) if options.only else ()
    outcomes: Counter[str] = Counter()
    findings, number, end = 0, options.case or 0, time.monotonic() + options.seconds
    while True:
        case = random_case(options.seed, number, names)
        try:
            outcomes[check(case)[:70]] += 1
        except Exception as error:
            findings += 1
            print(f"--seed {options.seed} --case {number}: {case}\n  {type(error).__name__}: {error}"[:900])
            if options.case is not None or options.trace:
                traceback.print_exc()
            sys.stdout.flush()
        number += 1
        if options.case is not None or time.monotonic() > end:
            break
    print(f"{number} cases, {findings} findings; {outcomes['fitted']} fitted")
    for outcome, count in outcomes.most_common(20):
        print(f"{count:7} {outcome}")
    return 1 if findings else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Random tables against every estimator.")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int, help="only this case, with its traceback")
    parser.add_argument("--only", help="estimators, separated by commas")
    parser.add_argument("--unlimited", action="store_true", help="no limit of memory (sanitizers map a lot)")
    parser.add_argument("--trace", action="store_true", help="show where each finding was raised")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
