"""`plot_learning_curve`: errors by rounds, from what a fit recorded; or scores by the number of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.arrays import AnyEstimator, AnyTable, Estimator, Floats, Folds, RandomState, TableLike, TargetLike
from weald.data.frames.user_rows import indexable, take
from weald.errors import DataTypeError, ParameterError, listing, nearest
from weald.pictures.axes import GREY, PALE, SMALL, legend_in, new_axes, quiet
from weald.pictures.colours import class_colour, tint

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OWNER = "plot_learning_curve"
_STYLES = ("-", "--", "-.", ":")

#: curve name → value of each round, and its deviation over folds where there are folds
_Found = dict[str, tuple[Floats, Floats | None]]


def plot_learning_curve(
    model: Estimator | Mapping[str, object],
    X: TableLike | None = None,
    y: TargetLike | None = None,
    *,
    metric: str | None = None,
    sizes: Sequence[float] | None = None,
    cv: Folds = 5,
    scoring: str | Callable[..., float] | None = None,
    random_state: RandomState = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw how a model learns: by rounds from what its fit recorded, or by the number of rows.

    Without X: the sets that were measured while it was trained. `evals_result()` of `XGB*`, with the best
    round of early stopping; `train_score_`, `validation_scores_` and `oob_scores_` of `GradientBoosting*`;
    the errors of AdaBoost; a dict as `weald.train` fills, or as `weald.cv` gives, with deviations over folds.
    With X and y: training and validation scores of clones, fitted on more and more rows in each fold.

    Parameters
    ----------
    model : estimator, or dict
        Fitted for a curve by rounds; or recorded values.
    X, y : table, array-like of shape (n_rows,), default=None
        Rows, for a curve by rows.
    metric : str, default=None
        Which metric of those recorded; None for the last, which decides early stopping.
    sizes : sequence of float, default=None
        Shares of the training rows; None for 0.1, 0.325, 0.55, 0.775 and 1.
    cv : int or splitter, default=5
        The folds.
    scoring : str or callable, default=None
        scikit-learn's scoring; None for the model's own score.
    random_state : int, RandomState or None, default=0
        The order in which rows are added.
    ax : matplotlib axes, default=None
        Where to draw; None for a new figure.

    Returns
    -------
    matplotlib axes
        With the picture on them.

    Examples
    --------
    >>> import weald
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]] * 5, [0, 0, 1, 1] * 5
    >>> model = weald.XGBClassifier(n_estimators=5).fit(X, y, eval_set=[(X, y)])
    >>> weald.plot_learning_curve(model).get_xlabel()
    'rounds'
    """
    if X is None:
        if y is not None:
            raise ParameterError(f"{_OWNER} got y without X. Give both, for a curve by rows.")
        found, name, best = _recorded(model, metric)
        axes = new_axes(ax, _OWNER)
        _draw_rounds(axes, found, best)
        quiet(axes, xlabel="rounds", ylabel=name)
    else:
        axes = new_axes(ax, _OWNER)
        _draw_rows(axes, model, X, y, sizes, cv, scoring, random_state)
    legend_in(axes)
    return axes


# --------------------------------------------------------------------------- by rounds


def _recorded(model: object, metric: str | None) -> tuple[_Found, str, int | None]:
    """The curves, what they measure, and the best round where one was chosen."""
    if isinstance(model, Mapping):
        if all(isinstance(value, Mapping) for value in model.values()) and model:
            return *_of_sets(model, metric), None
        return *_of_folds(model, metric), None
    if hasattr(model, "columns") and hasattr(model, "__getitem__"):  # a frame that weald.cv gave
        return *_of_folds({str(name): list(model[name]) for name in model.columns}, metric), None
    if hasattr(model, "evals_result"):
        best = getattr(model, "_best", None)
        return *_of_sets(model.evals_result(), metric), None if best is None else int(best[0])
    if hasattr(model, "train_score_"):
        kept = {"training": "train_score_", "held out": "validation_scores_", "out of bag": "oob_scores_"}
        found: _Found = {
            word: (np.asarray(getattr(model, name), np.float64), None)
            for word, name in kept.items()
            if len(getattr(model, name, ()))
        }
        return found, f"loss ({getattr(model, '_loss_name', 'training')})", None
    if hasattr(model, "rounds_"):
        return _of_adaboost(model)
    raise DataTypeError(
        f"{type(model).__name__} recorded no curve by rounds. Give X and y for a curve by rows: "
        f"{_OWNER}(model, X, y)."
    )


def _of_sets(results: Mapping[str, Any], metric: str | None) -> tuple[_Found, str]:
    metrics = list(dict.fromkeys(name for by_metric in results.values() for name in by_metric))
    chosen = _chosen(metrics, metric)
    found: _Found = {}
    for name, by_metric in results.items():
        if chosen in by_metric:
            pairs = np.asarray(by_metric[chosen], np.float64)
            found[str(name)] = (pairs, None) if pairs.ndim == 1 else (pairs[:, 0], pairs[:, 1])
    return found, chosen


def _of_folds(columns: Mapping[str, Any], metric: str | None) -> tuple[_Found, str]:
    means = [name for name in columns if name.endswith("-mean")]
    if not means:
        raise DataTypeError(
            f"{_OWNER} takes recorded values as weald.train fills evals_result, or as weald.cv gives them: "
            f"'test-rmse-mean', …; got {listing(list(columns))}."
        )
    parts = [name.removesuffix("-mean").split("-", 1) for name in means]
    chosen = _chosen(list(dict.fromkeys(part[1] for part in parts)), metric)
    found: _Found = {}
    for data, name in parts:
        if name == chosen:
            deviation = columns.get(f"{data}-{name}-std")
            found[data] = (
                np.asarray(columns[f"{data}-{name}-mean"], np.float64),
                None if deviation is None else np.asarray(deviation, np.float64),
            )
    return found, chosen


