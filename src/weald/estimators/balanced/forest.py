"""`BalancedRandomForestClassifier`: a forest whose bags have as many rows of every class.

Names, defaults and attributes are imbalanced-learn's, so that code moves by changing an import. Bags are
drawn by counter in the one native call; nothing is copied.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from weald.arrays import (
    CategoricalFeatures,
    Floats,
    MonotoneConstraints,
    RandomState,
    TableLike,
    TargetLike,
)
from weald.data.table import Table
from weald.data.target import warn_of_column
from weald.data.training import used_rows
from weald.engine import thread_count
from weald.errors import DataError, ParameterError
from weald.estimators.balanced.class_rows import Strategy, class_draws, labels_of
from weald.estimators.balanced.options import BalancedForestOptions
from weald.estimators.balanced.out_of_bag_map import out_of_bag_map
from weald.estimators.balanced.plain_forest import TwoForests, plain_forest
from weald.estimators.balanced.prior_shift import PriorShift
from weald.estimators.forest.options import ForestOptions
from weald.estimators.forest.random_forest import RandomForestClassifier
from weald.estimators.shared.class_weight import ClassWeight, Weights
from weald.estimators.shared.coded import Coded
from weald.estimators.shared.fitted import Target
from weald.estimators.shared.growth import row_limit
from weald.model.forest import Forest
from weald.parameters import GrowthOptions
from weald.resampling.calibration import ShareMap
from weald.rows.bags import BagRecord
from weald.rows.growth import ClassDraws, GrowOptions
from weald.uncertainty.trees import Drawn

if TYPE_CHECKING:
    from sklearn.utils import Tags


class BalancedRandomForestClassifier(TwoForests):
    """A random forest whose trees learn from as many rows of every class.

    Every tree draws, from each class, as many rows as the rarest class has (or as `sampling_strategy` says),
    and every node looks at some columns, drawn anew. So no class is rare to a tree, and all rows of the
    frequent ones are used by the forest. `predict` decides as the balanced trees vote; `predict_proba` undoes
    the shift that balancing makes, so that probabilities fit the class shares of the training rows.

    Parameters
    ----------
    n_estimators : int, default=100
        How many trees.
    criterion : {"gini", "entropy", "log_loss", "misclassification"}, default="gini"
        What a split lowers. "log_loss" is another name of "entropy".
    max_depth : int, default=None
        The most splits between the root and a leaf; None for no limit.
    min_samples_split : int or float, default=2
        The fewest rows a node must have to be split; a float is a fraction of the rows.
    min_samples_leaf : int or float, default=1
        The fewest rows of a leaf; a float is a fraction of the rows.
    min_weight_fraction_leaf : float, default=0.0
        The least weight of a leaf, as a fraction of the weight of its tree's rows.
    max_features : int, float, {"sqrt", "log2", "log2+1", "third"}, default="sqrt"
        How many columns a node looks at, drawn anew for each node; None for all. If none of them can be
        split, it looks on.
    max_leaf_nodes : int, default=None
        The most leaves of a tree, which then grows best-first.
    min_impurity_decrease : float, default=0.0
        A split must lower the criterion by this much, weighted by the node's share of the weight.
    bootstrap : bool, default=False
        Whether to draw once more, with replacement, from the balanced rows of a tree.
    oob_score : bool or callable, default=False
        Whether to judge every row by the trees that did not see it: by accuracy, or by a metric
        of yours, called as metric(y_true, y_pred).
    sampling_strategy : float, str, dict or callable, default="all"
        How many rows of which class a tree gets: "all" draws from every class as many as the rarest has,
        "not minority" (or "auto") from every class but that, whose rows every tree has; "majority" and "not
        majority" likewise. A number is the ratio of the two classes in a bag, rare to frequent; a dict gives
        rows by label, a function such a dict of the labels.
    replacement : bool, default=True
        Whether a row may be drawn again among those of its class.
    correct_prior : bool or "blend", default=True
        Whether `predict_proba` and `oob_decision_function_` give probabilities under the class shares of the
        training rows, fitted on rows that trees did not see. With "blend" a forest of the rows as they are
        takes part in them, which takes as long as a RandomForestClassifier. False for those of balanced
        classes, as imbalanced-learn's. `predict` is the same in all.
    n_jobs : int, default=None
        Threads; None for every CPU of the process, -1 for the same, -2 for all but one. The forest does not
        depend on it.
    random_state : int or RandomState, default=None
        What all draws start from; None draws anew every time.
    verbose : int, default=0
        1 for a progress bar.
    warm_start : bool, default=False
        Whether `fit` adds trees to those of the last fit, up to `n_estimators`, instead of starting anew; on
        the same table.
    class_weight : {"balanced", "balanced_subsample"} or dict, default=None
        Factors for the weights of the classes, besides what is drawn of them; `correct_prior` leaves them.
    ccp_alpha : float, default=0.0
        Prune every tree: of all subtrees, take the one with the lowest impurity + ccp_alpha times the number
        of leaves.
    max_samples : int or float, default=None
        How many rows `bootstrap` draws; a float is a fraction of the balanced rows, None stands for as many.
    monotonic_cst : list or dict, default=None
        Columns along which predictions may only rise (1) or only fall (-1); 0 for no constraint. One number
        a column, or a dict from column name to number.
    feature_combinations : int or (int, int), default=None
        Split on linear combinations of so many numeric columns, drawn anew in every node with coefficients
        between -1 and 1 of the standardised columns; the second number says how many are tried in a node, by
        default as many as `max_features` says. Useful where there are few columns. Categories are split as
        usual; a row that misses one of the values misses the combination.
    cat_penalty : float, default=1.0
        A split by categories is chosen by its gain less what so many categories gain by chance: for each
        beyond the first, so many rows' worth of the node's impurity. Splits in the categories' order in the
        whole tree, which chance in the node did not make, have less to gain. 0 chooses by the gain alone,
        which favours columns of many categories.
    max_bins : int, default=None
        None for exact splits; else numeric columns are cut into at most this many quantile bins.
    leaf_dtype : {"float64", "float32"}, default="float64"
        How leaf values are rounded: to float32 they take half the room in a file. Shares of whole rows are
        stored as counts either way.
    categorical_features : list of names, positions or bools, default=None
        Numeric columns to treat as categories; None (or "from_dtype") to go by the columns' types.
    unknown : {"missing", "error"}, default="missing"
        What to do at predict with categories that training did not see.

    Attributes
    ----------
    estimators_ : sequence of DecisionTreeClassifier
        The trees, made when asked for.
    classes_ : ndarray of shape (n_classes_,)
        The labels, sorted.
    n_classes_ : int
        How many labels.
    sampling_strategy_ : dict
        How many rows of each class a tree gets, by label.
    feature_importances_ : ndarray of shape (n_features_in_,)
        How much the splits on each column lowered the criterion, scaled to add up to 1.
    n_features_in_ : int
        How many columns the table had.
    feature_names_in_ : ndarray
        Their names; only if all of them are text.
    oob_score_ : float
        The score of the rows, each judged by the trees that did not see it; only with `oob_score`.
    oob_decision_function_ : ndarray of shape (n_rows, n_classes_)
        The probabilities that these trees give; NaN, with a warning, for rows that every tree saw.
    forest_ : Forest
        The trees as weald keeps them.
    plain_forest_ : RandomForestClassifier or None
        The forest of the rows as they are, if it takes part in probabilities.
    estimators_samples_ : list of ndarray
        The rows of each tree, each as often as it was drawn.
    estimator_ : DecisionTreeClassifier
        A tree as the forest grows them, not fitted.
    bags_ : BagRecord
        What tells which rows each tree had.
    schema_ : Schema
        What the model remembers of its columns.

    Examples
    --------
    >>> from weald import BalancedRandomForestClassifier
    >>> X = [[float(i)] for i in range(40)]
    >>> y = ["usual"] * 36 + ["rare"] * 4
    >>> model = BalancedRandomForestClassifier(random_state=0).fit(X, y)
    >>> model.predict([[3.0], [38.0]])
    array(['usual', 'rare'], dtype='<U5')
    >>> model.sampling_strategy_
    {'rare': 4, 'usual': 4}
    """

    _options = BalancedForestOptions
    #: bags lack rows without `bootstrap` too
    _draws_classes = True
    _splitter = "best"

    #: None where nothing tells it: the prior is corrected then
    _share_map: ShareMap | None = None
    plain_forest_: RandomForestClassifier | None = None

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: bool | Callable[..., float] = False,
        sampling_strategy: Strategy = "all",
        replacement: bool = True,
        correct_prior: bool | Literal["blend"] = True,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int | bool = 0,
        warm_start: bool = False,
        class_weight: ClassWeight = None,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: MonotoneConstraints = None,
        feature_combinations: int | tuple[int, int] | None = None,
        cat_penalty: float = 1.0,
        max_bins: int | None = None,
        leaf_dtype: str = "float64",
        categorical_features: CategoricalFeatures = None,
        unknown: str = "missing",
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.sampling_strategy = sampling_strategy
        self.replacement = replacement
        self.correct_prior = correct_prior
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.feature_combinations = feature_combinations
        self.cat_penalty = cat_penalty
        self.max_bins = max_bins
        self.leaf_dtype = leaf_dtype
        self.categorical_features = categorical_features
        self.unknown = unknown

    @property
    def sampling_strategy_(self) -> dict[object, int]:
        """How many rows of each class a tree gets, by label."""
        check_is_fitted(self)
        labels = cast("NDArray[Any]", self.classes_)
        return dict(zip(labels.tolist(), self._by_class().in_bag, strict=True))

    def predict_proba(self, X: TableLike) -> NDArray[np.float64]:
        """The probabilities of the classes: mean shares of the trees, under the shares of the training rows.

        Parameters
        ----------
        X : table
            As in `fit`; columns are matched by name if they have names.

        Returns
        -------
        ndarray of shape (n_rows, n_classes_)
            Shares that add up to 1, in the order of `classes_`. With `correct_prior=False` those of the
            balanced trees, whose largest `predict` takes either way.
        """
        shares = cast(Floats, super().predict_proba(X))
        plain = None
        if self.plain_forest_ is not None and self._checked_options().correct_prior:
            plain = cast(Floats, self.plain_forest_.predict_proba(X))
        return self._corrected(shares, self._by_class(), self._share_map, plain)

    def _corrected(
        self, shares: Floats, by_class: ClassDraws, share_map: ShareMap | None, plain: Floats | None = None
    ) -> Floats:
        if not self._checked_options().correct_prior:
            return shares
        if share_map is not None:
            return share_map(shares, plain)
        return PriorShift.of(by_class.n_rows, by_class.in_bag).undone(shares)

    def _by_class(self) -> ClassDraws:
        assert self.bags_.by_class is not None
        return self.bags_.by_class

    def _read_target(
        self, y: TargetLike | None, n_rows: int, weight: Weights | None, options: GrowthOptions
    ) -> Target:
        target = super()._read_target(y, n_rows, weight, options)
        if target.n_outputs == 1:
            warn_of_column(y)
        return target

    def _class_draws(
        self, options: BalancedForestOptions, target: Target
    ) -> tuple[ClassDraws, NDArray[np.int32]]:
        """The rows that a tree gets of each class, and the class of each row."""
        owner = type(self).__name__
        labels = labels_of(target, used_rows(target.weight), owner)
        assert target.classes is not None
        drawn = class_draws(options.sampling_strategy, options.replacement, target.classes[0], labels, owner)
        return drawn, labels

    def _bag_record(self, options: ForestOptions, target: Target, n_rows: int) -> BagRecord:
        by_class, labels = self._class_draws(cast(BalancedForestOptions, options), target)
        plain = super()._bag_record(options, target, n_rows)
        n_draws = self._n_draws(options, sum(by_class.in_bag))
        record = replace(plain, n_draws=n_draws, by_class=by_class, labels=labels)
        if options.oob_score and not record.leaves_rows_out:
            raise ParameterError(
                f"`oob_score` of {type(self).__name__} needs trees that lack some rows, and all trees have "
                "all rows. Use replacement=True, bootstrap=True, or a sampling_strategy that leaves rows out."
            )
        return record

    def _check_drawing(self, options: ForestOptions) -> None:
        super()._check_drawing(replace(options, oob_score=False))

    def _same_draws(self, options: ForestOptions, target: Target) -> bool:
        by_class, labels = self._class_draws(cast(BalancedForestOptions, options), target)
        same_rows = self.bags_.labels is None or np.array_equal(labels, self.bags_.labels)
        n_draws = self._n_draws(options, sum(by_class.in_bag))
        return same_rows and by_class == self.bags_.by_class and n_draws == self.bags_.n_draws

    def _told_bags(self, target: Target) -> BagRecord:
        if target.classes is None:
            return self.bags_  # whose labels are there unless it comes from a file, which it then says
        labels = labels_of(target, used_rows(target.weight), type(self).__name__)
        counts = np.bincount(labels[labels >= 0], minlength=len(self.classes_))
        if tuple(counts.tolist()) != self._by_class().n_rows:
            raise DataError(
                f"{type(self).__name__} was fitted on {list(self._by_class().n_rows)} rows of the classes, "
                f"and y has {counts.tolist()}. Give the labels and the sample_weight that it was fitted with."
            )
        return replace(self.bags_, labels=labels)

    def _drawn(self, method: str, weight: NDArray[np.float64] | None, needs_bags: bool = True) -> Drawn:
        raise ParameterError(
            f"{method} of {type(self).__name__} is not known: both jackknives take every row to be as likely "
            "in a bag as any other, and balancing makes rows of rare classes more so. Use "
            "RandomForestClassifier."
        )

    def _growth(self, coded: Coded) -> GrowOptions:
        """What shapes every tree; fractions of rows are those of a bag."""
        options = cast(BalancedForestOptions, coded.options)
        n_rows = sum(self._class_draws(options, coded.target)[0].in_bag)
        return replace(
            super()._growth(coded),
            min_rows_split=row_limit(options.min_samples_split, n_rows, 2),
            min_rows_leaf=row_limit(options.min_samples_leaf, n_rows, 1),
        )

    def _out_of_bag(
        self,
        forest: Forest,
        past: Self | None,
        table: Table,
        record: BagRecord,
        target: Target,
        options: ForestOptions,
    ) -> dict[str, Any]:
        found = super()._out_of_bag(forest, past, table, record, target, options)
        own, n_threads = cast(BalancedForestOptions, options), thread_count(options.n_jobs)
        plain, unseen, share_map = None, None, None
        if past is not None and forest.n_trees == past.forest_.n_trees:
            plain, share_map = past.plain_forest_, past._share_map
        elif own.correct_prior:
            if own.correct_prior == "blend":
                plain, unseen = plain_forest(self)
            share_map = out_of_bag_map(forest, table, record, target.weight, n_threads, unseen)
            if share_map is None or not share_map.blends:
                plain, unseen = None, None
        shares = found.get("oob_decision_function_")
        if shares is not None and (past is None or shares is not vars(past).get("oob_decision_function_")):
            assert record.by_class is not None
            found["oob_decision_function_"] = self._corrected(shares, record.by_class, share_map, unseen)
        return found | {"_share_map": share_map, "plain_forest_": plain}

    def __sklearn_tags__(self) -> Tags:
        """What scikit-learn may expect of the targets this takes: one column of labels."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = tags.target_tags.multi_output
        tags.target_tags.multi_output = tags.classifier_tags.multi_label = False
        return tags
