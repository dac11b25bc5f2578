"""Groups of columns as users write them."""

import pytest

from weald.errors import ParameterError
from weald.inspection.groups import column_groups

NAMES = ("length", "width", "colour")


def test_every_way_to_name_columns():
    assert column_groups(None, NAMES) == [("length", [0]), ("width", [1]), ("colour", [2])]
    assert column_groups([["length", 1], "colour"], NAMES) == [(("length", "width"), [0, 1]), ("colour", [2])]
    assert column_groups({"size": ("width", 0, "width")}, NAMES) == [("size", [1, 0])]
    assert column_groups([(0, 4), 2], range(5)) == [((0, 4), [0, 4]), (2, [2])]


@pytest.mark.parametrize(
    ("groups", "names", "message"),
    [
        ("length", NAMES, "must be a dict from name to columns, or a list"),
        (3, NAMES, "got 3"),
        ([], NAMES, "is empty"),
        ([[]], NAMES, "a group without columns"),
        ([["lenght"]], NAMES, "'lenght', which the table does not have. Did you mean 'length'"),
        (["zzz"], NAMES, "The columns are 'length', 'width', 'colour'"),
        (["a"], range(2), "no names, but positions from 0 to 1"),
        ([3], NAMES, "position 3; positions go from 0 to 2"),
        ([-1], NAMES, "position -1"),
        ([[["length"]]], NAMES, r"the column \['length'\]"),
    ],
)
def test_groups_that_cannot_be_read(groups, names, message):
    with pytest.raises(ParameterError, match=message):
        column_groups(groups, names)
