"""A progress bar for `verbose=1`: on stderr, with rich where it is installed, else one plain line."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Protocol, Self, TextIO, TypeAlias

import numpy as np

from weald.errors import ParameterError

_Log: TypeAlias = Mapping[str, Mapping[str, list[float]]]

#: seconds between two drawings
PAUSE = 0.1
#: characters of metrics that are shown
MOST_SHOWN = 80


class Display(Protocol):
    """Where progress shows: told the rounds so far, and text with the rate and the metrics."""

    def show(self, n_done: int, text: str) -> None: ...

    def close(self, n_done: int, text: str) -> None: ...


class Progress:
    """Shows round, rate and the last metrics of a training; nothing appears before `start`.

    In a terminal or a notebook it is a bar, drawn at most ten times a second by the training itself (no
    thread). Elsewhere, such as in a log file, it is one line at the end.

    Parameters
    ----------
    n_rounds : int
        How many rounds there may be.
    stream : text file, optional
        Where to write; by default `sys.stderr` as it is when the training starts.
    word : str
        What a round is called: "member" for those of an ensemble, "tree" in a forest.
    """

    def __init__(self, n_rounds: int, *, stream: TextIO | None = None, word: str = "round") -> None:
        self._n_rounds, self._word = n_rounds, word
        self._stream = stream
        self._display: Display | None = None
        self._n_done = 0
        self._latest: _Log = {}
        self._started = self._drawn = 0.0

    def start(self) -> None:
        """Show the empty bar."""
        self.close()
        self._n_done, self._latest = 0, {}
        self._started = self._drawn = time.monotonic()
        stream: TextIO | None = self._stream or sys.stderr
        self._display = (
            None if stream is None else display_on(stream, self._n_rounds, self._word)
        )  # some programs have none

    def advance(self, evals_log: _Log) -> None:
        """One more round is done, whose metrics are the last ones of the log."""
        self._n_done += 1
        self._latest = evals_log
        now = time.monotonic()
        if self._display is not None and now - self._drawn >= PAUSE:
            self._drawn = now
            self._display.show(self._n_done, self._text(now))

    def close(self) -> None:
        """Leave the last state standing and give the terminal back; a second call does nothing."""
        display, self._display = self._display, None
        if display is not None:
            display.close(self._n_done, self._text(time.monotonic()))

    def _text(self, now: float) -> str:
        seconds = max(now - self._started, 1e-9)
        return f"{self._n_done / seconds:.1f} {self._word}s/s{metric_text(self._latest)}"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def progress_of(verbose: object, n_rounds: int) -> Progress | None:
    """The display for an estimator's `verbose`: none for False, 0 and None, else a progress bar."""
    return Progress(n_rounds) if verbose else None


class FoldLines:
    """The lines of `weald.cv(verbose_eval=…)`: a callback that shows the mean metrics of the folds.

    Parameters
    ----------
    every : int
        Show the first round and each `every`th after it; the last one always.
    n_rounds : int
        How many rounds there may be.
    deviations : bool
        Whether to show the deviations between the folds too.
    stream : text file, optional
        Where to write; by default `sys.stderr`.
    """

    def __init__(
        self, every: int, n_rounds: int, *, deviations: bool = True, stream: TextIO | None = None
    ) -> None:
        self._every, self._n_rounds, self._deviations = every, n_rounds, deviations
        self._stream = stream
        self._waiting = ""  # the line of the last round, if it is not shown yet

    def after_iteration(
        self, model: object, epoch: int, evals_log: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]]
    ) -> None:
        """Show a round, if it is its turn."""
        shown = [
            f"  {data}-{metric} {values[-1][0]:.5g}" + (f" ± {values[-1][1]:.2g}" if self._deviations else "")
            for data, log in evals_log.items()
            for metric, values in log.items()
        ]
        self._waiting = f"round {epoch + 1}/{self._n_rounds}{''.join(shown)}\n"
        if epoch % self._every == 0:
            self._show()

    def after_training(self, model: object) -> None:
        """Show the last round."""
        self._show()

    def _show(self) -> None:
        stream: TextIO | None = self._stream or sys.stderr  # some programs have none
        if stream is not None and self._waiting:
            stream.write(self._waiting)
            stream.flush()
        self._waiting = ""


