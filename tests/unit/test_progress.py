"""The progress display: a bar in terminals, one line elsewhere, nothing unless asked."""

from __future__ import annotations

import io
import sys
import threading

import pytest

from weald import progress
from weald.progress import Progress, metric_text, progress_of

LOG = {"validation_0": {"auc": [0.5, 0.75]}}


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def every_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw at each round, however fast they are."""
    monkeypatch.setattr(progress, "PAUSE", 0.0)


def test_verbose():
    assert progress_of(False, 5) is progress_of(0, 5) is progress_of(None, 5) is None
    assert isinstance(progress_of(True, 5), Progress)
    assert isinstance(progress_of(1, 5), Progress)


@pytest.mark.usefixtures("every_round")
def test_a_log_gets_one_line(capsys: pytest.CaptureFixture[str]):
    with Progress(50) as shown:
        for _ in range(30):
            shown.advance(LOG)
        assert capsys.readouterr() == ("", "")
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("round 30/50  ")
    assert err.endswith(" rounds/s  validation_0-auc 0.75\n")
    shown.close()
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("every_round")
def test_bar_in_a_terminal(monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("rich")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    stream, n_threads = Terminal(), threading.active_count()
    with Progress(4, stream=stream) as shown:
        assert threading.active_count() == n_threads
        for _ in range(3):
            shown.advance(LOG)
    text = stream.getvalue()
    assert "3/4" in text
    assert "validation_0-auc 0.75" in text
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h") == 1  # the cursor is hidden, then shown again
    assert text.rindex("\x1b[?25h") > text.rindex("3/4")


def test_cursor_comes_back_after_an_interrupt(monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("rich")
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()

    def interrupted() -> None:
        with Progress(4, stream=stream):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert stream.getvalue().count("\x1b[?25h") == 1


@pytest.mark.usefixtures("every_round")
def test_terminal_without_rich(monkeypatch: pytest.MonkeyPatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "rich"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "rich", None)
    stream = Terminal()
    with Progress(3, stream=stream) as shown:
        shown.advance({"a": {"rmse": [0.123456789]}})
        shown.advance({"a": {"rmse": [0.5]}})
    text = stream.getvalue()
    lines = text.split("\r")
    assert lines[0] == ""
    assert [line.split("  ")[0] for line in lines[1:]] == ["round 1/3", "round 2/3", "round 2/3"]
    assert "a-rmse 0.12346" in lines[1]
    assert len(lines[2]) >= len(lines[1])  # what was there is overwritten
    assert text.count("\n") == 1
    assert text.endswith("\n")


def test_program_without_stderr(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stderr", None)
    with Progress(2) as shown:
        shown.advance(LOG)


def test_drawn_at_most_ten_times_a_second(monkeypatch: pytest.MonkeyPatch):
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    drawn: list[int] = []

    class Display:
        def show(self, n_done, text):
            drawn.append(n_done)

        close = show

    monkeypatch.setattr(progress, "display_on", lambda n_rounds, stream, word: Display())
    with Progress(1000) as shown:
        for _ in range(1000):
            now[0] += 0.001
            shown.advance({})
    assert 9 <= len(drawn) <= 11
    assert drawn[-1] == 1000


def test_metric_text():
    assert metric_text({}) == ""
    assert metric_text(LOG) == "  validation_0-auc 0.75"
    many = {f"validation_{i}": {"logloss": [i / 7]} for i in range(20)}
    text = metric_text(many)
    assert len(text) <= progress.MOST_SHOWN
    assert text.endswith("  validation_19-logloss 2.7143")
