"""The native Arrow reader: every type, slices, chunks, dictionaries, zero copy, failing streams."""

from __future__ import annotations

import datetime as dt
import gc
import itertools
from decimal import Decimal

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.tables import assert_same_table, values_of

from weald import engine
from weald.data.adapters import to_table
from weald.data.frames.from_arrow import arrow_column
from weald.data.table import LevelColumn, NumericColumn
from weald.errors import DataError, DataTypeError

NUMBERS = [
    pa.int8(),
    pa.uint8(),
    pa.int16(),
    pa.uint16(),
    pa.int32(),
    pa.uint32(),
    pa.int64(),
    pa.uint64(),
    pa.float32(),
    pa.float64(),
]
TEXTS = [pa.string(), pa.large_string(), pa.string_view()]


def chunked(array, *cuts):
    """The same values in several chunks, one of them empty."""
    edges = [0, *cuts, len(array)]
    pieces = [array.slice(a, b - a) for a, b in itertools.pairwise(edges)]
    return pa.chunked_array([*pieces, array.slice(0, 0)], type=array.type)


@pytest.mark.parametrize("kind", NUMBERS, ids=str)
def test_numbers_of_one_chunk_are_not_copied(kind):
    array = pa.array(range(100), kind)
    column = to_table(pa.table({"x": array})).columns[0]
    assert isinstance(column, NumericColumn)
    assert column.missing is None
    assert np.shares_memory(column.values, array.to_numpy())
    sliced = to_table(pa.table({"x": array}).slice(3, 7)).columns[0]
    assert np.shares_memory(sliced.values, array.to_numpy())
    assert sliced.values.tolist() == list(range(3, 10))


@pytest.mark.parametrize("kind", NUMBERS, ids=str)
def test_numbers_with_nulls_keep_their_memory_and_get_a_mask(kind):
    array = pa.array([1, None, 3, None, 5], kind)
    column = to_table(pa.table({"x": array})).columns[0]
    assert values_of(column) == [1.0, None, 3.0, None, 5.0]
    assert column.values.dtype == kind.to_pandas_dtype()
    for many in (chunked(array, 1, 2), chunked(array, 4)):
        assert values_of(arrow_column("x", many)) == [1.0, None, 3.0, None, 5.0]
    assert values_of(arrow_column("x", array.slice(2, 2))) == [3.0, None]
    assert arrow_column("x", array.slice(2, 1)).missing is None


def test_polars_numbers_are_not_copied():
    series = pl.Series("x", np.arange(1000.0))
    column = to_table(series.to_frame()).columns[0]
    assert np.shares_memory(column.values, series.to_numpy())


def test_memory_outlives_the_frame():
    def read():
        frame = pa.table({"x": pa.array(np.arange(100_000)), "s": pa.array([str(i) for i in range(100_000)])})
        return to_table(frame)

    table = read()
    gc.collect()
    assert int(table.columns[0].values.sum()) == 4999950000
    assert table.columns[1].levels[-1] == "99999"


def test_bools_in_bitmaps():
    values = [True, False, None, True, True, False, None, False, True, None, True]
    array = pa.array(values)
    expected = [None if v is None else float(v) for v in values]
    column = arrow_column("b", array)
    assert column.unit == "bool"
    assert column.values.dtype == np.bool_
    for start in range(len(values)):
        assert values_of(arrow_column("b", array.slice(start))) == expected[start:]
    assert values_of(arrow_column("b", chunked(array, 3, 9))) == expected


def test_half_floats():
    values = np.array([0.0, -0.0, 1.5, -2.25, 65504.0, 6e-8, 1e-5, np.nan, 0.333], dtype=np.float16)
    column = arrow_column("h", pa.array(values))
    assert column.values.dtype == np.float32
    np.testing.assert_array_equal(column.values, values.astype(np.float32))
    assert np.signbit(column.values[1])


@pytest.mark.parametrize(
    "kind", [pa.decimal32(9, 2), pa.decimal64(18, 2), pa.decimal128(38, 2), pa.decimal256(76, 2)]
)
def test_decimals(kind):
    values = [Decimal("1.25"), None, Decimal("-1234567.89"), Decimal("0.00")]
    assert values_of(arrow_column("d", pa.array(values, kind))) == [1.25, None, -1234567.89, 0.0]


@settings(deadline=None)
@given(st.decimals(allow_nan=False, allow_infinity=False, places=5, min_value=-(10**30), max_value=10**30))
def test_decimals_are_rounded_as_python_rounds_them(value):
    array = pa.array([value], pa.decimal128(38, 5))
    assert arrow_column("d", array).values[0] == float(value)
    wide = pa.array([value], pa.decimal256(76, 5))
    assert arrow_column("d", wide).values[0] == float(value)


