"""The worked examples of the sources, told by `trace`: the page of the guide prints their figures."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "by_hand.md"


@pytest.fixture(scope="module")
def printed() -> str:
    """What the page prints, and what it says it prints, which must be the same."""
    text = PAGE.read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": "__main__"}
    told = []
    for snippet, block in re.findall(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", text, re.S | re.M):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(snippet, "by_hand.md", "exec"), names)
        if block:
            assert out.getvalue() == block
        told.append(out.getvalue())
    return "\n".join(told)


@pytest.mark.parametrize(
    "figures",
    [
        (
            "impurity 0.970951",
            "impurity 0.918296",
            "impurity 1",
            "5 × 0.0199731",
        ),  # entropy, information gain
        ("40543.8", "759.375, 2", "833.681, 1"),  # tree score, weakest links
        ("error 0.25", "say 0.549306", "x <= 12.5", "0.0833333", "0.25"),  # AdaBoost, eight points
        ("299.5", "-59.5", "-101.5", "60.5", "100.5"),  # house prices
        ("gain 120.333", "gain 140.167", "similarity 110.25 | 14.0833", "similarity 98 | 56.25"),  # XGBoost
        ("('leaf', 120.33)", "('pruned', 140.17)", "[62.49, 82.9]"),  # gamma and lambda
        ("0.25", "min_child_weight=1", "[1.333, 2.667]"),  # cover of labels
    ],
)
def test_the_page_has_the_figures_of_the_sources(printed: str, figures: tuple[str, ...]) -> None:
    for figure in figures:
        assert figure in printed
    assert "NOT agree" not in printed


def test_every_trace_of_the_page_agrees(printed: str) -> None:
    assert printed.count("agree with the model: to the last bit") >= 6
