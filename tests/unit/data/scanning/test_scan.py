"""Scans: the types and rows that reading the whole gives, and what is no data for one."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import weald
from weald.data.scanning.parts import Widened
from weald.data.scanning.scan import Scan, scan
from weald.errors import DataError, DataTypeError, ParameterError
from weald.rows.paged import store_of_scan


def whole(found: Scan, rows: int = 1000) -> pa.Table:
    for _ in range(10):
        try:
            tables = list(found.tables(rows))
        except Widened:
            continue
        assert all(table.num_rows == rows for table in tables[:-1])
        return pa.concat_tables(tables)
    raise AssertionError("types do not settle")


def rows_of(n: int, first: int = 0) -> pa.Table:
    at = np.arange(first, first + n)
    return pa.table({"i": at, "x": at / 8, "t": [f"v{i % 7}" for i in at], "y": at % 2})


@pytest.mark.parametrize(
    "column",
    [
        ["1", "2", "3.5"],
        ["1", "0", "true"],
        ["1", "", "n/a"],
        ["?", "2", "-"],
        ["2020-01-01", "2020-01-02", "2020-01-03 12:00:00"],
        ["1", "x", "2"],
        ["", "", "5"],
        ["", "", ""],
        ["true", "false", "yes"],
        ["?", "?", "?"],
        ["12:30:00", "1", "2"],
    ],
)
def test_types_of_text_are_those_of_the_whole_file(column: list[str], tmp_path: Path) -> None:
    filler = ["a,b", *(f"{column[0]},{'x' * 40}" for _ in range(120_000))]  # more than one block
    for values in (column, column[::-1]):
        filler[1:-1] = [f"{values[0]},{'x' * 40}"] * (len(filler) - 2)
        path = tmp_path / "a.csv"
        path.write_text("\n".join([*filler, *(f"{value},z" for value in values)]) + "\n")
        known, found = weald.read(path), whole(scan(path), 50_000)
        assert found.schema.equals(known.schema)
        assert found["a"].equals(known["a"])


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
@pytest.mark.parametrize("late", [False, True])
def test_old_encodings_of_text_are_found_as_reading_the_whole_finds_them(
    encoding: str, late: bool, tmp_path: Path
) -> None:
    word = "größe" if encoding == "cp1252" else "gr\x81ße"  # 0x81 is no letter of Windows-1252
    filler = [f"{i},{'x' * 40}" for i in range(110_000 if late else 10)]  # more than one block
    path = tmp_path / "a.csv"
    path.write_bytes("\n".join([f"a,{'b' if late else word}", *filler, f"1.5,{word}", ""]).encode(encoding))
    known, found = weald.read(path), whole(scan(path), 50_000)
    assert found.equals(known)
    assert found[1].to_pylist()[-1] == word


def test_files_of_every_kind_give_the_same_rows(tmp_path: Path) -> None:
    table = rows_of(2500)
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=700)
    feather.write_feather(table, str(tmp_path / "x.arrow"), chunksize=900)
    table.to_pandas().to_csv(tmp_path / "x.csv", index=False)
    table.to_pandas().to_csv(tmp_path / "x.csv.gz", index=False)
    with pa.OSFile(str(tmp_path / "x.ipc"), "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table, 800)
    for name in ("x.parquet", "x.arrow", "x.csv", "x.csv.gz", "x.ipc"):
        found = scan(tmp_path / name)
        assert whole(found).equals(table), name
        assert found.n_rows == 2500
    for source in (table, lambda: table.to_reader(300), lambda: table.to_batches(300)):
        assert whole(scan(source)).equals(table)


def test_files_in_order_of_their_names_with_merged_types(tmp_path: Path) -> None:
    first, second = rows_of(1500), rows_of(800, 1500)
    pq.write_table(first.set_column(0, "i", first["i"].cast(pa.int32())), tmp_path / "a.parquet")
    pq.write_table(second.select(["y", "t", "x", "i"]), tmp_path / "b.parquet")
    pq.write_table(rows_of(5).set_column(0, "i", rows_of(5)["x"]), tmp_path / "c.parquet")
    found = whole(scan(tmp_path / "*.parquet"))
    assert found["i"].type == pa.float64()
    assert found["i"].to_pylist()[:2300] == list(range(2300))
    assert found["t"].to_pylist()[1500:2300] == second["t"].to_pylist()


def test_a_row_group_larger_than_memory_is_read_in_parts(tmp_path: Path) -> None:
    table = pa.table({"x": np.random.default_rng(0).random(300_000)})
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=300_000)
    found = scan(tmp_path / "x.parquet", memory="1MiB")
    assert found.largest_row_group() > found.memory
    assert max(piece.num_rows for piece in found.parts[0].tables(None)) <= 1 << 16
    assert whole(found, 100_000).equals(table)
    notes = weald.plan(weald.XGBRegressor(), found).notes
    assert any("row group" in note for note in notes)


def test_libsvm_stays_sparse(tmp_path: Path) -> None:
    path = tmp_path / "x.svm"
    path.write_text("".join(f"{i % 2} {1 + i % 5}:{i + 0.5} {7 + i % 3}:1\n" for i in range(70_000)))
    X, y = weald.read_libsvm(path)
    store = store_of_scan(scan(path), ["target"], max_bins=255)
    assert store.n_columns == X.shape[1]
    assert all(store.codebook.is_sparse(j) for j in range(store.n_columns))
    assert np.array_equal(store.column("target"), y)
    model = weald.XGBClassifier(n_estimators=2).fit(X, y)
    assert np.array_equal(model.predict(scan(path)), model.predict(X))
    path.write_text("1 0:2 3:1\n0 2:5\n")
    assert store_of_scan(scan(path), ["target"], max_bins=255).n_columns == 4


# --------------------------------------------------------------------------- bad input


def parquet(folder: Path, **tables: pa.Table) -> str:
    for name, table in tables.items():
        pq.write_table(table, folder / f"{name}.parquet")
    return str(folder / "*.parquet")


def test_files_that_differ(tmp_path: Path) -> None:
    lacking = parquet(tmp_path, a=rows_of(5), b=rows_of(5).drop_columns(["x"]))
    with pytest.raises(DataError, match=r"b.parquet has no column 'x', other than .*a.parquet"):
        whole(scan(lacking))
    parquet(tmp_path, b=rows_of(5).set_column(1, "x", pa.array(list("abcde"))))
    with pytest.raises(DataError, match=r"b.parquet, row group 0: column 'x' is string, and it is double"):
        whole(scan(lacking))


def test_files_that_are_nothing(tmp_path: Path) -> None:
    for name in ("a.csv", "a.parquet", "a.arrow", "a.svm"):
        (tmp_path / name).write_bytes(b"")
        with pytest.raises(DataError, match="is empty"):
            scan(tmp_path / name)
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        whole(scan(tmp_path / "a.parquet"))
    (tmp_path / "names.csv").write_text("a,b\n")
    with pytest.raises(DataError, match="no rows"):
        store_of_scan(scan(tmp_path / "names.csv"), ["b"], max_bins=255)
    with pytest.raises(DataError, match="no file"):
        scan(tmp_path / "absent.parquet")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(tmp_path: Path) -> None:
    path = Path(parquet(tmp_path, a=rows_of(5)).replace("*", "a"))
    path.chmod(0)
    with pytest.raises(DataError, match="permission is denied"):
        scan(path)


def test_a_file_that_changes_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from weald.rows.paged import building

    learn, changes = building._learn, []

    def changing(*args: Any) -> Any:
        found = learn(*args)
        changes.pop()()
        return found

    monkeypatch.setattr(building, "_learn", changing)
    path, text = tmp_path / "a.parquet", tmp_path / "a.csv"
    pq.write_table(rows_of(50), path)
    changes.append(lambda: pq.write_table(rows_of(51), path))
    with pytest.raises(DataError, match="changed"):
        store_of_scan(scan(path), ["y"], max_bins=255)
    for content in ("a,y\n1,0\nlater,1\n", "a,y\n1,0\n7,1\n3,0\n"):
        text.write_text("a,y\n1,0\n2,1\n")
        changes.append(partial(text.write_text, content))
        with pytest.raises(DataError, match="changed"):
            store_of_scan(scan(text), ["y"], max_bins=255)


def test_what_is_no_source(tmp_path: Path) -> None:
    with pytest.raises(DataTypeError, match="only once"):
        scan(rows_of(5).to_reader())
    with pytest.raises(DataTypeError, match="A path"):
        scan(5)
    path = parquet(tmp_path, a=rows_of(5))
    for options, message in (
        ({"memory": "much"}, "memory must be"),
        ({"memory": 5}, "memory must be"),
        ({"compress": "gzip"}, "compress must be"),
    ):
        with pytest.raises(ParameterError, match=message):
            scan(path, **options)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="no folder"):
        scan(path, disks=[tmp_path / "absent"])
    with pytest.raises(DataError, match=r"no column 'yy'. There are 'i'"):
        store_of_scan(scan(path), ["yy"], max_bins=255)
    with pytest.raises(DataError, match="no columns to learn from"):
        store_of_scan(scan(path), ["i", "x", "t", "y"], max_bins=255)


def test_bad_numbers_are_named_by_their_row(tmp_path: Path) -> None:
    x = np.zeros(140_000)
    x[135_000] = np.inf
    w = np.where(np.arange(140_000) == 70_123, -1.0, 1.0)
    path = parquet(tmp_path, a=pa.table({"x": x, "w": w}))
    with pytest.raises(DataError, match="row 135000 holds inf"):
        store_of_scan(scan(path, memory=1 << 20), [], max_bins=255)
    with pytest.raises(DataError, match="Row 70123 has the weight -1"):
        store_of_scan(scan(path, memory=1 << 20), ["w"], weight="w", max_bins=255)
    parquet(tmp_path, a=pa.table({"x": np.zeros(5), "w": np.zeros(5)}))
    with pytest.raises(DataError, match="0 in every row"):
        store_of_scan(scan(path), ["w"], weight="w", max_bins=255)
