"""What must hold for any estimator on any table, checked for one random case."""

from __future__ import annotations

import io
import pickle
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

import weald
from fuzz import random_tables as tables
from fuzz.findings import Finding, patience
from fuzz.random_models import KINDS, ModelKind
from weald.data.adapters import to_table
from weald.data.table import NumericColumn
from weald.errors import WealdError

_ANSWERS = ("predict", "predict_proba", "decision_function", "transform")


@dataclass(frozen=True)
class Case:
    """One estimator with its parameters on one table."""

    kind: ModelKind
    make: Callable[..., Any]
    parameters: dict[str, Any]
    table: tables.RandomTable
    target: np.ndarray | None
    fit_options: dict[str, Any]

    def __str__(self) -> str:
        kinds = ", ".join(column.kind for column in self.table.columns)
        weight = self.fit_options.get("sample_weight")
        weights = "" if weight is None else f", weights from {weight.min():g} to {weight.max():g}"
        return f"{self.kind.name}({self.parameters}) on {self.table.n_rows} rows of {kinds}{weights}"


def random_case(seed: int, number: int, names: tuple[str, ...] = ()) -> Case:
    """Case `number` of a seed; the same numbers always give the same case."""
    kinds = [kind for kind in KINDS if not names or kind.name in names]
    kind = kinds[number % len(kinds)]
    random = np.random.default_rng([seed, number])
    make, parameters = kind.drawn(random)
    table = tables.random_table(random, gentle=kind.gentle)
    if kind.typed:
        table = tables.in_lasting_types(table)
    target, fit_options = _random_target(random, kind, table.n_rows)
    return Case(kind, make, parameters, table, target, fit_options)


def _random_target(
    random: np.random.Generator, kind: ModelKind, n_rows: int
) -> tuple[np.ndarray | None, dict[str, Any]]:
    fit_options: dict[str, Any] = {}
    if kind.weighted:
        weight = tables.random_weights(random, n_rows)
        if weight is not None:
            fit_options["sample_weight"] = weight
    if kind.target == "labels":
        return tables.random_labels(random, n_rows), fit_options
    if kind.target == "numbers":
        return tables.random_numbers(random, n_rows), fit_options
    if kind.target == "grades":
        return random.integers(0, 4, n_rows), {"qid": np.sort(random.integers(0, 4, n_rows))}
    return None, fit_options


def check(case: Case) -> str:
    """Hold one case to every rule; "fitted", or the first words of the error that weald gave."""
    forms: list[tables.Form] = list(tables.NAMED)
    if tables.can_be_lists(case.table):
        forms.append(tables.as_mapping)
    outcome = _check_forms(case, forms)
    if case.table.numeric and not case.kind.sparse:
        _check_forms(case, list(tables.DENSE))
    elif case.table.numeric and case.kind.sparse_alike:
        _check_forms(case, [*tables.DENSE, *tables.SPARSE])
    elif case.table.numeric:
        _check_forms(case, list(tables.DENSE))
        _check_forms(case, list(tables.SPARSE))
    return outcome


def _check_forms(case: Case, forms: list[tables.Form]) -> str:
    """The same table in several forms: one model, one answer."""
    first, outcome = _fitted(case, forms[0](case.table))
    if first is None:
        for form in forms[1:]:
            other, _ = _fitted(case, form(case.table))
            _demand(other is None, f"{form.__name__} is fitted, and {forms[0].__name__} raises: {outcome}")
        return outcome
    data, answers = _bytes_of(first), _answers(first, forms[0](case.table))
    for form in forms[1:]:
        other, said = _fitted(case, form(case.table))
        _demand(other is not None, f"{forms[0].__name__} is fitted, and {form.__name__} raises: {said}")
        _demand(_bytes_of(other) == data, f"{form.__name__} gives another model than {forms[0].__name__}")
        _same_answers(answers, _answers(first, form(case.table)), f"asked with {form.__name__}")
    _check_threads(case, forms[0], data)
    _check_file(first, data, forms[0](case.table), answers)
    _check_rows(first, case.table, forms[0], answers)
    _check_finite(case, answers)
    return "fitted"