def test_decimals_with_a_negative_scale():
    array = pa.array([Decimal("12300")], pa.decimal128(10, -2))
    assert arrow_column("d", array).values.tolist() == [12300.0]


@pytest.mark.parametrize(
    ("kind", "ticks", "unit", "expected"),
    [
        (pa.date32(), 19000, "datetime", 19000 * 86400e6),
        (pa.date64(), 86400000, "datetime", 86400e6),
        (pa.timestamp("s"), -5, "datetime", -5e6),
        (pa.timestamp("ms"), 7, "datetime", 7e3),
        (pa.timestamp("us", "UTC"), 7, "instant", 7.0),
        (pa.timestamp("ns"), -1, "datetime", -0.001),
        (pa.timestamp("ns"), 1614834367891234000, "datetime", 1614834367891234.0),
        (pa.duration("s"), 2, "duration", 2e6),
        (pa.duration("ns"), 1500, "duration", 1.5),
        (pa.time32("s"), 3600, "duration", 3600e6),
        (pa.time32("ms"), 5, "duration", 5e3),
        (pa.time64("us"), 5, "duration", 5.0),
        (pa.time64("ns"), 5000, "duration", 5.0),
    ],
    ids=str,
)
def test_times(kind, ticks, unit, expected):
    width = pa.int32() if kind.bit_width == 32 else pa.int64()
    column = arrow_column("t", pa.array([ticks, None], width).cast(kind))
    assert column.unit == unit
    assert values_of(column) == [pytest.approx(expected, abs=1e-9), None]
    assert column.values[0] == pytest.approx(expected, rel=1e-15)


def test_null_type_is_an_all_missing_number():
    column = arrow_column("n", pa.nulls(3))
    assert isinstance(column, NumericColumn)
    assert values_of(column) == [None, None, None]


@pytest.mark.parametrize("kind", TEXTS, ids=str)
def test_text(kind):
    values = ["a", "a rather long text of thirty", None, "", "é€𝄞", "a", "\0", "a\0", None]
    array = pa.array(values, kind)
    expected = [None if v is None else ("str", v) for v in values]
    assert values_of(arrow_column("s", array)) == expected
    for start in range(len(values)):
        assert values_of(arrow_column("s", array.slice(start, 3))) == expected[start : start + 3]
    many = arrow_column("s", chunked(array, 2, 5))
    assert values_of(many) == expected
    assert many.levels == ("a", "a rather long text of thirty", "", "é€𝄞", "\0", "a\0")


@settings(deadline=None)
@given(st.lists(st.none() | st.text(max_size=40), min_size=1, max_size=60), st.integers(0, 60))
def test_text_round_trip(values, cut):
    expected = [None if v is None else ("str", v) for v in values]
    for kind in TEXTS:
        array = pa.array(values, kind)
        column = arrow_column("s", chunked(array, min(cut, len(values))))
        assert values_of(column) == expected
        assert len(set(column.levels)) == len(column.levels)
    assert values_of(to_table(pl.DataFrame({"s": pl.Series(values, dtype=pl.String)})).columns[0]) == expected


def test_a_million_polars_strings():
    codes = np.random.default_rng(0).integers(0, 20_000, 1_000_000)
    levels = np.array([f"level {i}" for i in range(20_000)])
    column = to_table(pl.DataFrame({"s": levels[codes]})).columns[0]
    assert isinstance(column, LevelColumn)
    assert column.indices.dtype == np.int32
    np.testing.assert_array_equal(np.array(column.levels)[column.indices], levels[codes])


INDEX_TYPES = [
    pa.int8(),
    pa.uint8(),
    pa.int16(),
    pa.uint16(),
    pa.int32(),
    pa.uint32(),
    pa.int64(),
    pa.uint64(),
]


@pytest.mark.parametrize("index", INDEX_TYPES, ids=str)
def test_dictionaries_differ_from_chunk_to_chunk(index):
    def part(codes, words):
        return pa.DictionaryArray.from_arrays(pa.array(codes, index), pa.array(words))

    parts = [part([1, 0, None], ["b", "a"]), part([0, 1], ["c", "b"]), part([0], pa.nulls(1, pa.string()))]
    column = arrow_column("d", pa.chunked_array(parts))
    assert values_of(column) == [("str", "a"), ("str", "b"), None, ("str", "c"), ("str", "b"), None]
    assert len(set(column.levels)) == len(column.levels) == 3
    assert not column.ordered