def _of_adaboost(model: AnyEstimator) -> tuple[_Found, str, int | None]:
    found: _Found = {}
    if not np.isnan(model.rounds_.training_error).all():
        found["training, all members so far"] = (model.rounds_.training_error, None)
    held = getattr(model, "validation_errors_", None)
    if held is not None and len(held):
        found["held out"] = (np.asarray(held, np.float64), None)
    found["weighted error of the member"] = (np.asarray(model.rounds_.error, np.float64), None)
    return found, "error", None


def _chosen(metrics: list[str], asked: str | None) -> str:
    if asked is None:
        return metrics[-1]
    if asked not in metrics:
        close = nearest(str(asked), metrics)
        hint = f"Did you mean {close!r}?" if close else f"Recorded are {listing(metrics)}."
        raise ParameterError(f"`metric` of {_OWNER} is {asked!r}, which was not recorded. {hint}")
    return asked


def _draw_rounds(axes: Axes, found: _Found, best: int | None) -> None:
    for k, (name, (values, deviation)) in enumerate(found.items()):
        rounds = np.arange(1, len(values) + 1)
        colour = class_colour(k)
        if deviation is not None:
            band = (values - deviation, values + deviation)
            axes.fill_between(rounds, *band, color=tint(colour, 0.3), linewidth=0, alpha=0.6, zorder=1)
        style = _STYLES[k % len(_STYLES)]
        mark = "o" if len(values) == 1 else None
        axes.plot(
            rounds, values, color=colour, linestyle=style, linewidth=1.8, label=name, marker=mark, zorder=2
        )
    if best is not None:
        axes.axvline(best + 1, color=GREY, linewidth=1.0, linestyle=":", zorder=0)
        axes.annotate(
            f"best: {best + 1}",
            (best + 1, 1.0),
            xycoords=axes.get_xaxis_transform(),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            fontsize=SMALL,
            color=GREY,
        )
    axes.grid(axis="y", color=PALE, linewidth=0.5)
    axes.set_axisbelow(True)
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


# --------------------------------------------------------------------------- by rows


def _draw_rows(
    axes: Axes,
    model: object,
    X: TableLike,
    y: TargetLike | None,
    sizes: Sequence[float] | None,
    cv: Folds,
    scoring: str | Callable[..., float] | None,
    random_state: RandomState,
) -> None:
    if y is None:
        raise ParameterError(f"{_OWNER} by rows needs y beside X.")
    shares = np.linspace(0.1, 1.0, 5) if sizes is None else np.asarray(sizes, np.float64)
    if shares.ndim != 1 or not len(shares) or not ((shares > 0) & (shares <= 1)).all():
        raise ParameterError(f"`sizes` of {_OWNER} must be shares above 0 and at most 1; got {sizes!r}.")
    n_rows, train, test = _scores_by_rows(
        model, indexable(X), np.asarray(y), shares, cv, scoring, random_state
    )
    for k, (name, scores) in enumerate((("training", train), ("validation", test))):
        mean, deviation, colour = scores.mean(axis=1), scores.std(axis=1), class_colour(k)
        axes.fill_between(
            n_rows, mean - deviation, mean + deviation, color=tint(colour, 0.3), linewidth=0, alpha=0.6
        )
        axes.plot(
            n_rows,
            mean,
            color=colour,
            linestyle=_STYLES[k],
            marker="o",
            markersize=4,
            linewidth=1.8,
            label=name,
        )
    axes.grid(axis="y", color=PALE, linewidth=0.5)
    axes.set_axisbelow(True)
    words = scoring if isinstance(scoring, str) else "score"
    quiet(axes, xlabel="training rows", ylabel=words, title=f"mean ± deviation over {test.shape[1]} folds")


def _scores_by_rows(
    model: AnyEstimator,
    X: AnyTable,
    y: NDArray[Any],
    shares: Floats,
    cv: Folds,
    scoring: str | Callable[..., float] | None,
    random_state: RandomState,
) -> tuple[Floats, Floats, Floats]:
    """Rows, and the scores of training and validation: (sizes,), (sizes, folds) twice."""
    from sklearn.base import clone, is_classifier
    from sklearn.metrics import check_scoring
    from sklearn.model_selection import check_cv
    from sklearn.utils import check_random_state

    scorer = check_scoring(model, scoring)
    rng = check_random_state(random_state)
    splitter = check_cv(cv, y, classifier=is_classifier(model))
    counts, train, test = [], [], []
    for seen, held in splitter.split(np.zeros((len(y), 1)), y):
        seen = rng.permutation(seen)
        rows = [seen[: max(1, round(share * len(seen)))] for share in shares.tolist()]
        fitted = [clone(model).fit(take(X, np.sort(part)), y[np.sort(part)]) for part in rows]
        counts.append([len(part) for part in rows])
        train.append([scorer(each, take(X, part), y[part]) for each, part in zip(fitted, rows, strict=True)])
        test.append([scorer(each, take(X, held), y[held]) for each in fitted])
    return np.mean(counts, axis=0), np.array(train).T, np.array(test).T
