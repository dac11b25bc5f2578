"""What makes up a fitted model: the parts that a model file keeps, and nothing else.

An estimator takes part by two methods: `_saved_state(self) -> SavedState` and the class method
`_from_saved_state(state)`, which builds the fitted estimator again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, Self

from numpy.typing import NDArray

from weald.arrays import Estimator
from weald.model.forest import Forest

if TYPE_CHECKING:
    from weald.data.schema import Schema


#: the attribute of a model that comes from a file; a fit forgets it
LOADED = "_loaded"


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedState:
    """The parts of a fitted model.

    `params` are constructor parameters by name; the file leaves out those that shape neither predictions
    nor a new fit. `classes` are the labels of each output, None for numbers. `extra` holds fitted numbers
    and texts that follow from none of the other parts.
    """

    params: dict[str, Any]
    schema: Schema
    forest: Forest
    classes: tuple[NDArray[Any], ...] | None = None
    extra: dict[str, int | float | str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedEnsemble:
    """The parts of an ensemble: a forest of trees that grew alike, or members one by one.

    With a forest, `schema` describes its columns and `base` is the estimator that grew it, None for the
    default one. Members have names; None in place of a member is one that was dropped. `arrays` are whole
    numbers of the ensemble's own.
    """

    params: dict[str, Any]
    schema: Schema | None = None
    forest: Forest | None = None
    classes: tuple[NDArray[Any], ...] | None = None
    extra: dict[str, int | float | str] = field(default_factory=dict)
    base: Estimator | None = None
    members: tuple[tuple[str, Any], ...] = ()
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedMachine:
    """The parts of a machine that has no forest: facts as plain JSON, and arrays of numbers.

    What comes from a file is checked for its form alone: facts may be anything that JSON can say, arrays have
    any names, at most two dimensions and the narrowest dtype. `newer`: the file has a newer minor format,
    which may say more than is known here.
    """

    params: dict[str, Any]
    facts: dict[str, Any]
    arrays: dict[str, NDArray[Any]]
    schema: Schema | None = None
    classes: tuple[NDArray[Any], ...] | None = None
    newer: bool = False


class Saveable(Protocol):
    """An estimator that can say what it is made of and be made again from that."""

    def _saved_state(self) -> SavedState | SavedEnsemble | SavedMachine:
        """The parts of this fitted model."""

    @classmethod
    def _from_saved_state(cls, state: Any) -> Self:
        """A fitted estimator of these parts; raises a WealdError if they do not fit each other."""
