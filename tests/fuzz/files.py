"""The file fuzzer: every kind of model, its file spoilt, loaded within a budget of memory, and used.

`load` gives ModelFileError or a model that works, takes at most ten times the file and 50 MB, and refuses for
a reason: an error of another kind that it had to catch is a finding too.
"""

from __future__ import annotations

import json
import math
import random
import tracemalloc
import warnings
from dataclasses import dataclass
from functools import cache

import numpy as np
from unit.io import boosters, ensembles, forests, machines

import weald
from fuzz import spoil
from fuzz.findings import Finding, patience
from fuzz.use import use_by_kind, use_ensemble, use_machine, use_native
from weald.errors import ModelFileError, WealdError
from weald.io import budget, canonical, container, model_file
from weald.io.kinds import KINDS

#: the size of a file from which it grows no further
_LARGEST = 4_000_000


def _gaps():
    X = machines.numbers().astype(float)
    X[::7, 0] = np.nan
    X[3::11, 2] = np.nan
    return X


OTHERS = {
    "LinearSVC": lambda: (
        weald.LinearSVC(scale=True).fit(boosters.rows(), machines.words()),
        boosters.rows(),
    ),
    "LinearSVR": lambda: (weald.LinearSVR().fit(machines.numbers(), boosters.target()), machines.numbers()),
    "LinearSVC by l1": lambda: (
        weald.LinearSVC(penalty="l1", dual=False, max_iter=200).fit(machines.counts(), machines.words()),
        machines.counts(),
    ),
    "LogisticRegression": lambda: (
        weald.LogisticRegression(scale=True).fit(boosters.rows(), machines.words()),
        boosters.rows(),
    ),
    "stages of classes": lambda: (
        weald.GradientBoostingClassifier(n_estimators=2, max_depth=2).fit(boosters.rows(), machines.words()),
        boosters.rows(),
    ),
    "stages of machines": lambda: (
        weald.GradientBoostingRegressor(
            estimator=weald.LinearSVR(), n_estimators=2, init=weald.DecisionTreeRegressor(max_depth=1)
        ).fit(machines.numbers(), boosters.target()),
        machines.numbers(),
    ),
    "imputer": lambda: (
        weald.ProximityImputer(
            weald.RandomForestClassifier(3, random_state=0), max_iter=2, categorical_features=["code"]
        ).fit(boosters.rows(), machines.words()),
        boosters.rows(),
    ),
    "imputer of numbers": lambda: (
        weald.ProximityImputer(weald.ExtraTreesRegressor(2, max_depth=2, random_state=0), max_iter=1).fit(
            _gaps(), boosters.target()
        ),
        _gaps(),
    ),
    "sets by bags": lambda: (
        weald.Conformal(
            weald.RandomForestClassifier(20, max_depth=2, random_state=0),
            method="jackknife+",
            conformity_score="aps",
            class_conditional=True,
        ).fit(boosters.rows(), machines.words()),
        boosters.rows(),
    ),
    "intervals by leaves": lambda: (
        weald.Conformal(weald.RandomForestRegressor(2, max_depth=3, random_state=0), method="cqr").fit(
            boosters.rows(), boosters.target()
        ),
        boosters.rows(),
    ),
    "intervals by folds": lambda: (
        weald.Conformal(weald.DecisionTreeRegressor(max_depth=2), method="cv+", cv=2).fit(
            boosters.rows(), boosters.target()
        ),
        boosters.rows(),
    ),
    "resampled": lambda: (
        weald.Resampled(
            weald.DecisionTreeClassifier(max_depth=3), weald.RandomOverSampler(random_state=0)
        ).fit(boosters.rows(), machines.words()),
        boosters.rows(),
    ),
    "votes of machines": lambda: (
        weald.VotingClassifier(
            [("a", weald.SVC(probability=True, random_state=0)), ("b", weald.LinearSVC())]
        ).fit(machines.numbers(), machines.words()),
        machines.numbers(),
    ),
    "bags of machines": lambda: (
        weald.BaggingRegressor(weald.SVR(), n_estimators=2, random_state=0).fit(
            machines.numbers(), boosters.target()
        ),
        machines.numbers(),
    ),
    "booster": lambda: (
        weald.train(
            {"objective": "binary:logistic", "max_depth": 2},
            weald.DMatrix(machines.numbers(), label=boosters.target(2)),
            3,
        ),
        weald.DMatrix(machines.numbers()),
    ),
    "threshold": lambda: (
        weald.Thresholded(weald.DecisionTreeClassifier(max_depth=2), "f1", cv=2).fit(
            machines.numbers(), boosters.target(2)
        ),
        machines.numbers(),
    ),
    "least cost": lambda: (
        weald.Thresholded(
            weald.XGBClassifier(n_estimators=2, max_depth=2), [[0, 1, 9], [1, 0, 1], [2, 1, 0]]
        ).fit(boosters.rows(), machines.words()),
        boosters.rows(),
    ),
    "tree of numbers": lambda: (
        weald.DecisionTreeRegressor(max_depth=4).fit(boosters.rows(), boosters.target()),
        boosters.rows(),
    ),
    "tree of classes": lambda: (
        weald.DecisionTreeClassifier(max_depth=4, ccp_alpha=0.001).fit(boosters.rows(), machines.words()),
        boosters.rows(),
    ),
    "forest of combinations": lambda: (
        weald.RandomForestRegressor(2, feature_combinations=2, max_depth=3, random_state=0).fit(
            machines.numbers(), boosters.target()
        ),
        machines.numbers(),
    ),
    "boosted forest of classes": lambda: (
        weald.XGBRFClassifier(n_estimators=3, max_depth=2).fit(boosters.rows(), machines.words()),
        boosters.rows(),
    ),
    "boosted forest of numbers": lambda: (
        weald.XGBRFRegressor(n_estimators=3, max_depth=2).fit(boosters.rows(), boosters.target()),
        boosters.rows(),
    ),
    "boosted numbers by the base": lambda: (
        weald.XGBModel(n_estimators=2, max_depth=2).fit(machines.numbers(), boosters.target()),
        machines.numbers(),
    ),
}


