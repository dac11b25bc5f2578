"""Files as people have them: every column gets the type of all its values, and errors name the place."""

from __future__ import annotations

import bz2
import gzip
import io
import sys

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
from pyarrow import csv as arrow_csv  # noqa: E402
from pyarrow import feather, parquet  # noqa: E402

import weald  # noqa: E402
from weald.errors import DataError, DataTypeError  # noqa: E402

TABLE = pa.table({"x": [1.5, None, 3.0], "city": ["Bern", "Ulm", None], "n": [1, 2, 3]})


def written(folder, name, text, encoding="utf-8"):
    path = folder / name
    path.write_bytes(text.encode(encoding) if isinstance(text, str) else text)
    return path


def as_csv(table):
    out = io.BytesIO()
    arrow_csv.write_csv(table, out)
    return out.getvalue()


def test_every_kind_of_file_gives_the_same_table(tmp_path):
    lines = '{"x": 1.5, "city": "Bern", "n": 1}\n{"city": "Ulm", "n": 2}\n{"x": 3.0, "n": 3}\n'
    text = as_csv(TABLE)
    parquet.write_table(TABLE, tmp_path / "t.parquet")
    feather.write_feather(TABLE, tmp_path / "t.feather")
    with pa.ipc.new_stream(tmp_path / "t.arrow", TABLE.schema) as sink:
        sink.write_table(TABLE)
    written(tmp_path, "t.csv", text)
    written(tmp_path, "t.tsv", text.replace(b",", b"\t"))
    written(tmp_path, "t.csv.gz", gzip.compress(text))
    written(tmp_path, "t.csv.bz2", bz2.compress(text))
    written(tmp_path, "t.csv.zst", pa.Codec("zstd").compress(text, asbytes=True))
    written(tmp_path, "t.jsonl", lines)
    written(tmp_path, "semicolons.csv", text.replace(b",", b";"))
    written(tmp_path, "no_suffix", text)
    files = sorted(tmp_path.iterdir())
    assert len(files) == 11
    for path in files:
        assert weald.read(path).to_pydict() == TABLE.to_pydict(), path.name


def test_a_type_is_that_of_the_whole_column(tmp_path):
    n = 400_000  # well beyond the block that types are guessed from
    rows = [f"{i},{i},,{i},2020-01-01" for i in range(n)] + ["0.5,word,late,?,2020-01-02"]
    notes: list[str] = []
    table = weald.read(written(tmp_path, "t.csv", "a,b,c,d,e\n" + "\n".join(rows)), notes=notes)
    assert [str(kind) for kind in table.schema.types] == [
        "double",
        "string",
        "string",
        "double",
        "date32[day]",
    ]
    assert table["d"].null_count == 1
    assert table["a"][n].as_py() == 0.5
    assert table["b"].to_pylist()[-2:] == [str(n - 1), "word"]
    assert table["c"].to_pylist()[-2:] == [None, "late"]
    assert notes == ["column 'd' has numbers, and '?' for 1 missing ones"]


def test_many_columns_that_change_their_minds(tmp_path):
    names = [f"c{j}" for j in range(30)]
    many = "\n".join([",".join(["1"] * 30)] * 100_000)
    table = weald.read(written(tmp_path, "t.csv", f"{','.join(names)}\n{many}\n{','.join(['1.5'] * 30)}\n"))
    assert {str(kind) for kind in table.schema.types} == {"double"}


def test_quoted_newlines_and_delimiters(tmp_path):
    text = 'id,note\n1,"two\nlines, and a comma"\n2,"a ""word"""\n'
    table = weald.read(written(tmp_path, "t.csv", text))
    assert table["note"].to_pylist() == ["two\nlines, and a comma", 'a "word"']


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_encodings(tmp_path, encoding):
    notes: list[str] = []
    table = weald.read(written(tmp_path, "t.csv", "Größe,Ort\n1,Zürich\n", encoding), notes=notes)
    assert table.to_pydict() == {"Größe": [1], "Ort": ["Zürich"]}
    assert bool(notes) == (encoding == "cp1252")


def test_thousands_of_columns(tmp_path):
    row = ",".join(map(str, range(5000)))
    table = weald.read(written(tmp_path, "t.csv", ",".join(f"c{j}" for j in range(5000)) + f"\n{row}\n"))
    assert table.shape == (1, 5000)


