"""The checks: those to look at in full, the others in a list."""

from __future__ import annotations

from weald.pictures.svg.markup import Markup, tag
from weald.report.finding.checks import LOOK, MUTED, OK, SKIPPED, WARN
from weald.report.pages.parts import section, table
from weald.report.summary import Check

_WORDS = {WARN: "mend", LOOK: "look", OK: "fine", MUTED: "muted", SKIPPED: "not judged"}


def checks_section(checks: tuple[Check, ...]) -> Markup:
    """What stands out first."""
    asking = [each for state in (WARN, LOOK) for each in checks if each.state == state]
    others = [each for each in checks if each not in asking]
    lead = "Each check has a code. One whose finding is known is muted by weald.report(…, mute=[code])."
    found = (
        tag("ol", *(_check(each) for each in asking), class_="checks")
        if asking
        else tag("p", "Nothing stands out.", class_="card")
    )
    rows = [(each.code, each.name, _WORDS[each.state], each.found) for each in others]
    quiet = tag(
        "details",
        tag("summary", f"{len(others)} checks that ask for nothing"),
        table("Checks that ask for nothing", ("code", "check", "state", "found"), rows, texts=(1, 2, 3)),
        class_="card",
    )
    return section("checks", "Checks", lead, found, quiet if others else None)


def _check(check: Check) -> Markup:
    return tag(
        "li",
        tag(
            "h3",
            tag("span", _WORDS[check.state], class_=f"state {check.state}"),
            check.name,
            tag("span", check.code, class_="code"),
        ),
        tag("p", check.found),
        tag("p", tag("b", "Why? "), check.cause),
        tag("p", tag("b", "What helps? "), check.fix),
        class_="card",
    )
