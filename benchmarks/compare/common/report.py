"""Measured runs as verdicts, plain text and Markdown."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from common import machine
from common.jobs import Contender, Figures, Job, Target
from common.worker import Answer


@dataclass(frozen=True)
class Result:
    """All repeats of one job with one thread count, by contender."""

    job: Job
    threads: int
    answers: Mapping[str, Sequence[Answer]]

    def done(self, name: str) -> Sequence[Answer]:
        """The answers of the runs that came to their end."""
        return [answer for answer in self.answers[name] if answer.finished]

    def fastest(self, name: str) -> float:
        """The minimum over the repeats: noise only ever adds. If none ended: the limit, which is less."""
        return min(answer.seconds for answer in self.done(name) or self.answers[name])

    def middle(self, name: str) -> float:
        """The median over the repeats."""
        return median(answer.seconds for answer in self.done(name))

    def figures(self, name: str) -> Figures:
        """The figures of the first repeat, of memory the largest; `steady` tells whether the others agree."""
        answers = self.done(name)
        if not answers:
            return {}
        largest = {
            key: max(answer.figures[key] for answer in answers)
            for key in answers[0].figures
            if key.endswith(machine.UNIT)
        }
        return answers[0].figures | largest

    def steady(self, name: str) -> bool:
        """Whether every repeat gave the same figures; memory is measured and may wander."""
        first = self.figures(name)
        return all(
            answer.figures[key] == first[key]
            for answer in self.done(name)
            for key in first
            if not key.endswith(machine.UNIT)
        )

    @property
    def opponent(self) -> str:
        """The opponent with the lowest minimum, of those that came to an end if any did."""
        names = [contender.name for contender in self.job.contenders if not contender.ours]
        return min(names, key=lambda name: (not self.done(name), self.fastest(name)))


@dataclass(frozen=True)
class Verdict:
    """How one of our contenders did against one opponent. `good` is None when nothing was asked of it.

    `least`: the opponent was stopped, so that the ratio is the least that it can be.
    """

    contender: str
    opponent: str
    ratio: float
    sentences: tuple[str, ...]
    good: bool | None
    least: bool = False


def reaching(target: Target, ratio: float, seconds: float) -> tuple[str, bool]:
    """The sentence on a target, and whether it is reached."""
    good = target.reached(ratio, seconds)
    sentence = f"target {target}: {'reached' if good else 'MISSED'}"
    if target.goal is not None:
        sentence += f", goal {target.goal:g}: {'reached' if ratio >= target.goal else 'not yet'}"
    return sentence, good


def judge(result: Result, contender: Contender, target: Target, *, targets: bool) -> Verdict:
    """Compare one of ours with the target's opponent. `targets=False` (quick runs) judges quality only."""
    opponent = target.against or result.opponent
    if not result.done(contender.name):
        return Verdict(contender.name, opponent, math.nan, ("not finished",), good=False)
    seconds = result.fastest(contender.name)
    ratio = result.fastest(opponent) / seconds
    ours, theirs = result.figures(contender.name), result.figures(opponent)
    sentences = []
    verdicts = []
    if not targets:
        sentences.append("target not judged at this size")
    elif not target.asks:
        sentences.append("for information")
    else:
        sentence, good = reaching(target, ratio, seconds)
        verdicts.append(good)
        sentences.append(sentence)
    stopped = not result.done(opponent)
    for rule in () if stopped else contender.rules:
        mine, other = ours[rule.figure], theirs[rule.figure]
        gap = rule.distance(mine, other)
        shown = f"{100 * gap:.2f} %" if rule.relative else f"{gap:.4f}"
        verdicts.append(rule.holds(mine, other))
        sentences.append(f"{rule}: {'yes' if verdicts[-1] else 'NO'} ({shown})")
    if not result.steady(contender.name):
        verdicts.append(False)
        sentences.append("figures differ between repeats")
    judged = all(verdicts) if verdicts else None
    return Verdict(contender.name, opponent, ratio, tuple(sentences), judged, least=stopped)


def verdicts(result: Result, *, targets: bool) -> list[Verdict]:
    """A verdict for each of our contenders and each of its targets."""
    return [
        judge(result, contender, target, targets=targets)
        for contender in result.job.contenders
        if contender.ours
        for target in contender.targets
    ]


def seconds(value: float) -> str:
    """Seconds with three significant digits, in milliseconds below a tenth."""
    return f"{1000 * value:.3g} ms" if value < 0.1 else f"{value:.3g} s"


