"""Links: there and back, and the refusals."""

from __future__ import annotations

import numpy as np
import pytest

from weald.boosting.links import LINKS, apply_link, to_raw
from weald.errors import ParameterError

RAW = np.random.default_rng(0).normal(size=(700, 3)) * 3


@pytest.mark.parametrize("name", ["identity", "logistic", "exp"])
def test_back_to_raw(name):
    assert to_raw(name, apply_link(name, RAW)) == pytest.approx(RAW, abs=1e-10)


def test_softmax_is_shares_and_comes_back_centred():
    p = apply_link("softmax", RAW)
    expected = np.exp(RAW) / np.exp(RAW).sum(axis=1, keepdims=True)
    assert p == pytest.approx(expected, rel=1e-13)
    assert to_raw("softmax", p) == pytest.approx(RAW - RAW.mean(axis=1, keepdims=True), abs=1e-9)


def test_values():
    assert apply_link("logistic", np.array([[0.0], [np.log(3)]])).ravel() == pytest.approx([0.5, 0.75])
    assert apply_link("exp", np.array([[np.log(5.0)]])).ravel() == pytest.approx([5.0])
    assert apply_link("sign", np.array([[-0.1, 0.0, 0.1]])).tolist() == [[0, 0, 1]]
    assert apply_link("sorted", np.array([[3.0, 1.0, 2.0], [0.0, 1.0, -1.0]])).tolist() == [
        [1, 2, 3],
        [-1, 0, 1],
    ]


@pytest.mark.parametrize("name", ["identity", "shares"])
def test_unchanged_links_copy_nothing(name):
    assert apply_link(name, RAW) is RAW


@pytest.mark.parametrize("name", LINKS)
def test_threads_do_not_show(name):
    raw = np.random.default_rng(1).normal(size=(20_000, 2))
    once = apply_link(name, raw)
    assert once.shape == raw.shape
    assert apply_link(name, raw, n_threads=3).tobytes() == once.tobytes()


def test_any_memory_order_is_read():
    assert apply_link("softmax", np.asfortranarray(RAW)).tobytes() == apply_link("softmax", RAW).tobytes()
    assert apply_link("logistic", RAW[::2, ::-1]).tolist() == apply_link("logistic", RAW)[::2, ::-1].tolist()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("logistic", 1.0, r"`base_score` must be between 0 and 1, both excluded; got 1\.0\. Use .* 0\.5"),
        ("logistic", [0.5, np.nan], "got nan"),
        ("softmax", [0.5, 0.0], r"got 0\.0"),
        ("exp", -2.0, r"must be positive and finite; got -2\.0"),
        ("exp", np.inf, "got inf"),
        ("logistc", 0.5, "no link 'logistc'. Did you mean 'logistic'"),
        ("?", 0.5, "There are 'identity'"),
    ],
)
def test_refusals(name, value, message):
    with pytest.raises(ParameterError, match=message):
        to_raw(name, value)
