"""Files that ask for much: the peak of `load` is at most ten times the file and 50 MB, whatever is in it."""

import json
import time
import tracemalloc

import numpy as np
import pytest
from unit.io import boosters, ensembles, machines
from unit.io.models import classifier, regressor

import weald
from weald.errors import ModelFileError
from weald.io import budget, container, json_size, model_file


def changed(data, change):
    """The bytes of a file with another description or other arrays, and the right checksum."""
    text, tensors = container.read(data, mmap=False)
    content = json.loads(text)
    change(content, tensors)
    return packed(content, tensors)


def packed(content, tensors):
    content.pop("checksum", None)
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    content["checksum"] = container.checksum(text, tensors)
    return container.pack(json.dumps(content, sort_keys=True, separators=(",", ":")), tensors)


def loaded(data):
    """The model, or None if it was refused; either within the memory that the file may take."""
    tracemalloc.start()
    try:
        return weald.load(data)
    except ModelFileError:
        return None
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak <= budget.TIMES * len(data) + budget.SLACK


WIDE = {"dtype": "<U16777216", "type": "str", "values": ["a", "b", "c"]}


def wide_labels():
    return changed(model_file.to_bytes(classifier(1)), lambda c, t: c["classes"].update(dtype="<U16777216"))


def wide_labels_of_several_outputs():
    """Each within the bound of one array, all of them beyond that of the file."""
    data = model_file.to_bytes(classifier(7, classes=[("a", "b"), ("c", "d"), ("e", "f")] * 4))
    return changed(data, lambda c, t: [each.update(dtype="<U2000000") for each in c["classes"]])


def a_wide_label_of_each_output():
    """A label of 64 MiB is what one array may take; twelve outputs have one each."""
    data = model_file.to_bytes(classifier(7, classes=[("a",)] * 12))
    return changed(data, lambda c, t: [each.update(dtype="<U16777216") for each in c["classes"]])


def wide_parameter():
    return changed(
        model_file.to_bytes(regressor(1)),
        lambda c, t: c["params"].update(categorical_features={"array": WIDE}),
    )


def wide_parameters():
    """Several parameters, each with one label of 64 MiB."""
    wide = {"array": WIDE | {"values": ["a"]}}
    names = ("ccp_alpha", "criterion", "max_depth", "random_state")
    return changed(
        model_file.to_bytes(regressor(1)), lambda c, t: c["params"].update(dict.fromkeys(names, wide))
    )


def wide_labels_of_members():
    def change(content, _):
        for member in content["members"]:
            if member["model"] is not None:
                member["model"]["classes"]["dtype"] = "<U3000000"

    return changed(model_file.to_bytes(ensembles.ENSEMBLES["votes"]()), change)


def machine_of_many_columns():
    data = model_file.to_bytes(machines.machine("sigmoids")[0])

    def change(content, _):
        content["schema"]["columns"]["count"] = content["machine"]["shape"][1] = 10**8

    return changed(data, change)


def machine_of_given_kernel_of_many_rows():
    data = model_file.to_bytes(machines.machine("given")[0])

    def change(content, _):
        content["schema"]["columns"]["count"] = 10**8
        content["machine"]["shape"] = [10**8, 10**8]

    return changed(data, change)


