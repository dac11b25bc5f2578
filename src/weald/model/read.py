"""New tables for a fitted model: read as the training table was, then brought into the model's order.

Columns that training declared as categories are found again by name, wherever they now stand.
"""

from __future__ import annotations

from weald.arrays import CategoricalFeatures, TableLike
from weald.data.adapters import categorical_positions, to_table
from weald.data.schema import Schema
from weald.data.table import Table
from weald.errors import ParameterError


def read_aligned(
    X: TableLike, schema: Schema, *, declared: CategoricalFeatures = None, owner: str = "model"
) -> Table:
    """Read a table and align it to the schema of a model. Prediction itself refuses infinite values.

    Parameters
    ----------
    X : table
        Whatever `to_table` takes.
    schema : Schema
        The model's columns.
    declared : None, "from_dtype", names, positions or a mask
        The `categorical_features` of training. Positions and masks speak of the training table.
    owner : str
        The estimator's name, for messages.

    Returns
    -------
    Table
        Its columns in the schema's order, its levels by the schema's numbers.
    """
    names = schema.names
    asked = [names[j] for j in categorical_positions(names, declared)]
    try:
        table = to_table(X, categorical_features=asked or None)
    except ParameterError:
        # A declared column is absent: `align` words that as the lack of a column, not as a parameter.
        table = to_table(X)
    return schema.align(table, estimator=owner)
