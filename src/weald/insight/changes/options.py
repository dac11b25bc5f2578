"""The parameters of `counterfactual`, checked."""

from __future__ import annotations

from dataclasses import dataclass

from weald.parameters import Choice, Whole, parameter


@dataclass(frozen=True, kw_only=True)
class CounterfactualOptions:
    """How many columns and answers, and how far the search goes."""

    max_columns: int = parameter(Whole(1), hint="Use 3: changes of many columns are hard to follow.")
    n: int = parameter(Whole(1), hint="Use 3 to see different ways.")
    cost: str = parameter(Choice(("quantile", "spread")), hint="Use 'quantile'.")
    budget: int = parameter(Whole(1), hint="Use 200,000; more takes longer.")
