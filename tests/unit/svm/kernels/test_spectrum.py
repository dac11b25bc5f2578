"""Spectra of texts: the counts of brute force, from every library, and their state in model files."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.kernels import spectrum, substrings

from weald.errors import DataError, DataTypeError, ModelFileError
from weald.kernels import Spectrum
from weald.svm.kernels.spectrum import SpectrumPlan
from weald.svm.kernels.substrings import Vocabulary

TEXTS = ["banana", "bandana", "", "an", "naïve 🌳🌳", "\x00zero\x00", "banana"]
texts_of_few = st.lists(st.text(alphabet="ab🌳\x00é", max_size=9), min_size=1, max_size=6)


def brute_counts(texts: list[str], kernel: Spectrum) -> tuple[list[str], Any]:
    found = [substrings(text, kernel.length, all_lengths=kernel.all_lengths) for text in texts]
    names = sorted(set().union(*found))
    return names, np.array([[float(count[name]) for name in names] for count in found]).reshape(
        len(texts), -1
    )


@settings(max_examples=80, deadline=None)
@given(texts_of_few, st.integers(1, 5), st.booleans())
def test_counts_are_those_of_brute_force(texts: list[str], length: int, all_lengths: bool) -> None:
    kernel = Spectrum(length, normalise=False, all_lengths=all_lengths)
    plan = SpectrumPlan.of(texts, kernel)
    names, want = brute_counts(texts, kernel)
    assert list(plan.column_names) == names
    matrix = plan.read(texts).values
    np.testing.assert_array_equal(matrix.toarray(), want)
    assert matrix.has_canonical_format


@settings(max_examples=80, deadline=None)
@given(texts_of_few, texts_of_few, st.integers(1, 4), st.booleans(), st.booleans())
def test_kernel_values_are_those_of_brute_force(
    X: list[str], Z: list[str], length: int, normalise: bool, all_lengths: bool
) -> None:
    kernel = Spectrum(length, normalise, all_lengths)
    want = [[spectrum(x, z, length, normalise=normalise, all_lengths=all_lengths) for z in Z] for x in X]
    np.testing.assert_allclose(kernel(X, Z), want, rtol=1e-12)


@pytest.mark.parametrize("length", [15, 40])
def test_long_substrings_go_by_stages(length: int) -> None:
    rng = random.Random(0)
    texts = ["".join(rng.choice("abcdefghijklmnopqrst") for _ in range(60)) for _ in range(20)]
    texts += [texts[0][5:] + texts[1][:20], "short"]
    kernel = Spectrum(length, normalise=False)
    plan = SpectrumPlan.of(texts, kernel)
    assert len(plan.vocabularies[0].tables) > 1
    names, want = brute_counts(texts, kernel)
    assert list(plan.column_names) == names
    np.testing.assert_array_equal(plan.read(texts).values.toarray(), want)
    new = [texts[3][10:55] + "zz" + texts[4], "abc"]
    want = [[spectrum(x, z, length, normalise=True, all_lengths=False) for z in texts] for x in new]
    np.testing.assert_allclose(Spectrum(length)(new, texts), want, rtol=1e-12)


def test_blocks_of_texts_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = Spectrum(2, all_lengths=True)
    want = SpectrumPlan.of(TEXTS, kernel).read(TEXTS).values.toarray()
    monkeypatch.setattr("weald.svm.kernels.substrings._BLOCK", 5)
    np.testing.assert_array_equal(SpectrumPlan.of(TEXTS, kernel).read(TEXTS).values.toarray(), want)


def test_searching_and_looking_up_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    want = Spectrum(3)(TEXTS)
    monkeypatch.setattr("weald.svm.kernels.substrings._DIRECT", 0)
    np.testing.assert_array_equal(Spectrum(3)(TEXTS), want)


def test_every_library_gives_the_same_rows() -> None:
    kernel = Spectrum(2)
    texts: list[Any] = [*TEXTS, None]
    want = SpectrumPlan.of(texts, kernel).read(texts).values.toarray()
    assert not want[-1].any()
    for other in (
        tuple(texts),
        np.array(texts, dtype=object),
        pd.Series(texts),
        pl.Series(texts),
        pa.array(texts),
        pd.DataFrame({"text": texts}),
        pl.DataFrame({"text": texts}),
        pa.table({"text": texts}),
        [[text] for text in texts],
        {"text": texts},
    ):
        np.testing.assert_array_equal(SpectrumPlan.of(other, kernel).read(other).values.toarray(), want)


def test_several_columns_are_added() -> None:
    frame = pd.DataFrame({"title": ["ab", "abc", "x"], "body": ["hello", "help", None]})
    for normalise in (True, False):
        kernel = Spectrum(2, normalise)
        parts = [kernel(frame[name]) for name in frame]
        want = sum(parts) / 2 if normalise else sum(parts)
        np.testing.assert_allclose(kernel(frame), want, rtol=1e-12)
    plan = SpectrumPlan.of(frame, Spectrum(2))
    assert plan.column_names[:2] == ("title=ab", "title=bc")
    turned = plan.read(frame[["body", "title"]]).values.toarray()
    np.testing.assert_array_equal(turned, plan.read(frame).values.toarray())


def test_what_is_no_text_is_told() -> None:
    with pytest.raises(DataTypeError, match="Column 'n' holds numbers or dates; this kernel compares texts"):
        Spectrum()(pd.DataFrame({"text": ["a", "b"], "n": [1, 2]}))
    with pytest.raises(DataTypeError, match="got one text"):
        Spectrum()("text")
    with pytest.raises(DataError, match="no texts"):
        Spectrum()([])
    mixed = pd.DataFrame({"c": pd.Categorical([1, 2])})
    with pytest.raises(DataTypeError, match="Column 'c' holds 1"):
        Spectrum()(mixed)


def test_other_columns_than_in_training_are_told() -> None:
    plan = SpectrumPlan.of(pd.DataFrame({"a": ["x"], "b": ["y"]}), Spectrum(1))
    with pytest.raises(DataError, match="feature names should match"):
        plan.read(pd.DataFrame({"a": ["x"], "c": ["y"]}))


def test_thousands_of_texts_take_no_loop_over_characters() -> None:
    rng = np.random.default_rng(0)
    letters = rng.integers(97, 123, size=(5000, 200)).astype(np.uint8)
    texts = [line.tobytes().decode() for line in letters]
    matrix = SpectrumPlan.of(texts, Spectrum(3)).read(texts)
    assert matrix.values.shape == (5000, 26**3)


# --------------------------------------------------------------------------- state


@pytest.mark.parametrize("length", [1, 3, 30])
def test_state_makes_the_same_plan(length: int) -> None:
    texts = [*TEXTS, "the quick brown fox jumps over the lazy dog, twice: 0123456789 0123456789"]
    plan = SpectrumPlan.of(texts, Spectrum(length, all_lengths=True))
    facts, arrays = plan.state()
    again = SpectrumPlan.from_state(plan.schema, json.loads(json.dumps(facts)), arrays)
    assert again.column_names == plan.column_names
    np.testing.assert_array_equal(again.read(texts).values.toarray(), plan.read(texts).values.toarray())


DAMAGE: list[tuple[str, Any]] = [
    ("facts", None),
    ("facts", {"kernel": "linear"}),
    ("0.alphabet", None),
    ("0.alphabet", np.array([97.0, 98.0, 110.0])),
    ("0.alphabet", np.array([98, 97, 110])),
    ("0.alphabet", np.array([97, 98, 0x110000])),
    ("0.alphabet", np.array([[97, 98, 110]])),
    ("0.stage0", None),
    ("0.stage0", np.array([5, 5, 6])),
    ("0.stage0", np.array([-1, 5, 6])),
    ("0.stage0", np.array([1, 5, 4**2])),
    ("0.stage1", np.array([1])),
    ("1.alphabet", np.array([97])),
]


@pytest.mark.parametrize(("part", "value"), DAMAGE)
def test_damaged_state_raises(part: str, value: Any) -> None:
    plan = SpectrumPlan.of(["banana"], Spectrum(2))
    facts, arrays = plan.state()
    assert arrays["0.alphabet"].tolist() == [97, 98, 110]
    if part == "facts":
        facts = value
    elif value is None:
        del arrays[part]
    else:
        arrays[part] = value
    with pytest.raises(ModelFileError, match="model file"):
        SpectrumPlan.from_state(plan.schema, facts, arrays)


def test_vocabulary_of_nothing_is_empty() -> None:
    found = Vocabulary.of(["", "a"], 2, all_lengths=False)
    assert len(found) == 0
    assert found.texts() == []
