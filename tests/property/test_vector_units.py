"""Trees and forests are the same, to the byte, on every vector unit and in every process.

One process for each unit answers for all; boosting is in test_boosting_same_bits.py.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from property import test_forests as forests
from property import test_same_bits as trees
from property.test_same_bits import run, table

import weald
from weald import RandomForestClassifier
from weald.engine import simd_level

UNITS: tuple[Mapping[str, str], ...] = ({}, {"WEALD_SIMD": "baseline"})


def shares(model: Any, n_rows: int) -> str:
    """The hash of what a model says of rows that it has not seen."""
    X, _, _ = table(n_rows, seed=9)
    return hashlib.sha256(model.predict_proba(X).tobytes()).hexdigest()


def answers(folder: str) -> dict[str, Any]:
    """What this process makes of the same rows and of the models in a folder."""
    path = Path(folder)
    return {
        "level": simd_level(),
        "trees": trees.digest(path),
        "forests": forests.digest(),
        "tree": shares(weald.load(path / "tree.weald"), 3_000),
        "forest": shares(weald.load(path / "forest.weald"), 2_000),
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models in files."""
    path = tmp_path_factory.mktemp("units")
    X, labels, _ = table(1_500)
    trees.fitted()[0].save(path / "tree.weald")
    RandomForestClassifier(20, random_state=0).fit(X, labels).save(path / "forest.weald")
    return path


@pytest.fixture(scope="module")
def others(folder: Path) -> list[dict[str, Any]]:
    """The answers of a process for each unit."""
    script = """
        import json, sys
        from property.test_vector_units import answers
        print(json.dumps(answers(sys.argv[1])))
    """
    found = [json.loads(run(script, str(folder), **unit)) for unit in UNITS]
    assert [each["level"] for each in found] == [simd_level(), "baseline"]
    return found


def test_fits_give_the_same_files(folder: Path, others: list[dict[str, Any]]) -> None:
    for each in others:
        assert each["trees"] == trees.digest(folder)
        assert each["forests"] == forests.digest()


def test_predictions_are_the_same(folder: Path, others: list[dict[str, Any]]) -> None:
    X, labels, _ = table(1_500)
    tree = shares(trees.fitted()[0], 3_000)
    forest = shares(RandomForestClassifier(20, random_state=0).fit(X, labels), 2_000)
    assert tree == shares(weald.load(folder / "tree.weald"), 3_000)
    for each in others:
        assert (each["tree"], each["forest"]) == (tree, forest)
