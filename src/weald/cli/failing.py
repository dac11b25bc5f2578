"""How commands fail: a short message on stderr, an exit code, no traceback.

0 is success, 1 what cannot be done with this data or model, 2 a wrong use of the command, 74 a file that
cannot be read or written, 130 an interrupt.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from weald.errors import WealdError

CANNOT, FILES, INTERRUPTED = 1, 74, 130


@contextmanager
def told() -> Iterator[None]:
    """Turn errors of the body into messages and exit codes."""
    try:
        yield
    except WealdError as error:
        _end(str(error), CANNOT)
    except BrokenPipeError:
        # Nobody reads on; without this, Python would complain again when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except KeyboardInterrupt:
        _end("interrupted; nothing was written.", INTERRUPTED)
    except MemoryError as error:
        _end(f"there is not enough memory. {error}".strip(), CANNOT)
    except OSError as error:
        full = " The disk is full." if error.errno == errno.ENOSPC else ""
        name = f"{error.filename}: " if error.filename else ""
        _end(f"{name}{error.strerror or error}.{full}", FILES)


def _end(message: str, code: int) -> None:
    click.echo(f"weald: {message}", err=True)
    sys.exit(code)
