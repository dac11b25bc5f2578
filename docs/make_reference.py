"""Writes docs/reference from the signatures and docstrings of the public names: `make reference`.

With `--check` nothing is written, and pages that are out of date are named. A new name comes under the
title of its module (`PAGES`): only a module that is nowhere in the table needs a line there.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "reference"
#: where public names are; a name of several modules stands once, under the first
MODULES = (
    "weald",
    "weald.callback",
    "weald.kernels",
    "weald.report",
    "weald.datasets",
    "weald.theory",
    "weald.testing",
    "weald.errors",
)
_WIDE = 100
#: page, its title, and of its modules (by the start of their names): the guide
PAGES: tuple[tuple[str, str, dict[str, str]], ...] = (
    (
        "files_and_runs",
        "Files, comparing methods, model files",
        {
            "weald.data.files": "command_line",
            "weald.data.scanning": "larger_than_memory",
            "weald.rows.paged": "larger_than_memory",
            "weald.runs.plan": "larger_than_memory",
            "weald.runs": "choosing",
            "weald.report": "report",
            "weald.io": "getting_started",
            "weald.datasets": "getting_started",
        },
    ),
    ("trees", "Decision trees", {"weald.estimators.tree": "trees"}),
    (
        "forests",
        "Forests, bagging, voting",
        {
            "weald.estimators.forest": "forests",
            "weald.estimators.bagging": "bagging",
            "weald.estimators.voting": "voting",
        },
    ),
    (
        "boosting",
        "Boosting",
        {
            "weald.estimators.xgboost": "boosting",
            "weald.estimators.gradient_boosting": "gradient_boosting",
            "weald.estimators.adaboost": "adaboost",
            "weald.boosting": "boosting",
        },
    ),
    (
        "machines",
        "Support vector machines, logistic regression, nearest rows",
        {
            "weald.estimators.svm": "svm",
            "weald.svm": "svm",
            "weald.estimators.logistic": "logistic",
            "weald.estimators.neighbors": "neighbors",
        },
    ),
    (
        "rare_classes",
        "Rare classes, thresholds, gaps",
        {
            "weald.estimators.resampling": "rare_classes",
            "weald.estimators.balanced": "balanced_ensembles",
            "weald.estimators.thresholds": "thresholds",
            "weald.estimators.impute": "imputation",
        },
    ),
    (
        "uncertainty",
        "How sure",
        {
            "weald.estimators.conformal": "intervals",
            "weald.uncertainty": "uncertainty",
            "weald.data.sketch": "sketch",
            "weald.theory": "bagging",
        },
    ),
    (
        "insight",
        "What a model does and why",
        {
            "weald.insight.explaining": "explaining",
            "weald.insight.columns": "importance",
            "weald.insight.changes": "what_would_change_it",
            "weald.insight.dependence": "dependence",
            "weald.insight.trace": "by_hand",
        },
    ),
    (
        "pictures",
        "Pictures",
        {"weald.pictures.bands": "uncertainty", "weald.pictures": "pictures"},
    ),
    (
        "others",
        "Errors, warnings, testing",
        {"weald.errors": "getting_started", "weald.testing": "../../CONTRIBUTING"},
    ),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A public name, and what is told of it."""

    names: tuple[str, ...]  # in full, the first is the one to use
    thing: Any
    page: str
    guide: str


def public_names(module: str) -> list[str]:
    """What a module says is public; of `weald.errors` the exceptions and warnings."""
    found = import_module(module)
    if module == "weald.errors":
        named = vars(found).items()
        return [
            name
            for name, each in named
            if isinstance(each, type) and issubclass(each, Exception) and each.__module__ == module
        ]
    return [
        name for name in found.__all__ if name != "__version__" and not inspect.ismodule(getattr(found, name))
    ]


def entries() -> list[Entry]:
    """Every public name once, in the order of the pages."""
    names: dict[int, list[str]] = {}
    things: dict[int, Any] = {}
    for module in MODULES:
        for name in public_names(module):
            thing = getattr(import_module(module), name)
            names.setdefault(id(thing), []).append(f"{module}.{name}")
            things[id(thing)] = thing
    order = {
        (page, prefix): (i, j) for i, (page, _, found) in enumerate(PAGES) for j, prefix in enumerate(found)
    }
    placed = [(place(thing), names[key], thing) for key, thing in things.items()]
    placed.sort(key=lambda each: (order[each[0]], each[1][0].split(".")[1:-1], each[1][0].lower()))
    guides = {(page, prefix): guide for page, _, found in PAGES for prefix, guide in found.items()}
    return [Entry(tuple(names), thing, key[0], guides[key]) for key, names, thing in placed]


def place(thing: Any) -> tuple[str, str]:
    """The page of a name, and the part of its module's name that says so."""
    fits = [
        (page, prefix)
        for page, _, found in PAGES
        for prefix in found
        if f"{thing.__module__}.".startswith(f"{prefix}.")
    ]
    if not fits:
        raise LookupError(f"{thing.__module__} has no page: give it one in PAGES of docs/make_reference.py.")
    return max(fits, key=lambda fit: len(fit[1]))


