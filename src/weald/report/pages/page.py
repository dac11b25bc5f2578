"""The whole page: one file that asks for nothing from anywhere."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files

from weald.pictures.svg.markup import Markup, tag
from weald.report.pages.board import board_section
from weald.report.pages.checks import checks_section
from weald.report.pages.classes import classes_section
from weald.report.pages.data import data_section
from weald.report.pages.failing import failing_section
from weald.report.pages.foot import made_section, use_section
from weald.report.pages.matters import matters_section, rows_section
from weald.report.pages.residuals import residuals_section
from weald.report.pages.top import header, scores_section
from weald.report.pages.trees import model_section
from weald.report.summary import Summary


def page(summary: Summary) -> str:
    """A summary as HTML."""
    shown = _sections(summary)
    links = [tag("li", tag("a", title, href=f"#{name}")) for name, title, _ in shown]
    style, script = _resource("style.css"), _resource("script.js")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content=f"weald {dict(summary.made.versions)['weald']}"),
        tag("title", f"{summary.asked.title}: weald report"),
        tag("style", Markup(style)),
    )
    body = tag(
        "body",
        tag("a", "Skip to the report", href="#main", class_="skip"),
        tag("nav", tag("p", "Contents"), tag("ul", *links), aria_label="Contents"),
        tag("main", header(summary), *(made for *_, made in shown), id="main", tabindex="-1"),
        tag("script", Markup(script)),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _sections(summary: Summary) -> list[tuple[str, str, Markup]]:
    """Name, title and content of each section that there is, in the order of questions that one asks."""
    found: list[tuple[str, str, Markup | None]] = [
        ("board", "Methods compared", None if summary.leaderboard is None
         else board_section(summary.leaderboard, times=bool(summary.made.seconds))),
        ("scores", "How good it is", None if summary.scores is None else scores_section(summary.scores)),
        ("checks", "Checks", checks_section(summary.checks) if summary.checks else None),
        ("labels", "What it says", None if summary.classes is None else classes_section(summary.classes)),
        ("residuals", "What it says", None if summary.residuals is None
         else residuals_section(summary.residuals, summary.asked.target)),
        ("matters", "What matters", matters_section(summary)),
        ("rows", "Single rows", None if summary.explained is None else rows_section(summary.explained)),
        ("fails", "Where it fails", None if summary.failing is None else failing_section(summary.failing)),
        ("data", "The data", None if summary.data is None else data_section(summary.asked, summary.data)),
        ("model", "The model", None if summary.model is None else model_section(summary.model)),
        ("use", "How to use it", None if summary.use is None else use_section(summary.use)),
        ("made", "How it was made", made_section(summary.made, summary.left_out)),
    ]  # fmt: skip
    return [(name, title, made) for name, title, made in found if made is not None]


@cache
def _resource(name: str) -> str:
    return (files("weald.report.pages") / name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """What a browser may load: this style and this script, and nothing over any network."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode('utf-8')).digest()).decode('ascii')}"
