"""The examples of all docstrings run, and give what they say."""

from __future__ import annotations

import doctest
import sys
from importlib import import_module
from pathlib import Path

import matplotlib as mpl
import pytest

SOURCE = Path(__file__).parents[2] / "src"
#: modules with examples; the reference (tests/unit/test_docs_reference.py) asks every public name for one
MODULES = sorted(
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
    for path in (SOURCE / "weald").rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.fixture(autouse=True)
def _no_window_and_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Pictures open no window and are closed; what an example writes goes to a folder of the test."""
    mpl.use("Agg")
    monkeypatch.chdir(tmp_path)
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.mark.parametrize("name", MODULES)
def test_examples_give_what_they_say(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = doctest.testmod(import_module(name))
    assert found.failed == 0, capsys.readouterr().out
    assert found.attempted
