"""The house: imports go one way, public functions tell their types, files, functions, folders are small."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import weald
import weald.datasets
import weald.testing
import weald.theory

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "weald"

#: A package imports only packages above it; docs/architecture.md shows the same order.
ORDER = (
    *("errors", "arrays", "numbers", "parameters", "random", "progress"),
    *(
        "engine",
        "data",
        "model",
        "rows",
        "boosting",
        "adaboost",
        "svm",
        "neighbors",
        "inspection",
        "uncertainty",
        "resampling",
        "impute",
    ),
    *("io", "pictures", "estimators", "insight", "runs", "report"),
    *("theory", "kernels", "callback", "datasets", "cli", "testing"),
    "__main__",
)
#: The same within the estimators.
FAMILIES = (
    *("shared", "tree", "forest", "bagging", "voting", "xgboost", "adaboost", "balanced"),
    *("gradient_boosting", "svm", "logistic", "neighbors", "resampling", "impute", "conformal", "thresholds"),
)


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """The modules that a file names, lazily or not, in full, with the line."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports relatively"
            assert node.module is not None
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)


def upward(folder: Path, prefix: str, order: tuple[str, ...]) -> list[str]:
    """Imports of a package that stands further down in the order."""
    found = []
    for path in sorted(folder.rglob("*.py")):
        room = path.relative_to(folder).parts[0].removesuffix(".py")
        if room == "__init__":
            continue
        for name, line in imports(path):
            other = name.removeprefix(prefix).split(".")[0]
            if name.startswith(prefix) and other in order and order.index(other) > order.index(room):
                found.append(f"{path.relative_to(ROOT)}:{line} imports {name}")
    return found


@pytest.mark.parametrize(
    ("folder", "prefix", "order"),
    [(PACKAGE, "weald.", ORDER), (PACKAGE / "estimators", "weald.estimators.", FAMILIES)],
    ids=["packages", "families of estimators"],
)
def test_imports_go_one_way(folder: Path, prefix: str, order: tuple[str, ...]) -> None:
    rooms = {path.stem for path in folder.iterdir() if path.is_dir() or path.suffix == ".py"}
    assert rooms - {"__init__", "__pycache__"} == set(order), "the order must name every package"
    assert upward(folder, prefix, order) == []


def test_an_upward_import_would_be_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "lazy.py").write_text("def f():\n    from weald.estimators import tree\n")
    assert upward(tmp_path, "weald.", ORDER) == ["data/lazy.py:2 imports weald.estimators.tree"]


def test_only_the_engine_imports_the_core() -> None:
    strangers = [
        str(path.relative_to(ROOT))
        for path in PACKAGE.rglob("*.py")
        if path.relative_to(PACKAGE).parts[0] != "engine"
        and any(name == "weald._core" for name, _ in imports(path))
    ]
    assert strangers == []


def test_two_modules_import_dask() -> None:
    """And nothing that `import weald` imports imports these."""
    found = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if any(re.match(r"(dask|distributed)\b", name) for name, _ in imports(path))
    }
    assert found == {"rows/dask/cluster.py", "rows/dask/lazily.py"}
    code = "import sys, weald; weald.XGBRegressor; print({'dask', 'distributed'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


# --------------------------------------------------------------------------- types


def public_functions() -> Iterator[tuple[str, object]]:
    """What users can call, methods that come from weald's base classes and mixins included."""
    modules = (
        *(weald, weald.callback, weald.kernels, weald.report),
        *(weald.theory, weald.datasets, weald.testing),
    )
    for value in (getattr(module, name) for module in modules for name in module.__all__):
        for part in value.__mro__ if inspect.isclass(value) else ():
            for name, member in vars(part).items() if part.__module__.startswith("weald.") else ():
                if not name.startswith("_") or name in ("__init__", "__call__", "__getitem__", "__iter__"):
                    found = getattr(
                        member, "__func__", getattr(member, "fget", getattr(member, "fn", member))
                    )
                    yield f"{part.__module__}.{part.__name__}.{name}", inspect.unwrap(found)
        if inspect.isfunction(value):
            yield f"{value.__module__}.{value.__name__}", value


def test_public_signatures_have_no_any() -> None:
    """But for the type of an array's entries and what a callable of the user's own gives."""
    known = re.compile(r"NDArray\[Any\]|Callable\[\.\.\., Any\]")
    texts = {
        f"{name}: {part}": known.sub("", str(text))
        for name, function in public_functions()
        for part, text in getattr(function, "__annotations__", {}).items()
    }
    assert len(texts) > 1000
    assert sorted(name for name, text in texts.items() if re.search(r"\bAny\b", text)) == []


# --------------------------------------------------------------------------- sizes


def test_few_values_are_of_any_type() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{number}"
        for path in PACKAGE.rglob("*.py")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(r": Any\b", line)
    ]
    assert len(found) < 150, f"{len(found)}; weald.arrays has names for what users hand in: {found}"


SOURCES = [
    path
    for folder, endings in (("src", ("py", "h", "cpp")), ("tests", ("py",)), ("benchmarks", ("py",)))
    for ending in endings
    for path in sorted((ROOT / folder).rglob(f"*.{ending}"))
]
MOST_LINES, MOST_FUNCTION, MOST_FILES = 400, 60, 25


def test_files_are_short() -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in SOURCES}
    assert {name: n for name, n in lengths.items() if n > MOST_LINES} == {}


def test_functions_are_short() -> None:
    """Their statements: signatures and documentation tell what users need; constructors only store."""
    found = {}
    for path in SOURCES:
        if path.suffix != ".py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name != "__init__":
                statements = node.body[1:] if ast.get_docstring(node) is not None else node.body
                length = (node.end_lineno or 0) - statements[0].lineno + 1 if statements else 0
                if length > MOST_FUNCTION:
                    found[f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"] = length
    assert found == {}


def test_folders_are_small() -> None:
    folders: dict[Path, int] = {}
    for path in SOURCES:
        folders[path.parent] = folders.get(path.parent, 0) + 1
    assert {str(folder.relative_to(ROOT)): n for folder, n in folders.items() if n > MOST_FILES} == {}


def test_a_type_of_the_core_has_one_definition() -> None:
    # Of two types of one name in one namespace, a file means whichever header it happens to include.
    defined = re.compile(r"^(?:struct|class|enum class|enum) (\w+)\b(?! *<)[^;<]*\{", re.MULTILINE)
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "src" / "core").rglob("*.h")):
        text = path.read_text(encoding="utf-8")
        space = re.search(r"^namespace ([\w:]+) \{", text, re.MULTILINE)
        for name in defined.findall(text):
            found.setdefault(f"{space[1] if space else ''}::{name}", []).append(str(path.relative_to(ROOT)))
    assert len(found) > 100
    assert {name: where for name, where in found.items() if len(where) > 1} == {}