def signature(entry: Entry) -> str:
    """How it is called, without types, in lines of at most `_WIDE` characters."""
    name = entry.names[0].removeprefix("weald.")
    if isinstance(entry.thing, type) and issubclass(entry.thing, Exception):
        return name
    told = [_told(each) for each in _arguments(entry.thing)]
    whole = f"{name}({', '.join(told)})"
    if len(whole) <= _WIDE:
        return whole
    lines = [""]
    for argument in told:
        if len(lines[-1]) + len(argument) + 2 > _WIDE - 4:
            lines.append("")
        lines[-1] += f"{argument}, "
    return "\n".join([f"{name}(", *(f"    {line.rstrip()}" for line in lines), ")"])


def _arguments(thing: Callable[..., Any]) -> Iterator[inspect.Parameter | str]:
    """Parameters, and the marks between them."""
    found = list(inspect.signature(thing).parameters.values())
    marked = any(each.kind is each.VAR_POSITIONAL for each in found)
    for at, each in enumerate(found):
        if each.kind is each.KEYWORD_ONLY and not marked:
            marked = True
            yield "*"
        yield each
        last = at + 1 == len(found) or found[at + 1].kind is not each.POSITIONAL_ONLY
        if each.kind is each.POSITIONAL_ONLY and last:
            yield "/"


def _told(argument: inspect.Parameter | str) -> str:
    if isinstance(argument, str):
        return argument
    stars = {argument.VAR_POSITIONAL: "*", argument.VAR_KEYWORD: "**"}.get(argument.kind, "")
    default = argument.default
    if default is argument.empty:
        return stars + argument.name
    value = (
        f'"{default}"' if isinstance(default, str) else getattr(default, "__name__", None) or repr(default)
    )
    return f"{argument.name}={value}"


def sentence(thing: Any) -> str:
    """The first paragraph of the docstring, on one line."""
    text = inspect.cleandoc(thing.__doc__ or "").split("\n\n")[0]
    return " ".join(text.split())


def methods(thing: Any) -> list[str]:
    """Public methods and properties that the class itself, or a class of weald that it is made of, has."""
    if not isinstance(thing, type) or issubclass(thing, Exception):
        return []
    ours = [each for each in thing.__mro__ if each.__module__.startswith("weald.")]
    named = {name for each in ours for name, value in vars(each).items() if _is_method(name, value)}
    return sorted(named)


def _is_method(name: str, value: object) -> bool:
    if name.startswith("_"):
        return False
    return (
        inspect.isfunction(value)
        or isinstance(value, property | classmethod | staticmethod)
        or hasattr(value, "fn")
    )


def section(entry: Entry, titles: dict[str, str]) -> str:
    """What a page says of a name."""
    lines = [f"### {entry.names[0]}", "", "```python", signature(entry), "```", "", sentence(entry.thing), ""]
    found = methods(entry.thing)
    if found:
        lines += [f"Has {', '.join(f'`{each}`' for each in found)}.", ""]
    if len(entry.names) > 1:
        lines += [f"Also {', '.join(f'`{each}`' for each in entry.names[1:])}.", ""]
    lines += [f"Guide: [{titles[entry.guide]}]({_from_here(entry.guide)})", ""]
    return "\n".join(lines)


def guide_titles(guides: set[str]) -> dict[str, str]:
    """The first line of each guide."""
    found = {}
    for guide in guides:
        path = (FOLDER / _from_here(guide)).resolve()
        found[guide] = path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
    return found


def _from_here(guide: str) -> str:
    """Where a guide is, seen from the reference."""
    return f"{guide}.md" if guide.startswith("..") else f"../guide/{guide}.md"


def anchor(name: str) -> str:
    """What a heading with this name is linked by."""
    return name.lower().replace(".", "")


def _in_a_cell(text: str) -> str:
    return text.replace("|", "\\|")


def pages() -> dict[str, str]:
    """The text of every page by its file name."""
    found = entries()
    titles = guide_titles({each.guide for each in found})
    note = (
        "Written by `make reference` from the code: do not edit. "
        "`help(name)` in Python tells every parameter."
    )
    index = [
        "# Reference",
        "",
        "Every public name of weald. [The guide](../guide/README.md) shows them at work.",
        "",
        note,
        "",
    ]
    texts = {}
    for page, title, _ in PAGES:
        here = [each for each in found if each.page == page]
        text = [f"# {title}", "", f"{note} All pages: [Reference](README.md).", ""]
        texts[f"{page}.md"] = "\n".join([*text, *(section(each, titles) for each in here)]).rstrip() + "\n"
        index += [f"## {title}", "", "| name | |", "|---|---|"]
        index += [
            f"| [`{each.names[0]}`]({page}.md#{anchor(each.names[0])}) | {_in_a_cell(sentence(each.thing))} |"
            for each in here
        ]
        index.append("")
    return {"README.md": "\n".join(index).rstrip() + "\n"} | texts


def stale() -> list[str]:
    """The pages whose text is not what the code says, or that are left over."""
    wanted = pages()
    there = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    return sorted(name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name))


def main() -> int:
    """Write the pages, or with `--check` only look."""
    if "--check" in sys.argv[1:]:
        found = stale()
        if found:
            print(f"docs/reference is out of date: run make reference ({', '.join(found)})")
        return bool(found)
    texts = pages()
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.md"):
        path.unlink()
    for name, text in texts.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
