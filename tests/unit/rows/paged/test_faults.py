"""Faults: a store is right, or an error names what failed; nothing hangs, nothing stays behind."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weald.errors import DataError, DataTypeError
from weald.rows.paged import Store, files, open_store, store_of

PAGE = 65_536
N = 6 * PAGE + 5


def table() -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.column_stack([rng.normal(size=N), rng.integers(0, 3, N)])


@pytest.fixture(scope="module")
def target() -> np.ndarray:
    return np.arange(N) % 3


def contents(store: Store) -> list[bytes]:
    found = []
    for page in store.pages(extras=("target",)):
        assert page.codes is not None
        found.append(page.codes.column(0).tobytes() + page.codes.column(1).tobytes())
        found.append(page.extras["target"].tobytes())
    return found


@pytest.mark.parametrize("failing", range(0, 14, 3))
def test_an_error_of_the_disk_names_the_page(
    failing: int, target: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, n, read = store_of(table(), target), 0, files.read_at

    def read_at(fd: int, into: memoryview, offset: int) -> int:
        nonlocal n
        n += 1
        if n == failing + 1:
            raise OSError(errno.EIO, "Input/output error")
        return read(fd, into[:5000], offset)  # reads may be short, too

    monkeypatch.setattr(files, "read_at", read_at)
    with pytest.raises(DataError, match=r"cannot be read at page \d.*disk reports an error"):
        contents(store)
    monkeypatch.undo()
    assert len(contents(store)) == 14
    store.close()


@pytest.mark.parametrize("name", ["codes.pages", "extra-0.pages"])
def test_pages_cut_off_or_changed(name: str, target: np.ndarray, tmp_path: Path) -> None:
    store_of(table(), target, folder=tmp_path).close()
    path = tmp_path / name
    whole = path.read_bytes()
    changed = bytearray(whole)
    changed[len(whole) * 2 // 3] ^= 4  # after four of seven pages
    path.write_bytes(changed)
    with pytest.raises(
        DataError, match=rf"page 4 .*{name} is damaged: (its checksum is wrong|it is cut off)"
    ):
        contents(open_store(tmp_path))
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=rf"{name} is cut off: page 3"):
        contents(open_store(tmp_path))


def test_a_full_disk_at_every_tenth_write(
    target: np.ndarray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store_of(table(), target) as right:
        known, write = contents(right), files.write_at
    messages: list[str] = []
    for failing in range(0, 100, 10):
        n = 0

        def write_at(fd: int, data: memoryview, offset: int, last: int = failing) -> int:
            nonlocal n
            n += 1
            if n > last:
                raise OSError(errno.ENOSPC, "No space left on device")
            return write(fd, data[:20_000], offset)

        monkeypatch.setattr(files, "write_at", write_at)
        place, work = tmp_path / f"named-{failing}", tmp_path / f"work-{failing}"
        work.mkdir()
        for where in ({"folder": place}, {"disks": [work]}):
            n = 0
            try:
                store_of(table(), target, **where).close()  # type: ignore[arg-type]
            except DataError as error:
                messages.append(str(error))
        assert list(work.iterdir()) == []
        monkeypatch.undo()
        with store_of(table(), target, folder=place) as again:  # goes on, or begins again
            assert contents(again) == known
    assert len(messages) >= 10
    assert all("is full" in message and "are free" in message for message in messages)


def test_a_folder_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*args: Any, **kwargs: Any) -> int:
        raise PermissionError(errno.EACCES, "Permission denied", str(tmp_path))

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(DataError, match="permission is denied"):
        store_of(table(), folder=tmp_path / "s")


def test_too_little_room_is_said_beforehand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "free_bytes", lambda folder: 1000)
    with pytest.raises(DataError, match=r"does not fit into .*: 1,000 bytes are free"):
        store_of(table(), disks=[tmp_path])
    assert list(tmp_path.iterdir()) == []


_SCRIPT = """
import sys, time, pathlib
import weald
from weald.rows.paged import files, store_of_scan

write = files.write_at
def slowly(fd, data, offset):
    time.sleep(0.15)
    return write(fd, data, offset)
files.write_at = slowly
folder = None if sys.argv[2] == "-" else sys.argv[2]
scan = weald.scan(sys.argv[1], folder=folder, memory=1 << 20)
print("begun", flush=True)
store_of_scan(scan, ["y"], max_bins=255)
print("finished", flush=True)
"""


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT])
def test_a_build_that_was_ended_goes_on(ending: signal.Signals, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    import weald
    from weald.rows.paged import store_of_scan

    X = table()
    pq.write_table(pa.table({"a": X[:, 0], "b": X[:, 1], "y": np.arange(N) % 3}), tmp_path / "x.parquet")
    place, work = tmp_path / "store", tmp_path / "work"
    work.mkdir()
    for folder in (str(place), "-"):
        process = subprocess.Popen(
            [sys.executable, "-c", _SCRIPT, str(tmp_path / "x.parquet"), folder],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | {"TMPDIR": str(work)},
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        if folder != "-":
            until = time.monotonic() + 60
            while (place / "building.log").exists() is False or (place / "building.log").stat().st_size < 400:
                assert time.monotonic() < until
                time.sleep(0.01)
        else:
            time.sleep(1.0)
        process.send_signal(ending)
        rest, _ = process.communicate(timeout=60)
        if folder != "-":
            assert "finished" not in rest
    assert list(work.iterdir()) == []
    with pytest.raises(DataError, match="not finished"):
        open_store(place)
    written = (place / "codes.pages").stat().st_size
    assert written > 0
    scan = weald.scan(tmp_path / "x.parquet", folder=place, memory=1 << 20)
    with store_of_scan(scan, ["y"], max_bins=255) as store, store_of(X, np.arange(N) % 3) as right:
        assert store.io.bytes_written < right.io.bytes_written  # some pages were there
        found = [page.codes.column(0).tobytes() for page in store.pages() if page.codes is not None]
        known = [page.codes.column(0).tobytes() for page in right.pages() if page.codes is not None]
        assert found == known


def test_no_store(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a\n1\n")
    for place in (tmp_path, tmp_path / "none", tmp_path / "x.csv"):
        with pytest.raises(DataError, match="holds no store"):
            open_store(place)
    for wrong in (3, None, [tmp_path]):
        with pytest.raises(DataTypeError, match="takes the folder of a store"):
            open_store(wrong)  # type: ignore[arg-type]
