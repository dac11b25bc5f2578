"""What the `XGB*` estimators share: the steps of `fit` and what it leaves.

`fit` is a list of named steps and assigns attributes last, so an estimator whose fit fails or is interrupted
stays as it was.
"""

from __future__ import annotations

import os
from abc import ABCMeta, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from weald.arrays import ColumnLike, Folds, TableLike
from weald.boosting.records import BoostTarget
from weald.boosting.stopping import EarlyStopping
from weald.data.schema import Schema
from weald.data.target import read_weight
from weald.data.training import learn_columns
from weald.errors import DataTypeError, ParameterError
from weald.estimators.shared.contract import TableManners
from weald.estimators.shared.saving import Saving
from weald.estimators.shared.state import set_fitted
from weald.estimators.xgboost import pages
from weald.estimators.xgboost.checkpoints import Checkpoint, Keeping
from weald.estimators.xgboost.ignored import warn_of_ignored
from weald.estimators.xgboost.names import Elsewhere, ReadableObjective
from weald.estimators.xgboost.native.cross_validation import cross_validate
from weald.estimators.xgboost.options import ALIASES, XGBOptions, read_options
from weald.estimators.xgboost.parameters import XGBParameters
from weald.estimators.xgboost.plan import ObjectiveLike, Plan, check_counts, make_plan
from weald.estimators.xgboost.predict import BoostedPredictions
from weald.estimators.xgboost.rows import Given, Rows, aligned_table, naming_set, read_margin, training_table
from weald.estimators.xgboost.saving import BoostedState
from weald.estimators.xgboost.so_far import SoFar
from weald.estimators.xgboost.stopping import FOLDS, check_waiting, fold_rows, hold_out
from weald.estimators.xgboost.training import Trained, Training, Watched
from weald.model.forest import Forest
from weald.pictures.trained_on import UNTOLD, trained_on
from weald.progress import Progress
from weald.rows.dask.table import DaskTable
from weald.rows.paged import Store

if TYPE_CHECKING:
    from weald.estimators.xgboost.native.booster import Booster

HELD_OUT = "held_out"


@dataclass(frozen=True, slots=True)
class Data:
    """The training rows and what is known of them."""

    schema: Schema
    rows: Rows
    classes: tuple[NDArray[Any], ...] | None

    @property
    def n_targets(self) -> int:
        """How many columns the target has."""
        values = self.rows.target.values
        return 1 if values.ndim == 1 else int(values.shape[1])


