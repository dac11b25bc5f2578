"""The comparison harness, tried with toy contenders."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from smoke.comparisons import TOY, run


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    script = tmp_path / "toy.py"
    script.write_text(TOY, encoding="utf-8")
    return script


def test_ratio_rules_and_markdown(toy: Path, tmp_path: Path) -> None:
    page = tmp_path / "results.md"
    page.write_text("# Results\n\n<!-- toy: begin -->\nold\n<!-- toy: end -->\n\nkept\n", encoding="utf-8")
    common = ("--repeats", "2", "--pause", "0", "--threads", "2", "--check")
    done = run(toy, "--jobs", "equal", *common, "--markdown", str(page))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "target ratio ≥ 2: reached" in done.stdout
    assert "figure within 0.005: yes (0.0040)" in done.stdout
    text = page.read_text(encoding="utf-8")
    assert "### Job equal" in text
    assert "old" not in text
    assert text.endswith("\nkept\n")


@pytest.mark.lengthy
def test_a_missed_rule_or_target_is_told(toy: Path) -> None:
    common = ("--repeats", "1", "--pause", "0", "--threads", "1", "--check")
    worse = run(toy, "--jobs", "worse", *common)
    assert worse.returncode == 1
    assert "figure within 2 %: NO (20.00 %)" in worse.stdout
    late = run(toy, "--jobs", "late", *common)
    assert late.returncode == 1
    assert "MISSED" in late.stdout


def test_a_failing_contender_is_named(toy: Path) -> None:
    done = run(toy, "--quick", "--jobs", "broken")
    assert done.returncode == 2
    assert "ours in job broken with 1 thread(s) ended with code 1" in done.stderr
    assert "no such thing" in done.stderr


@pytest.mark.lengthy
def test_a_contender_is_stopped_at_a_multiple_of_our_time(toy: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    common = ("--repeats", "2", "--pause", "0", "--threads", "1", "--check")
    done = run(toy, "--jobs", "bounded", *common, "--markdown", str(page))
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"slow: not finished after \S+ m?s\n", done.stdout), done.stdout
    told = re.search(
        r"ours against slow: ratio more than (\d+\.\d+) · target ratio ≥ 20: reached\n", done.stdout
    )
    assert told is not None, done.stdout
    assert float(told[1]) >= 20
    assert re.search(r"ours against theirs: ratio \d", done.stdout), done.stdout
    assert "figure within 0.1: yes" in done.stdout
    assert "| slow | not finished |" in page.read_text(encoding="utf-8")


@pytest.mark.lengthy
def test_a_limit_that_falls_between_repeats_keeps_what_was_measured(toy: Path) -> None:
    common = ("--repeats", "3", "--pause", "0", "--threads", "1", "--timeout", "0.5")
    done = run(toy, "--jobs", "sudden", "equal", *common)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ours: not finished after 0.5 s; 1 run before ended" in done.stdout
    assert "ours against theirs: ratio" in done.stdout
    assert "Job equal" in done.stdout


def test_an_absent_library_skips_its_job(toy: Path) -> None:
    done = run(toy, "--quick", "--jobs", "absent")
    assert done.returncode == 0
    assert "skipped, no-such-library is not installed" in done.stdout


@pytest.mark.lengthy
def test_memory_is_that_of_the_timed_call(toy: Path) -> None:
    done = run(toy, "--quick", "--jobs", "memory")
    assert done.returncode == 0, done.stdout + done.stderr
    line = re.compile(r"^  (hungry|theirs) +\S+ m?s +\S+ m?s +(?P<peak>\S+) +(?P<fit>\S+)", re.MULTILINE)
    hungry, theirs = line.finditer(done.stdout)
    assert 95 < float(hungry["fit"]) < 120
    assert float(hungry["peak"]) > float(hungry["fit"])
    assert float(theirs["fit"]) < 20


@pytest.mark.lengthy
def test_a_target_can_name_its_opponent(toy: Path) -> None:
    """The ratio is against that opponent, though another is faster."""
    source = toy.read_text(encoding="utf-8")
    source = source.replace(
        "(fast, slow))", '(fast, slow, Contender("third", "numpy", sleeper(0.4, 1.0), {})))'
    )
    toy.write_text(
        source.replace("Target(ratio=2),", 'Target(ratio=15, goal=1000, against="third"),'), encoding="utf-8"
    )
    done = run(toy, "--jobs", "equal", "--repeats", "1", "--pause", "0", "--threads", "1", "--check")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ours against third: ratio" in done.stdout
    assert "target ratio ≥ 15: reached, goal 1000: not yet" in done.stdout
