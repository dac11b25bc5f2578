"""Text files of numbers under the addresses that xgboost takes: "train.txt?format=libsvm", "train.csv"."""

from __future__ import annotations

import os
from dataclasses import dataclass
from urllib.parse import parse_qsl

import numpy as np
from numpy.typing import NDArray

from weald.errors import DataError, ParameterError

_OPTIONS = ("format", "label_column", "weight_column", "delimiter")


@dataclass(frozen=True, slots=True)
class TextTable:
    """What a file holds."""

    table: object  # a CSR matrix, or an array
    label: NDArray[np.float64] | None
    weight: NDArray[np.float64] | None = None
    qid: NDArray[np.int64] | None = None


def read_text_table(address: str) -> TextTable:
    """Read a file of numbers.

    Parameters
    ----------
    address : str
        A path, and after a question mark how to read it: `format=libsvm` or `format=csv`, for CSV also
        `label_column`, `weight_column` (positions) and `delimiter`. Without a format the name decides: CSV if
        it ends in .csv, else LIBSVM.

    Returns
    -------
    TextTable
        Of LIBSVM a sparse matrix: what a line does not name is 0.
    """
    path, _, query = address.partition("?")
    options = dict(parse_qsl(query.partition("#")[0], keep_blank_values=True))
    strange = [name for name in options if name not in _OPTIONS]
    if strange:
        raise ParameterError(
            f"The address {address!r} asks for {strange[0]!r}. It may ask for {', '.join(_OPTIONS)}."
        )
    kind = options.get("format", "csv" if path.endswith(".csv") else "libsvm")
    if not os.path.exists(path):
        raise FileNotFoundError(f"There is no file {path!r}.")
    if kind == "libsvm":
        return _libsvm(path)
    if kind == "csv":
        return _csv(path, options)
    raise ParameterError(f"The address {address!r} asks for format={kind!r}. Use 'libsvm' or 'csv'.")


def _libsvm(path: str) -> TextTable:
    from sklearn.datasets import load_svmlight_file

    try:
        matrix, label, qid = load_svmlight_file(path, zero_based=True, query_id=True)
    except (ValueError, UnicodeDecodeError) as error:
        raise DataError(
            f"{path}: this is no file in LIBSVM form, 'label column:value column:value …': {error}. For a "
            "CSV file add '?format=csv' to its name."
        ) from None
    asked = qid if len(qid) == len(label) and qid.any() else None
    return TextTable(matrix, label, qid=asked)


def _csv(path: str, options: dict[str, str]) -> TextTable:
    try:
        values = np.loadtxt(path, delimiter=options.get("delimiter", ","), ndmin=2, converters=_number)
    except (ValueError, UnicodeDecodeError) as error:
        raise DataError(
            f"{path}: a CSV file is read as numbers without a header line: {error}. Read others with pandas "
            "or polars and give the frame."
        ) from None
    places = {name: _place(options[name], name, values.shape[1]) for name in _OPTIONS[1:3] if name in options}
    parts = {name: np.ascontiguousarray(values[:, place]) for name, place in places.items()}
    table = np.delete(values, list(places.values()), axis=1)
    return TextTable(table, parts.get("label_column"), parts.get("weight_column"))


def _number(text: str) -> float:
    """A field as a number; nothing in it is missing."""
    return float(text) if text.strip() else float("nan")


def _place(text: str, name: str, n_columns: int) -> int:
    if not text.isdecimal() or int(text) >= n_columns:
        raise ParameterError(
            f"{name}={text!r} is no column: the file has {n_columns}, numbered from 0 to {n_columns - 1}."
        )
    return int(text)
