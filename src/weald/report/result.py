"""`Report`: a summary, and ways to look at it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from html import escape
from pathlib import Path

from weald.errors import DataTypeError, told
from weald.io import place
from weald.pictures.svg.scales import number
from weald.report.finding.checks import LOOK, WARN
from weald.report.pages.page import page
from weald.report.summary import Summary

#: lines of the text
_SHOWN = 5


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """What is to be known of a model.

    Attributes
    ----------
    summary : Summary
        All of it, as plain records.

    Examples
    --------
    >>> import weald
    >>> X = [[float(i % 9), float(i % 5)] for i in range(90)]
    >>> y = ["high" if row[0] > 4 else "low" for row in X]
    >>> made = weald.report(weald.DecisionTreeClassifier().fit(X, y), X, y)
    >>> made.to_html().startswith("<!DOCTYPE html>")
    True
    """

    summary: Summary

    def to_html(self) -> str:
        """The page: one file that needs nothing else."""
        return page(self.summary)

    def to_json(self, indent: int | None = 2) -> str:
        """The summary as JSON; numbers that JSON does not know are null.

        Parameters
        ----------
        indent : int, default=2
            Spaces per level; None for one line.
        """
        return json.dumps(self.summary.to_dict(), ensure_ascii=False, indent=indent, allow_nan=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page, or the record if the name ends in ".json": whole, or not at all.

        Parameters
        ----------
        path : str or path
            Where.
        """
        try:
            record = Path(path).suffix == ".json"
        except TypeError:
            raise DataTypeError(f"`path` of save must be the name of a file; got {told(path)}.") from None
        place.write(path, (self.to_json() + "\n" if record else self.to_html()).encode())

    def _repr_html_(self) -> str:
        """The page in a frame of its own, for notebooks."""
        return (
            '<iframe title="Report" sandbox="allow-scripts" width="100%" height="700" '
            f'srcdoc="{escape(self.to_html())}"></iframe>'
        )

    def __repr__(self) -> str:
        """One line."""
        return f"Report: {self.summary.asked.title}"

    def __str__(self) -> str:
        """A few lines: scores, what matters, what to look at."""
        found = self.summary
        lines = [found.asked.title]
        if found.scores is not None:
            lines += [
                f"  {each.name:18}{number(each.value):>8}  {number(each.low)} … {number(each.high)}; "
                f"baseline {number(each.baseline)}"
                for each in found.scores.rows
            ]
        if found.matters is not None:
            lines.append(f"  goes by {', '.join(found.matters.names[:_SHOWN])}")
        for check in found.checks:
            if check.state in (LOOK, WARN):
                lines.append(f"  {check.code} {check.name}: {check.found}")
        if found.leaderboard is not None:
            lines.append(str(found.leaderboard))
        return "\n".join(lines)
