"""Validated parameter records: each parameter's range stands beside its field.

An estimator's `__init__` only stores; `checked` turns what it stored into a frozen record of plain Python
values, or raises a `ParameterError` of one sentence that names the parameter, the range and a way out.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

import numpy as np

from weald.arrays import CategoricalFeatures, Folds, MonotoneConstraints, RandomState
from weald.errors import ParameterError, nearest, told
from weald.numbers import as_float

MAX_BINS = 65535


class Rule(Protocol):
    """What a parameter may be: a test, and the words for it in a message."""

    @property
    def says(self) -> str:
        """The range in words, to stand after "must be"."""

    def admits(self, value: object) -> bool:
        """Whether `value` is in the range."""


#: beyond this a whole number is a slip, and neither float64 nor a message holds it
_LARGEST = 2**1000
#: whole numbers beyond this mean the same, no limit, and the core's integers hold them
_UNLIMITED = 2**62


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number from `low` to `high` (None: no upper end). True and False are not numbers here."""

    low: int
    high: int | None = None

    @property
    def says(self) -> str:
        """The range in words."""
        if self.high is None:
            return f"a whole number of at least {self.low}"
        return f"a whole number from {self.low} to {self.high}"

    def admits(self, value: object) -> bool:
        """Whether `value` is such a number."""
        if not isinstance(value, Integral) or isinstance(value, bool):
            return False
        return self.low <= int(value) <= (_LARGEST if self.high is None else self.high)


@dataclass(frozen=True, slots=True)
class Flag:
    """True or False."""

    says: str = "True or False"

    def admits(self, value: object) -> bool:
        """Whether `value` is one of the two."""
        return isinstance(value, bool | np.bool_)


@dataclass(frozen=True, slots=True)
class Function:
    """Something that can be called."""

    says: str

    def admits(self, value: object) -> bool:
        """Whether `value` can be called and is no class."""
        return callable(value) and not isinstance(value, type)


@dataclass(frozen=True, slots=True)
class Number:
    """A number in an interval; `(` and `)` in `ends` exclude the end. `fraction` leaves whole types out."""

    low: float
    high: float = math.inf
    ends: str = "[]"
    fraction: bool = False

    @property
    def says(self) -> str:
        """The range in words."""
        what = "a fraction" if self.fraction else "a number"
        low = f"above {self.low:g}" if self.ends[0] == "(" else f"of at least {self.low:g}"
        if math.isinf(self.high):
            return f"{what} {low}"
        return f"{what} {low} and {'below' if self.ends[1] == ')' else 'at most'} {self.high:g}"

    def admits(self, value: object) -> bool:
        """Whether `value` is such a number; NaN never is."""
        if self.fraction and isinstance(value, Integral):
            return False
        number = as_float(value)
        above = number > self.low if self.ends[0] == "(" else number >= self.low
        below = number < self.high if self.ends[1] == ")" else number <= self.high
        return above and below and math.isfinite(number)


@dataclass(frozen=True, slots=True)
class NotZero:
    """Any whole number but 0."""

    says: str = "a whole number other than 0"

    def admits(self, value: object) -> bool:
        """Whether `value` is such a number."""
        return isinstance(value, Integral) and not isinstance(value, bool) and 0 < abs(int(value)) <= _LARGEST


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few words."""

    words: tuple[str, ...]

    @property
    def says(self) -> str:
        """The words, quoted."""
        return " or ".join(repr(word) for word in self.words)

    def admits(self, value: object) -> bool:
        """Whether `value` is one of the words."""
        return isinstance(value, str) and value in self.words


@dataclass(frozen=True, slots=True)
class Instance:
    """An object of one of some types, described in words."""

    types: tuple[type, ...]
    says: str

    def admits(self, value: object) -> bool:
        """Whether `value` has one of the types; a str never counts as a list."""
        return isinstance(value, self.types) and not isinstance(value, str | bytes)


@dataclass(frozen=True, slots=True)
class Splitter:
    """What divides rows into folds: an object with scikit-learn's method `split`."""

    says: str = "a splitter of scikit-learn"

    def admits(self, value: object) -> bool:
        """Whether `value` is such an object; text has a `split` of another meaning, a class is no object."""
        is_object = not isinstance(value, str | bytes | type)
        return is_object and callable(getattr(value, "split", None))


