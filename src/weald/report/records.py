"""The parts of what a report knows, as plain records; `summary` holds them together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from weald.runs.training import Score

Values: TypeAlias = tuple[float, ...]

# --------------------------------------------------------------------------- what was asked, and the data


@dataclass(frozen=True, slots=True)
class Asked:
    """The question."""

    title: str
    task: str
    target: str
    estimator: str
    n_rows: int
    n_training_rows: int | None
    n_columns: int
    #: the labels of a classifier; of two the second is the positive one
    labels: tuple[str, ...]
    source: str | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts between edges, of the rows of the report and of training rows where they were given."""

    edges: Values
    counts: tuple[int, ...]
    training: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Levels:
    """Counts of the commonest levels; `n_other` levels together have `others` rows."""

    names: tuple[str, ...]
    counts: tuple[int, ...]
    training: tuple[int, ...] | None
    n_other: int
    others: int


@dataclass(frozen=True, slots=True)
class Drift:
    """How far the rows are from training rows: the largest distance of two distributions, from 0 to 1."""

    distance: float
    #: for this many columns at once (Holm)
    p_value: float
    n_unseen: int


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """One column."""

    name: str
    kind: str
    n_missing: int
    n_distinct: int
    #: least, quartiles, largest, of numbers
    quantiles: Values | None
    spread: Histogram | Levels
    drift: Drift | None


@dataclass(frozen=True, slots=True)
class DataFacts:
    """The table."""

    columns: tuple[ColumnFacts, ...]
    target: Histogram | Levels
    target_drift: Drift | None
    #: rows of the report that are among the training rows, value for value; None if these were not given
    n_seen: int | None
    notes: tuple[str, ...]


# --------------------------------------------------------------------------- how good


@dataclass(frozen=True, slots=True)
class Scores:
    """Metrics on the rows, and on training rows where these were given."""

    rows: tuple[Score, ...]
    training: tuple[Score, ...] | None
    n_rows: int
    n_training_rows: int | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Calibration:
    """Shares of rows that came true where so much was predicted; equation S8, and a test."""

    of: str
    predicted: Values
    share: Values
    low: Values
    high: Values
    n_in_bin: tuple[int, ...]
    #: the mean distance of shares from predictions over rows
    error: float
    p_value: float


@dataclass(frozen=True, slots=True)
class Curve:
    """A curve with a band, and the area under it."""

    x: Values
    y: Values
    low: Values
    high: Values
    area: float
    area_low: float
    area_high: float


@dataclass(frozen=True, slots=True)
class Threshold:
    """A place to part the labels, and why one would."""

    why: str
    at: float
    precision: float
    recall: float
    flagged: float


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Of every threshold how many rows lie at or above it, and how many of these are positive."""

    score: str
    at: Values
    n_flagged: tuple[int, ...]
    n_right: tuple[int, ...]
    n_positive: int
    n_rows: int
    chosen: tuple[Threshold, ...]


@dataclass(frozen=True, slots=True)
class LabelScore:
    """How one label fares, with Wilson's intervals."""

    label: str
    n_rows: int
    n_said: int
    recall: float
    recall_low: float
    recall_high: float
    precision: float
    precision_low: float
    precision_high: float


@dataclass(frozen=True, slots=True)
class Classes:
    """What a classifier says."""

    positive: str | None
    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    by_label: tuple[LabelScore, ...]
    calibration: Calibration | None
    roc: Curve | None
    precision_recall: Curve | None
    thresholds: Thresholds | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ResidualBin:
    """Rows of about one prediction: quantiles of truth − prediction."""

    predicted: float
    n_rows: int
    quantiles: Values  # 10, 25, 50, 75, 90 %


@dataclass(frozen=True, slots=True)
class Residuals:
    """Truth − prediction."""

    mean: float
    standard_error: float
    quantiles: Values  # 5, 25, 50, 75, 95 %
    histogram: Histogram
    by_prediction: tuple[ResidualBin, ...]
    #: Spearman's correlation of |residual| with the prediction, and its p-value
    widening: float
    widening_p: float
    x_edges: Values
    y_edges: Values
    #: rows of truths by columns of predictions
    counts: tuple[tuple[int, ...], ...]


# --------------------------------------------------------------------------- what matters, and where it fails


@dataclass(frozen=True, slots=True)
class Matters:
    """What permuting each column costs, on rows that the model did not see."""

    names: tuple[str, ...]
    importance: Values
    standard_error: Values
    metric: str
    score: float
    n_rows: int
    #: columns that were tried; None for all
    n_tried: int | None


@dataclass(frozen=True, slots=True)
class Effect:
    """The mean prediction while a column is set to one value after another."""

    column: str
    kind: str
    points: tuple[float | str, ...]
    targets: tuple[str, ...]
    values: tuple[Values, ...]
    standard_error: tuple[Values, ...]
    deciles: Values
    response: str


@dataclass(frozen=True, slots=True)
class SwarmColumn:
    """What one column adds to rows, and how high its value is among them (0 to 1)."""

    name: str
    mean_size: float
    adds: Values
    rank: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """What one column adds to one row."""

    column: str
    value: str
    adds: float


@dataclass(frozen=True, slots=True)
class SingleRow:
    """One row, told."""

    row: int
    why: str
    truth: str
    said: str
    base: float
    total: float
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Explained:
    """SHAP values of some rows."""

    of: str
    n_rows: int
    estimated: bool
    columns: tuple[SwarmColumn, ...]
    singles: tuple[SingleRow, ...]


@dataclass(frozen=True, slots=True)
class WorstRow:
    """A row that the model gets wrong by much."""

    row: int
    truth: str
    said: str
    loss: float
    values: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Subgroup:
    """Rows that share a level, or a quarter of a column's values."""

    column: str
    group: str
    n_rows: int
    value: float
    low: float
    high: float
    #: that the group is no worse than the other rows; for all groups tried (Holm)
    p_value: float


@dataclass(frozen=True, slots=True)
class Failing:
    """Where the model fails."""

    loss: str
    metric: str
    whole: float
    whole_low: float
    whole_high: float
    n_groups: int
    groups: tuple[Subgroup, ...]
    rows: tuple[WorstRow, ...]


# --------------------------------------------------------------------------- the model


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a tree: the condition that leads to it, what it says, how many rows came, what is below."""

    when: str
    says: str
    n_rows: float
    #: from 0 to 1: the share of the likeliest label, or the value between the tree's least and largest
    level: float
    label: int
    below: tuple[Node, ...]
    #: leaves below that are not shown
    n_hidden: int


@dataclass(frozen=True, slots=True)
class TreeFacts:
    """One tree."""

    said: str
    n_leaves: int
    depth: int
    root: Node


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What the model is made of."""

    estimator: str
    facts: tuple[tuple[str, str], ...]
    trees: tuple[TreeFacts, ...]
    n_trees: int
    #: by falling size: column, weight, for linear models
    weights: tuple[tuple[str, float], ...]
    notes: tuple[str, ...]
