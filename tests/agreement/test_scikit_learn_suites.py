"""The script that runs scikit-learn's own tests: its judgement, and a part of a suite."""

import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("scikit_learn_suites.py")

TABLE = """
[toy]
module = "toy"
classes = []
at_least = 2
[[toy.cannot]]
tests = ["test_private[*", "test_words"]
reason = "why"
"""


@pytest.fixture(scope="module")
def suites():
    """The script as a module."""
    import importlib.util

    spec = importlib.util.spec_from_file_location("scikit_learn_suites", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.mark.parametrize(
    ("outcomes", "good", "word"),
    [
        ({"test_a": "passed", "test_b": "passed", "test_private[1-x]": "failed"}, True, "2 of 3 passed"),
        ({"test_a": "passed", "test_b": "passed", "test_c": "failed"}, False, "without a reason: test_c"),
        ({"test_a": "passed", "test_words": "passed"}, False, "although listed: test_words"),
        ({"test_a": "passed", "test_b": "skipped"}, False, "at least 2"),
        ({}, False, "no test ran"),
    ],
)
def test_a_run_is_judged_by_the_table(suites, tmp_path, outcomes, good, word):
    table = tmp_path / "table.toml"
    table.write_text(TABLE)
    verdict = suites.Verdict(suites.suites(table)["toy"], outcomes, whole=True)
    assert verdict.good is good
    assert word in "\n".join(verdict.lines())


def test_every_reason_is_a_sentence(suites):
    for suite in suites.suites().values():
        for test, reason in suite.reasons.items():
            assert test.startswith("test_"), suite.name
            assert reason.endswith("."), test


def test_a_part_of_a_suite_with_the_classes_exchanged(suites):
    verdict = suites.run(suites.suites()["tree"], only="build_pruned_tree or prune_tree_classifier")
    assert verdict.good, "\n".join(verdict.lines())
    # The first takes no tree but scikit-learn's: it fails because the tree is weald's.
    assert verdict.outcomes["test_build_pruned_tree_py"] == "failed"
    assert verdict.n_passed > 5