@dataclass(frozen=True, slots=True)
class Nothing:
    """None."""

    says: str = "None"

    def admits(self, value: object) -> bool:
        """Whether `value` is None."""
        return value is None


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Whatever one of several rules admits."""

    rules: tuple[Rule, ...]

    @property
    def says(self) -> str:
        """The ranges, joined."""
        said = [rule.says for rule in self.rules]
        return said[0] if len(said) == 1 else f"{', '.join(said[:-1])} or {said[-1]}"

    def admits(self, value: object) -> bool:
        """Whether one of the rules admits `value`."""
        for rule in self.rules:  # noqa: SIM110 - any() takes twice as long, and every prediction asks
            if rule.admits(value):
                return True
        return False


def parameter(*rules: Rule, hint: str) -> Any:
    """A record field with its range and the sentence that shows the way out."""
    return field(metadata={"rule": AnyOf(rules), "hint": hint})


def optional(*rules: Rule, hint: str) -> Any:
    """A record field that may be None as well."""
    return parameter(Nothing(), *rules, hint=hint)


Record = TypeVar("Record")


def checked(record: type[Record], owner: str, values: Mapping[str, Any]) -> Record:
    """The record of `values`, each within the range that stands beside its field.

    Parameters
    ----------
    record : type
        A dataclass whose fields were made by `parameter`.
    owner : str
        The estimator's name, for the message.
    values : mapping
        A value for every field.

    Raises
    ------
    ParameterError
        For the first value out of range.

    Examples
    --------
    >>> checked(RegressionTreeOptions, "DecisionTreeRegressor", {"max_bins": 1})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    weald.errors.ParameterError: `max_bins` of DecisionTreeRegressor must be None or a whole number ...
    """
    known, plain = _rules(record), {}  # type: ignore[arg-type]
    for name, value in values.items():
        rule, hint = known[name]
        if not rule.admits(value):
            raise ParameterError(
                f"`{name}` of {owner} must be {rule.says}; got {told(value)}. {_slip(rule, value) or hint}"
            )
        plain[name] = _plain(value, rule)
    return record(**plain)


@cache
def _rules(record: type[object]) -> dict[str, tuple[AnyOf, str]]:
    """Rule and hint of every field."""
    return {each.name: (each.metadata["rule"], each.metadata["hint"]) for each in fields(record)}  # type: ignore[arg-type]


def _slip(rule: AnyOf, value: object) -> str | None:
    """The word that was probably meant, if the value is a word and one of the choices is close."""
    words = [word for each in rule.rules if isinstance(each, Choice) for word in each.words]
    close = nearest(value, words) if isinstance(value, str) else None
    return None if close is None else f"Did you mean {close!r}?"


def check_names(names: Sequence[str], owner: str, valid: Sequence[str]) -> None:
    """Raise a `ParameterError` for the first name that is no parameter of `owner`, with the nearest one."""
    for name in names:
        if name not in valid:
            close = nearest(name, valid)
            way_out = f"did you mean `{close}`?" if close else f"valid ones are {', '.join(valid)}."
            raise ParameterError(f"`{name}` is no parameter of {owner}; {way_out}")


def _plain(value: object, rule: AnyOf) -> Any:
    """NumPy's numbers as Python's own, so that records compare and print alike."""
    if value is None or isinstance(value, bool | str) or type(value) is float:
        return value
    if isinstance(value, Integral):
        numbers = [each for each in rule.rules if isinstance(each, Number)]
        if numbers and not any(
            each.admits(value) for each in rule.rules if isinstance(each, Whole | NotZero)
        ):
            return float(value)
        return max(-_UNLIMITED, min(int(value), _UNLIMITED))
    if isinstance(value, Real):
        return float(value)
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowthOptions:
    """The parameters that trees and forests share, in scikit-learn's words."""

    if TYPE_CHECKING:
        criterion: str  # each family has a choice of its own

    max_depth: int | None = parameter(
        Nothing(), Whole(1), hint="Leave it None to grow until the leaves are pure."
    )
    min_samples_split: int | float = parameter(
        Whole(2), Number(0, 1, "(]", fraction=True), hint="Use 2 to split wherever it helps."
    )
    min_samples_leaf: int | float = parameter(
        Whole(1), Number(0, 1, "()", fraction=True), hint="Use 1 to allow leaves of one row."
    )
    min_weight_fraction_leaf: float = parameter(Number(0, 0.5), hint="Use 0.0 to set no limit.")
    max_features: int | float | str | None = parameter(
        Nothing(),
        Choice(("sqrt", "log2", "log2+1", "third")),
        Whole(1),
        Number(0, 1, "(]", fraction=True),
        hint="Leave it None to look at every column.",
    )
    random_state: RandomState = parameter(
        Nothing(),
        Whole(0, 2**32 - 1),
        Instance((np.random.RandomState,), "a numpy.random.RandomState"),
        hint="Use a whole number for results that can be repeated.",
    )
    max_leaf_nodes: int | None = parameter(
        Nothing(), Whole(2), hint="Leave it None to set no limit on the leaves."
    )
    min_impurity_decrease: float = parameter(Number(0), hint="Use 0.0 to set no limit.")
    monotonic_cst: MonotoneConstraints = parameter(
        Nothing(),
        Instance((Mapping,), "a dict from column name to -1, 0 or 1"),
        Instance((Collection,), "a list of -1, 0 or 1, one per column"),
        hint="Leave it None to set no constraint.",
    )
    ccp_alpha: float = parameter(Number(0), hint="Use 0.0 to keep every split.")
    max_bins: int | None = parameter(
        Nothing(), Whole(2, MAX_BINS), hint="Use 255, or None for exact thresholds."
    )
    n_jobs: int | None = parameter(
        Nothing(),
        NotZero(),
        hint="Leave it None for every CPU of the process, or count back from them with -1.",
    )
    categorical_features: CategoricalFeatures = parameter(
        Nothing(),
        Choice(("from_dtype",)),
        Instance((Collection,), "a list of column names, of positions or of True and False"),
        hint="Leave it None to tell categories by the type of the column.",
    )
    unknown: Literal["missing", "error"] = parameter(
        Choice(("missing", "error")),
        hint="Use 'missing' to treat categories not seen in training as missing.",
    )