@pytest.mark.parametrize("text", TEXTS, ids=str)
def test_ordered_dictionaries_keep_all_levels(text):
    array = pa.DictionaryArray.from_arrays(
        pa.array([2, 0, None], pa.int8()), pa.array(["lo", "mid", "hi"], text), ordered=True
    )
    column = arrow_column("d", array)
    assert column.ordered
    assert column.levels == ("lo", "mid", "hi")
    assert values_of(column) == [("str", "hi"), ("str", "lo"), None]


def test_dictionaries_of_numbers():
    parts = [
        pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), pa.array([30, 10])),
        pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array([10, None])),
    ]
    column = arrow_column("d", pa.chunked_array(parts))
    assert values_of(column) == [("int", 30), ("int", 10), None, ("int", 10), None]
    ordered = pa.DictionaryArray.from_arrays(pa.array([1, 0, 2]), pa.array([30, 10, None]), ordered=True)
    column = arrow_column("d", ordered)
    assert column.levels == (30, 10)
    assert column.ordered
    assert values_of(column) == [("int", 10), ("int", 30), None]
    dates = pa.array([dt.date(2020, 1, 1), None]).dictionary_encode()
    assert values_of(arrow_column("d", dates)) == [("datetime", dt.datetime(2020, 1, 1)), None]
    bools = pa.array([True, None, False]).dictionary_encode()
    assert values_of(arrow_column("d", bools)) == [("bool", True), None, ("bool", False)]


def test_polars_categories():
    frame = pl.DataFrame(
        {
            "c": pl.Series(["x", None, "y"], dtype=pl.Categorical),
            "e": pl.Series(["hi", None, "lo"], dtype=pl.Enum(["lo", "mid", "hi"])),
        }
    )
    c, e = to_table(frame).columns
    assert (c.kind, e.kind) == ("categorical", "ordinal")
    assert values_of(c) == [("str", "x"), None, ("str", "y")]
    assert e.levels == ("lo", "mid", "hi")
    assert values_of(e) == [("str", "hi"), None, ("str", "lo")]
    assert_same_table(to_table(pl.concat([frame[:1], frame[1:]], rechunk=False)), to_table(frame))


def test_polars_128_bit_integers():
    frame = pl.DataFrame({"i": pl.Series([1, None, -(2**100)], dtype=pl.Int128)})
    assert values_of(to_table(frame).columns[0]) == [1.0, None, float(-(2**100))]


@pytest.mark.parametrize(
    ("array", "word"),
    [
        (pa.array([[1]]), "list"),
        (pa.array([[1]], pa.list_(pa.int8(), 1)), "list"),
        (pa.array([b"x"]), "binary"),
        (pa.array([b"x"], pa.binary(1)), "binary"),
        (pa.array([{"a": 1}]), "struct"),
        (pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int8())), "map"),
        (pa.array([b"x"]).dictionary_encode(), "dictionary of binary"),
        (pa.RunEndEncodedArray.from_arrays([1], [5]), "run-end encoded"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_types_that_no_table_holds(array, word):
    with pytest.raises(DataTypeError, match=f"Column 'v' has the Arrow type {word},"):
        to_table(pa.table({"v": array}))


def test_any_object_with_a_stream_works():
    class Mine:
        def __init__(self, frame):
            self.frame = frame

        def __arrow_c_stream__(self, requested_schema=None):
            return self.frame.__arrow_c_stream__(requested_schema)

    frame = pa.table({"x": [1, 2], "s": ["a", None]})
    assert_same_table(to_table(Mine(frame)), to_table(frame))
    batch = pa.RecordBatch.from_pydict({"x": [1, 2], "s": ["a", None]})
    read = engine.read_arrow_array(*batch.__arrow_c_array__())
    assert (read.n_rows, read.is_table, len(read.columns)) == (2, True, 2)


def test_a_failing_stream_raises_its_reason():
    def batches():
        yield pa.RecordBatch.from_pydict({"x": [1]})
        raise RuntimeError("the disk is gone")

    reader = pa.RecordBatchReader.from_batches(pa.schema({"x": pa.int64()}), batches())
    with pytest.raises(DataError, match=r"The Arrow stream failed: (.|\n)*the disk is gone"):
        to_table(reader)


def test_a_stream_is_read_once():
    capsule = pa.table({"x": [1]}).__arrow_c_stream__()
    engine.read_arrow_stream(capsule)
    with pytest.raises(DataError, match="already read"):
        engine.read_arrow_stream(capsule)
    with pytest.raises(DataError, match="arrow_array_stream is expected"):
        engine.read_arrow_stream(object())
    with pytest.raises(DataError, match="arrow_schema is expected"):
        engine.read_arrow_array(capsule, capsule)