def names():
    """The models that files are made of."""
    return [*boosters.BOOSTERS, *forests.FORESTS, *ensembles.ENSEMBLES, *machines.MACHINES, *OTHERS]


@dataclass(frozen=True)
class Sample:
    """The file of a fitted model, and rows to use it on."""

    data: bytes
    text: str
    tensors: dict
    rows: object


@cache
def sample(name: str) -> Sample:
    """The sample of a name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name in OTHERS:
            model, rows = OTHERS[name]()
        elif name in machines.MACHINES:
            model, rows = machines.machine(name)
        elif name in ensembles.ENSEMBLES:
            model = ensembles.ENSEMBLES[name]()
            rows = ensembles.table_of(model)
        else:
            model = (boosters.BOOSTERS | forests.FORESTS)[name]()
            rows = boosters.table_of(model)
    data = model_file.to_bytes(model)
    return Sample(data, *container.read(data, mmap=False), rows)


# --------------------------------------------------------------------------- files that ask for too much

_HUGE = [10**7, 10**8, 2**31 - 1, 2**31, 2**62, 10**30, 10**299, 10**400, -1, -(10**8)]
_DTYPES = ["<U16777216", "<U99999999", "<U1000000", "|O", "<M8[ns]", "<f2", "<i8", "<u1", "|b1"]


def _leaves(content, path=()):
    """The places of a description: containers and what they hold."""
    for key, value in content.items() if isinstance(content, dict) else enumerate(content):
        yield (content, key, value)
        if isinstance(value, dict | list):
            yield from _leaves(value, (*path, key))


def swell_content(draw, content):
    """Make the description ask for much: numbers, dtypes, long lists, deep nests, repeated parts."""
    places = list(_leaves(content))
    action = draw.randrange(7)
    if action == 0:
        places = [place for place in places if type(place[2]) is int] or places
    elif action == 1:
        places = [place for place in places if place[1] == "dtype"] or places
    elif action in (2, 3):
        places = [place for place in places if isinstance(place[2], list)] or places
    holder, key, value = draw.choice(places)
    many = draw.choice([3, 1000, 30_000, 200_000])
    if action == 0:
        holder[key] = draw.choice(_HUGE)
    elif action == 1:
        holder[key] = draw.choice(_DTYPES)
    elif action == 2 and isinstance(value, list) and value:
        holder[key] = value * max(1, many // (10 + len(canonical.dumps(value)) // 10))
    elif action == 3:
        item = draw.choice([[], {}, None, 0, -9, "", "ab", [[]], {"kind": "numeric", "unit": "number"}, 1e9])
        holder[key] = [item] * many
    elif action == 4:
        holder[key] = {format(i, "x"): 0 for i in range(many // 4)}
    elif action == 5:
        holder[key] = draw.choice(["a", "\U0001f600a", "[", "\\", '"']) * many
    else:
        for _ in range(draw.choice([5, 40, 200])):
            value = draw.choice([[value], {"list": [value]}, {"value": value}])
        holder[key] = value


def swell_tensors(draw, tensors):
    """Make an array much longer, or empty with a huge shape."""
    name = draw.choice(sorted(tensors))
    tensor = tensors[name]
    many = draw.choice([1000, 100_000, 2_000_000])
    shape = draw.choice([(many,), (many, 1), (1, many), (0, many), (many, 0), (0,)])
    if tensor.ndim == 2 and draw.random() < 0.5:
        shape = draw.choice([(many // 100, tensor.shape[1]), (tensor.shape[0], many // 100)])
    if math.prod(shape) > _LARGEST:
        shape = (many,)
    dtype = draw.choice([np.uint8, tensor.dtype])
    fill = draw.choice([0, 1, 255 if dtype == np.uint8 else 1])
    tensors[name] = np.full(shape, fill, dtype)


def exchange(draw, content, tensors, other: Sample):
    """Take a part, or the arrays of a name, from a file of another model."""
    theirs = json.loads(other.text)
    if draw.random() < 0.6:
        shared = sorted(set(content) & set(theirs) - {"format", "needs", "checksum"})
        key = draw.choice(shared)
        content[key] = theirs[key]
        if key in ("forest", "machine") and draw.random() < 0.7:
            for name in [name for name in tensors if name.startswith(key)]:
                del tensors[name]
            tensors |= {name: array for name, array in other.tensors.items() if name.startswith(key)}
    else:
        name = draw.choice(sorted(other.tensors))
        tensors[name] = other.tensors[name]


def hostile(draw, whole: Sample, other: Sample) -> bytes:
    """A file made from that of a model."""
    action = draw.random()
    if action < 0.5:
        return spoil.spoilt(draw, whole.data, whole.text, whole.tensors)
    content, tensors = json.loads(whole.text), dict(whole.tensors)
    for _ in range(draw.choice([1, 1, 2, 4])):
        change = draw.random()
        if change < 0.4:
            swell_content(draw, content)
        elif change < 0.65 and tensors:
            swell_tensors(draw, tensors)
        else:
            exchange(draw, content, tensors, other)
        content = json.loads(json.dumps(content))  # no part is the same object as another
        if len(json.dumps(content)) > _LARGEST:
            break
    content.pop("checksum", None)
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    content["checksum"] = container.checksum(text, tensors)
    return container.pack(json.dumps(content, sort_keys=True, separators=(",", ":")), tensors)


# --------------------------------------------------------------------------- the judge


def judge(data: bytes, rows) -> str:
    """Load and use a file: "refused" or "used"; raises `Finding`."""
    tracemalloc.start()
    try:
        with patience("load"):
            model = weald.load(data)
    except ModelFileError as error:
        model = None
        if error.__cause__ is not None and not isinstance(error.__cause__, WealdError):
            raise Finding(f"refused by accident: {error.__cause__!r:.300}") from error.__cause__
    except Finding:
        raise
    except Exception as error:
        raise Finding(f"load raised {error!r:.300}") from error
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    most = budget.TIMES * len(data) + budget.SLACK
    if peak > most:
        raise Finding(f"load took {peak:,} bytes for a file of {len(data):,}: more than {most:,}")
    if model is None:
        return "refused"
    try:
        with patience("use"):
            _use(model, rows)
            _again(model)
    except (Finding, WealdError):
        raise
    except Exception as error:
        raise Finding(f"a loaded {type(model).__name__} raised {error!r:.300}") from error
    return "used"


def _use(model, rows):
    kind = KINDS[type(model).__name__]
    if type(model).__name__ == "Booster":
        use_native(model, rows)
    elif kind.machine or type(model).__name__ == "ProximityImputer":
        use_machine(model, rows)
    elif kind.ensemble:
        use_ensemble(model, rows)
    else:
        use_by_kind(model, rows)


def _again(model):
    """What can be saved comes back, and saves to the same bytes."""
    try:
        data = model_file.checked_bytes(model)
    except WealdError as error:
        if error.__cause__ is not None and not isinstance(error.__cause__, WealdError):
            raise Finding(f"not saved by accident: {error.__cause__!r:.300}") from error.__cause__
        return
    if model_file.to_bytes(weald.load(data)) != data:
        raise Finding(f"a {type(model).__name__} that was loaded and saved gives other bytes")


def case(seed: int, number: int) -> tuple[str, bytes, object]:
    """The name, the file and the rows of one case."""
    draw = random.Random(f"{seed} {number}")
    name, other = draw.choice(names()), draw.choice(names())
    whole = sample(name)
    return name, hostile(draw, whole, sample(other)), whole.rows


def run(seed: int, number: int) -> str:
    """Judge one case."""
    name, data, rows = case(seed, number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return judge(data, rows)
        except Finding as finding:
            raise Finding(f"{name}: {finding}") from finding.__cause__
