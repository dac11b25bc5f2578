"""One mapping of columns in every container that can hold it."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

DAY = dt.datetime(2021, 3, 4, 5, 6, 7, 891234)


def as_lists(data):
    return data


def as_objects(data):
    return {name: np.array(values, dtype=object) for name, values in data.items()}


def as_pandas_objects(data):
    return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in data.items()})


def as_pandas(data):
    return pd.DataFrame(data)


def as_pandas_nullable(data):
    kinds = {"float": "Float64", "int": "Int64", "bool": "boolean", "text": "string"}
    return pd.DataFrame({n: pd.Series(v, dtype=kinds.get(n, object)) for n, v in data.items()})


def as_pandas_arrow(data):
    return as_arrow(data).to_pandas(types_mapper=pd.ArrowDtype)


def as_polars(data):
    return pl.DataFrame(data, strict=False)


def as_arrow(data):
    return pa.table(data)


def as_record_batch(data):
    return pa.RecordBatch.from_pydict(data)


def as_chunked(data):
    table = pa.table(data)
    return pa.concat_tables([table.slice(0, 1), table.slice(1, 0), table.slice(1)])


CONTAINERS = [
    as_objects,
    as_pandas_objects,
    as_pandas,
    as_pandas_nullable,
    as_pandas_arrow,
    as_polars,
    as_arrow,
    as_record_batch,
    as_chunked,
]
