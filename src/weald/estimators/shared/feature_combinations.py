"""`feature_combinations`: Forest-RC in the engine's words."""

from __future__ import annotations

from typing import Any

from weald.data.codes import Codes
from weald.data.schema import Schema
from weald.errors import DataError, ParameterError
from weald.estimators.shared.growth import max_columns
from weald.parameters import GrowthOptions, Whole


def combining(options: GrowthOptions, schema: Schema, codes: Codes, owner: str) -> dict[str, Any]:
    """The fields of the grower's options that combine columns; none if the forest does not.

    Parameters
    ----------
    options : record
        Checked parameters.
    schema : Schema
        The columns.
    codes : Codes
        The coded table.
    owner : str
        The estimator's name, for messages.
    """
    asked = getattr(options, "feature_combinations", None)
    if asked is None:
        return {}
    n_columns = len(schema.columns)
    pair = (asked, max_columns(options.max_features, n_columns)) if isinstance(asked, int) else tuple(asked)
    if len(pair) != 2 or not all(Whole(1).admits(number) for number in pair):
        raise ParameterError(
            f"`feature_combinations` of {owner} must be a whole number of columns, or a pair of whole "
            f"numbers of at least 1: columns combined, combinations tried in a node; got {asked!r}."
        )
    for name in ("max_bins", "monotonic_cst"):
        if getattr(options, name) is not None:
            raise ParameterError(
                f"`feature_combinations` of {owner} needs {name}=None: combinations are split exactly, and "
                "rise or fall along no single column."
            )
    numeric = [j for j, column in enumerate(schema.columns) if column.kind == "numeric"]
    if not numeric:
        raise DataError(
            f"`feature_combinations` of {owner} combines numeric columns, and the table has none. Leave it "
            "None."
        )
    if any(codes.is_sparse(j) for j in numeric):
        raise DataError(
            f"`feature_combinations` of {owner} needs a dense table. Give X.toarray(), or leave it None."
        )
    return {"combined_columns": int(pair[0]), "max_columns": int(pair[1])}
