"""The methods of an ensemble of trees that show its trees: text, drawing, frame, HTML, the way of one row."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from weald.arrays import AnyEstimator, TableLike
from weald.data.schema import Schema
from weald.data.table import Table
from weald.model.forest import Forest
from weald.model.predict import leaf_nodes
from weald.pictures.ensembles.which import TreeChoice, TreePlaces

if TYPE_CHECKING:
    from matplotlib.text import Annotation

    from weald.pictures.drawing import PlotOptions
    from weald.pictures.ensembles.story import EnsembleExplanation, Told
    from weald.pictures.explain import RowExplanation
    from weald.pictures.frame import NodeFrame


class EnsemblePictures:
    """What an ensemble inherits to show its trees. The modules that do it are imported when asked for."""

    @abstractmethod
    def _shown_tree(self, t: int) -> object:
        """Tree `t` as a fitted model of its own, over all columns of the table."""

    @abstractmethod
    def _tree_places(self) -> TreePlaces:
        """How the trees are numbered."""

    @abstractmethod
    def _row_told(self, row: TableLike) -> Told:
        """What the ensemble tells of one row."""

    @abstractmethod
    def _shown_forest(self) -> Forest | None:
        """All trees, where they are one forest."""

    def _shown_members(self) -> Sequence[object] | None:
        """The members, where they are not trees that share one forest."""
        return None

    def to_text(
        self,
        *,
        tree: TreeChoice = None,
        max_depth: int | None = None,
        decimals: int = 3,
        show_counts: bool = True,
    ) -> str:
        """One tree as indented rules, one node per line; the first line says which.

        Parameters
        ----------
        tree : int or tuple, default=None
            Which: its number, of boosters also (round, class), of an ensemble of ensembles (member, tree);
            None for the first.
        max_depth : int, default=None
            Deeper nodes are summed up in one line.
        decimals : int, default=3
            Decimals of thresholds and values; more where two thresholds of a column are close.
        show_counts : bool, default=True
            Whether to show how many training rows came to each leaf.

        Returns
        -------
        str
            The text.
        """
        from weald.model import rules
        from weald.pictures.ensembles.which import one_tree

        found = one_tree(self, "to_text", tree)
        text = rules.to_text(found.model, max_depth=max_depth, decimals=decimals, show_counts=show_counts)
        return f"{found.said}\n{text}" if found.said else text

    def plot(
        self,
        *,
        tree: TreeChoice = None,
        filled: bool = True,
        rounded: bool = True,
        **options: Unpack[PlotOptions],
    ) -> list[Annotation]:
        """Draw one tree with matplotlib.

        Parameters
        ----------
        tree : int or tuple, default=None
            Which, as in `to_text`.
        filled : bool, default=True
            Whether to colour nodes by their class, or by their value.
        rounded : bool, default=True
            Whether boxes have round corners.
        **options
            The other options of `weald.plot_tree`.

        Returns
        -------
        list of matplotlib.text.Annotation
            The boxes in preorder, then the texts at the ways.
        """
        from weald.pictures.drawing import plot_tree

        return plot_tree(self, tree=tree, filled=filled, rounded=rounded, **options)

    def to_frame(self, library: str | None = None, *, tree: TreeChoice = None) -> NodeFrame:
        """The trees as a data frame, one row per node.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow", "dict"}, default=None
            What to return; None for the library of the table that `fit` got, where that is known, or else for
            the first of pandas, polars and pyarrow that is installed. "dict" gives a dictionary of lists.
        tree : int or tuple, default=None
            Which, as in `to_text`; None for all.

        Returns
        -------
        DataFrame, Table or dict
            The columns of `DecisionTreeClassifier.to_frame`; with all trees first `tree` and, where there are
            such, `member`, `round` and `output`.
        """
        from weald.pictures.frame import to_frame

        return to_frame(self, library, tree)

    def explain_row(self, row: TableLike, *, tree: TreeChoice = None) -> EnsembleExplanation | RowExplanation:
        """The way of one row through all trees, with the score as it grows; or through one of them.

        Parameters
        ----------
        row : table of one row, dict, list, 1-D array or Series
            The row: a frame or array with one row, column → value, or the values in the order of the columns.
        tree : int or tuple, default=None
            Which, as in `to_text`; None for all that `predict` uses.

        Returns
        -------
        EnsembleExplanation or RowExplanation
            The trees with what they add, or the steps in the one tree; prints as text, shows as a table in a
            notebook.
        """
        from weald.pictures.ensembles.which import inside

        inside(self, "explain_row")
        if tree is not None:
            from weald.pictures.explain import explain_row

            return explain_row(self, row, tree)
        from weald.pictures.ensembles.story import tell

        return tell(self._row_told(row))

    def _repr_html_inner(self) -> str:
        """What notebooks show: the fitted ensemble itself, before that scikit-learn's diagram."""
        if not _shows(self):
            return super()._repr_html_inner()  # type: ignore[misc,no-any-return]
        from weald.pictures.ensembles.summary import to_html

        return to_html(self)

    def _repr_mimebundle_(self, **kwargs: object) -> dict[str, str]:
        """As `_repr_html_inner`, for notebooks that ask for all forms at once."""
        if not _shows(self):
            return super()._repr_mimebundle_(**kwargs)  # type: ignore[misc,no-any-return]
        html = {"text/html": self._repr_html_inner()} if hasattr(self, "_repr_html_") else {}
        return {"text/plain": repr(self), **html}