def category_penalty() -> Any:
    """The range of `cat_penalty`."""
    return parameter(
        Number(0),
        Choice(("auto",)),
        hint="Use 'auto', or 0 to choose splits by categories by their gain alone.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeOptions(GrowthOptions):
    """The parameters that both trees share."""

    cat_penalty: float | str = category_penalty()
    splitter: str = parameter(
        Choice(("best", "random")), hint="Use 'best' unless you want more varied trees."
    )
    prune: str | None = parameter(
        Nothing(), Choice(("cv", "cv-1se")), hint="Use 'cv' to choose the pruning by cross-validation."
    )
    cv: Folds = parameter(
        Whole(2),
        Splitter(),
        Instance((Iterable,), "a list of (train, test) index arrays"),
        hint="Use 5 for five shuffled folds.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassificationTreeOptions(TreeOptions):
    """The parameters of `DecisionTreeClassifier`."""

    criterion: str = parameter(
        Choice(("gini", "entropy", "log_loss", "misclassification")),
        hint="Use 'gini' unless you compare criteria.",
    )
    class_weight: str | Mapping[Any, float] | Sequence[Any] | None = parameter(
        Nothing(),
        Choice(("balanced",)),
        Instance((Mapping,), "a dict from label to weight"),
        Instance((list, tuple), "a list of such, one per output"),
        hint="Use 'balanced' to give every class the same total weight.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RegressionTreeOptions(TreeOptions):
    """The parameters of `DecisionTreeRegressor`."""

    criterion: str = parameter(
        Choice(("squared_error", "friedman_mse", "absolute_error", "poisson")),
        hint="Use 'squared_error' to predict means.",
    )
