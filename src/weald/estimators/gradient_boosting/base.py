"""What `GradientBoostingClassifier` and `GradientBoostingRegressor` share: the steps of `fit`.

`fit` is a list of named steps and assigns attributes last, so an estimator whose fit fails or is interrupted
stays as it was.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_regressor
from sklearn.utils.validation import has_fit_parameter

from weald.arrays import Floats, TableLike, TargetLike, WeightLike
from weald.boosting.loop import run_rounds
from weald.boosting.stage.custom import CustomStageLoss
from weald.boosting.stage.losses import NativeStageLoss, StageLoss
from weald.boosting.stage.options import StageOptions
from weald.boosting.stage.step import HeldOut
from weald.boosting.stage.tree_step import TreeStep
from weald.boosting.stage.watch import StageWatch
from weald.data.adapters import to_table
from weald.data.codes import encode
from weald.data.frames.user_rows import indexable, outline
from weald.data.target import read_weight
from weald.data.training import learn_columns
from weald.engine import thread_count
from weald.errors import DataTypeError, ParameterError
from weald.estimators.bagging.any_members import names_of
from weald.estimators.gradient_boosting.any_bases import BaseStep
from weald.estimators.gradient_boosting.models import BaseRounds, TreeRounds, start_scores
from weald.estimators.gradient_boosting.options import CUSTOM, StageBoostingOptions
from weald.estimators.gradient_boosting.predict import StagePredictions, tree_parameters
from weald.estimators.gradient_boosting.rows import StageData, hold_out
from weald.estimators.gradient_boosting.saving import StageState
from weald.estimators.gradient_boosting.start import EstimatorStart, check_start_weighs, fit_start
from weald.estimators.shared.fitted import FittedForest
from weald.estimators.shared.growth import drawn_seed, max_columns, row_limit
from weald.estimators.shared.members import in_order, limit_input_tags
from weald.estimators.shared.monotone_constraints import check_constrainable, constrained, monotone_directions
from weald.estimators.shared.state import class_attributes, set_fitted
from weald.rows.many_classes import check_scores

if TYPE_CHECKING:
    from sklearn.utils import Tags

#: one value per round
CURVES = ("train_score_", "oob_scores_", "oob_improvement_", "validation_scores_")


class BaseGradientBoosting(StageState, StagePredictions, FittedForest):
    """The shared base; a subclass says how it reads targets, and which losses fit them."""

    _options: ClassVar[type[StageBoostingOptions]]
    _nested = True

    @abstractmethod
    def _read_target(
        self, y: TargetLike | None, n_rows: int, weight: Floats | None, options: StageBoostingOptions
    ) -> tuple[Floats, NDArray[Any] | None]:
        """The target as numbers, and the labels if it has any."""

    def fit(
        self,
        X: TableLike,
        y: TargetLike | None = None,
        sample_weight: WeightLike | None = None,
        monitor: Callable[..., Any] | None = None,
    ) -> Self:
        """Boost.

        Parameters
        ----------
        X : table
            A pandas, polars or Arrow frame, a NumPy array, a SciPy sparse matrix (what it does not store is
            0) or a list of rows. Missing values are welcome in every column; text and unordered categories
            are split by sets, ordered categories by rank. With `estimator` the table is what that takes.
        y : array-like of shape (n_rows,)
            The target: labels of any type for a classifier, finite numbers for a regressor.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of at least 0. A row of weight 0 counts as absent.
        monitor : callable, default=None
            Called after each round as monitor(round, self, facts), with a dict of facts; training stops
            where it returns something true. The estimator has no new attributes before the end of `fit`.

        Returns
        -------
        self
            The fitted estimator.
        """
        options, owner = self._checked_options(), type(self).__name__
        self._check_bases(options)
        past = self._past(options)
        if past is None and sample_weight is not None:
            check_start_weighs(options.init, owner)
        seed = _seed(options) if past is None else self._seed
        data = self._read_data(X, y, sample_weight, options, past)
        train, held = data, None
        if options.n_iter_no_change is not None:
            state = options.random_state if isinstance(options.random_state, int) else seed
            train, held = hold_out(data, options.validation_fraction, state, owner)
        loss = self._bound_loss(options, train)
        if past is not None:
            self._check_past(past, data, loss)
        base, init = fit_start(options.init, loss, train, owner) if past is None else (past.base, past.init)
        step = self._step(options, seed, train, held, loss, base, init, past)
        n_rounds = options.n_estimators - step.next_round
        patience = options.n_iter_no_change
        if patience is not None:  # more than there are rounds is never out of patience
            patience = min(patience, n_rounds + 1)
        watch = StageWatch(
            step,
            patience=patience,
            tol=options.tol,
            monitor=monitor,
            owner=self,
            table=options.loss_table(step.next_round),
        )
        run_rounds(step, n_rounds, options.learning_rate, watch)
        zero = isinstance(options.init, str) if past is None else past.zero
        model = self._model(step, data, base, init, past, zero=zero)
        told = self._curves(watch, past) | train.judged(step)
        self._set_fitted(model, data.classes, told, seed=seed, loss=loss.name)
        return self

    # ------------------------------------------------------------------ what comes before

    def _check_bases(self, options: StageBoostingOptions) -> None:
        """Refuse a base or a loss that cannot be."""
        owner, base = type(self).__name__, options.estimator
        if isinstance(options.loss, str) and options.loss.startswith(CUSTOM):
            raise ParameterError(
                f"`loss`={options.loss!r} of {owner} is the name of a loss from a model file, which does not "
                "keep its code. Set `loss` to the object to train again."
            )
        if base is None:
            return
        if not is_regressor(base):
            raise ParameterError(
                f"`estimator` of {owner} must be a regressor, because it is fitted to pseudo-residuals, "
                f"which are numbers; got a {type(base).__name__}."
            )
        for name, given in (
            ("monotonic_cst", constrained(options.monotonic_cst)),
            ("max_bins", options.max_bins is not None),
        ):
            if given:
                raise ParameterError(
                    f"`{name}` of {owner} is for trees, and `estimator` is given. Leave one of them None."
                )

    def _past(self, options: StageBoostingOptions) -> TreeRounds | BaseRounds | None:
        """The rounds that `warm_start` goes on from."""
        if not options.warm_start or "_model_" not in vars(self):
            return None
        past, owner = self._rounds, type(self).__name__
        if options.n_estimators < past.n_rounds:
            raise ParameterError(
                f"n_estimators={options.n_estimators} must be larger or equal to estimators_.shape[0]="
                f"{past.n_rounds} when warm_start==True: {owner} adds rounds. Use warm_start=False to start "
                "anew."
            )
        if isinstance(past, BaseRounds) != (options.estimator is not None):
            raise ParameterError(
                f"`estimator` of {owner} has become one of another kind, so that `warm_start` cannot go on. "
                "Fit anew with warm_start=False."
            )
        return past

    def _check_past(self, past: TreeRounds | BaseRounds, data: StageData, loss: StageLoss) -> None:
        """Refuse to go on with other columns, labels or outputs."""
        classes = getattr(self, "classes_", None)
        same_classes = classes is data.classes is None or (
            classes is not None and data.classes is not None and np.array_equal(classes, data.classes)
        )
        for differs, what in (
            (data.schema.columns != past.schema.columns, "columns"),
            (not same_classes, "labels"),
            (loss.link != past.link or loss.n_outputs != len(past.base), "a loss of another kind"),
        ):
            if differs:
                raise ParameterError(
                    f"`warm_start` of {type(self).__name__} goes on with the model of the last fit, and now "
                    f"there are other {what}. Use warm_start=False to start anew."
                )

    def _read_data(
        self,
        X: TableLike,
        y: TargetLike | None,
        sample_weight: WeightLike | None,
        options: StageBoostingOptions,
        past: TreeRounds | BaseRounds | None,
    ) -> StageData:
        """All rows, read and checked."""
        owner, trees = type(self).__name__, options.estimator is None
        rows: Any = None
        # An estimator to start from reads them: that of the rounds gone on from, whatever `init` is by now.
        started = past.init is not None if past is not None else _is_estimator(options.init)
        if not trees or started:
            rows = indexable(X)
        if not trees:
            if past is not None:
                rows = in_order(rows, past.schema, owner)
            given = outline(rows)
            schema, aligned, n_rows = names_of(given), None, given.n_rows
            weight = read_weight(sample_weight, n_rows=n_rows)
            target, classes = self._read_target(y, n_rows, weight, options)
        else:
            table = to_table(X, categorical_features=options.categorical_features)
            weight = read_weight(sample_weight, n_rows=table.n_rows)
            target, classes = self._read_target(y, table.n_rows, weight, options)
            schema, aligned = learn_columns(
                table,
                weight,
                unknown=options.unknown,
                owner=owner,
                schema=None if past is None else past.schema,
            )
            if past is not None and rows is not None:
                rows = in_order(rows, schema, owner)
        if weight is not None and (weight == 1).all():
            weight = None
        return StageData(schema, aligned, rows, target, weight, classes)

    def _bound_loss(self, options: StageBoostingOptions, data: StageData) -> StageLoss:
        if isinstance(options.loss, str):
            return NativeStageLoss(
                options.loss,
                data.target,
                data.weight,
                n_classes=data.n_classes,
                alpha=getattr(options, "alpha", 0.9),
                exact=options.leaf == "exact",
            )
        return CustomStageLoss(options.loss, data.target, data.weight, n_classes=data.n_classes)

    # ------------------------------------------------------------------ the rounds

    def _step(
        self,
        options: StageBoostingOptions,
        seed: int,
        train: StageData,
        held: StageData | None,
        loss: StageLoss,
        base: Floats,
        init: EstimatorStart | None,
        past: TreeRounds | BaseRounds | None,
    ) -> TreeStep | BaseStep:
        """Rows and scores made ready to be boosted."""
        settings = self._stage_options(options, train, seed)
        check_scores(train.n_rows, len(base), "a raw score, a gradient and a curvature", 3)
        scores = start_scores(train, base, init, past, settings.n_threads)
        followed = None
        if held is not None:
            held_scores = start_scores(held, base, init, past, settings.n_threads)
            followed = HeldOut(held.rows, held.target, held.weight, held_scores)
        if options.estimator is None:
            codes = encode(
                train.rows, max_bins=options.max_bins, weight=train.weight, n_threads=settings.n_threads
            )
            start = past.forest if isinstance(past, TreeRounds) else None
            return TreeStep(codes, loss, settings, scores, train.weight, followed, start)
        template = clone(options.estimator)
        weighs = has_fit_parameter(template, "sample_weight")
        if train.weight is not None and not weighs:
            raise DataTypeError(
                f"sample_weight was given, and {type(template).__name__}.fit (`estimator` of "
                f"{type(self).__name__}) takes none. Leave it out, or use an estimator that takes it."
            )
        rounds = past.rounds if isinstance(past, BaseRounds) else None
        return BaseStep(
            template, train.X, loss, settings, scores, train.weight, followed, rounds, weighs=weighs
        )

    def _stage_options(self, options: StageBoostingOptions, data: StageData, seed: int) -> StageOptions:
        """The parameters in the loop's words."""
        owner = type(self).__name__
        n_rows = data.n_rows if data.weight is None else int(np.count_nonzero(data.weight))
        n_columns = len(data.schema.columns)
        looked_at = max_columns(options.max_features, n_columns)
        monotone = None
        if options.estimator is None:
            monotone = monotone_directions(options.monotonic_cst, data.schema, owner)
        if monotone is not None:
            check_constrainable([data.n_classes or 0], 1, owner, None)
        return StageOptions(
            subsample=options.subsample,
            exact_leaves=options.leaf == "exact",
            max_depth=options.max_depth or 0,
            max_leaves=options.max_leaf_nodes or 0,
            min_rows_split=row_limit(options.min_samples_split, n_rows, 2),
            min_rows_leaf=row_limit(options.min_samples_leaf, n_rows, 1),
            min_weight_fraction=options.min_weight_fraction_leaf,
            min_decrease=options.min_impurity_decrease,
            max_columns=looked_at if looked_at < n_columns else 0,
            ccp_alpha=options.ccp_alpha,
            cat_smooth="auto" if options.cat_smooth is None else options.cat_smooth,
            cat_l2=options.cat_l2,
            monotone=monotone,
            binned=options.max_bins is not None,
            seed=seed,
            n_threads=thread_count(options.n_jobs),
        )

    # ------------------------------------------------------------------ what fit leaves

    def _model(
        self,
        step: TreeStep | BaseStep,
        data: StageData,
        base: Floats,
        init: EstimatorStart | None,
        past: TreeRounds | BaseRounds | None,
        *,
        zero: bool,
    ) -> TreeRounds | BaseRounds:
        if isinstance(step, BaseStep):
            return BaseRounds(step.rounds, base, step.loss.link, data.schema, init, zero)
        before = past.grown if isinstance(past, TreeRounds) else ()
        grown = (*before, (step.next_round, tree_parameters(self)))
        return TreeRounds(step.forest(base), data.schema, init, self.categorical_features, zero, grown)

    def _curves(self, watch: StageWatch, past: TreeRounds | BaseRounds | None) -> dict[str, Any]:
        """One value per round, those of the rounds that were there included.

        Rounds that had all rows have 0 out of bag, as in scikit-learn, if others left rows out. Of rows held
        out there are values only if all rounds have one.
        """
        found = watch.curves()
        if past is None:
            return found
        n_new = len(watch.train_score)
        joined = {}
        for name in CURVES:
            before, new = vars(self).get(name, np.zeros(0)), found.get(name, np.zeros(0))
            if name.startswith("oob") and (len(before) or len(new)):
                before = before if len(before) else np.zeros(past.n_rounds)
                new = new if len(new) else np.zeros(n_new)
            if len(before) == past.n_rounds and len(new) == n_new:
                joined[name] = np.concatenate([before, new])
        return joined

    def _set_fitted(
        self,
        model: TreeRounds | BaseRounds,
        classes: NDArray[Any] | None,
        curves: dict[str, Any],
        *,
        seed: int,
        loss: str,
    ) -> None:
        """Assign everything a fit (or a model file) brings, at once, and forget what it does not bring."""
        schema = model.schema
        brought: dict[str, Any] = {
            "_model_": model,
            "_seed": seed,
            "_loss_name": loss,
            "n_estimators_": model.n_rounds,
            "n_trees_per_iteration_": len(model.base),
            "n_outputs_": 1,
            "max_features_": max_columns(self.max_features, len(schema.columns)),
        }
        if isinstance(model, TreeRounds):
            brought |= {"forest_": model.forest, "schema_": schema}
        brought |= class_attributes(None if classes is None else [classes])
        if self.subsample < 1 and len(curves.get("oob_scores_", ())):
            brought["oob_score_"] = float(curves["oob_scores_"][-1])
        forgotten = (*CURVES, "oob_score_", "forest_", "schema_")
        set_fitted(self, brought | curves, schema=schema, forgotten=forgotten)

    def __sklearn_tags__(self) -> Tags:
        """What scikit-learn may expect: tables that the estimators take, if there are any besides trees."""
        tags = super().__sklearn_tags__()
        others = [each for each in (self.estimator, self.init) if _is_estimator(each)]
        if others:
            limit_input_tags(tags, others)
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        """Whether `fit` has ended well once."""
        return "_model_" in vars(self)


def _is_estimator(init: object) -> bool:
    return init is not None and not isinstance(init, str)


def _seed(options: StageBoostingOptions) -> int:
    """What draws start from; drawn itself only if anything is."""
    draws = options.subsample < 1 or options.max_features is not None or options.n_iter_no_change is not None
    return drawn_seed(options.random_state) if draws or options.estimator is not None else 0