def leaf_bits_alone():
    """Five megabytes of leaves: 40 million nodes, and no other array."""
    n_nodes = 40_000_001
    bits = np.full(n_nodes // 8 + 1, 0b10101010, np.uint8)
    bits[-1] = 1

    def change(content, tensors):
        content["forest"]["nodes"] = n_nodes
        tensors["forest.leaf"] = bits

    return changed(model_file.to_bytes(regressor(1)), change)


def a_forest_of_zeros(n_nodes=4_000_001):
    """A chain of nodes with every array, each of one byte: all lengths fit, and it is far too much."""

    def change(content, tensors):
        inner, leaves = n_nodes // 2, n_nodes // 2 + 1
        content["forest"]["nodes"] = n_nodes
        bits = np.zeros(n_nodes, np.bool_)
        bits[1::2] = bits[-1] = True
        for name in list(tensors):
            if name not in (
                "forest.base_score",
                "forest.tree_output",
                "forest.tree_weight",
                "forest.tree_round",
            ):
                del tensors[name]
        tensors["forest.leaf"] = np.packbits(bits, bitorder="little")
        tensors["forest.missing_left"] = np.zeros(-(-inner // 8), np.uint8)
        for name in ("column", "gain", "threshold"):
            tensors[f"forest.{name}"] = np.zeros(inner, np.uint8)
        tensors["forest.leaf_count"] = np.ones(leaves, np.uint8)
        tensors["forest.value"] = np.zeros((leaves, 1), np.uint8)

    return changed(model_file.to_bytes(regressor(1, schema=plain_columns())), change)


def plain_columns():
    from weald.data.schema import Positions, Schema

    return Schema(Positions(3), named=False)


def many_cuts_of_no_splits():
    def change(content, tensors):
        content["forest"]["columns"] = content["schema"]["columns"]["count"] = 5_000_000
        tensors.pop("forest.threshold", None)
        n_inner = (content["forest"]["nodes"] - 1) // 2
        tensors["forest.cut_count"] = np.zeros(5_000_000, np.uint8)
        tensors["forest.cut"] = np.zeros(0, np.uint8)
        tensors["forest.code"] = np.ones(n_inner, np.uint8)

    return changed(model_file.to_bytes(regressor(1, schema=plain_columns())), change)


def entries(item, n=300_000):
    """A description that holds the same few letters again and again."""

    def make():
        text = model_file.to_bytes(regressor(1))
        text, tensors = container.read(text, mmap=False)
        content = json.loads(text)
        content["params"]["max_depth"] = {"list": "HERE"}
        content.pop("checksum")
        text = json.dumps(content, sort_keys=True).replace('"HERE"', "[" + ",".join([item] * n) + "]")
        return container.pack(text, tensors)

    return make


def keys():
    text, tensors = container.read(model_file.to_bytes(regressor(1)), mmap=False)
    content = json.loads(text)
    content["params"]["max_depth"] = {format(i, "x"): 0 for i in range(100_000)}
    return packed(content, tensors)


def arrays_of_nothing():
    text, tensors = container.read(model_file.to_bytes(regressor(1)), mmap=False)
    return packed(json.loads(text), tensors | {f"{i:x}": np.zeros(0, np.uint8) for i in range(40_000)})


def letters_of_four_bytes():
    """One letter beyond the others makes all of a text four times as wide."""
    text, tensors = container.read(model_file.to_bytes(regressor(1)), mmap=False)
    content = json.loads(text)
    content["params"]["max_depth"] = ["a" * 3_000_000 + "\U0001f600"] * 4
    return packed(content, tensors)


def rows_of_support():
    """Sparse rows of one byte per entry."""
    data = model_file.to_bytes(machines.machine("numbers of sparse rows")[0])

    def change(content, tensors):
        n = 3_000_000
        tensors["machine.support.data"] = np.ones(n, np.uint8)
        tensors["machine.support.indices"] = np.resize(np.arange(4, dtype=np.uint8), n)
        tensors["machine.support.indptr"] = np.arange(0, n + 1, 4, dtype=np.uint32)

    return changed(data, change)


def a_tower_of_votes():
    """Members of members, each many."""
    data = model_file.to_bytes(ensembles.ENSEMBLES["averages"]())
    text, tensors = container.read(data, mmap=False)
    content = json.loads(text)
    content["members"] = [{"name": "a", "model": None}] * 20_000
    return packed(content, tensors)


def changes_of_an_imputer():
    X = np.where(machines.numbers() > 1, np.nan, machines.numbers())
    imputer = weald.ProximityImputer(weald.RandomForestRegressor(n_estimators=2)).fit(X, boosters.target())
    many = np.zeros(3_000_000, np.uint8)
    return changed(model_file.to_bytes(imputer), lambda c, t: t.update({"array.changes": many}))


BOMBS = [
    wide_labels,
    wide_labels_of_several_outputs,
    a_wide_label_of_each_output,
    wide_parameter,
    wide_parameters,
    wide_labels_of_members,
    machine_of_many_columns,
    leaf_bits_alone,
    a_forest_of_zeros,
    many_cuts_of_no_splits,
    keys,
    arrays_of_nothing,
    letters_of_four_bytes,
    rows_of_support,
    a_tower_of_votes,
    changes_of_an_imputer,
    *(
        pytest.param(entries(item), id=f"entries {item}")
        for item in ("[]", "{}", "-9", '"ab"', "[[]]", '{"kind":1}', "1e5", '{"type":[],"values":[]}')
    ),
    *(pytest.param(entries(item, 3_000_000), id=f"millions of {item}") for item in ("[]", "{}")),
]


@pytest.mark.parametrize("make", BOMBS)
def test_a_file_that_asks_for_much_is_refused_within_its_memory(make):
    assert loaded(make()) is None


MEMORY = "asks for more memory than a model file of its size may"


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (wide_labels, MEMORY),
        (wide_labels_of_several_outputs, MEMORY),
        (a_wide_label_of_each_output, MEMORY),
        (wide_parameter, MEMORY),
        (wide_parameters, MEMORY),
        (wide_labels_of_members, MEMORY),
        (machine_of_many_columns, "'fill' of the model file should hold 100000000 numbers"),
        (leaf_bits_alone, "'column' of the model file has shape .* where 20000000 entries are needed"),
        (a_forest_of_zeros, MEMORY),
        (many_cuts_of_no_splits, MEMORY),
        (changes_of_an_imputer, MEMORY),
        (entries("[]", 3_000_000), MEMORY),
    ],
)
def test_what_a_file_asks_for_is_the_reason(make, reason):
    """And nothing else that is wrong with such a file: it would hide that nobody counts."""
    with pytest.raises(ModelFileError, match=reason):
        weald.load(make())


def test_columns_by_position_cost_nothing():
    begin = time.process_time()
    assert loaded(machine_of_given_kernel_of_many_rows()).n_features_in_ == 10**8
    assert time.process_time() - begin < 2


def test_a_tree_of_ten_million_columns_shows_itself_at_once():
    def change(content, _):
        content["forest"]["columns"] = content["schema"]["columns"]["count"] = 10**7

    tree = weald.DecisionTreeRegressor(max_depth=2).fit(machines.numbers(), boosters.target())
    model = loaded(changed(model_file.to_bytes(tree), change))
    begin = time.process_time()
    assert "column" in model._repr_html_()
    assert model._repr_mimebundle_()["text/html"] == model._repr_html_()
    assert model.to_text()
    assert time.process_time() - begin < 2


@pytest.mark.parametrize(
    ("model", "change"),
    [
        (lambda: regressor(1), lambda c, t: c["params"].update(max_depth=10**400)),
        (boosters.BOOSTERS["numbers"], lambda c, t: c["params"].update(learning_rate=10**400)),
        (lambda: classifier(1), lambda c, t: c["classes"].update(values=[10**299] * 3, type="int")),
        (ensembles.ENSEMBLES["bagged boosters"], lambda c, t: c["members"][0].update(model=None)),
        (ensembles.ENSEMBLES["boosted boosters"], lambda c, t: c["members"][-1].update(model=None)),
        *(
            (ensembles.ENSEMBLES[which], lambda c, t: [member.update(model=None) for member in c["members"]])
            for which in ("bagged boosters", "boosted boosters", "averages")
        ),
        (boosters.BOOSTERS["numbers"], lambda c, t: c["extra"].update(best_score=10**299)),
    ],
)
def test_load_raises_nothing_but_model_file_errors(model, change):
    data = changed(model_file.to_bytes(model()), change)
    with pytest.raises(ModelFileError) as caught:
        weald.load(data)
    assert caught.value.__cause__ is None or isinstance(caught.value.__cause__, weald.errors.WealdError)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("which", ["linear", "linear without a dual", *machines.MACHINES])
def test_a_mapped_machine_is_the_loaded_one(which, tmp_path):
    if which in machines.MACHINES:
        model, _ = machines.machine(which)
    else:
        options = {"penalty": "l1", "dual": False} if "without" in which else {}
        model = weald.LinearSVC(**options).fit(machines.numbers(), machines.words())
    model.save(tmp_path / "m.weald")
    mapped = weald.load(tmp_path / "m.weald", mmap=True)
    assert model_file.to_bytes(mapped) == (tmp_path / "m.weald").read_bytes()


def test_the_size_of_json_is_never_told_too_small():
    rng = np.random.default_rng(0)
    items = [
        "[]",
        "{}",
        "0",
        "-17",
        "12345",
        "1.5",
        '""',
        '"abc"',
        "[1,2]",
        '{"kind":"a"}',
        '{"x":[]}',
        "null",
    ]
    for _ in range(6):
        chosen = rng.choice(items, 3).tolist()
        text = "[" + ",".join(rng.choice(chosen, 30_000).tolist()) + "]"
        told = json_size.measure(text).n_bytes
        tracemalloc.start()
        parsed = json.loads(text)
        taken = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        assert len(parsed) == 30_000
        assert taken <= told


def test_strings_are_told_from_marks_across_blocks(monkeypatch):
    monkeypatch.setattr(json_size, "_BLOCK", 3)
    rng = np.random.default_rng(1)
    for _ in range(300):
        words = ["".join(rng.choice(list('a"\\[]{},:'), 5)) for _ in range(4)]
        text = json.dumps([words, [words]])
        assert json_size.measure(text).depth == 3


def test_a_dense_forest_is_saved_so_that_it_can_be_read():
    """Thousands of nodes whose numbers would all fit a byte: the file is wider, and comes back."""
    X = np.arange(16_000)[:, None] // 2
    model = weald.DecisionTreeRegressor(max_depth=40).fit(X, X[:, 0] % 2)
    model.forest_.gain[:] = 0
    model.forest_.threshold[:] = 1
    model.forest_.impurity[:] = 0
    assert model.forest_.n_nodes < 20_000
    assert container.read(model.to_bytes(), mmap=False)[1]["forest.gain"].dtype == np.uint8
    forest = weald.RandomForestRegressor(n_estimators=3, bootstrap=False).fit(X, X[:, 0] % 2)
    for name in ("gain", "threshold", "impurity"):
        getattr(forest.forest_, name)[:] = 0
    assert forest.forest_.n_nodes > 20_000
    data = forest.to_bytes()
    assert container.read(data, mmap=False)[1]["forest.gain"].dtype == np.float64
    again = loaded(data)
    assert model_file.to_bytes(again) == data