class BaseXGB(TableManners, Saving, BoostedState, BoostedPredictions, XGBParameters, metaclass=ABCMeta):
    """The shared base; a subclass says how it reads targets and which objectives it takes."""

    evals_result_: dict[str, dict[str, list[float]]]
    tree_method_: str
    max_bin_: int | None
    learning_rate_: float
    save_model, load_model = Elsewhere(), Elsewhere()
    coef_, best_ntree_limit = Elsewhere(), Elsewhere()
    objective = ReadableObjective()
    #: what `objective=None` means until the target is known
    _usual_objective: ClassVar[str]

    @abstractmethod
    def _read_target(
        self, given: Given, n_rows: int, options: XGBOptions, known: tuple[NDArray[Any], ...] | None
    ) -> tuple[BoostTarget, tuple[NDArray[Any], ...] | None]:
        """The target of rows and the classes; `known`: classes the labels must be among."""

    @abstractmethod
    def _choose_objective(self, options: XGBOptions, data: Data) -> tuple[ObjectiveLike, int | None]:
        """The objective, and the number of classes; None for numbers."""

    # ------------------------------------------------------------------ fit

    def _fit(
        self,
        given: Given,
        sets: Sequence[Given],
        *,
        names: Sequence[str] | None = None,
        verbose: bool | int | None = False,
        xgb_model: object = None,
        feature_weights: ColumnLike | None = None,
        maximize: bool | None = None,
        keeping: Keeping | None = None,
    ) -> Self:
        """Read, plan, train, and only then assign."""
        owner, options = type(self).__name__, self._options()
        start = self._read_start(xgb_model)
        with pages.opened(given, sets, options, owner, pages.Start.of(start)) as opened:
            given, sets, options = opened
            data = self._read_training(given, options, start)
            plan = self._make_plan(options, data, feature_weights)
            watched = self._read_sets(sets, names, given, options, data)
            wait = check_waiting(options, len(watched), owner)
            rows, held_out = self._hold_out(options, data, plan)
            watched += held_out
            stopper = None if wait is None else EarlyStopping(wait, maximize=maximize)
            plan, found = self._choose_rounds(
                options, plan, data, given.X, stopper, goes_on=start is not None
            )
            training = Training(plan, rows, watched, None if start is None else start.forest_)
            attributes: dict[str, str] = {}  # what callbacks set
            so_far = SoFar(self, data, plan, attributes)
            trained = training.run(
                callbacks=options.callbacks,
                early_stopping=stopper if watched and not found else None,
                progress=Progress(plan.boost.n_rounds) if verbose else None,
                predict=so_far.predict,
                booster=so_far.booster,
                keeper=None if keeping is None else Checkpoint(keeping, training, data.schema, so_far.kept),
            )
            kept = {"_attributes": attributes} if attributes else {}
            kept |= UNTOLD if start is not None else trained_on(given.X, training.codes, trained.forest)
            learned = self._learned(trained, plan, found) | training.judged(data.schema, data.classes)
            self._set_trained(trained, data, learned | kept)
            return self

    def _options(self) -> XGBOptions:
        """The parameters as a validated record, with defaults for None."""
        defaults = self._constructor()
        usual = {name: defaults[name].default for name in ALIASES.values() if name in defaults}
        return read_options(type(self).__name__, self._all_params(), usual)

    def _read_start(self, xgb_model: object) -> BaseXGB | None:
        """The model to go on from, given as such or as a file."""
        if xgb_model is None:
            return None
        if isinstance(xgb_model, str | os.PathLike):
            from weald.io.model_file import load

            xgb_model = load(xgb_model)
        owner = type(self).__name__
        if hasattr(xgb_model, "_start_for"):  # a Booster, which has no labels
            return xgb_model._start_for(self)  # type: ignore[no-any-return]
        if type(xgb_model) is not type(self):
            raise DataTypeError(
                f"xgb_model must be a fitted {owner}, a Booster or the path of one; got "
                f"{type(xgb_model).__name__}."
            )
        check_is_fitted(xgb_model)
        return xgb_model

    def _read_training(self, given: Given, options: XGBOptions, start: BaseXGB | None) -> Data:
        """The training rows; a model to go on from lends its columns and classes."""
        owner = type(self).__name__
        known = None if start is None else start._classes_by_output()
        if isinstance(given.X, Store | DaskTable):
            target, classes = self._read_target(given, given.X.n_rows, options, known)
            columns = None if start is None else start.schema_
            return Data(*pages.learnt_rows(given.X, target, given, options, owner, columns), classes)
        table = training_table(given.X, options, owner, None if start is None else start.schema_)
        target, classes = self._read_target(given, table.n_rows, options, known)
        margin = read_margin(given.base_margin, table.n_rows)
        if start is not None:
            return Data(start.schema_, Rows(table, target, margin), classes)
        schema, aligned = learn_columns(table, target.weight, unknown=options.unknown, owner=owner)  # type: ignore[arg-type]
        return Data(schema, Rows(aligned, target, margin), classes)

    def _make_plan(self, options: XGBOptions, data: Data, feature_weights: ColumnLike | None) -> Plan:
        objective, n_classes = self._choose_objective(options, data)
        owner = type(self).__name__
        check_counts(options, data.n_targets, n_classes, owner)
        warn_of_ignored(options, objective, owner, n_classes=n_classes)
        return make_plan(
            options,
            data.schema,
            data.rows.target,
            in_memory=data.rows.pages is None,
            objective=objective,
            n_classes=n_classes,
            feature_weights=feature_weights,
            owner=owner,
        )

    def _read_sets(
        self,
        sets: Sequence[Given],
        names: Sequence[str] | None,
        training: Given,
        options: XGBOptions,
        data: Data,
    ) -> list[Watched]:
        """The sets of `eval_set`; one that is the training rows themselves is not read again.

        Where a share of the rows is held out, the user's rows are no longer the training rows.
        """
        watched = []
        for i, given in enumerate(sets):
            name = f"validation_{i}" if names is None else names[i]
            if given.same_rows(training) and not isinstance(options.early_stopping, float):
                n_rows = data.rows.target.n_rows
                with naming_set(given.where):
                    weight = self._set_weight(given, n_rows, data.rows.target)
                watched.append(Watched(name, None, weight))
            else:
                watched.append(Watched(name, self._read_set(given, options, data)))
        return watched

    def _read_set(self, given: Given, options: XGBOptions, data: Data) -> Rows:
        with naming_set(given.where):
            unweighted = replace(options, class_weight=None)
            if isinstance(given.X, Store | DaskTable):
                target, _ = self._read_target(given, given.X.n_rows, unweighted, data.classes)
                return pages.coded_rows(given.X, target, given, data.schema, data.rows.pages)
            table = aligned_table(given.X, data.schema, options, type(self).__name__)
            target, _ = self._read_target(given, table.n_rows, unweighted, data.classes)
            return Rows(table, target, read_margin(given.base_margin, table.n_rows))

    def _set_weight(self, given: Given, n_rows: int, target: BoostTarget) -> NDArray[np.float64] | None:
        """The weights of the training rows as a set; a ranker gives queries weights."""
        return read_weight(given.sample_weight, n_rows=n_rows)

    def _hold_out(self, options: XGBOptions, data: Data, plan: Plan) -> tuple[Rows, list[Watched]]:
        """The rows to train on, and those that `early_stopping` measures on."""
        asked: Any = options.early_stopping
        if asked is None or isinstance(asked, str):
            return data.rows, []
        if isinstance(asked, tuple | list):
            opened = isinstance(asked[0], Given)  # it was in files
            given = asked[0] if opened else Given(asked[0], asked[1], where="early_stopping")
            return data.rows, [Watched(HELD_OUT, self._read_set(given, options, data))]
        train, held = hold_out(
            data.rows.target,
            asked,
            plan.boost.seed,
            labels=data.classes is not None,
            owner=type(self).__name__,
        )
        return data.rows.take(train), [Watched(HELD_OUT, data.rows.take(held))]

    def _choose_rounds(
        self,
        options: XGBOptions,
        plan: Plan,
        data: Data,
        X: TableLike,
        stopper: EarlyStopping | None,
        *,
        goes_on: bool,
    ) -> tuple[Plan, dict[str, Any]]:
        """With early_stopping="cv": the number of rounds the folds find best, and what they measured."""
        if not isinstance(options.early_stopping, str):
            return plan, {}
        if goes_on:
            raise ParameterError(
                f"early_stopping='cv' of {type(self).__name__} does not go on from xgb_model, which has seen "
                "the rows of every fold. Hold rows out: use early_stopping=0.1 or a set (X, y)."
            )
        parts = self._folds(FOLDS, X, data, plan, stratified=True, name="early_stopping")
        assert stopper is not None
        result = cross_validate(
            plan, parts, wait=stopper.rounds, maximize=stopper.maximize, rates=options.callbacks
        )
        chosen = replace(plan, boost=replace(plan.boost, n_rounds=result.n_rounds))
        learned = {"cv_results_": result.table, "best": (result.best_round, result.best_score)}
        return chosen, learned

    def _folds(
        self,
        cv: Folds,
        X: TableLike,
        data: Data,
        plan: Plan,
        *,
        stratified: bool,
        name: str,
        owner: str | None = None,
        shuffle: bool = True,
    ) -> list[tuple[Rows, Rows]]:
        return fold_rows(
            cv,
            X,
            data.rows,
            labels=data.classes is not None,
            stratified=stratified,
            classes=data.classes,
            seed=plan.boost.seed,
            owner=owner or type(self).__name__,
            name=name,
            shuffle=shuffle,
        )

    def get_booster(self) -> Booster:
        """The fitted model under xgboost's native names.

        Returns
        -------
        Booster
            The same one until the next `fit`; what is set on it does not change the estimator.
        """
        check_is_fitted(self)
        from weald.estimators.xgboost.native.booster import Booster

        if "_booster" not in self.__dict__:
            self._booster = Booster._of_estimator(self, dict(self.__dict__.get("_attributes", {})))
        return self._booster

    # ------------------------------------------------------------------ what fit leaves

    def _learned(self, trained: Trained, plan: Plan, found: dict[str, Any]) -> dict[str, Any]:
        """The fitted attributes besides forest and columns."""
        best_round, best_score = found.get("best", (trained.best_round, trained.best_score))
        learned: dict[str, Any] = self._planned(plan) | {
            "objective_": trained.objective,
            "_best": None if best_round is None else (int(best_round), float(best_score)),
        }
        if trained.evals_result:
            learned["evals_result_"] = trained.evals_result
        if "cv_results_" in found:
            learned["cv_results_"] = found["cv_results_"]
        return learned

    def _planned(self, plan: Plan) -> dict[str, Any]:
        """The fitted attributes that the plan tells."""
        binned = plan.boost.tree_method != "exact"
        return {
            "tree_method_": plan.boost.tree_method,
            "max_bin_": plan.boost.max_bin if binned else None,
            "learning_rate_": plan.boost.learning_rate,
        }

    def _set_trained(self, trained: Trained, data: Data, learned: dict[str, Any]) -> None:
        self._set_fitted(trained.forest, data.schema, data.classes, learned | {"n_outputs_": data.n_targets})

    def _set_fitted(
        self,
        forest: Forest,
        schema: Schema,
        classes: tuple[NDArray[Any], ...] | None,
        learned: dict[str, Any],
    ) -> None:
        """Assign everything a fit (or a model file) brings, at once, and forget what it does not bring."""
        taken: dict[str, Any] = UNTOLD | {
            "forest_": forest,
            "schema_": schema,
            "n_rounds_": int(forest.tree_round[-1]) + 1 if forest.n_trees else 0,
        }
        if classes is not None:
            taken |= {
                "classes_": list(classes) if len(classes) > 1 else classes[0],
                "n_classes_": max(len(labels) for labels in classes),  # two for each of several questions
            }
        forgotten = (
            "evals_result_",
            "cv_results_",
            "classes_",
            "n_classes_",
            "_booster",
            "_attributes",
            "_resumable",
            "io_",
        )
        set_fitted(self, taken | learned, schema=schema, forgotten=forgotten)
