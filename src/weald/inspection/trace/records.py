"""What a trace is made of: candidates, nodes, trees, rounds, and where they differ from the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from weald.arrays import Floats

#: relative: recomputed numbers that differ by less are the model's
TOLERANCE = 1e-9
#: of the scores whose difference a gain is
ROUNDING = 1e-12

Status = Literal["split", "leaf", "pruned"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One way to part the rows of a node. Gains, covers and scores are in real units."""

    column: int  # of the model
    number: int  # among the columns of the tree: ties go by it
    kind: Literal["numeric", "categories", "combination"]
    threshold: float = 0.0
    left_codes: tuple[int, ...] = ()  # of categories present in the node
    terms: tuple[tuple[int, float], ...] = ()  # of a combination: column and coefficient
    missing_left: bool | None  # None: the node has no missing row
    parts_present: bool  # False: missing stands against present
    gain: float
    held_back: float = 0.0  # what the gain must exceed: what chance gives
    judged: float  # in units: score(left) + score(right) less what is held back
    unit_gain: float = 0.0  # in units: the gain, of which nothing is held back
    n_left: int
    n_right: int
    left_cover: float
    right_cover: float
    heavier_left: bool  # in units: covers that look equal may differ by one
    left_score: float
    right_score: float
    left_value: float = 0.0  # in units, where a constraint asks
    right_value: float = 0.0
    refused: str | None = None  # why it may not be made


@dataclass(slots=True, kw_only=True)
class ColumnFound:
    """What was found of one column in one node."""

    column: int
    number: int
    best: Candidate | None
    top: list[Candidate]
    remark: str = ""  # why there is no candidate, or what holds it back


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A number of the model that the rows do not give."""

    round: int | None
    tree: int | None
    node: int | None
    what: str
    model: object
    recomputed: object
    #: of ensembles of models; of ensembles within them the number in each
    member: tuple[int, ...] = ()

    def __str__(self) -> str:
        """Where, what, and both."""
        places = [
            f"{name} {place}"
            for name, place in (("round", self.round), ("tree", self.tree), ("node", self.node))
            if place is not None
        ]
        members = [f"member {number}" for number in self.member]
        where = ", ".join([*members, *places]) or "the model"
        return (
            f"{where}: {self.what}: the model has {told(self.model)}, the rows give {told(self.recomputed)}"
        )


def told(value: object) -> str:
    """A value of any kind for a sentence."""
    if isinstance(value, float | np.floating):
        return f"{float(value):.10g}"
    if isinstance(value, tuple | list) and value and all(isinstance(each, float) for each in value):
        shown = ", ".join(f"{each:.10g}" for each in value[:8])
        return f"({shown}{', …' if len(value) > 8 else ''})"
    return str(value)


@dataclass(slots=True, kw_only=True)
class NodeTrace:
    """One node, added up again."""

    node: int | None  # of the model; None: pruned away
    parent: int  # place among the nodes of the tree; −1 for the root
    side: str  # "left", "right", or "" for the root
    depth: int
    path: int  # what draws of the node are keyed by
    status: Status = "leaf"
    n_rows: int = 0
    cover: float = 0.0
    sums: tuple[float, ...] = ()
    score: float = 0.0  # similarity; minus loss times weight for trees of classes
    unit_score: float = 0.0
    impurity: float | None = None
    columns: list[ColumnFound] = field(default_factory=list)
    looked_at: tuple[int, ...] | None = None  # columns that were drawn; None: all
    best: Candidate | None = None
    gain: float | None = None  # of the split that is made, or would be
    why: str = ""  # why the winner won, or why the node is a leaf
    value: tuple[float, ...] | None = None  # of leaves, as the model keeps it
    left: int = -1  # places of the children
    right: int = -1
    lower: float = -np.inf  # bounds of a monotone constraint, in units of values
    upper: float = np.inf
    cut: bool = False  # pruning has made it a leaf
    rows: NDArray[np.int64] | None = None  # while the tree is traced
    differs: list[str] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class TreeTrace:
    """One tree, grown again."""

    tree: int  # of the model
    output: int
    names: tuple[str, ...]  # of `NodeTrace.sums`
    score_name: str  # "similarity", or what minus the score is called
    nodes: list[NodeTrace]
    n_rows: int  # that it was grown on
    weight: float = 1.0  # what its values are multiplied with
    rate: float = 1.0  # what its values have been multiplied with already
    facts: dict[str, object] = field(default_factory=dict)
    alphas: list[tuple[float, int | None, int]] | None = None  # pruning: alpha, node of the cut, leaves left


@dataclass(slots=True, kw_only=True)
class RoundTrace:
    """A round of boosting, or one tree of a forest."""

    number: int
    trees: list[TreeTrace]
    facts: dict[str, object] = field(default_factory=dict)
    #: what each row had: (n_rows,) by name
    rows: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)


@dataclass(slots=True)
class Agreement:
    """How far what was recomputed is from the model."""

    disagreements: list[Disagreement] = field(default_factory=list)
    largest: float = 0.0  # relative difference of numbers that agree, or not
    where: str = ""
    n_compared: int = 0

    def number(
        self,
        what: str,
        model: float,
        found: float,
        *,
        scale: float = 0.0,
        at: tuple[int | None, int | None, int | None] = (None, None, None),
    ) -> bool:
        """Compare two numbers; `scale`: the size of what they are a difference of, if that is larger."""
        self.n_compared += 1
        size = max(abs(model), abs(found), scale * (ROUNDING / TOLERANCE))
        if model == found or size == 0:
            return True
        difference = abs(model - found) / size
        if not np.isfinite(difference):
            difference = np.inf
        if difference > self.largest:
            self.largest, self.where = float(difference), _place(at, what)
        if difference <= TOLERANCE:
            return True
        self.disagreements.append(Disagreement(*at, what, model, found))
        return False

    def numbers(
        self,
        what: str,
        model: Sequence[float] | Floats,
        found: Sequence[float] | Floats,
        *,
        scale: float = 0.0,
        at: tuple[int | None, int | None, int | None] = (None, None, None),
    ) -> bool:
        """Compare vectors by their largest difference."""
        ours, theirs = np.asarray(model, np.float64).ravel(), np.asarray(found, np.float64).ravel()
        if ours.shape != theirs.shape:
            return self.same(what, ours.tolist(), theirs.tolist(), at=at)
        if len(ours) == 0:
            return True
        size = max(float(np.abs(ours).max()), scale)
        worst = int(np.argmax(np.abs(ours - theirs)))
        return self.number(
            what, float(ours[worst]), float(theirs[worst]), scale=size * (TOLERANCE / ROUNDING), at=at
        )

    def same(
        self,
        what: str,
        model: object,
        found: object,
        *,
        at: tuple[int | None, int | None, int | None] = (None, None, None),
    ) -> bool:
        """Compare what is not a number."""
        self.n_compared += 1
        if model == found:
            return True
        self.tell(what, model, found, at=at)
        return False

    def tell(
        self, what: str, model: object, found: object, *, at: tuple[int | None, int | None, int | None]
    ) -> None:
        """Something else than a number differs."""
        self.largest, self.where = np.inf, _place(at, what)
        self.disagreements.append(Disagreement(*at, what, model, found))


def _place(at: tuple[int | None, int | None, int | None], what: str) -> str:
    names = ("round", "tree", "node")
    told_places = [f"{name} {place}" for name, place in zip(names, at, strict=True) if place is not None]
    return ", ".join([*told_places, what])
