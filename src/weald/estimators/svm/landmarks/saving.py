"""What a model file keeps of `Landmarks`: the landmarks, never the other rows; and how it comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from weald.data.adapters import categorical_positions
from weald.data.matrix.matrix import Matrix, MatrixPlan
from weald.data.schema import Schema
from weald.errors import ModelFileError, ParameterError
from weald.estimators.svm.kernel.reading import TableReading, TextReading
from weald.estimators.svm.landmarks.options import CHOICES, LandmarksOptions
from weald.io.arrays import Shelf
from weald.io.matrices import decode_matrix, encode_matrix
from weald.io.saved_state import SavedMachine
from weald.svm.kernels.functions import Kernel, Linear
from weald.svm.kernels.spectrum import SpectrumPlan
from weald.svm.landmarks import LandmarkMap

if TYPE_CHECKING:
    from weald.estimators.svm.landmarks.landmarks import Landmarks

_FACTS = {"chosen", "kernel", "nystroem", "plan", "text"}
_PLAN = "plan."


class SavedLandmarks:
    """The parts of fitted `Landmarks`."""

    def _saved_state(self) -> SavedMachine:
        own = cast("Landmarks", self)
        found: LandmarkMap = own._map_
        reading = own._reading_
        if not isinstance(found.kernel, Kernel):
            name = getattr(found.kernel, "__name__", type(found.kernel).__name__)
            raise ModelFileError(
                f"The kernel {name} of these Landmarks is a function of your own, which a model file cannot "
                "keep. Use pickle, or a kernel of weald.kernels."
            )
        plan, columns = reading.plan.state()
        arrays = {_PLAN + name: values for name, values in columns.items()}
        arrays |= encode_matrix(found.landmarks, "landmarks")
        if found.projection is not None:
            arrays["projection"] = found.projection
        if own.component_indices_ is not None:
            arrays["rows"] = own.component_indices_
        params = own.get_params(deep=False)
        if not isinstance(params["landmarks"], str):
            params["landmarks"] = CHOICES[0]  # the rows are kept as what was fitted
        return SavedMachine(
            params=params,
            schema=reading.schema,
            facts={
                "chosen": own.component_indices_ is not None,
                "kernel": found.kernel.to_json(),
                "nystroem": found.projection is not None,
                "plan": plan,
                "text": isinstance(reading, TextReading),
            },
            arrays=arrays,
        )

    @classmethod
    def _from_saved_state(cls, state: SavedMachine) -> Self:
        estimator = cast("type[Landmarks]", cls)(**state.params)
        options = estimator._checked_options()
        shelf, facts = Shelf(state.arrays), state.facts
        if state.schema is None or state.classes is not None:
            raise ParameterError("Landmarks have no columns, or have labels.")
        if not set(facts) >= _FACTS or (set(facts) != _FACTS and not state.newer):
            raise ParameterError("The facts of landmarks are not complete, or there are others.")
        if any(type(facts[name]) is not bool for name in ("chosen", "nystroem", "text")):
            raise ParameterError("The facts of landmarks have the wrong form.")
        kernel = Kernel.from_json(facts["kernel"])
        reading, landmarks = _read_rows(state, state.schema, shelf, kernel, options)
        projection = None
        if facts["nystroem"]:
            projection = np.ascontiguousarray(shelf.floats("projection", (landmarks.n_rows, None)))
        rows = shelf.integers("rows", landmarks.n_rows, 0, 2**62) if facts["chosen"] else None
        if shelf.left() and not state.newer:
            raise ModelFileError(f"The model file holds an array nobody asked for: {shelf.left()[0]!r:.80}.")
        estimator._set_fitted(reading, LandmarkMap(kernel, landmarks, projection), rows)
        return cast("Self", estimator)


def _read_rows(
    state: SavedMachine, schema: Schema, shelf: Shelf, kernel: Kernel, options: LandmarksOptions
) -> tuple[TableReading | TextReading, Matrix]:
    """How new rows are read, and the landmarks they are compared with."""
    names = [name for name in shelf.left() if name.startswith(_PLAN)]
    columns: dict[str, NDArray[Any]] = {name.removeprefix(_PLAN): shelf.take(name, (None,)) for name in names}
    if state.facts["text"]:
        if not isinstance(kernel, Linear):
            raise ParameterError("Landmarks compare texts by a kernel of numbers.")
        texts = SpectrumPlan.from_state(schema, state.facts["plan"], columns)
        return TextReading(texts), decode_matrix(shelf, "landmarks", texts.n_columns, is_sparse=True)
    kernel.program()  # raises unless gamma is a number
    for j in categorical_positions(schema.names, options.categorical_features):
        column = schema.columns[j]
        if column.kind != "categorical":
            raise ParameterError(f"`categorical_features` names {column.name!r}, which is {column.kind}.")
    plan = MatrixPlan.from_state(schema, state.facts["plan"], columns, newer=state.newer)
    landmarks = decode_matrix(shelf, "landmarks", plan.n_columns, is_sparse=plan.is_sparse)
    reading = TableReading.of(plan, options.categorical_features, kernel)
    reading.check(landmarks)
    return reading, landmarks