def _fitted(case: Case, X: Any, **more: Any) -> tuple[Any, str]:
    """The fitted estimator, or None and what weald said against it."""
    model = case.make(**case.parameters, **more)
    with _quiet(), patience("fit"):
        try:
            model.fit(X, **({} if case.target is None else {"y": case.target}), **case.fit_options)
        except WealdError as error:
            return None, f"{type(error).__name__}: {error}"
    if getattr(model, "n_neighbors", 0) > getattr(model, "n_samples_fit_", np.inf):
        return None, "fewer rows than neighbours"  # which raises when it is asked, as scikit-learn's does
    return model, "fitted"


def _check_threads(case: Case, form: tables.Form, data: bytes) -> None:
    if "n_jobs" not in case.make(**case.parameters).get_params():
        return
    for n_jobs in (1, 2):
        model, said = _fitted(case, form(case.table), n_jobs=n_jobs)
        _demand(model is not None, f"n_jobs={n_jobs} raises: {said}")
        _demand(_bytes_of(model) == data, f"n_jobs={n_jobs} gives another model")


def _check_file(model: Any, data: bytes, X: Any, answers: dict[str, np.ndarray]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.weald"
        path.write_bytes(data)
        loaded = weald.load(path)
    _demand(_bytes_of(loaded) == data, "saved, loaded and saved again gives other bytes")
    _same_answers(answers, _answers(loaded, X), "loaded from a file")
    pickled = pickle.load(io.BytesIO(pickle.dumps(model)))
    _demand(_bytes_of(pickled) == data, "pickled and saved gives other bytes")
    clone(model)


def _check_rows(
    model: Any, table: tables.RandomTable, form: tables.Form, answers: dict[str, np.ndarray]
) -> None:
    """Some rows asked alone."""
    for row in {0, table.n_rows // 2, table.n_rows - 1}:
        alone = _answers(model, form(table.rows(row, row + 1)))
        _same_answers(
            {name: answer[row : row + 1] for name, answer in answers.items()}, alone, f"row {row} alone"
        )


def _check_finite(case: Case, answers: dict[str, np.ndarray]) -> None:
    for name, answer in answers.items():
        if answer.dtype.kind == "f":
            _demand(bool(np.isfinite(answer).all()), f"{name} is not finite")
    shares = answers.get("predict_proba")
    if shares is not None:
        _demand(bool(((shares >= 0) & (shares <= 1)).all()), "a probability is outside 0 to 1")
        _demand(np.allclose(shares.sum(axis=1), 1, atol=1e-6), "probabilities do not add up to 1")


def _answers(model: Any, X: Any) -> dict[str, np.ndarray]:
    """Everything the model says of a table."""
    with _quiet(), patience("an answer"):
        return {
            name: _plain(getattr(model, name)(X))
            for name in _ANSWERS
            if hasattr(model, name) and not (name == "transform" and hasattr(model, "predict"))
        }


def _plain(answer: Any) -> np.ndarray:
    if hasattr(answer, "columns") or isinstance(answer, dict):
        return _cells(answer)
    array = np.asarray(answer.toarray() if hasattr(answer, "toarray") else answer)
    return array.astype(str) if array.dtype.kind == "O" else array


def _cells(table: Any) -> np.ndarray:
    """A filled table cell by cell, as weald reads it: every form gives the same."""
    columns = [
        [str(float(value)) for value in column.values]
        if isinstance(column, NumericColumn)
        else [str(column.levels[index]) for index in column.indices]
        for column in to_table(table).columns
    ]
    return np.array(columns, dtype=str).T


def _bits(answer: np.ndarray) -> Any:
    """What must be the same; texts may be stored at any width."""
    return answer.tolist() if answer.dtype.kind == "U" else answer.tobytes()


def _same_answers(first: dict[str, np.ndarray], second: dict[str, np.ndarray], when: str) -> None:
    for name, answer in first.items():
        _demand(
            answer.shape == second[name].shape and _bits(answer) == _bits(second[name]),
            f"{name} differs when {when}",
        )


def _bytes_of(model: Any) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.weald"
        model.save(path)
        return path.read_bytes()


@contextmanager
def _quiet() -> Iterator[None]:
    """Warnings are findings, but for a UserWarning, which tells the user something about the data."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)
        yield


def _demand(holds: bool, rule: str) -> None:
    if not holds:
        raise Finding(rule)
