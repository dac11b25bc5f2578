"""How commands fail: a short message on stderr, an exit code, no traceback.

0 is success, 1 what cannot be done with this data or model, 2 a wrong use of the command, 70 a bug of
weald's, 74 a file that cannot be read or written, 130 an interrupt.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import click

from weald.errors import WealdError, short

CANNOT, BUG, FILES, INTERRUPTED = 1, 70, 74, 130
#: of a message
_MOST = 600


@contextmanager
def told() -> Iterator[None]:
    """Turn errors of the body into messages and exit codes."""
    try:
        yield
        sys.stdout.flush()  # a full disk shows here, not when Python ends
    except WealdError as error:
        _end(str(error), CANNOT)
    except BrokenPipeError:
        _leave_stdout()
        sys.exit(0)  # nobody reads on: as `head` would have it
    except KeyboardInterrupt:
        _end("interrupted; no file was left half written.", INTERRUPTED)
    except MemoryError as error:
        _end(f"there is not enough memory. {error}".strip(), CANNOT)
    except OSError as error:
        _leave_stdout()
        name = f"{os.fsdecode(error.filename)}: " if error.filename else ""
        _end(f"{name}{_said(error)}", FILES)
    except (click.ClickException, click.exceptions.Exit):
        raise
    except Exception as error:
        if os.environ.get("WEALD_TRACEBACK"):
            raise
        _end(
            f"{short(str(error), _MOST)}\nThis is a bug of weald's ({type(error).__name__}). Please report "
            "it with what WEALD_TRACEBACK=1 shows.",
            BUG,
        )


def _said(error: OSError) -> str:
    if error.errno == errno.ENOSPC:
        return "the disk is full; nothing is left of what was not finished."
    if error.errno == errno.EFBIG:
        return "the file would be larger than is allowed here; nothing is left of what was not finished."
    return f"{error.strerror or error}."


def _leave_stdout() -> None:
    """Python writes what is left when it ends, and would fail once more."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _end(message: str, code: int) -> None:
    with suppress(BrokenPipeError):
        click.echo(f"weald: {message}", err=True)
    sys.exit(code)
