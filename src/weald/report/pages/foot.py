"""How to use the model, how the report was made, and what was left out."""

from __future__ import annotations

from weald.pictures.svg.markup import Markup, tag
from weald.pictures.svg.scales import number
from weald.report.pages.parts import code, facts, remarks, section
from weald.report.summary import HowToUse, Made


def use_section(found: HowToUse) -> Markup:
    """Code and command."""
    return section(
        "use",
        "How to use it",
        None,
        tag("div", tag("h3", "In Python"), code(found.python, "Code to load the model"), class_="card"),
        tag("div", tag("h3", "At the command line"), code(found.command, "Command to predict"), class_="card")
        if found.command
        else None,
        remarks(found.notes),
    )


def made_section(found: Made, left_out: tuple[tuple[str, str], ...]) -> Markup:
    """Versions, parameters, hashes."""
    pairs = [
        *found.versions,
        ("seed of the report", str(found.seed)),
        ("rows for dear parts", f"at most {found.max_rows:,}"),
    ]
    if found.model_sha256 is not None:
        pairs += [("model file", f"{found.model_bytes:,} bytes"), ("SHA-256 of it", found.model_sha256)]
    if found.data_sha256 is not None:
        pairs.append(("SHA-256 of the data", found.data_sha256))
    pairs += [(f"seconds: {name}", number(each, 3)) for name, each in found.seconds]
    parameters = (
        facts(found.parameters) if found.parameters else tag("p", "All parameters are as by default.")
    )
    left = [tag("li", tag("b", f"{name}: "), why) for name, why in left_out]
    return section(
        "made",
        "How it was made",
        None,
        tag("div", facts(pairs), class_="card"),
        tag("div", tag("h3", "Parameters that were set"), parameters, class_="card"),
        tag("div", tag("h3", "Left out"), tag("ul", *left), class_="card") if left else None,
        remarks(found.notes),
    )
