"""Bytes of pages: packing, damage, kept columns, the disks."""

from __future__ import annotations

import errno
import json
import threading
from pathlib import Path

import numpy as np
import pytest

from weald.data.adapters import to_table
from weald.data.codes import encode
from weald.engine.storage import pages as native
from weald.errors import DataError, ParameterError
from weald.rows.paged import files, open_store, places, store_of
from weald.rows.paged.disk import pays
from weald.rows.paged.extras import make_extra_page, read_extra_page

PAGE = 65_536
N = 2 * PAGE + 77


def table(n: int = N) -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.column_stack([rng.normal(size=n), rng.integers(0, 3, n), np.ones(n)])


@pytest.mark.parametrize("n_values", [1, 2, 3, 4, 9, 17, 33, 65, 129, 250, 300, 1000, 5000, 30_000])
@pytest.mark.parametrize("n", [1, 7, 8, 30_003])
def test_codes_of_any_number_of_bits_come_back(n_values: int, n: int) -> None:
    X = np.random.default_rng(n_values).integers(0, n_values, (n, 1)).astype(float)
    codes = encode(to_table(X), max_bins=65_535).native
    codebook = native.make_codebook(native.codebook_columns(codes))
    page = native.make_page(codes, store=5, first_row=9, pack=True)
    found = native.read_page(codebook, page, store=5, first_row=9)
    assert np.array_equal(found.column(0), codes.column(0))
    assert found.column(0).dtype == codes.column(0).dtype
    assert len(page) <= len(native.make_page(codes, store=5, first_row=9, pack=False))


def test_every_damaged_byte_is_seen() -> None:
    codes = encode(to_table(table(300)), max_bins=255).native
    page = native.make_page(codes, store=5, first_row=0, pack=True)
    for at in range(len(page)):
        damaged = page.copy()
        damaged[at] ^= 1 << (at % 8)
        with pytest.raises(DataError):
            native.read_page(codes, damaged, store=5, first_row=0)
    for n in (0, 63, 64, len(page) - 1):
        with pytest.raises(DataError, match=r"cut off|shorter"):
            native.read_page(codes, page[:n].copy(), store=5, first_row=0)
    with pytest.raises(DataError, match="another store"):
        native.read_page(codes, page, store=6, first_row=0)
    with pytest.raises(DataError, match="other rows"):
        native.read_page(codes, page, store=5, first_row=65_536)


@pytest.mark.parametrize(
    "values",
    [
        np.array([0.0, 1.0, 1.0]),
        np.array([0.0, -0.0]),
        np.array([np.nan, 1.0]),
        np.array([0.1, 2.0]),
        np.array([0.5, 2.0]),
        np.array([1e300, 3.0]),
        np.array([300, -2]),
        np.array([2**40, 1]),
        np.array([True, False]),
        np.full(9, 2.5),
        np.array([7.0]),
    ],
)
def test_kept_columns_keep_every_bit(values: np.ndarray) -> None:
    page = make_extra_page(values, store=3, first_row=1)
    found = read_extra_page(page, values.dtype.str, store=3, first_row=1, n_rows=len(values))
    assert found.dtype == values.dtype
    assert found.tobytes() == values.tobytes()
    page[-1] ^= 1
    with pytest.raises(DataError, match="checksum"):
        read_extra_page(page, values.dtype.str, store=3, first_row=1, n_rows=len(values))


def test_a_target_of_two_classes_takes_a_byte_a_row() -> None:
    assert len(make_extra_page(np.tile([0.0, 1.0], 1000), store=0, first_row=0)) == 2000 + 64


def test_a_pass_over_targets_reads_no_codes() -> None:
    y = np.arange(N) % 2
    with store_of(table(), y) as store:
        assert np.array_equal(store.column("target"), y)
        assert store.io.bytes_read < N + 3 * 100 < store.code_bytes
        assert [page.codes for page in store.pages(codes=False)] == [None] * 3


def test_pages_are_read_while_the_last_one_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    store, read, n_reads = store_of(table()), files.read_at, 0
    two_more = threading.Event()

    def read_at(fd: int, into: memoryview, offset: int) -> int:
        nonlocal n_reads
        n_reads += 1
        if n_reads == 3:
            two_more.set()
        return read(fd, into, offset)

    monkeypatch.setattr(files, "read_at", read_at)
    pages = store.pages()
    next(pages)
    assert two_more.wait(60)  # nobody has asked for the second page
    assert [page.first_row for page in pages] == [PAGE, 2 * PAGE]


