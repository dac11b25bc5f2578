"""Reading a fitted gradient booster: raw scores and stages, leaves, importances, the members."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from weald.arrays import Estimator, Floats, TableLike
from weald.data.table import Table
from weald.engine import thread_count
from weald.errors import DataError
from weald.estimators.gradient_boosting.models import BaseRounds, TreeRounds
from weald.estimators.gradient_boosting.start import ConstantStart
from weald.estimators.shared.ensemble_pictures import (
    EnsemblePictures,
    forest_story,
    member_story,
    score_names,
)
from weald.estimators.shared.members import in_order
from weald.inspection.shap.model import TreeModel
from weald.model.forest import Forest
from weald.model.join import tree_apart
from weald.model.predict import leaf_nodes
from weald.pictures.ensembles.which import TreePlaces, output_labels
from weald.pictures.explain import one_row

if TYPE_CHECKING:
    from weald.estimators.gradient_boosting.base import BaseGradientBoosting
    from weald.estimators.tree.decision_tree import DecisionTreeRegressor
    from weald.pictures.ensembles.story import Told

# The trees as estimators: made on first use, forgotten with the forest, never pickled or saved.
_members: weakref.WeakKeyDictionary[Forest, NDArray[Any]] = weakref.WeakKeyDictionary()


def has_leaves(model: BaseGradientBoosting) -> bool:
    """Whether the model is made of trees of its own; raises AttributeError if not, as `available_if` asks."""
    fitted = vars(model).get("_model_")
    trees = model.estimator is None if fitted is None else isinstance(fitted, TreeRounds)
    if not trees:
        raise AttributeError(
            f"This {type(model).__name__} boosts another estimator than trees: it has no leaves to tell."
        )
    return True


class StagePredictions(EnsemblePictures):
    """What a fitted gradient booster can be asked, whatever it predicts."""

    n_estimators_: int
    n_trees_per_iteration_: int
    n_features_in_: int
    _model_: TreeRounds | BaseRounds
    _checked_options: Callable[[], Any]

    @property
    def _rounds(self) -> TreeRounds | BaseRounds:
        check_is_fitted(self)
        return self._model_

    def _raw_scores(self, X: TableLike) -> Floats:
        """Raw scores: (n_rows, n_outputs)."""
        model = self._rounds
        return model.raw(X, type(self).__name__, thread_count(self._checked_options().n_jobs))

    def _staged_scores(self, X: TableLike) -> Iterator[Floats]:
        """Raw scores after each round: (n_rows, n_outputs), a new array each."""
        model = self._rounds
        yield from model.staged(X, type(self).__name__, thread_count(self._checked_options().n_jobs))

    def _shap_model(self) -> TreeModel:
        model, owner = self._rounds, type(self).__name__
        if isinstance(model, BaseRounds):
            raise DataError(
                f"This {owner} boosts another estimator than trees, so that shap_values cannot take it "
                "apart. Use weald.explain(model, X, background=...)."
            )
        trees: TreeModel = super()._shap_model()  # type: ignore[misc]
        start = model.init
        if start is None:
            return trees
        return replace(trees, start=lambda X: start.raw(in_order(X, model.schema, owner)))

    def _leaves(self, X: TableLike) -> NDArray[np.int64]:
        """The leaf of each row in each tree: (n_rows, n_rounds, n_outputs)."""
        model = cast(TreeRounds, self._rounds)
        table, n_threads = cast("BaseGradientBoosting", self)._read(X)
        nodes = leaf_nodes(model.forest, table, n_threads=n_threads).astype(np.int64)
        return nodes.reshape(len(nodes), model.n_rounds, -1)

    @property
    def init_(self) -> Estimator | ConstantStart | str:
        """What the model starts from: a constant, the fitted `init`, or "zero"."""
        model = self._rounds
        if model.init is not None:
            return model.init.estimator
        if model.zero:
            return "zero"
        return ConstantStart(model.base, model.link, getattr(self, "classes_", None))

    @property
    def estimators_(self) -> NDArray[Any]:
        """The regressors, (n_estimators_, n_trees_per_iteration_); trees are made when asked for."""
        model = self._rounds
        if isinstance(model, BaseRounds):
            members = [[member.estimator for member in members] for members in model.rounds]
            return _grid(members, model.n_rounds, len(model.base))
        found = _members.get(model.forest)
        if found is None:
            n_outputs = len(model.base)
            trees = [self._tree(t) for t in range(model.forest.n_trees)]
            rounds = [trees[t : t + n_outputs] for t in range(0, len(trees), n_outputs)]
            found = _members[model.forest] = _grid(rounds, model.n_rounds, n_outputs)
        return found

    def _tree(self, t: int) -> DecisionTreeRegressor:
        """Tree `t` as a fitted single tree: its leaves before the learning rate."""
        from weald.estimators.tree.decision_tree import DecisionTreeRegressor

        model, estimator = cast(TreeRounds, self._rounds), cast("BaseGradientBoosting", self)
        round_ = t // len(model.base)
        params = next((params for end, params in model.grown if round_ < end), None)
        single = DecisionTreeRegressor(**(tree_parameters(estimator) if params is None else params))
        tree = tree_apart(model.forest, t)
        alone = replace(
            tree,
            link="identity",
            base_score=np.zeros(1),
            tree_output=np.zeros(1, np.int32),
            tree_weight=np.ones(1),
        )
        single._set_fitted(alone, model.schema, None)
        return single

    def _shown_tree(self, t: int) -> DecisionTreeRegressor:
        return self._tree(t)

    def _shown_forest(self) -> Forest | None:
        model = self._rounds
        return model.forest if isinstance(model, TreeRounds) else None

    def _shown_members(self) -> Sequence[object] | None:
        return None if isinstance(self._rounds, TreeRounds) else list(self.estimators_.ravel())

    def _tree_places(self) -> TreePlaces:
        forest = cast(TreeRounds, self._rounds).forest
        labels = output_labels(getattr(self, "classes_", None), forest.n_outputs)
        return TreePlaces(forest.n_trees, forest.tree_round, forest.tree_output, labels)

    def _row_told(self, row: TableLike) -> Told:
        model, owner = self._rounds, type(self).__name__
        names = score_names(getattr(self, "classes_", None), len(model.base))
        if isinstance(model, BaseRounds):
            given = one_row(row, model.schema)
            stages = np.array([stage[0] for stage in self._staged_scores(given)])
            first = model._start(in_order(given, model.schema, owner))[0]
            adds = np.diff(stages, axis=0, prepend=first[np.newaxis])
            return member_story(self, adds, names, given, how="sum", start=first, running=stages)

        def read(X: TableLike) -> Table:
            return cast("BaseGradientBoosting", self)._read(X)[0]

        def start(X: TableLike) -> Floats:
            base = model.base[np.newaxis]
            return base if model.init is None else base + model.init.raw(in_order(X, model.schema, owner))

        return forest_story(self, row, model.forest, model.schema, read, how="sum", names=names, start=start)

    def __len__(self) -> int:
        """How many rounds the model has."""
        return self._rounds.n_rounds

    def __getitem__(self, round_: int) -> NDArray[Any]:
        """The regressors of one round."""
        members: NDArray[Any] = self.estimators_[round_]
        return members

    def __iter__(self) -> Iterator[NDArray[Any]]:
        """The regressors of each round."""
        return iter(self.estimators_)

    def __bool__(self) -> bool:
        """True, fitted or not: an estimator is never empty."""
        return True

    @property
    def step_sizes_(self) -> Floats:
        """The step that the line search gave each regressor of `estimator`, before the learning rate."""
        model = self._rounds
        if isinstance(model, TreeRounds):
            raise AttributeError(
                "`step_sizes_` is only defined with `estimator`: leaves have their own steps."
            )
        sizes = [[member.size for member in members] for members in model.rounds]
        return np.array(sizes).reshape(model.n_rounds, len(model.base))

    @property
    def feature_importances_(self) -> Floats:
        """How much the splits on each column lowered the squared error of pseudo-residuals, adding up to 1.

        The mean over all trees that have a split. With `estimator`, the mean of its `feature_importances_`.
        """
        model = self._rounds
        if isinstance(model, BaseRounds):
            found = [each.feature_importances_ for each in self.estimators_.ravel()]
            total: Floats = np.mean(found, axis=0)
        else:
            total = _importances(model.forest)
        scale = total.sum()
        return total / scale if scale > 0 else total


def tree_parameters(model: BaseGradientBoosting) -> dict[str, Any]:
    """The parameters of a gradient booster that shape its trees."""
    from weald.estimators.tree.decision_tree import DecisionTreeRegressor

    names = set(DecisionTreeRegressor._get_param_names()) & set(model.get_params(deep=False))
    return {name: getattr(model, name) for name in sorted(names - {"random_state", "ccp_alpha"})}


def _importances(forest: Forest) -> Floats:
    """Gains by column, each tree's divided by the weight of its rows."""
    inner = np.flatnonzero(forest.slot >= 0)
    tree = np.searchsorted(forest.tree_start, inner, side="right") - 1
    slot = forest.slot[inner]
    gain = forest.gain[slot] / forest.cover[forest.tree_start[tree]]
    return np.bincount(forest.column[slot], gain, forest.n_columns).astype(np.float64, copy=False)


def _grid(rounds: list[list[Any]], n_rounds: int, n_outputs: int) -> NDArray[Any]:
    out = np.empty((n_rounds, n_outputs), object)
    for i, members in enumerate(rounds):
        for k, member in enumerate(members):
            out[i, k] = member
    return out
