import time

import pytest

from weald.errors import ModelFileError
from weald.io import canonical


def test_one_spelling():
    value = {"b": [1, 1.0, 0.1, -0.0, 1e300], "a": {"ü": None, "x": True}}
    text = canonical.dumps(value)
    assert text == '{"a":{"x":true,"\\u00fc":null},"b":[1,1.0,0.1,-0.0,1e+300]}'
    assert canonical.dumps(canonical.loads(text, "text")) == text


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("-inf")]])
def test_numbers_without_a_json_form_are_never_written(value):
    with pytest.raises(ValueError, match="JSON"):
        canonical.dumps(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 33 + "]" * 33, "33|32 levels"),
        ('{"a":{"b":1,"b":1}}', "'b' twice"),
        ("[Infinity]", "Infinity"),
        ("[-1e400]", "beyond float64"),
        ("", "not valid JSON"),
        ("{'a':1}", "not valid JSON"),
        ("[1] 2", "not valid JSON"),
    ],
)
def test_what_is_irregular_is_refused(text, message):
    with pytest.raises(ModelFileError, match=message):
        canonical.loads(text, "text")


def test_brackets_inside_strings_do_not_count():
    text = canonical.dumps(["[{" * 100, '\\"[[', "\\"])
    assert canonical.loads(text, "text") == ["[{" * 100, '\\"[[', "\\"]


@pytest.mark.parametrize("text", ['"' + '\\"' * 1_000_000 + "\\", "[" * 2_000_000, '{"a":1,' * 200_000])
def test_hostile_text_costs_one_pass(text):
    begin = time.perf_counter()
    with pytest.raises(ModelFileError):
        canonical.loads(text, "text")
    assert time.perf_counter() - begin < 10