def number(value: float) -> str:
    """A figure: whole and large numbers without decimals, others with four."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:,.0f}" if value == round(value) and abs(value) > 1 else f"{value:.4f}"


def threads(result: Result) -> str:
    """The thread count in words."""
    return f"{result.threads} thread{'s' if result.threads > 1 else ''}"


def rows(result: Result) -> list[list[str]]:
    """The table of one result: a header row, then a row for each contender."""
    names = [contender.name for contender in result.job.contenders]
    columns = list(dict.fromkeys(key for name in names for key in result.figures(name)))
    table = [["contender", "minimum", "median", *columns]]
    for name in names:
        figures = result.figures(name)
        cells = [number(figures[column]) if column in figures else "" for column in columns]
        if result.done(name):
            times = [seconds(result.fastest(name)), seconds(result.middle(name))]
        else:
            times = ["not finished", ""]
        table.append([name, *times, *cells])
    return table


def stop_lines(result: Result) -> list[str]:
    """A line for each contender that was stopped: after how long, and which of its runs ended before."""
    lines = []
    for contender in result.job.contenders:
        answers = result.answers[contender.name]
        if answers[-1].finished:
            continue
        limit, ended = answers[-1].seconds, len(answers) - 1
        before = f"; {ended} run{'s' if ended > 1 else ''} before ended" if ended else ""
        lines.append(f"{contender.name}: not finished after {seconds(limit)}{before}")
    return lines


def parameter_rows(job: Job) -> list[list[str]]:
    """Contender and its parameters, as code would give them."""
    table = [["contender", "parameters"]]
    for contender in job.contenders:
        given = ", ".join(f"{key}={value!r}" for key, value in contender.parameters.items())
        table.append([contender.name, given or "defaults"])
    return table


def text_table(table: Sequence[Sequence[str]], indent: str = "  ") -> str:
    """Left-aligned columns."""
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in table]
    return "\n".join(indent + line.rstrip() for line in lines)


def markdown_table(table: Sequence[Sequence[str]]) -> str:
    """The same as a Markdown table."""
    head, *body = [[cell.replace("|", "\\|") for cell in row] for row in table]
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def findings(result: Result, *, targets: bool) -> list[str]:
    """What the table of a result shows, in lines: who was stopped, and each verdict."""
    judged = verdicts(result, targets=targets)
    return stop_lines(result) + [verdict_line(verdict) for verdict in judged]


def verdict_line(verdict: Verdict) -> str:
    """One line: who against whom, the ratio and each sentence."""
    ratio = f"{'more than ' if verdict.least else ''}{verdict.ratio:.2f}"
    against = f"{verdict.contender} against {verdict.opponent}: ratio {ratio}"
    return " · ".join([against, *verdict.sentences])


def as_text(result: Result, *, targets: bool) -> str:
    """One result for the terminal."""
    size = "" if targets else " · QUICK: small tables, times mean nothing"
    lines = [f"{result.job.title} · {threads(result)}{size}", text_table(rows(result))]
    lines += ["  " + line for line in findings(result, targets=targets)]
    return "\n".join(lines)


def as_markdown(
    title: str, facts: Mapping[str, str], repeats: int, results: Sequence[Result], *, targets: bool
) -> str:
    """The whole section: machine, then each job with its tables, verdicts and parameters."""
    parts = [f"## {title}", " · ".join(f"{key} {value}" for key, value in facts.items())]
    parts.append(f"{repeats} repeats in turn, a process for each run. Ratio = the opponent's minimum ÷ ours.")
    last = None
    for i, result in enumerate(results):
        if result.job is not last:
            parts.append(f"### {result.job.title}")
            last = result.job
        parts.append(f"{threads(result)}:" if targets else f"{threads(result)}, small tables (quick run):")
        parts.append(markdown_table(rows(result)))
        lines = findings(result, targets=targets)
        parts.append("\n".join(f"- {line}" for line in lines))
        if i + 1 == len(results) or results[i + 1].job is not result.job:
            parts.append(markdown_table(parameter_rows(result.job)))
    return "\n\n".join(parts) + "\n"


def write_section(path: Path, name: str, section: str) -> None:
    """Put the section into `path`: in place of the last one of this name, or at the end."""
    first, last = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    page = path.read_text(encoding="utf-8") if path.exists() else "# Results\n"
    before, begun, rest = page.partition(first)
    after = rest.partition(last)[2] if begun else "\n"
    before = before if begun else page.rstrip("\n") + "\n\n"
    path.write_text(f"{before}{first}\n{section}{last}{after}", encoding="utf-8")
