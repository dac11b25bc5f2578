"""When memory runs out, a fit or a prediction raises MemoryError: whatever the limit, the process lives on.

A process forks for each limit, and the fork limits itself and tries: it begins with all that was imported,
and without a thread.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits on address space are Linux's")

SWEEP = """
    import os, resource, sys
    import numpy as np
    import weald

    rng = np.random.default_rng(0)
    X = rng.normal(size=({rows}, 8))
    y = (X[:, 0] + rng.normal(size={rows}) > 0).astype(int)

    def fit_and_predict(n_rows, n_jobs):
        model = {model}
        model.fit(X[:n_rows], y[:n_rows])
        model.predict(X[:n_rows])

    def outcome(extra):
        pid = os.fork()
        if pid:
            return os.waitpid(pid, 0)[1]
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + extra, used + extra))
        try:
            fit_and_predict({rows}, 4)
        except MemoryError:
            os._exit(3)
        except BaseException as error:
            os.write(2, repr(error).encode())
            os._exit(4)
        os._exit(0)

    fit_and_predict(50, 1)  # what is imported when first needed; without threads, whose memory would stay
    print(*(outcome(extra) for extra in range(*{limits})))
"""
MB = 2**20


def outcomes(model: str, rows: int, limits: tuple[int, int, int]) -> list[int]:
    program = textwrap.dedent(SWEEP).format(model=model, rows=rows, limits=limits)
    command = [sys.executable, "-c", program]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr
    found = [int(status) for status in ended.stdout.split()]
    assert set(found) <= {0, 3 << 8}, (found, ended.stderr)
    return found


@pytest.mark.parametrize(
    ("model", "rows", "step"),
    [
        ("weald.RandomForestClassifier(n_estimators=12, n_jobs=n_jobs, random_state=0)", 4000, 3 * MB),
        ("weald.XGBClassifier(n_estimators=4, n_jobs=n_jobs)", 20_000, 3 * MB),
    ],
    ids=["forest", "boosting"],
)
def test_every_limit_ends_in_a_model_or_a_memory_error(model, rows, step):
    found = outcomes(model, rows, (0, 14 * step, step))
    assert found[-1] == 0  # the last limit is enough
    assert "Forest" not in model or found[0] != 0  # and the first is not
