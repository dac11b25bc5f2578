"""How to use the model, and how the report was made."""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import weald
from weald.arrays import AnyEstimator
from weald.errors import WealdError
from weald.io.model_file import to_bytes
from weald.report.summary import HowToUse, Made

_LIBRARIES = ("numpy", "scipy", "scikit-learn")
#: where an object lies in memory, which differs from run to run
_PLACE = re.compile(r" at 0x[0-9a-fA-F]+")
_LONG = 200


def made_of(
    model: AnyEstimator, seed: int, max_rows: int, data: Path | None, times: Mapping[str, float] | None
) -> Made:
    """Versions, parameters and hashes."""
    notes = []
    content = None
    if model is not None:
        try:
            content = to_bytes(model)
        except (WealdError, AttributeError, TypeError) as error:
            notes.append(f"The model has no file of weald's: {error}")
    return Made(
        (("weald", weald.__version__), ("Python", platform.python_version()), *_versions()),
        seed,
        max_rows,
        () if model is None else parameters_of(model),
        None if content is None else len(content),
        None if content is None else sha256(content).hexdigest(),
        None if data is None or not data.is_file() else _of_file(data),
        tuple(sorted((times or {}).items())),
        tuple(notes),
    )


def _versions() -> list[tuple[str, str]]:
    found = []
    for name in _LIBRARIES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return found


def parameters_of(model: AnyEstimator) -> tuple[tuple[str, str], ...]:
    """The parameters that are not as by default; all where there are no defaults."""
    if not hasattr(model, "get_params"):
        return ()
    given = model.get_params(deep=False)
    try:
        defaults = type(model)().get_params(deep=False)
    except TypeError:
        defaults = {}
    words = {name: _words(value) for name, value in sorted(given.items())}
    return tuple(
        (name, text) for name, text in words.items() if name not in defaults or _words(defaults[name]) != text
    )


def _words(value: object) -> str:
    text = _PLACE.sub("", " ".join(repr(value).split()))
    return text if len(text) <= _LONG else text[: _LONG - 1] + "…"


def _of_file(path: Path) -> str:
    found = sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            found.update(block)
    return found.hexdigest()


def how_to_use(model: object, model_file: str | None, task: str, *, saves: bool) -> HowToUse:
    """Code and a command."""
    name = model_file or "model.weald"
    notes = [] if model_file or not saves else ["The model is saved by model.save(“model.weald”)."]
    if not saves:
        name = "model.joblib"
        notes.append("This model has no file of weald's; joblib or pickle keep it.")
    start = f'import weald\n\nmodel = weald.load("{name}")\n'
    if not saves:
        start = f'import joblib\n\nmodel = joblib.load("{name}")\n'
    lines = ["said = model.predict(X)  # X: a table with the same columns"]
    if task == "classification" and hasattr(model, "predict_proba"):
        lines.append("shares = model.predict_proba(X)  # in the order of model.classes_")
    command = f"weald predict {name} rows.csv -o predictions.csv" if saves else ""
    return HowToUse(start + "\n".join(lines) + "\n", command, tuple(notes))
