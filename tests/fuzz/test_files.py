"""A fixed share of the file fuzzer; `files_run.py` runs more."""

from __future__ import annotations

import json

import pytest

from fuzz import files
from weald.io.kinds import KINDS

N_BLOCKS, N_CASES = 4, 30


@pytest.mark.parametrize("block", range(N_BLOCKS))
def test_hostile_files_are_refused_or_work_within_their_memory(block):
    found = {files.run(2026, block * N_CASES + i) for i in range(N_CASES)}
    assert {"refused"} <= found <= {"refused", "used"}  # few can be used: by chance a block has none


def test_every_kind_of_model_is_among_the_files():
    def kinds(record):
        yield record["estimator"]
        for member in record.get("members", []):
            if member["model"] is not None:
                yield from kinds(member["model"])

    found = {kind for name in files.names() for kind in kinds(json.loads(files.sample(name).text))}
    assert found == set(KINDS)