def _shows(model: object) -> bool:
    """Whether a model is fitted and made of trees, at least in its first member."""
    from sklearn.exceptions import NotFittedError

    from weald.errors import WealdError
    from weald.pictures.ensembles.which import one_tree

    try:
        one_tree(model, "_repr_html_")
    except (NotFittedError, WealdError):
        return False
    return True


def member_story(
    model: object, says: NDArray[np.float64], names: tuple[str, ...], row: TableLike, **how: Any
) -> Told:
    """What members that are not single trees tell of a row; `says`: (n_members, n_scores)."""
    from weald.pictures.ensembles.story import Told

    prediction, predicted = predicted_row(model, row)
    zero = np.zeros(says.shape[1])
    running = np.cumsum(says, axis=0) / np.arange(1, len(says) + 1)[:, None]
    given: dict[str, Any] = {"start": zero, "running": running, "how": "mean", "adds": says} | how
    return Told(
        owner=type(model).__name__,
        names=names,
        prediction=prediction,
        predicted=predicted,
        member="member",
        **given,
    )


def predicted_row(model: AnyEstimator, row: TableLike) -> tuple[object, str]:
    """What a model predicts for the one row of a table, as a value and in words."""
    from weald.model.values import plain_labels
    from weald.pictures.ensembles.story import predicted_words
    from weald.pictures.explain import check_one

    predicted = np.asarray(model.predict(row))
    check_one(len(predicted))
    value: Any = plain_labels(predicted.reshape(1, -1)[0])
    value = value[0] if len(value) == 1 else value
    classes, shares = getattr(model, "classes_", None), None
    if isinstance(classes, np.ndarray) and hasattr(model, "predict_proba"):
        shares = np.asarray(model.predict_proba(row))[0]
    return value, predicted_words(value, shares, classes)


def forest_story(
    model: AnyEstimator,
    row: TableLike,
    forest: Forest,
    schema: Schema,
    read: Callable[[TableLike], Table],
    *,
    how: str,
    names: tuple[str, ...],
    start: Callable[[TableLike], NDArray[np.float64]] | None = None,
    n_used: int | None = None,
    running: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = None,
) -> Told:
    """What the trees of one forest tell of a row.

    Parameters
    ----------
    model : estimator
        Whose trees they are; it predicts.
    row : table of one row, dict, list, 1-D array or Series
        The row.
    forest, schema : Forest, Schema
        The trees as they count, and their columns.
    read : callable
        The model's own reading of tables.
    how : {"sum", "mean", "votes", "median"}
        How trees are put together.
    names : tuple of str
        Whose scores they are.
    start : callable, optional
        The scores of a table before the first tree: (n_rows, n_scores); 0 by default.
    n_used : int, optional
        How many trees predict.
    running : callable, optional
        The scores after each tree, from what each says; by default means or sums.
    """
    from weald.pictures.ensembles.story import Told, adds_of
    from weald.pictures.explain import check_one, one_row

    given = one_row(row, schema)
    table = read(given)
    check_one(table.n_rows)
    leaves = leaf_nodes(forest, table)[0].astype(np.int64)
    adds = adds_of(forest, leaves, weighted=how in ("sum", "votes"))[:n_used]
    first = np.zeros(forest.n_outputs) if start is None else start(given)[0]
    total = np.cumsum(adds, axis=0)
    if running is not None:
        after = running(adds)
    else:
        after = total / np.arange(1, len(adds) + 1)[:, None] if how == "mean" else first + total
    prediction, predicted = predicted_row(model, given)
    return Told(
        owner=type(model).__name__,
        how=how,
        names=names,
        start=first,
        adds=adds,
        running=after,
        prediction=prediction,
        predicted=predicted,
        places=model._tree_places(),
        forest=forest,
        schema=schema,
        leaves=leaves,
        row=table,
    )


def score_names(classes: object, n_scores: int) -> tuple[str, ...]:
    """Whose scores they are, in words; one empty text for a single number.

    >>> score_names(np.array(["no", "yes"]), 2), score_names(None, 1), score_names(None, 2)
    (('no', 'yes'), ('',), ('output 0', 'output 1'))
    """
    from weald.model.values import class_words

    if isinstance(classes, list):
        return tuple(f"output {k} {word}" for k, own in enumerate(classes) for word in class_words(own))
    if isinstance(classes, np.ndarray) and len(classes) == n_scores:
        return class_words(classes)
    return ("",) if n_scores == 1 else tuple(f"output {k}" for k in range(n_scores))