def test_pages_that_are_kept_stay_as_they_are() -> None:
    codes = encode(to_table(table()), max_bins=255)
    with store_of(table(), compress="none") as store:
        for _ in range(4):  # buffers are used again
            kept = [page.codes for page in store.pages()]
        found = np.concatenate([each.column(0) for each in kept if each is not None])
    assert np.array_equal(found, codes.column(0))


def test_a_named_store_opens_again_and_is_used_again(tmp_path: Path) -> None:
    X, y = table(), np.random.default_rng(1).choice(["no", "yes"], N)
    disks = [tmp_path / "a", tmp_path / "b"]
    for disk in disks:
        disk.mkdir()
    with store_of(X, y, folder=tmp_path / "store", disks=disks) as made:
        known = [page.codes.column(0) for page in made.pages() if page.codes is not None]
    found = open_store(tmp_path / "store")
    assert found.n_rows == N
    assert set(found.levels("target") or ()) == {"no", "yes"}
    for page, column in zip(found.pages(), known, strict=True):
        assert page.codes is not None
        assert np.array_equal(page.codes.column(0), column)
    assert (disks[1] / "weald-store" / "codes.pages").stat().st_size > 0
    with pytest.raises(DataError, match="other data"):
        store_of(table(N - 1), y[1:], folder=tmp_path / "store", disks=disks)


def test_two_builds_do_not_share_a_folder(tmp_path: Path) -> None:
    with (
        places.Places(tmp_path, ()),
        pytest.raises(DataError, match="Another fit is building"),
    ):
        store_of(table(), folder=tmp_path)
    store_of(table(), folder=tmp_path).close()


def test_a_build_may_go_on_with_another_compression(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.column_stack([np.sort(table()[:, 0])])  # zstd makes it much smaller
    write, n_writes = files.write_at, 0

    def write_at(fd: int, data: memoryview, offset: int) -> int:
        nonlocal n_writes
        n_writes += 1
        if n_writes == 2:
            raise OSError(errno.EIO, "Input/output error")
        return write(fd, data, offset)

    monkeypatch.setattr(files, "write_at", write_at)
    monkeypatch.setattr(places, "pays", lambda rate: "zstd")
    monkeypatch.setattr(places, "disk_rate", lambda folder: 1.0)
    with pytest.raises(DataError, match="page 1"):
        store_of(X, folder=tmp_path, compress="auto")
    monkeypatch.setattr(files, "write_at", write)
    monkeypatch.setattr(places, "pays", lambda rate: "none")
    with store_of(X, folder=tmp_path, compress="auto") as store:
        assert store.compress == "none"
        codes = encode(to_table(X), max_bins=255).column(0)
        found = [page.codes.column(0) for page in store.pages() if page.codes is not None]
        assert np.array_equal(np.concatenate(found), codes)
        assert store.code_bytes < 2.2 * PAGE  # the first page is small


def test_temporary_stores_leave_nothing(tmp_path: Path) -> None:
    store = store_of(table(), disks=[tmp_path])
    assert list(tmp_path.iterdir()) == []
    assert sum(page.n_rows for page in store.pages()) == N
    store.close()
    with pytest.raises(DataError, match="closed"):
        list(store.pages())


def test_what_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no store"):
        open_store(tmp_path)
    store_of(table(), folder=tmp_path / "s").close()
    description = tmp_path / "s" / "store.json"
    record = json.loads(description.read_text())
    description.write_text(json.dumps(record | {"format": [2, 1]}))
    with pytest.raises(DataError, match=r"format 2.1, newer than this weald reads \(1.0\)"):
        open_store(tmp_path / "s")
    description.write_text("{")
    with pytest.raises(DataError, match="damaged"):
        open_store(tmp_path / "s")
    description.write_text(json.dumps(record))
    marks = tmp_path / "s" / "codebook.bin"
    marks.write_bytes(b"x" * marks.stat().st_size)
    with pytest.raises(DataError, match=r"codebook.bin is damaged"):
        open_store(tmp_path / "s")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"page_rows": 1000}, "multiple of 65,536"),
        ({"compress": "gzip"}, "compress"),
        ({"max_bins": 70_000}, "65,535"),
    ],
)
def test_what_no_store_can_be(options: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        store_of(table(10), **options)  # type: ignore[arg-type]


def test_what_pays_depends_on_the_disk() -> None:
    assert [pays(rate) for rate in (1e7, 3e8, 2e10)] == ["zstd", "packed", "none"]
