"""LIBSVM files by pieces: rows stay sparse."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald.data.files import kinds
from weald.data.scanning.parts import FileState, Widened, unreadable
from weald.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa
    from scipy import sparse

_BYTES = 8 << 20


class SparseRows(NamedTuple):
    """Some rows: columns counted from 0, targets and queries."""

    X: sparse.csr_matrix
    columns: dict[str, NDArray[Any]]


class LibsvmPart:
    """A file of lines `target [qid:q] column:value …`; columns are counted from 1 unless one is 0."""

    def __init__(self, path: Path, kind: kinds.FileKind) -> None:
        self.path, self.name, self._kind = path, str(path), kind
        self.n_rows: int | None = None
        self.from_zero = False
        self._queries: bool | None = None

    @property
    def schema(self) -> pa.Schema:
        """Its kept columns; the others have no names."""
        import pyarrow as pa

        return pa.schema([("target", pa.float64()), *([("qid", pa.int64())] if self.has_queries else [])])

    @property
    def has_queries(self) -> bool:
        """Whether the first line has one."""
        if self._queries is None:
            with self._content() as stream:
                head = stream.read(1 << 16)
            lines = [line for line in head.splitlines() if line.strip() and not line.startswith(b"#")]
            self._queries = bool(lines) and b"qid:" in lines[0]
        return self._queries

    def _content(self) -> Any:
        if self._kind.compression is None:
            try:
                return open(self.path, "rb")
            except OSError as error:
                raise unreadable(self.path, error) from error
        with kinds.opened(self.path, self._kind.compression) as stream:
            return io.BytesIO(stream.read())

    def pieces(self) -> Iterator[SparseRows]:
        """Rows of some megabytes of the file at a time, as wide as their largest column asks for."""
        from sklearn.datasets import load_svmlight_file

        n, known = 0, self.n_rows is not None
        with self._content() as stream:
            for lines in _whole_lines(stream):
                try:
                    X, y, *rest = load_svmlight_file(
                        io.BytesIO(lines), zero_based=True, query_id=self.has_queries
                    )
                except ValueError as error:
                    raise DataError(
                        f"{self.path}, after its first {n:,} rows, is not in LIBSVM's format, `target "
                        f"column:value …`: {error}"
                    ) from error
                X = X.tocsr()
                n += X.shape[0]
                zero = bool(len(X.indices)) and int(X.indices.min()) == 0
                if zero and not self.from_zero:
                    if known:
                        raise DataError(f"{self.path} has changed since the scan began. Scan it again.")
                    self.from_zero = True
                    raise Widened
                if not self.from_zero:
                    X = X[:, 1:]
                columns = {"target": np.asarray(y, np.float64)}
                if rest:
                    columns["qid"] = np.asarray(rest[0])
                yield SparseRows(X, columns)
        self.n_rows = n

    def tables(self, columns: list[str] | None) -> Iterator[pa.Table]:
        """Targets and queries alone."""
        import pyarrow as pa

        for piece in self.pieces():
            table = pa.table({name: pa.array(values) for name, values in piece.columns.items()})
            yield table if columns is None else table.select(columns)

    def state(self) -> list[Any]:
        """Size and time."""
        found = FileState.of(self.path)
        return [found.path, found.size, found.time]


def _whole_lines(stream: Any) -> Iterator[bytes]:
    rest = b""
    while True:
        block = stream.read(_BYTES)
        if not block:
            if rest.strip():
                yield rest
            return
        cut = block.rfind(b"\n") + 1
        if cut:
            yield rest + block[:cut]
            rest = block[cut:]
        else:
            rest += block
