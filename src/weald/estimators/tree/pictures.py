"""The methods of a tree estimator that show the tree: text, drawing, frame, HTML, the way of one row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from weald.arrays import TableLike

if TYPE_CHECKING:
    from matplotlib.text import Annotation

    from weald.pictures.drawing import PlotOptions
    from weald.pictures.explain import RowExplanation
    from weald.pictures.frame import NodeFrame


class TreePictures:
    """What `BaseTree` inherits to show itself. The modules that do it are imported when asked for."""

    def to_text(self, *, max_depth: int | None = None, decimals: int = 3, show_counts: bool = True) -> str:
        """The tree as indented rules, one node per line.

        "or missing" stands wherever a missing value would go that way, also for columns that had none in
        training; `export_text` and `plot_tree` speak of it only where training had some.

        Parameters
        ----------
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

        one_tree(self, "to_text")
        return rules.to_text(self, max_depth=max_depth, decimals=decimals, show_counts=show_counts)

    def plot(
        self, *, filled: bool = True, rounded: bool = True, **options: Unpack[PlotOptions]
    ) -> list[Annotation]:
        """Draw the tree with matplotlib.

        Parameters
        ----------
        filled : bool, default=True
            Whether to colour nodes by their class, or by their value.
        rounded : bool, default=True
            Whether boxes have round corners.
        **options
            The other options of `weald.plot_tree`: `max_depth`, `feature_names`, `class_names`, `label`,
            `impurity`, `node_ids`, `proportion`, `precision`, `ax`, `fontsize`.

        Returns
        -------
        list of matplotlib.text.Annotation
            The boxes in preorder, then the texts at the ways.
        """
        from weald.pictures.drawing import plot_tree

        return plot_tree(self, filled=filled, rounded=rounded, **options)

    def to_frame(self, library: str | None = None) -> NodeFrame:
        """The tree as a data frame, one row per node.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow", "dict"}, default=None
            What to return; None for the library of the table that `fit` got, or else for the first of
            pandas, polars and pyarrow that is installed. "dict" gives a dictionary of lists.

        Returns
        -------
        DataFrame, Table or dict
            The columns: `node`, in preorder; `depth`; `parent` and `side`, the way to the node; `condition`,
            what its rows fulfil that its parent's need not; then its own split: `column`, `threshold` (values
            up to it go left; a rank for ordered levels, microseconds for dates and durations), `categories`
            (those that go left), `missing_left` and `gain`; then `impurity`, `count` (rows), `cover` (their
            weight), `prediction`, and `share_…` of each class. Several outputs have a `prediction_…` each.
        """
        from weald.pictures.frame import to_frame

        return to_frame(self, library)

    def to_shap(self) -> dict[str, object]:
        """The tree as the dictionary that shap's `TreeExplainer` takes in place of a model.

        Rows to explain are then numbers in the order of the fitted columns: bools as 0 and 1, ordered levels
        by rank from 1, dates as microseconds since 1970, durations in microseconds, NaN for missing. The
        model's output is the leaf value: class shares, or the predicted number.

        Returns
        -------
        dict
            For `shap.TreeExplainer(model.to_shap())`.

        Raises
        ------
        DataError
            If the tree splits a column by categories, for which that format has no word.
        """
        from weald.pictures.shap import to_shap

        return to_shap(self)

    def explain_row(self, row: TableLike) -> RowExplanation:
        """The way of one row through the tree, in words.

        Parameters
        ----------
        row : table of one row, dict, list, 1-D array or Series
            The row: a frame or array with one row, column → value, or the values in the order of the columns.

        Returns
        -------
        RowExplanation
            Its steps and its prediction; prints as text, shows as a table in a notebook.
        """
        from weald.pictures.explain import explain_row

        return explain_row(self, row)

    def _repr_html_inner(self) -> str:
        """What notebooks show: the fitted tree itself, before that scikit-learn's diagram."""
        if "forest_" not in vars(self):
            return super()._repr_html_inner()  # type: ignore[misc,no-any-return]
        from weald.pictures.html import to_html

        return to_html(self)

    def _repr_mimebundle_(self, **kwargs: object) -> dict[str, str]:
        """As `_repr_html_inner`, for notebooks that ask for all forms at once."""
        if "forest_" not in vars(self):
            return super()._repr_mimebundle_(**kwargs)  # type: ignore[misc,no-any-return]
        # scikit-learn's own would look at every attribute for its diagram first, columns by the million too
        html = {"text/html": self._repr_html_inner()} if hasattr(self, "_repr_html_") else {}
        return {"text/plain": repr(self), **html}