def test_several_files_one_under_the_other(tmp_path):
    written(tmp_path, "part-2.csv", "b,a\n0.5,2\n")
    written(tmp_path, "part-1.csv", "a,b\n1,7\n")
    table = weald.read(str(tmp_path / "part-*.csv"))
    assert table.to_pydict() == {"a": [1, 2], "b": [7.0, 0.5]}
    written(tmp_path, "part-3.csv", "a,c\n1,7\n")
    with pytest.raises(DataError, match=r"part-3\.csv has no column 'b'"):
        weald.read(str(tmp_path / "part-*.csv"))


def test_standard_input(monkeypatch):
    class Given:
        buffer = io.BytesIO(gzip.compress(as_csv(TABLE)))

    monkeypatch.setattr(sys, "stdin", Given())
    assert weald.read("-").to_pydict() == TABLE.to_pydict()


def test_only_some_columns(tmp_path):
    path = written(tmp_path, "t.csv", as_csv(TABLE))
    assert weald.read(path, columns=["n", "x"]).column_names == ["n", "x"]
    with pytest.raises(DataError, match="has no column 'citty'; did you mean 'city'"):
        weald.read(path, columns=["citty"])


def test_without_a_line_of_names(tmp_path):
    path = written(tmp_path, "t.csv", "1,2\n3,4\n")
    with pytest.raises(DataError, match=r"numbers where the names of columns should stand.*--no-header"):
        weald.read(path)
    assert weald.read(path, header=False).to_pydict() == {"f0": [1, 3], "f1": [2, 4]}


def test_libsvm(tmp_path):
    path = written(tmp_path, "t.svm.gz", gzip.compress(b"1 1:0.5 3:2\n-1 2:1\n"))
    X, y = weald.read_libsvm(path)
    assert np.array_equal(X.toarray(), [[0.5, 0, 2], [0, 1, 0]])
    assert y.tolist() == [1, -1]
    with pytest.raises(DataError, match=r"weald\.read_libsvm reads it"):
        weald.read(path)
    with pytest.raises(DataError, match="holds CSV, not LIBSVM"):
        weald.read_libsvm(written(tmp_path, "t.csv", "a,b\n1,2\n"))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("ragged.csv", "a,b\n1,2\n3\n5,6\n", "line 3: 1 fields where the others have 2"),
        ("empty.csv", "", "is empty"),
        ("blank.csv", "\n \n", "is empty"),
        ("twice.csv", "a,a\n1,2\n", "several columns named 'a'"),
        ("false.parquet", "a,b\n1,2\n", "is no Parquet file: it begins with"),
        ("book.csv", b"PK\x03\x04rest", "a zip archive .an Excel workbook is one.*Export it as CSV"),
        (
            "cut.csv.gz",
            gzip.compress(b"a,b\n" + bytes(range(65, 90)) * 999, mtime=0)[:-40],
            "damaged|cannot be",
        ),
        ("bad.jsonl", '{"a": 1}\n{"a": \n', "cannot be read as JSON lines"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, name, content, message):
    with pytest.raises(DataError, match=message):
        weald.read(written(tmp_path, name, content))


def test_a_parquet_file_under_another_name(tmp_path):
    parquet.write_table(TABLE, tmp_path / "t.csv")
    with pytest.raises(DataError, match=r"named as CSV, but holds Parquet\. Rename it"):
        weald.read(tmp_path / "t.csv")
    (tmp_path / "t.csv").rename(tmp_path / "t")
    assert weald.read(tmp_path / "t").equals(TABLE)


def test_files_that_are_not_there(tmp_path):
    written(tmp_path, "flights.csv", as_csv(TABLE))
    with pytest.raises(DataError, match=r"There is no file .*flihgts\.csv\. Did you mean .*flights\.csv"):
        weald.read(tmp_path / "flihgts.csv")
    with pytest.raises(DataError, match=r"is a folder\. Name its files"):
        weald.read(tmp_path)
    with pytest.raises(DataError, match="its folder does not exist"):
        weald.read(tmp_path / "no" / "where.csv")
    with pytest.raises(DataError, match="No file is named like"):
        weald.read(str(tmp_path / "*.parquet"))


def test_what_is_no_path():
    with pytest.raises(DataError, match="list of paths is empty"):
        weald.read([])
    with pytest.raises(DataTypeError, match="got 3"):
        weald.read(3)
