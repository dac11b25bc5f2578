"""Answers about rows in files, block by block: no more rows in memory than a block has."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from weald.arrays import AnyEstimator, AnyTable
from weald.errors import DataError, DataTypeError, ParameterError, told

if TYPE_CHECKING:
    import pyarrow as pa

    from weald.data.scanning.scan import Scan

#: methods that answer row by row, so that the answers of blocks make up that of the whole
ROW_BY_ROW = frozenset(
    (
        "predict",
        "predict_proba",
        "predict_log_proba",
        "predict_interval",
        "predict_set",
        "predict_quantiles",
        "decision_function",
        "decision_path",
        "apply",
        "transform",
        "shap_values",
    )
)
ROWS = 1 << 16
_SUFFIXES = (".csv", ".tsv", ".parquet", ".pq", ".arrow", ".feather", ".ipc", ".svm", ".libsvm", ".svmlight")
#: Arrow's types for what columns of a model are, in files of text
_UNITS = {"number": "double", "bool": "bool", "datetime": "timestamp[us]"}


def scan_of(X: object) -> Scan | None:
    """The scan that X is or, as the path of files, stands for; None for any table."""
    module = sys.modules.get("weald.data.scanning.scan")
    if module is not None and isinstance(X, module.Scan):
        found: Scan = X
        return found
    if isinstance(X, Path) or (isinstance(X, str) and _names_files(X)):
        from weald.data.scanning.scan import scan

        return scan(X)
    return None


def _names_files(text: str) -> bool:
    return text.lower().endswith(_SUFFIXES) or (
        len(text) < 4096 and "\n" not in text and Path(text).is_file()
    )


def refuse_files(model: object, X: object) -> None:
    """Raise where rows to learn from are in files and the estimator learns from a table, naming the way."""
    if isinstance(X, np.ndarray) or getattr(model, "_trains_from_files", False) or not _in_files(X):
        return
    load, kind = f"weald.read({_named(X)})", getattr(model, "_estimator_type", None)
    if hasattr(model, "__sklearn_tags__"):
        kind = model.__sklearn_tags__().estimator_type
    other = {"classifier": "XGBClassifier", "regressor": "XGBRegressor"}.get(kind or "")
    way = "" if other is None else f", or fit {other}(tree_method='hist'), which learns from files"
    raise DataError(
        f"The rows are in files, and {type(model).__name__} learns from a table in memory alone. "
        f"Read them first, {load}{way}."
    )


def _in_files(X: object) -> bool:
    """Whether rows are given as a scan, a store, or the path of either."""
    for module, name in (("weald.data.scanning.scan", "Scan"), ("weald.rows.paged.store", "Store")):
        found = sys.modules.get(module)
        if found is not None and isinstance(X, getattr(found, name)):
            return True
    if isinstance(X, str):
        return _names_files(X) or (len(X) < 4096 and "\0" not in X and (Path(X) / "store.json").is_file())
    if isinstance(X, list | tuple):
        return len(X) > 0 and isinstance(X[0], Path)
    return isinstance(X, Path)


def _named(X: object) -> str:
    """How the files are given to `weald.read`, as far as that is known."""
    if isinstance(X, str | Path) and not (Path(X) / "store.json").is_file():
        return repr(str(X))
    paths = [str(part.path) for part in getattr(X, "parts", ()) if hasattr(part, "path")]
    return repr(paths[0]) if len(paths) == 1 else "paths"


def in_blocks(model: object, method: Callable[..., Any], scan: Scan, *args: Any, **kwargs: Any) -> Any:
    """What a method of a fitted model answers about all rows of a scan."""
    found = [method(model, rows, *args, **kwargs) for rows in model_blocks(model, scan)]
    if not found:
        raise DataError("The scan has no rows.")
    return _joined(found)


def model_blocks(model: object, scan: Scan, keep: Sequence[str] = ()) -> Iterator[Any]:
    """The columns of a model, block by block: Arrow tables, or sparse matrices of LIBSVM files.

    With `keep`, pairs of these and of a table of some columns of the scan.
    """
    if scan.sparse:
        width = int(getattr(model, "n_features_in_", 0))
        for piece in scan.sparse_rows(ROWS):
            X = piece.X
            if X.shape[1] < width:  # rows that lack the last columns
                X = type(X)((X.data, X.indices, X.indptr), (X.shape[0], width))
            yield (X, _kept_arrays(piece.columns, keep)) if keep else X
        return
    names = getattr(model, "feature_names_in_", None)
    wanted = None if names is None else [str(name) for name in names]
    for table in scan.typed_tables(_types(model), ROWS, wanted, keep):
        X = table if wanted is None else table.select(wanted)
        yield (X, table.select(list(keep))) if keep else X


def _kept_arrays(columns: Mapping[str, Any], keep: Sequence[str]) -> pa.Table:
    import pyarrow as pa

    return pa.table({name: pa.array(columns[name]) for name in keep})


def _types(model: object) -> dict[str, str] | None:
    """What the columns of the model are in files of text, text itself left out; None if it does not tell."""
    schema = getattr(model, "schema_", None)
    if schema is None or not schema.named:
        return None
    numeric = (each for each in schema.columns if each.kind == "numeric")
    return {str(each.name): _UNITS[each.unit] for each in numeric if each.unit in _UNITS}


def _joined(parts: list[Any]) -> Any:
    """Answers one under the other: arrays, sparse matrices, and lists or tuples of them."""
    first = parts[0]
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(_joined([part[i] for part in parts]) for i in range(len(first))))
    if isinstance(first, list | tuple):
        return type(first)(_joined([part[i] for part in parts]) for i in range(len(first)))
    if hasattr(first, "tocsr"):
        from scipy import sparse

        return sparse.vstack(parts, format="csr")
    if not isinstance(first, np.ndarray):
        raise DataTypeError(
            f"This answer, {type(first).__name__}, cannot be put together from blocks of a scan. Read the "
            "rows with weald.read and ask for some of them."
        )
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def write_answers(
    model: AnyEstimator, X: AnyTable, path: str | Path, *, probabilities: bool, keep: Iterable[str]
) -> int:
    """Predictions of all rows into a file; returns how many."""
    import pyarrow as pa

    from weald.data.scanning.answers import write_tables

    scan, kept = scan_of(X), list(keep)
    if scan is None:
        raise DataTypeError(
            f"predict_to takes weald.scan(…) or the path of files; got {type(X).__name__}. Use predict for a "
            "table."
        )
    if not isinstance(path, str | os.PathLike):
        raise DataTypeError(f"`path` of predict_to must be the name of a file; got {told(path)}.")
    if probabilities and not hasattr(model, "predict_proba"):
        raise ParameterError(f"{type(model).__name__} gives no probabilities. Leave probabilities=True out.")
    for name in kept:
        scan.need(name)

    def answers() -> Iterator[pa.Table]:
        for block in model_blocks(model, scan, kept):
            rows, copied = block if kept else (block, None)
            columns = {} if copied is None else {name: copied[name] for name in copied.column_names}
            columns |= _columns("prediction", model.predict(rows))
            if probabilities:
                shares = model.predict_proba(rows)
                columns |= {
                    f"probability_{label}": pa.array(shares[:, k]) for k, label in enumerate(model.classes_)
                }
            yield pa.table(columns)

    return write_tables(answers(), Path(path))


def _columns(name: str, values: object) -> dict[str, Any]:
    """An array of one or two dimensions as columns."""
    import pyarrow as pa

    array = np.asarray(values)
    if array.ndim == 1:
        return {name: pa.array(array.tolist() if array.dtype.kind in "OU" else array)}
    return {f"{name}_{k}": pa.array(array[:, k].tolist()) for k in range(array.shape[1])}
