"""What a report knows, all of it: the page only renders this record, and `to_json` writes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from math import isfinite
from typing import TypeAlias

from weald.report.records import (
    Asked,
    Classes,
    DataFacts,
    Effect,
    Explained,
    Failing,
    Matters,
    ModelFacts,
    Residuals,
    Scores,
)
from weald.runs.leaderboard import Leaderboard

#: what JSON holds
Plain: TypeAlias = "bool | int | float | str | list[Plain] | dict[str, Plain] | None"


@dataclass(frozen=True, slots=True)
class Check:
    """One check: what it found, what may cause it, what helps. `state`: ok, look, warn, muted or skipped."""

    code: str
    name: str
    state: str
    found: str
    cause: str
    fix: str


@dataclass(frozen=True, slots=True)
class HowToUse:
    """Code to load the model, a command to predict."""

    python: str
    command: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Made:
    """How it came about."""

    versions: tuple[tuple[str, str], ...]
    seed: int
    max_rows: int
    parameters: tuple[tuple[str, str], ...]
    model_bytes: int | None
    model_sha256: str | None
    data_sha256: str | None
    seconds: tuple[tuple[str, float], ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Everything a report says. A part that does not apply is None, and `left_out` says why."""

    asked: Asked
    made: Made
    scores: Scores | None = None
    data: DataFacts | None = None
    classes: Classes | None = None
    residuals: Residuals | None = None
    matters: Matters | None = None
    effects: tuple[Effect, ...] = ()
    explained: Explained | None = None
    failing: Failing | None = None
    model: ModelFacts | None = None
    checks: tuple[Check, ...] = ()
    leaderboard: Leaderboard | None = None
    use: HowToUse | None = None
    left_out: tuple[tuple[str, str], ...] = ()

    def to_dict(self) -> dict[str, Plain]:
        """As mappings, lists, text and numbers; numbers that JSON does not know are None."""
        found = plain(self)
        assert isinstance(found, dict)
        if self.leaderboard is not None and not self.made.seconds:
            board = found["leaderboard"]
            assert isinstance(board, dict)
            places = board["places"]
            assert isinstance(places, list)
            for each in places:  # times differ from run to run
                assert isinstance(each, dict)
                del each["fit_seconds"], each["predict_seconds"]
        return found


def plain(value: object) -> Plain:
    """A record as JSON takes it."""
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if isfinite(value) else None
    return str(value)
