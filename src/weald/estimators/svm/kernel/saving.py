"""What a model file keeps of a kernel machine: the support rows, never the others; and how it comes back.

Everything from a file is held against everything else before a model is made of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from weald.arrays import CategoricalFeatures, Floats
from weald.data.adapters import categorical_positions
from weald.data.matrix.matrix import MatrixPlan
from weald.data.schema import Schema
from weald.errors import ModelFileError, ParameterError
from weald.estimators.svm.kernel.model import Facts, KernelModel
from weald.estimators.svm.kernel.options import MachineOptions
from weald.estimators.svm.kernel.reading import GivenReading, Reading, TableReading, TextReading
from weald.io import budget
from weald.io.arrays import Shelf
from weald.io.matrices import decode_matrix, encode_matrix
from weald.io.saved_state import SavedMachine
from weald.svm.calibration import Calibrator, Sigmoid, Steps
from weald.svm.kernel_sources import GivenSupport, NativeSupport, Support
from weald.svm.kernels.functions import Kernel, Linear, Spectrum
from weald.svm.kernels.spectrum import SpectrumPlan

if TYPE_CHECKING:
    from weald.estimators.svm.kernel.base import BaseKernelMachine

_FACTS = {"calibration", "kernel", "layout", "one_against_rest", "plan", "reason", "shape", "solver"}
_SOLVERS = ("exact", "landmarks", "linear")
_LONGEST_REASON = 2000
_PER_CURVE = 500  # bytes of a curve of probabilities as an object


class SavedKernelMachine:
    """The parts of a fitted `SVC` or `SVR`."""

    def _saved_state(self) -> SavedMachine:
        own = cast("BaseKernelMachine", self)
        model: KernelModel = own._model_
        kernel = model.kernel
        if kernel is not None and not isinstance(kernel, Kernel):
            name = getattr(kernel, "__name__", type(kernel).__name__)
            raise ModelFileError(
                f"The kernel {name} of this {type(own).__name__} is a function of your own, which a model "
                "file cannot keep. Use pickle, or a kernel of weald.kernels."
            )
        arrays: dict[str, NDArray[Any]] = {
            "coefficients": model.coefficients,
            "intercept": model.intercept,
            "n_support": model.n_support,
            "support_rows": model.support_rows,
            **_encode_facts(model.facts),
        }
        if model.weights is not None:
            arrays["weights"] = model.weights
        plan = None
        if isinstance(model.reading, TableReading | TextReading):
            plan, columns = model.reading.plan.state()
            arrays |= {f"plan.{name}": values for name, values in columns.items()}
        if isinstance(model.support, NativeSupport):
            arrays |= encode_matrix(model.support.matrix, "support")
        calibration, curves = _encode_calibrators(model.calibrators)
        classes = getattr(own, "classes_", None)
        if classes is not None:
            arrays["class_weight"] = own.class_weight_
        return SavedMachine(
            params=own.get_params(deep=False),
            schema=model.reading.schema,
            classes=None if classes is None else (classes,),
            facts={
                "calibration": calibration,
                "kernel": None if kernel is None else kernel.to_json(),
                "layout": model.layout,
                "one_against_rest": model.one_against_rest,
                "plan": plan,
                "reason": model.reason,
                "shape": list(model.shape_fit),
                "solver": model.solver,
            },
            arrays=arrays | curves,
        )

    @classmethod
    def _from_saved_state(cls, state: SavedMachine) -> Self:
        estimator = cast("type[BaseKernelMachine]", cls)(**state.params)
        options = estimator._checked_options()
        labels = labels_of(state, classifier=is_classifier(estimator))
        n_classes = 0 if labels is None else len(labels)
        shelf, facts = Shelf(state.arrays), state.facts
        _check_facts(facts, newer=state.newer)
        assert state.schema is not None
        shape = _read_shape(facts["shape"], len(state.schema.columns))
        kernel = None if facts["kernel"] is None else Kernel.from_json(facts["kernel"])
        reading, support = _read_rows(state, shelf, kernel, options)
        n_support = shelf.integers("n_support", max(n_classes, 1), 0, shape[0]).astype(np.int32)
        rows = shelf.integers("support_rows", int(n_support.sum()), 0, shape[0] - 1).astype(np.int32)
        n_machines, n_lines = _counts(facts, n_classes)
        model = KernelModel(
            reading=reading,
            kernel=kernel,
            support=GivenSupport(rows) if support is None else support,
            support_rows=rows,
            n_support=n_support,
            coefficients=np.ascontiguousarray(shelf.floats("coefficients", (n_lines, len(rows)))),
            intercept=shelf.floats("intercept", (n_machines,)),
            layout=facts["layout"],
            one_against_rest=facts["one_against_rest"],
            facts=_decode_facts(shelf, n_machines),
            shape_fit=shape,
            solver=facts["solver"],
            reason=facts["reason"],
            calibrators=_decode_calibrators(facts["calibration"], shelf, n_machines, n_classes),
            weights=_read_weights(shelf, kernel, support, n_machines),
        )
        if isinstance(support, NativeSupport) and support.matrix.n_rows != len(rows):
            raise ParameterError("The support rows of a machine are not as many as its coefficients.")
        class_weight = None if labels is None else shelf.floats("class_weight", (n_classes,), low=0)
        if shelf.left() and not state.newer:
            raise ModelFileError(f"The model file holds an array nobody asked for: {shelf.left()[0]!r:.80}.")
        estimator._set_fitted(model, labels, class_weight, None, None)
        return cast("Self", estimator)


# --------------------------------------------------------------------------- parts


def labels_of(state: SavedMachine, *, classifier: bool) -> NDArray[Any] | None:
    """The labels of a file, which may hold anything; None for numbers."""
    if state.schema is None:
        raise ParameterError("A machine has no columns.")
    if not classifier:
        if state.classes is not None:
            raise ParameterError("A machine of numbers has labels.")
        return None
    if state.classes is None or len(state.classes) != 1 or len(state.classes[0]) < 2:
        raise ParameterError("A machine that classifies has one output of two labels or more.")
    return state.classes[0]


def _check_facts(facts: dict[str, Any], *, newer: bool) -> None:
    if not set(facts) >= _FACTS or (set(facts) != _FACTS and not newer):
        raise ParameterError("The facts of a machine are not complete, or there are others.")
    reason = facts["reason"]
    if facts["solver"] not in _SOLVERS or not isinstance(reason, str) or len(reason) > _LONGEST_REASON:
        raise ParameterError("A machine was solved in an unknown manner.")
    if facts["layout"] not in ("lines", "pairs") or type(facts["one_against_rest"]) is not bool:
        raise ParameterError("The coefficients of a machine are laid out in an unknown manner.")


def _read_shape(shape: object, n_columns: int) -> tuple[int, int]:
    fits = isinstance(shape, list) and len(shape) == 2 and all(type(n) is int for n in shape)
    if not (isinstance(shape, list) and fits and 0 < shape[0] < 2**31 and shape[1] == n_columns):
        raise ParameterError("The training table of a machine has an impossible size.")
    return shape[0], shape[1]


def _counts(facts: dict[str, Any], n_classes: int) -> tuple[int, int]:
    """How many machines there are, and lines of coefficients."""
    rest, pairs = facts["one_against_rest"], facts["layout"] == "pairs"
    if n_classes <= 2:
        if rest or pairs:
            raise ParameterError("A single machine is laid out as several.")
        return 1, 1
    n_pairs = n_classes * (n_classes - 1) // 2
    if pairs:
        if rest:
            raise ParameterError("A machine is one of pairs of classes and one against the rest.")
        return n_pairs, n_classes - 1
    return (n_classes, n_classes) if rest else (n_pairs, n_pairs)


def _read_rows(
    state: SavedMachine, shelf: Shelf, kernel: Kernel | None, options: MachineOptions
) -> tuple[Reading, Support | None]:
    """How new rows are read, and what they are compared with; None for rows of a given kernel matrix."""
    schema = state.schema
    assert schema is not None
    if kernel is None:
        if state.facts["plan"] is not None or not schema.all_numeric:
            raise ParameterError("A machine of a precomputed kernel has columns of its own.")
        if state.facts["shape"][0] != state.facts["shape"][1]:
            raise ParameterError("The precomputed kernel of a machine is not square.")
        return GivenReading(schema), None
    names = {name: name.removeprefix("plan.") for name in shelf.left() if name.startswith("plan.")}
    columns = {short: shelf.take(name, (None,)) for name, short in names.items()}
    if isinstance(kernel, Spectrum):
        texts = SpectrumPlan.from_state(schema, state.facts["plan"], columns)
        if texts.kernel != kernel:
            raise ParameterError("A machine has a vocabulary of another kernel.")
        rows = decode_matrix(shelf, "support", texts.n_columns, is_sparse=True)
        return TextReading(texts), NativeSupport(kernel.program(), rows)
    check_declared(schema, options.categorical_features)
    plan = MatrixPlan.from_state(schema, state.facts["plan"], columns, newer=state.newer)
    matrix = decode_matrix(shelf, "support", plan.n_columns, is_sparse=plan.is_sparse)
    reading = TableReading.of(plan, options.categorical_features, kernel)
    reading.check(matrix)
    return reading, NativeSupport(kernel.program(), matrix)


def _read_weights(
    shelf: Shelf, kernel: Kernel | None, support: Support | None, n_machines: int
) -> Floats | None:
    """The weights of columns by which a machine predicts, if it has any."""
    if "weights" not in shelf:
        return None
    if not isinstance(kernel, Linear | Spectrum) or not isinstance(support, NativeSupport):
        raise ParameterError("A machine has weights of columns, and its kernel is not linear.")
    return np.ascontiguousarray(shelf.floats("weights", (n_machines, support.matrix.n_columns)))


def check_declared(schema: Schema, declared: CategoricalFeatures) -> None:
    """Refuse columns that are not what `categorical_features` says."""
    for j in categorical_positions(schema.names, declared):
        column = schema.columns[j]
        if column.kind != "categorical":
            raise ParameterError(f"`categorical_features` names {column.name!r}, which is {column.kind}.")


def _encode_facts(facts: Facts) -> dict[str, NDArray[Any]]:
    names = ("squared_norm", "primal", "dual", "gap", "n_iter")
    found = {f"facts.{name}": getattr(facts, name) for name in names}
    return found | {"facts.converged": facts.converged.astype(np.uint8)}


def _decode_facts(shelf: Shelf, n_machines: int) -> Facts:
    return Facts(
        squared_norm=shelf.floats("facts.squared_norm", (n_machines,), low=0),
        primal=shelf.floats("facts.primal", (n_machines,), finite=False),  # a huge C carries them to infinity
        dual=shelf.floats("facts.dual", (n_machines,), finite=False),
        gap=shelf.floats("facts.gap", (n_machines,), low=0, finite=False),
        n_iter=shelf.integers("facts.n_iter", n_machines, 0, 2**62),
        converged=shelf.integers("facts.converged", n_machines, 0, 1).astype(np.bool_),
    )


def _encode_calibrators(
    curves: tuple[Calibrator, ...] | None,
) -> tuple[str | None, dict[str, NDArray[Any]]]:
    if curves is None:
        return None, {}
    if isinstance(curves[0], Sigmoid):
        return "sigmoid", {"sigmoid": np.array([[each.a, each.b] for each in curves])}  # type: ignore[union-attr]
    steps: Any = curves
    return "isotonic", {
        "steps.size": np.array([len(each.values) for each in steps]),
        "steps.values": np.concatenate([each.values for each in steps]),
        "steps.shares": np.concatenate([each.shares for each in steps]),
    }


def _decode_calibrators(
    kind: object, shelf: Shelf, n_machines: int, n_classes: int
) -> tuple[Calibrator, ...] | None:
    if kind is None:
        return None
    if not n_classes or kind not in ("sigmoid", "isotonic"):
        raise ParameterError("The probabilities of a machine are of an unknown kind.")
    if kind == "sigmoid":
        pairs = shelf.floats("sigmoid", (n_machines, 2))
        if (pairs[:, 0] > 0).any():
            raise ParameterError("The probability of a class falls where its machine's value rises.")
        budget.spend(_PER_CURVE * n_machines, "curves of probabilities")
        return tuple(Sigmoid(a, b) for a, b in pairs.tolist())
    size = shelf.integers("steps.size", n_machines, 1, 2**40)
    total = int(size.sum())
    budget.spend(_PER_CURVE * n_machines, "curves of probabilities")
    values, shares = (shelf.floats(f"steps.{name}", (total,)) for name in ("values", "shares"))
    if not ((shares > 0) & (shares < 1)).all():
        raise ParameterError("A probability of a machine is not between 0 and 1.")
    ends = np.cumsum(size)[:-1]
    parts = list(zip(np.split(values, ends), np.split(shares, ends), strict=True))
    if any((np.diff(x) <= 0).any() or (np.diff(p) < 0).any() for x, p in parts):
        raise ParameterError("The probability of a class falls where its machine's value rises.")
    return tuple(Steps(x, p) for x, p in parts)