def fold_lines(verbose_eval: object, n_rounds: int, *, deviations: bool) -> FoldLines | None:
    """The lines that `verbose_eval` of `weald.cv` asks for; None for False, 0 and None."""
    if verbose_eval is None or verbose_eval is False:
        return None
    if not isinstance(verbose_eval, int | np.integer | np.bool_) or verbose_eval < 0:
        raise ParameterError(
            f"`verbose_eval` of cv must be True, False or a whole number of rounds; got {verbose_eval!r}. "
            "Use 10 for a line every 10 rounds."
        )
    return FoldLines(int(verbose_eval), n_rounds, deviations=deviations) if verbose_eval else None


def metric_text(evals_log: _Log) -> str:
    """The last value of each metric, each with two spaces before it.

    >>> metric_text({"validation_0": {"auc": [0.5, 0.75]}})
    '  validation_0-auc 0.75'
    """
    shown = [
        f"  {data}-{metric} {values[-1]:.5g}"
        for data, log in evals_log.items()
        for metric, values in log.items()
        if values
    ]
    while len(shown) > 1 and len("".join(shown)) > MOST_SHOWN:
        shown.pop(0)  # the last metric of the last set decides early stopping
    return "".join(shown)


def display_on(stream: TextIO, n_rounds: int, word: str) -> Display:
    """A bar for a terminal or a notebook; one line at the end elsewhere."""
    in_notebook = "ipykernel" in sys.modules and stream is sys.stderr
    if not in_notebook and not stream.isatty():
        return _LastLine(n_rounds, stream, word)
    try:
        return _RichBar(n_rounds, stream, word)
    except ImportError:
        return _OneLine(n_rounds, stream, word)


class _RichBar:
    """rich's progress bar, without its refreshing thread."""

    def __init__(self, n_rounds: int, stream: TextIO, word: str) -> None:
        from rich import progress
        from rich.console import Console

        console = Console(stderr=True) if stream is sys.stderr else Console(file=stream)
        self._bar = progress.Progress(
            progress.TextColumn(word),
            progress.MofNCompleteColumn(),
            progress.BarColumn(bar_width=30),
            progress.TimeRemainingColumn(),
            progress.TextColumn("{task.fields[text]}", markup=False),
            console=console,
            auto_refresh=False,
            redirect_stdout=False,  # what callbacks print goes where they print it
            redirect_stderr=False,
        )
        self._task = self._bar.add_task("", total=n_rounds, text="")
        self._bar.start()

    def show(self, n_done: int, text: str) -> None:
        self._bar.update(self._task, completed=n_done, text=text)
        self._bar.refresh()

    def close(self, n_done: int, text: str) -> None:
        try:
            self.show(n_done, text)
        finally:
            self._bar.stop()


class _OneLine:
    """A line that overwrites itself, for terminals without rich."""

    def __init__(self, n_rounds: int, stream: TextIO, word: str) -> None:
        self._n_rounds, self._stream, self._word = n_rounds, stream, word
        self._width = 0

    def show(self, n_done: int, text: str) -> None:
        line = f"{self._word} {n_done}/{self._n_rounds}  {text}"
        self._stream.write("\r" + line.ljust(self._width))
        self._stream.flush()
        self._width = len(line)

    def close(self, n_done: int, text: str) -> None:
        self.show(n_done, text)
        self._stream.write("\n")
        self._stream.flush()


class _LastLine(_OneLine):
    """One line when all is done: a log is not flooded."""

    def show(self, n_done: int, text: str) -> None:
        """Nothing yet."""

    def close(self, n_done: int, text: str) -> None:
        self._stream.write(f"{self._word} {n_done}/{self._n_rounds}  {text}\n")
        self._stream.flush()
