import collections
import os
import pathlib

import pytest

from weald.datasets import load_penguins
from weald.errors import ParameterError


def test_the_table_is_whole():
    X, y = load_penguins()
    assert list(X) == [
        "island", "bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g", "sex", "year",
    ]  # fmt: skip
    assert {len(column) for column in X.values()} == {344} == {len(y)}
    assert collections.Counter(y) == {"Adelie": 152, "Gentoo": 124, "Chinstrap": 68}
    assert X["sex"].count(None) == 11
    assert X["body_mass_g"].count(None) == 2
    assert X["bill_length_mm"][0] == 39.1
    assert set(X["year"]) == {2007, 2008, 2009}


@pytest.mark.parametrize(
    ("frame", "module"), [("pandas", "pandas"), ("polars", "polars"), ("arrow", "pyarrow")]
)
def test_frames(frame, module):
    pytest.importorskip(module)
    X, y = load_penguins(frame)
    assert type(X).__module__.split(".")[0] == module
    assert X.shape == (344, 7)
    assert y[0] == "Adelie"


def test_other_frames_are_refused():
    with pytest.raises(ParameterError, match="`frame` must be"):
        load_penguins("excel")


def test_the_source_is_named():
    folder = pathlib.Path(load_penguins.__code__.co_filename).parent
    text = (folder / "ATTRIBUTION.md").read_text(encoding="utf-8")
    assert "Gorman" in text
    assert "CC0" in text
    assert os.path.getsize(folder / "penguins.csv") < 20_000
