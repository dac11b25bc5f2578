"""Fitted estimators around hand-made forests, so that files can be tested apart from growing."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
from unit.model.forests import mixed_schema, random_forest

import weald
from weald import DecisionTreeClassifier, DecisionTreeRegressor
from weald.io import canonical, container, model_file


def classifier(
    seed: int = 0, *, classes: Any = ("Adelie", "Chinstrap", "Gentoo"), schema=None, params=None, **forest
):
    """A classifier with a random tree and these labels: a vector, or a list of vectors, one per output."""
    schema = schema or mixed_schema()
    several = isinstance(classes, list)
    by_output = tuple(
        each if isinstance(each, np.ndarray) else np.array(each, object)
        for each in (classes if several else [classes])
    )
    sizes = [len(each) for each in by_output]
    model = DecisionTreeClassifier(**(params or {}))
    grown = random_forest(seed, schema, width=sum(sizes), by_output=sizes if several else None, **forest)
    model._set_fitted(grown, schema, by_output)
    return model


def regressor(seed: int = 0, *, width: int = 1, schema=None, params=None, **forest):
    """A regressor with a random tree."""
    schema = schema or mixed_schema()
    model = DecisionTreeRegressor(**(params or {}))
    model._set_fitted(random_forest(seed, schema, width=width, shares=False, **forest), schema, None)
    return model


def roundtrip(model, path):
    model_file.save(model, path)
    return weald.load(path)


def same_arrays(a, b):
    assert set(a.forest_.arrays()) == set(b.forest_.arrays())
    for name, array in a.forest_.arrays().items():
        other = b.forest_.arrays()[name]
        assert (array.dtype, array.shape, array.tobytes()) == (other.dtype, other.shape, other.tobytes())


def rewritten(path: pathlib.Path, change) -> None:
    """Change the description and set the checksum right again."""
    text, tensors = container.read(path, mmap=False)
    content = canonical.loads(text, "description")
    change(content, tensors)
    content.pop("checksum", None)
    content["checksum"] = container.checksum(canonical.dumps(content), tensors)
    path.write_bytes(container.pack(canonical.dumps(content), tensors))
