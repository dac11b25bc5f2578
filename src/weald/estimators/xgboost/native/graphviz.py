"""`to_graphviz`: a tree in DOT under xgboost's name and options."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from weald.errors import ParameterError
from weald.estimators.xgboost.native.dot import DotStyle, dot
from weald.estimators.xgboost.native.dump import columns_of, nodes_of
from weald.pictures.ensembles.which import TreeChoice, chosen_tree, one_tree


class DotSource(str):
    """DOT text; `graphviz.Source(text)` draws it, as does the program `dot`."""

    __slots__ = ()

    @property
    def source(self) -> str:
        """The text."""
        return str(self)

    def save(self, filename: str | os.PathLike[str]) -> str:
        """Write the text to a file, and return its name."""
        with open(filename, "w", encoding="utf-8") as file:
            file.write(self)
        return os.fspath(filename)


def to_graphviz(
    booster: object,
    *,
    tree: TreeChoice = None,
    fmap: str | os.PathLike[str] = "",
    num_trees: int | None = None,
    rankdir: str | None = None,
    yes_color: str | None = None,
    no_color: str | None = None,
    condition_node_params: Mapping[str, object] | None = None,
    leaf_node_params: Mapping[str, object] | None = None,
    with_stats: bool = False,
    tree_idx: int | None = None,
    **graph_attrs: object,
) -> DotSource:
    """One tree of a model as DOT text, as xgboost writes it.

    `export_graphviz` writes weald's own form, with conditions in words and colours.

    Parameters
    ----------
    booster : estimator or Booster
        Any fitted model of weald made of trees.
    tree, num_trees, tree_idx : int, or of `tree` (round, class), default=None
        Which tree, under weald's and xgboost's names; None for the first.
    fmap : str or path, default=""
        A feature map: lines "number name type".
    rankdir : {"TB", "LR", "BT", "RL"}, default=None
        Which way the tree grows; None for top to bottom.
    yes_color, no_color : str, default=None
        Colours of the ways; None for blue and red.
    condition_node_params, leaf_node_params : dict, default=None
        Graphviz' attributes of inner nodes and of leaves.
    with_stats : bool, default=False
        Whether to tell gain and cover.
    **graph_attrs
        Graphviz' attributes of the graph.

    Returns
    -------
    DotSource
        A text, with `source` and `save` as `graphviz.Source` has them.

    Examples
    --------
    >>> import weald
    >>> model = weald.XGBClassifier(n_estimators=1).fit({"age": [1, 2, 3, 4] * 4}, [0, 0, 1, 1] * 4)
    >>> print(weald.to_graphviz(model).splitlines()[3].strip())
    0 [ label="age<2.50000024" ]
    """
    found: Any = one_tree(booster, "to_graphviz", chosen_tree(tree, num_trees=num_trees, tree_idx=tree_idx))
    for name, value in graph_attrs.items():
        if not isinstance(value, str | int | float):
            raise ParameterError(
                f"`{name}` of to_graphviz is an attribute of the graph, a text; got {value!r}."
            )
    style = DotStyle(
        rankdir=rankdir or "TB",
        yes_color=yes_color or "#0000FF",
        no_color=no_color or "#FF0000",
        condition_node_params=condition_node_params or {},
        leaf_node_params=leaf_node_params or {},
        graph_attrs=graph_attrs,
    )
    columns = columns_of(found.model.schema_, None, fmap)
    return DotSource(dot(nodes_of(found.forest, 0, columns), columns, with_stats, style))
