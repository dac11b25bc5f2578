"""What a `Booster` can be asked: predictions, leaves, importances, its trees in words."""

from __future__ import annotations

import os
from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import ColumnLike, Floats, TableLike
from weald.engine import thread_count
from weald.errors import DataError, ParameterError, nearest
from weald.estimators.xgboost.native.contributions import contributions
from weald.estimators.xgboost.native.dump import columns_of, dump, frame, level_order
from weald.estimators.xgboost.native.learner import Learner, native_predictions
from weald.estimators.xgboost.native.matrix import DMatrix, check_matrix
from weald.estimators.xgboost.options import IMPORTANCE_TYPES, read_reading_options
from weald.model.importances import column_importances

if TYPE_CHECKING:
    import pandas


class BoosterReading:
    """Reading a fitted booster."""

    _types: list[str] | None

    @abstractmethod
    def _fitted(self) -> Learner:
        """The fitted model behind the booster; raises if there is none."""

    # ------------------------------------------------------------------ predictions

    def predict(
        self,
        data: DMatrix,
        *,
        output_margin: bool = False,
        pred_leaf: bool = False,
        pred_contribs: bool = False,
        approx_contribs: bool = False,
        pred_interactions: bool = False,
        validate_features: bool = True,
        training: bool = False,
        iteration_range: tuple[int, int] | None = None,
        strict_shape: bool = False,
        ntree_limit: int = 0,
    ) -> NDArray[Any]:
        """Predict, as xgboost's Booster does: probabilities, numbers, of "multi:softmax" the class.

        Parameters
        ----------
        data : DMatrix
            The rows; its base margin counts.
        output_margin : bool, default=False
            Whether to return raw scores.
        pred_leaf : bool, default=False
            Whether to return the number of the leaf in each tree, as `get_dump` numbers them.
        pred_contribs : bool, default=False
            Whether to return what each column adds to the raw score of a row (SHAP values), and last what is
            there without any: they add up to the raw score.
        approx_contribs : bool, default=False
            Whether contributions are Saabas's instead: what the means of the nodes change by along a row's
            path. Quicker, and dependent on the order of the splits.
        pred_interactions : bool, default=False
            Whether to return what each pair of columns adds; rows of the matrix add up to `pred_contribs`.
        validate_features : bool, default=True
            Whether columns are matched by name.
        training : bool, default=False
            Accepted: predicting never drops trees.
        iteration_range : (int, int), default=None
            The rounds [first, last); (0, 0) and None for all, the best one or not.
        strict_shape : bool, default=False
            Whether the shape is always (n_rows, n_outputs), of leaves (n_rows, n_rounds, n_outputs,
            n_parallel_trees).
        ntree_limit : int, default=0
            The old way to ask for the first rounds, by their trees; 0 for all.

        Returns
        -------
        ndarray
            (n_rows,) or (n_rows, n_outputs); of leaves (n_rows, n_trees); of contributions (n_rows,
            n_columns + 1) or (n_rows, n_outputs, n_columns + 1), of interactions with one axis of columns
            more.
        """
        model, matrix = self._fitted(), check_matrix(data, "data")
        rounds = self._rounds(iteration_range, ntree_limit)
        by_name = self._by_name(matrix.feature_names, validate_features)
        if approx_contribs and not (pred_contribs or pred_interactions):
            raise ParameterError("approx_contribs says how: ask for pred_contribs=True with it.")
        if pred_contribs or pred_interactions:
            return contributions(
                model,
                matrix._table,
                matrix._margin,
                rounds,
                by_name=by_name,
                n_threads=thread_count(read_reading_options("Booster", model).n_jobs),
                interactions=pred_interactions,
                approximate=approx_contribs,
                strict_shape=strict_shape,
            )
        if pred_leaf:
            return self._leaves(matrix, rounds, by_name, strict_shape)
        raw = model._raw_scores(
            matrix._table,
            validate_features=by_name,
            base_margin=matrix._margin,
            iteration_range=rounds,
        )
        return self._shaped(raw, output_margin, strict_shape)

    def inplace_predict(
        self,
        data: TableLike,
        *,
        iteration_range: tuple[int, int] | None = None,
        predict_type: str = "value",
        missing: float = np.nan,
        validate_features: bool = True,
        base_margin: ColumnLike | None = None,
        strict_shape: bool = False,
    ) -> Floats:
        """Predict the rows of a table, without a DMatrix.

        Parameters
        ----------
        data : table
            As in `XGBClassifier.fit`.
        iteration_range, validate_features, strict_shape
            As in `predict`.
        predict_type : {"value", "margin"}, default="value"
            Whether to return predictions or raw scores.
        missing : float, default=nan
            The number that stands for a missing value, besides NaN.
        base_margin : array-like, default=None
            Raw scores to start from.
        """
        if predict_type not in ("value", "margin"):
            raise ParameterError(f"`predict_type` must be 'value' or 'margin'; got {predict_type!r}.")
        matrix = DMatrix(data, base_margin=base_margin, missing=missing)
        return self.predict(
            matrix,
            output_margin=predict_type == "margin",
            validate_features=validate_features,
            iteration_range=iteration_range,
            strict_shape=strict_shape,
        )

    def _rounds(self, iteration_range: tuple[int, int] | None, ntree_limit: int) -> tuple[int, int] | None:
        if not ntree_limit:
            return iteration_range
        if iteration_range not in (None, (0, 0)):
            raise ParameterError("Both ntree_limit and iteration_range are given. Give iteration_range.")
        return 0, max(1, ntree_limit // self._n_parallel())

    def _n_parallel(self) -> int:
        """How many trees of one output a round has."""
        return int(self._fitted()._options().num_parallel_tree or 1)

    def _by_name(self, names: list[str] | None, validate_features: bool) -> bool:
        """Whether columns are matched by name; raises if there are names here and none there."""
        schema = self._fitted().schema_
        if not validate_features or not schema.named:
            return False
        if names is None:
            expected = ", ".join(map(str, schema.names[:10]))
            raise DataError(
                f"data did not contain feature names, but the following fields are expected: {expected}"
                f"{', …' if len(schema.names) > 10 else ''}. Give a table with names, "
                "DMatrix(feature_names=...), or validate_features=False."
            )
        return True

    def _shaped(self, raw: Floats, output_margin: bool, strict_shape: bool) -> Floats:
        model = self._fitted()
        predicted = raw if output_margin else native_predictions(raw, model.forest_.link, model.objective_)
        if strict_shape:
            return predicted.reshape(len(raw), -1)
        return predicted[:, 0] if predicted.ndim == 2 and predicted.shape[1] == 1 else predicted

    def _leaves(
        self, matrix: DMatrix, rounds: tuple[int, int] | None, by_name: bool, strict_shape: bool
    ) -> NDArray[np.int64]:
        model = self._fitted()
        first, last = model._trees(rounds)
        leaves = model._leaf_nodes(matrix._table, (first, last), validate_features=by_name)
        for i in range(leaves.shape[1]):
            leaves[:, i] = level_order(model.forest_, first + i)[leaves[:, i]]
        if not strict_shape:
            return leaves
        outputs = model.forest_.n_outputs // model.forest_.width
        return leaves.reshape(len(leaves), -1, outputs, self._n_parallel())

    # ------------------------------------------------------------------ importances

    def get_score(
        self, fmap: str | os.PathLike[str] = "", importance_type: str = "weight"
    ) -> dict[str, float | list[float]]:
        """How much the trees rely on each column that they split on.

        Parameters
        ----------
        fmap : str or path, default=""
            A feature map: lines "number name type".
        importance_type : {"weight", "gain", "cover", "total_gain", "total_cover"}, default="weight"
            How many splits there are, their mean gain or cover, or the sums.

        Returns
        -------
        dict
            Name of the column (f0, f1, … without names) to importance.
        """
        if importance_type not in IMPORTANCE_TYPES:
            close = nearest(str(importance_type), IMPORTANCE_TYPES)
            hint = f"Did you mean {close!r}?" if close else f"Use one of {', '.join(IMPORTANCE_TYPES)}."
            raise ParameterError(f"There is no importance {importance_type!r}. {hint}")
        model = self._fitted()
        trees = (0, model.forest_.n_trees)
        values = column_importances(model.forest_, importance_type, trees)
        used = np.flatnonzero(column_importances(model.forest_, "weight", trees)).tolist()
        names = columns_of(model.schema_, self._types, fmap).names if used else []
        return {names[j]: float(values[j]) for j in used}

    def get_fscore(self, fmap: str | os.PathLike[str] = "") -> dict[str, float | list[float]]:
        """`get_score` by the number of splits."""
        return self.get_score(fmap, importance_type="weight")

    def get_split_value_histogram(
        self, feature: str, fmap: str | os.PathLike[str] = "", bins: int | None = None, as_pandas: bool = True
    ) -> pandas.DataFrame | Floats:
        """How often the trees split a numeric column at which values.

        Parameters
        ----------
        feature : str
            Name of the column.
        fmap : str or path, default=""
            A feature map.
        bins : int, default=None
            How many bins, at most as many as there are values; None for that.
        as_pandas : bool, default=True
            Whether to return a frame, if pandas is installed; else an array.
        """
        forest = self._fitted().forest_
        columns = columns_of(self._fitted().schema_, self._types, fmap)
        place = {name: j for j, name in enumerate(columns.names)}
        if feature in place and columns.types[place[feature]] == "c":
            raise DataError(f"Column {feature!r} is split by categories, which have no histogram of values.")
        values = forest.threshold[forest.column == place.get(feature, -1)]
        n_unique = len(np.unique(values))
        n_bins = max(n_unique if bins is None else min(n_unique, bins), 1)
        counts, edges = np.histogram(values, bins=n_bins) if len(values) else (np.zeros(0), np.zeros(1))
        pairs = np.column_stack((edges[1:], counts))
        pairs = pairs[pairs[:, 1] > 0]
        if as_pandas:
            try:
                import pandas as pd
            except ImportError:
                return pairs
            return pd.DataFrame(pairs, columns=["SplitValue", "Count"])
        return pairs

    # ------------------------------------------------------------------ trees in words

    def get_dump(
        self, fmap: str | os.PathLike[str] = "", with_stats: bool = False, dump_format: str = "text"
    ) -> list[str]:
        """The trees in xgboost's words, one text each.

        Parameters
        ----------
        fmap : str or path, default=""
            A feature map: lines "number name type".
        with_stats : bool, default=False
            Whether to tell gain and cover.
        dump_format : {"text", "json", "dot"}, default="text"
            The form; "dot" is what Graphviz draws, 'dot:{"rankdir": "LR"}' with attributes.

        Returns
        -------
        list of str
            Rows go to `yes` where the value is below the threshold: the float32 next above weald's own, which
            is the largest that goes left. Categories are shown as they are.
        """
        model = self._fitted()
        columns = columns_of(model.schema_, self._types, fmap)
        return dump(model.forest_, columns, with_stats=with_stats, dump_format=dump_format)

    def dump_model(
        self,
        fout: str | os.PathLike[str],
        fmap: str | os.PathLike[str] = "",
        with_stats: bool = False,
        dump_format: str = "text",
    ) -> None:
        """Write `get_dump` to a file.

        Parameters
        ----------
        fout : str or path
            The file.
        fmap, with_stats, dump_format
            As in `get_dump`.
        """
        trees = self.get_dump(fmap, with_stats, dump_format)
        if dump_format == "json":
            text = "[\n" + ",\n".join(trees) + "\n]"
        else:
            text = "".join(f"booster[{i}]:\n{tree}" for i, tree in enumerate(trees))
        with open(fout, "w", encoding="utf-8") as file:
            file.write(text)

    def trees_to_dataframe(self, fmap: str | os.PathLike[str] = "") -> pandas.DataFrame:
        """All nodes of all trees as a pandas frame.

        Parameters
        ----------
        fmap : str or path, default=""
            A feature map.

        Returns
        -------
        DataFrame
            With xgboost's columns: Tree, Node, ID, Feature, Split, Yes, No, Missing, Gain, Cover, Category.
        """
        model = self._fitted()
        return frame(model.forest_, columns_of(model.schema_, self._types, fmap))

    # ------------------------------------------------------------------ sizes

    def num_boosted_rounds(self) -> int:
        """How many rounds."""
        return self._fitted().n_rounds_

    def num_features(self) -> int:
        """How many columns."""
        return len(self._fitted().schema_.columns)
