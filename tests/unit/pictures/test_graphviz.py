import io
import re

import numpy as np
import pytest
from unit.pictures.models import chain, classifier, model_of, regressor, two_outputs

from weald import export_graphviz
from weald.data.schema import ColumnSchema
from weald.errors import DataTypeError, ParameterError

NODE = re.compile(
    r'^(\d+) \[label=("(?:[^"\\]|\\.)*"|<.*>)(?:, fillcolor="(#\w{6})", fontcolor="(#\w{6})")?\] ;$'
)
EDGE = re.compile(r'^(\d+) -> (\d+)(?: \[labeldistance=2\.5, labelangle=-?45, headlabel="([\w, ]+)"\])? ;$')


def read(text):
    """Labels by node and texts by edge, as Graphviz would read them."""
    lines = text.split("\n")
    assert lines[0] == "digraph Tree {"
    assert lines[-1] == "}"
    nodes, edges = {}, {}
    for line in lines[1:-1]:
        if found := NODE.match(line):
            raw = found[2]
            nodes[int(found[1])] = unquoted(raw) if raw.startswith('"') else raw[1:-1].split("<br/>")
        elif found := EDGE.match(line):
            edges[int(found[1]), int(found[2])] = found[3]
        else:
            assert re.match(r"^(node|edge|graph) \[.*\] ;$|^rankdir=LR ;$|^\{rank=same ;.*\} ;$", line), line
    return nodes, edges


def unquoted(label):
    parts = re.split(r"(\\.)", label[1:-1])
    plain = "".join({"\\n": "\n", "\\\\": "\\", '\\"': '"'}.get(part, part) for part in parts)
    return plain.replace("&amp;", "&").split("\n")


@pytest.mark.parametrize("make", [classifier, regressor])
def test_every_node_and_edge_is_there(make):
    model = make()
    nodes, edges = read(export_graphviz(model))
    assert list(nodes) == list(range(model.tree_.node_count))
    expected = set()
    for node, (a, b) in enumerate(zip(model.tree_.children_left, model.tree_.children_right, strict=True)):
        if a >= 0:
            expected |= {(node, a), (node, b)}
    assert set(edges) == expected
    assert edges[0, 1].startswith("True")
    for node, (a, b) in enumerate(zip(model.tree_.children_left, model.tree_.children_right, strict=True)):
        if a >= 0:
            said = [edges[node, child] is not None and "missing" in edges[node, child] for child in (a, b)]
            assert sum(said) <= 1
            if any(said):
                assert said[0] == bool(model.tree_.missing_go_to_left[node])
    assert any("missing" in (words or "") for words in edges.values())


NASTY = ['quote " here', "a < b & c > d", "back\\slash \\n", "&lt;tag&gt;", "line\nbreak", "<b>bold</b>"]


@pytest.mark.parametrize("name", NASTY)
def test_names_are_escaped(name):
    columns = [ColumnSchema(name, "numeric"), ColumnSchema("c", "categorical", levels=(name, "plain"))]
    forest, schema = chain([(0, 1.0), (1, {1})], columns, [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]], shares=True)
    model = model_of(forest, schema, np.array([name, "other"], object))
    shown = repr(name) if "\n" in name else name
    nodes, _ = read(export_graphviz(model))
    assert nodes[0][0] == f"{shown} <= 1"
    assert nodes[2][0] == f"c is {shown}"
    assert nodes[1][-1] == f"class = {shown}"
    nodes, _ = read(export_graphviz(model, special_characters=True))
    assert not re.search(r"<|>|&(?!amp;|lt;|gt;)", nodes[0][0])
    assert nodes[0][0].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") == f"{shown} ≤ 1"


def test_options_show():
    model = classifier()
    text = export_graphviz(
        model,
        filled=True,
        rounded=True,
        rotate=True,
        leaves_parallel=True,
        node_ids=True,
        fontname="serif",
        max_depth=2,
    )
    nodes, edges = read(text)
    assert 'style="filled, rounded"' in text
    assert 'fontname="serif"' in text
    assert "rankdir=LR ;" in text
    assert nodes[0][0] == "node #0"
    cut = [node for node, label in nodes.items() if label == ["(…)"]]
    assert cut
    assert all(
        model.tree_.children_left[node] < 0 or node in {a for a, _ in edges} for node in set(nodes) - set(cut)
    )
    ranked = re.search(r"\{rank=same ; (.*)\}", text)[1].split(" ; ")
    assert set(map(int, ranked)) == set(nodes) - {a for a, _ in edges}
    assert len(re.findall(r'fillcolor="#\w{6}"', text)) == len(nodes)


def test_several_outputs():
    nodes, _ = read(export_graphviz(two_outputs(), filled=True))
    assert all(re.fullmatch(r"class = \[[abc], (True|False)\]", label[-1]) for label in nodes.values())


def test_where_it_is_written(tmp_path):
    model = classifier()
    text = export_graphviz(model)
    assert export_graphviz(model, tmp_path / "tree.dot") is None
    assert (tmp_path / "tree.dot").read_text(encoding="utf-8") == text
    file = io.StringIO()
    assert export_graphviz(model, out_file=file) is None
    assert file.getvalue() == text
    with pytest.raises(DataTypeError, match="`out_file` must be None, a path or a file"):
        export_graphviz(model, out_file=3)
    with pytest.raises(ParameterError, match="`feature_names`"):
        export_graphviz(model, feature_names=["a"])
