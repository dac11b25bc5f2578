"""`explain`: what each column adds to the predictions of any model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from weald.arrays import AnyEstimator, Estimator, Floats, RandomState, TableLike, WeightLike
from weald.data.adapters import to_table
from weald.data.frames.user_rows import count_rows
from weald.data.matrix.columns import ColumnLayout
from weald.data.table import LevelColumn, NumericColumn, Table
from weald.errors import DataError, ParameterError, WealdError
from weald.estimators.logistic.model import LogisticModel
from weald.estimators.shared.growth import drawn_seed
from weald.estimators.shared.tree_shap import TreeShap
from weald.estimators.svm.kernel.reading import TableReading
from weald.estimators.svm.linear.model import LinearModel
from weald.estimators.xgboost.native.booster import Booster
from weald.estimators.xgboost.native.matrix import DMatrix
from weald.insight.explaining.explanation import Explanation
from weald.insight.explaining.hybrids import Hybrids
from weald.inspection.shap.linear import linear_parts, linear_values
from weald.inspection.shap.model import TreeModel
from weald.inspection.shap.permutations import MOST_EXACT, exact_row, sampled_row
from weald.inspection.shap.trees import no_rows, shares_of_rows, zeros
from weald.model.forest import COMBINATION
from weald.model.read import read_aligned
from weald.progress import Progress

#: what is explained of a model that is no sum of trees and no weighted sum, by what it has
_OUTPUTS = ("decision_function", "predict_proba")


def explain(
    model: Estimator | Booster | Callable[..., object],
    X: TableLike | DMatrix,
    *,
    background: TableLike | None = None,
    background_weight: WeightLike | None = None,
    interactions: bool = False,
    approximate: bool = False,
    output: str | None = None,
    n_permutations: int | None = None,
    random_state: RandomState = None,
    verbose: bool | int = False,
) -> Explanation:
    """What each column adds to what a model says of each row: SHAP values.

    The values of a row and its base value add up to what is explained. Of models made of weald's trees that
    is the raw score (margins of boosting, shares or means of trees and forests, votes of AdaBoost), and of
    weald's linear machines the decision function: both are exact. Any other model is explained as a function,
    with the columns of `background` rows in the place of those that are not known: exactly from all sets of
    columns where they are few, else from orders of the columns drawn by chance, with standard errors.

    Parameters
    ----------
    model : estimator, Booster or callable
        A fitted model, or a function of tables that gives one number per row, or several.
    X : table
        The rows to explain.
    background : table, default=None
        Rows that stand for what is not known. Trees can do without: then their training rows do, by the
        weight that came to each node (path-dependent values). Of functions, some 100 rows are usual: every
        set of columns is tried with each.
    background_weight : array-like of shape (n_background_rows,), default=None
        What each row of the background counts.
    interactions : bool, default=False
        Whether to tell pairs of columns apart; of functions for 12 columns at most.
    approximate : bool, default=False
        Of trees: Saabas's values, along each row's path; quicker, and not as fair to columns.
    output : str, default=None
        A method of the model to explain as a function, such as "predict_proba". None for what was said above;
        of other models the decision function, probabilities, or the prediction, whichever there is first.
    n_permutations : int, default=None
        Pairs of orders of the columns, each with its reverse, for a function of so many columns that not all
        sets are tried. None: all sets up to 12 columns, else 20 pairs.
    random_state : int or RandomState, default=None
        What orders are drawn from.
    verbose : bool or int, default=False
        Whether to show progress on stderr.

    Returns
    -------
    Explanation
        `values`, `base_values`, `data`, `feature_names`, as shap's.

    Examples
    --------
    >>> from weald import DecisionTreeRegressor, explain
    >>> model = DecisionTreeRegressor(max_depth=1).fit([[0.0, 5.0], [1.0, 5.0]], [10.0, 20.0])
    >>> told = explain(model, [[1.0, 5.0]])
    >>> told.values.tolist(), told.base_values.tolist()
    ([[5.0, 0.0]], [15.0])
    """
    fitted: AnyEstimator = model._fitted() if isinstance(model, Booster) else model
    rows: Any = X._table if isinstance(X, DMatrix) else X
    trees = _trees_of(fitted, must=approximate) if output is None else None
    if approximate and trees is None:
        raise ParameterError("approximate=True is for models made of weald's trees. Leave it out.")
    if trees is not None:
        told = trees.explain(
            rows,
            background=background,
            background_weight=background_weight,
            interactions=interactions,
            approximate=approximate,
            verbose=verbose,
        )
        return _explanation(
            told.values, told.base, told.table, trees.schema.names, trees.output_names, interactions
        )
    if background is not None and count_rows(background) == 0:
        raise no_rows()
    if background is None:
        raise DataError(
            f"{_called(fitted)} is explained against a background: rows that stand for the columns that are "
            "not known. Give background=, for example 100 rows of the training table."
        )
    if output is None and isinstance(getattr(fitted, "_model_", None), LinearModel | LogisticModel):
        return _explain_lines(fitted, rows, background, background_weight, interactions)
    return _explain_function(
        fitted,
        rows,
        background,
        background_weight,
        interactions=interactions,
        output=output,
        n_pairs=n_permutations,
        seed=drawn_seed(random_state),
        verbose=verbose,
    )


def _called(model: AnyEstimator) -> str:
    return f"A {type(model).__name__}" if hasattr(model, "predict") else "A function"


def _trees_of(model: AnyEstimator, *, must: bool) -> TreeModel | None:
    """The trees of a model; None if it is not made of such, or of such that are no sum."""
    if not isinstance(model, TreeShap):
        return None
    try:
        trees = model._shap_model()
        return None if (trees.forest.kind == COMBINATION).any() and not must else trees
    except WealdError:
        if must:
            raise
        return None


def _explain_lines(
    model: AnyEstimator, X: TableLike, background: TableLike, weight: WeightLike | None, interactions: bool
) -> Explanation:
    """Of weighted sums: exact."""
    check_is_fitted(model)
    lines, owner = model._model_, type(model).__name__
    reading: TableReading = lines.reading
    table = read_aligned(X, reading.schema, declared=reading.declared, owner=owner)
    matrix, against = reading.matrix(table), reading.read(background, owner)
    shares = shares_of_rows(weight, against.n_rows)
    starts = ColumnLayout.of(reading.schema).starts
    parts = linear_parts(matrix, lines.coef, starts)
    values, base = linear_values(parts, linear_parts(against, lines.coef, starts), shares)
    if interactions:  # a sum has none: all stays on the diagonal
        whole = zeros(*values.shape, interactions=True)
        place = np.arange(values.shape[2])
        whole[:, :, place, place] = values
        values = whole
    bases = np.tile(base + lines.intercept, (len(values), 1))
    names = _labels(model, values.shape[1])
    return _explanation(values, bases, table, reading.schema.names, names, interactions)


def _explain_function(
    model: AnyEstimator,
    X: TableLike,
    background: TableLike,
    weight: WeightLike | None,
    *,
    interactions: bool,
    output: str | None,
    n_pairs: int | None,
    seed: int,
    verbose: bool | int,
) -> Explanation:
    """Of anything: from its values with some columns known."""
    if n_pairs is not None and n_pairs < 2:
        raise ParameterError(f"`n_permutations` must be at least 2, for standard errors; got {n_pairs}.")
    function = _function_of(model, output)
    n_background = to_table(background).n_rows
    hybrids = Hybrids(function, X, background, shares_of_rows(weight, n_background))
    n_columns = hybrids.n_columns
    exact = n_columns <= MOST_EXACT and n_pairs is None
    if interactions and not exact:
        raise ParameterError(
            f"Interactions of a function are told for {MOST_EXACT} columns at most, and without "
            f"n_permutations; X has {n_columns}. Explain values, or a model made of trees."
        )
    full, empty = hybrids.full(), hybrids.empty()
    values = zeros(len(full), len(empty), n_columns, interactions=interactions)
    errors = None if exact else np.zeros_like(values)
    progress = Progress(len(full), word="row") if verbose else None
    if progress is not None:
        progress.start()
    for i in range(len(full)):
        if errors is None:
            found = exact_row(hybrids.game, i, n_columns, empty, full[i])
            values[i] = found[1] if interactions else found[0]
        else:
            values[i], errors[i] = sampled_row(
                hybrids.game, i, n_columns, empty, full[i], n_pairs=n_pairs or 20, seed=seed
            )
        if progress is not None:
            progress.advance({})
    if progress is not None:
        progress.close()
    bases = np.tile(empty, (len(full), 1))
    names = _labels(model, len(empty))
    return _explanation(values, bases, to_table(X), hybrids.names, names, interactions, errors)


def _function_of(model: AnyEstimator, output: str | None) -> Callable[[Any], Any]:
    if output is not None:
        if not callable(getattr(model, output, None)):
            raise ParameterError(f"`output` is {output!r}, which {_called(model)} does not have.")
        function: Callable[[Any], Any] = getattr(model, output)
        return function
    if not hasattr(model, "predict"):
        if not callable(model):
            raise ParameterError(f"A fitted model or a function is explained; got {type(model).__name__}.")
        return model  # type: ignore[no-any-return]
    names = [name for name in _OUTPUTS if hasattr(model, name)] if is_classifier(model) else []
    return getattr(model, (names or ["predict"])[0])  # type: ignore[no-any-return]


def _labels(model: AnyEstimator, n_outputs: int) -> Sequence[str] | None:
    if n_outputs == 1:
        return None
    classes = getattr(model, "classes_", None)
    if isinstance(classes, np.ndarray) and len(classes) == n_outputs:
        return [str(label) for label in classes.tolist()]
    return None


def _explanation(
    values: Floats,
    base: Floats,
    table: Table,
    names: Sequence[Any],
    outputs: Sequence[str] | None,
    interactions: bool,
    errors: Floats | None = None,
) -> Explanation:
    """Values of (rows, outputs, columns …) with the rows they are of; outputs go last, or away."""
    one = values.shape[1] == 1
    data, display = _numbers(table)

    def shaped(array: Floats) -> Floats:
        return array[:, 0] if one else np.moveaxis(array, 1, -1)

    return Explanation(
        shaped(values),
        base[:, 0] if one else base,
        data,
        display,
        feature_names=[str(name) for name in names],
        output_names=None if one else outputs,
        standard_errors=None if errors is None else shaped(errors),
        interactions=interactions,
    )


def _numbers(table: Table) -> tuple[Floats, NDArray[Any] | None]:
    """The rows as numbers, NaN where they are missing, and as they were, if there are levels among them."""
    data = np.empty((table.n_rows, table.n_columns))
    display: NDArray[Any] | None = None
    for j, column in enumerate(table.columns):
        if isinstance(column, NumericColumn):
            data[:, j] = column.values
            if column.missing is not None:
                data[column.missing, j] = np.nan
        else:
            data[:, j] = np.where(column.indices < 0, np.nan, column.indices)
    if any(isinstance(column, LevelColumn) for column in table.columns):
        display = data.astype(object)
        for j, column in enumerate(table.columns):
            if isinstance(column, LevelColumn):
                levels = np.empty(len(column.levels) + 1, object)
                levels[:-1] = column.levels
                display[:, j] = levels[column.indices]
    return data, display
