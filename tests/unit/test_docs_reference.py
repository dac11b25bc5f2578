"""docs/reference has every public name, with the signature and the sentence that the code has."""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import weald

DOCS = Path(__file__).parents[2] / "docs"


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_reference", DOCS / "make_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


SCRIPT = _script()
ENTRIES = SCRIPT.entries()


def test_the_reference_is_what_the_code_says():
    assert SCRIPT.stale() == [], "docs/reference is out of date: run `make reference`"


@pytest.mark.parametrize("module", SCRIPT.MODULES)
def test_every_public_name_stands_there(module: str) -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in (DOCS / "reference").glob("*.md"))
    stands = set(re.findall(r"^### (\S+)$", text, re.MULTILINE)) | set(re.findall(r"`(weald\.[\w.]+)`", text))
    missing = {f"{module}.{name}" for name in SCRIPT.public_names(module)} - stands
    assert not missing


def test_no_public_module_is_left_out():
    modules = {f"weald.{name}" for name in weald.__all__ if inspect.ismodule(getattr(weald, name))}
    assert modules <= set(SCRIPT.MODULES)


def test_signatures_can_be_called_as_they_stand():
    """Read back by Python, a signature has the parameters of the code, in their order and kinds."""
    for entry in ENTRIES:
        told = SCRIPT.signature(entry)
        if "(" not in told:
            continue
        # defaults that are no literals (classes, functions) matter by their place only
        names: dict[str, object] = {}
        called = entry.names[0].removeprefix("weald.")
        head = re.sub(r"=(?!\")[A-Za-z_<][^,)]*", "=None", told).replace(f"{called}(", "f(", 1)
        exec(f"def {head}: ...", names)
        ours = inspect.signature(names["f"]).parameters  # type: ignore[arg-type]
        theirs = inspect.signature(entry.thing).parameters
        assert [(each.name, each.kind) for each in ours.values()] == [
            (each.name, each.kind) for each in theirs.values()
        ], entry.names


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.names[0])
def test_docstrings_are_whole(entry) -> None:
    """A sentence; parameters and an example for what can be called."""
    assert SCRIPT.sentence(entry.thing).endswith((".", ":")), "the first paragraph is a sentence"
    if isinstance(entry.thing, type) and issubclass(entry.thing, Exception):
        return
    own = inspect.cleandoc(entry.thing.__doc__ or "")
    assert ">>> " in own, "an example"
    taken = [name for name in inspect.signature(entry.thing).parameters if name not in ("args", "kwargs")]
    headings = re.findall(r"^(\w+)\n-+$", own, re.MULTILINE)
    assert not taken or {"Parameters", "Attributes"} & set(headings), "its parameters"


def test_a_name_without_a_page_is_refused():
    class Lost:
        __module__ = "weald.nowhere"

    with pytest.raises(LookupError, match=r"weald\.nowhere has no page"):
        SCRIPT.place(Lost)


def test_guides_of_the_reference_exist():
    for _, _, found in SCRIPT.PAGES:
        for guide in found.values():
            assert (DOCS / "reference" / SCRIPT._from_here(guide)).exists()
    assert import_module("weald.errors").WealdError in [entry.thing for entry in ENTRIES]
