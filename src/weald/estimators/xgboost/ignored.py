"""Parameters that were given and change nothing: each is named in a warning, with what would work."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

from weald.errors import IgnoredParameterWarning, outside
from weald.estimators.xgboost.options import GPU_HIST, RANKING_PARAMETERS, XGBOptions

#: which objectives read a parameter, and the metric that does
_READERS: dict[str, tuple[tuple[str, ...], str | None]] = {
    "scale_pos_weight": (("binary:logistic", "binary:logitraw", "reg:logistic"), None),
    "tweedie_variance_power": (("reg:tweedie",), "tweedie-nloglik"),
    "huber_slope": (("reg:pseudohubererror",), "mphe"),
    "quantile_alpha": (("reg:quantileerror",), "quantile"),
    **dict.fromkeys(RANKING_PARAMETERS, (("rank:ndcg", "rank:pairwise", "rank:map"), None)),
    "ndcg_exp_gain": (("rank:ndcg", "rank:pairwise", "rank:map"), "ndcg"),
}


def warn_of_ignored(
    options: XGBOptions,
    objective: str | Callable[..., Any] | None,
    owner: str,
    *,
    n_classes: int | None,
) -> None:
    """Warn of every parameter that this training does not read.

    Parameters
    ----------
    options : XGBOptions
        The parameters.
    objective : str or callable
        What is trained with.
    owner : str
        The estimator's name, for the message.
    n_classes : int or None
        The number of classes; None for numbers.
    """
    for message in _messages(options, objective, owner, n_classes):
        warnings.warn(message, IgnoredParameterWarning, stacklevel=outside())


def _messages(
    options: XGBOptions, objective: str | Callable[..., Any] | None, owner: str, n_classes: int | None
) -> Iterator[str]:
    if options.device not in (None, "cpu"):
        yield f"device={options.device!r} of {owner} has no effect: weald runs on the CPU. Leave it out."
    if options.tree_method == GPU_HIST:
        yield f"tree_method={GPU_HIST!r} of {owner} runs on the CPU as 'hist'. Use tree_method='hist'."
    if options.booster != "dart":
        for name, usual in (("sample_type", "uniform"), ("normalize_type", "tree")):
            if getattr(options, name) != usual:
                yield (
                    f"`{name}` of {owner} has no effect with booster={options.booster!r}. Use "
                    "booster='dart', or leave it None."
                )
    for name, (objectives, metric) in _READERS.items():
        value = getattr(options, name)
        unused = value is not None and objective not in objectives and not _measured(options, metric)
        if unused and not (name == "scale_pos_weight" and value == 1):
            what = "a custom objective" if callable(objective) else f"objective={objective!r}"
            yield f"`{name}` of {owner} has no effect with {what}. {_way_out(name, n_classes)}"


def _measured(options: XGBOptions, metric: str | None) -> bool:
    """Whether a metric that reads the parameter was asked for."""
    asked = options.eval_metric
    entries = asked if isinstance(asked, list | tuple) else [asked]
    return metric is not None and any(
        isinstance(entry, str) and entry.partition("@")[0].rstrip("-") == metric for entry in entries
    )


def _way_out(name: str, n_classes: int | None) -> str:
    if name != "scale_pos_weight":
        return "Leave it None."
    if n_classes is not None and n_classes > 2:
        return f"It is for two classes, and y has {n_classes}. Use class_weight or sample_weight."
    return "Use sample_weight."
