from html.parser import HTMLParser

import numpy as np
import pytest
import sklearn
from unit.pictures.models import NUMERIC, chain, classifier, model_of, regressor, two_numbers, two_outputs

from weald import DecisionTreeClassifier, DecisionTreeRegressor
from weald.data.schema import ColumnSchema


class Reader(HTMLParser):
    """Checks that tags close in order, and keeps texts and tags."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.text = [], [], ""

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1] != "style":
            self.text += data


def read(html):
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert not reader.open
    return reader


@pytest.mark.parametrize("model", [classifier(), regressor(), two_outputs(), two_numbers()], ids=repr)
def test_every_node_is_there(model):
    page = read(model._repr_html_())
    n_nodes = model.forest_.n_nodes
    named = [attrs.get("class") for _, attrs in page.tags]
    assert named.count("rows") == n_nodes
    assert [tag for tag, _ in page.tags].count("details") == (n_nodes - 1) // 2
    assert {tag for tag, _ in page.tags} <= {
        "div",
        "style",
        "details",
        "summary",
        "span",
    }  # no scripts, no links
    assert model.__class__.__name__ in page.text


def test_bars_add_up_to_the_whole():
    page = read(classifier()._repr_html_())
    bars = 0
    for k, (_, attrs) in enumerate(page.tags):
        if attrs.get("class") == "bar":
            widths = []
            for _, inside in page.tags[k + 1 :]:
                if "style" not in inside:
                    break
                widths.append(float(inside["style"].partition("width:")[2].partition("%")[0]))
            assert sum(widths) == pytest.approx(100, abs=0.3)
            bars += 1
    assert bars == classifier().tree_.node_count


def test_text_is_escaped():
    name = "<script>alert('x')</script>"
    columns = [ColumnSchema(name, "categorical", levels=(name, "&amp;"))]
    forest, schema = chain([(0, {1})], columns, [[1.0, 0.0], [0.0, 1.0]], shares=True)
    html = model_of(forest, schema, np.array([name, "b"], object))._repr_html_()
    assert "<script" not in html
    assert f"{name} in {{{name}}}" in read(html).text


def test_large_trees_are_cut():
    forest, schema = chain([(0, float(k)) for k in range(2000)], NUMERIC, [[float(k)] for k in range(2001)])
    html = model_of(forest, schema)._repr_html_()
    assert len(html) < 50_000
    assert "leaves below" in read(html).text
    rng = np.random.default_rng(0)
    bushy = DecisionTreeRegressor().fit(rng.normal(size=(3000, 3)), rng.normal(size=3000))
    page = read(bushy._repr_html_())
    assert [attrs.get("class") for _, attrs in page.tags].count("rows") <= 400


def test_unfitted_and_display_follow_scikit_learn():
    diagram = DecisionTreeClassifier()._repr_html_()
    assert "sk-container" in diagram
    assert "sk-container" in DecisionTreeClassifier()._repr_mimebundle_()["text/html"]
    model = classifier()
    forms = model._repr_mimebundle_()
    assert forms["text/html"] == model._repr_html_()
    assert "weald-tree" in forms["text/html"]
    assert forms["text/plain"] == repr(model)
    with sklearn.config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert list(model._repr_mimebundle_()) == ["text/plain"]
