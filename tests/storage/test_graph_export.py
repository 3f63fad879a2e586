import io
import json
from pathlib import Path

import networkx
import pytest

from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.errors import UnknownNameError
from attribute_planner.storage.graph_export import export_graph, to_dot, to_graphml, to_json
from tests.probes import table_of

SPACE = AttributeSpace((Attribute('a<"&', ("x & y", "<z>")), Attribute("n", range(3))))
TABLE = table_of(SPACE, [((0, 0), (0, 1), 0.25), ((0, 1), (1, 2), 1.0)])


def test_json_holds_every_set_and_edge():
    graph = json.loads(to_json(TABLE))
    assert graph["directed"] is True
    assert [node["attributes"] for node in graph["nodes"]] == [
        {'a<"&': "x & y", "n": 0},
        {'a<"&': "x & y", "n": 1},
        {'a<"&': "<z>", "n": 2},
    ]
    assert graph["edges"][0] == {
        "source": 0, "target": 1, "probability": 0.25, "attempts": 1000.0, "successes": 250.0, "visits": 1.0
    }  # fmt: skip


def test_graphml_is_read_by_others():
    graph = networkx.read_graphml(io.BytesIO(to_graphml(TABLE).encode()))
    assert isinstance(graph, networkx.DiGraph)
    assert graph.nodes["n2"] == {'a<"&': "<z>", "n": "2"}
    assert graph.edges["n1", "n2"]["probability"] == 1.0
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (3, 2)


def test_dot_labels_sets_and_edges():
    dot = to_dot(TABLE)
    assert dot.startswith("digraph attributes {")
    assert 'n0 -> n1 [label="0.250"];' in dot
    # Quotes in a name must not end the label.
    assert r"a<\"&=\"x & y\"\nn=0" in dot


def test_the_suffix_names_the_format(tmp_path: Path):
    for suffix in (".json", ".graphml", ".dot"):
        export_graph(tmp_path / "sub" / f"graph{suffix}", TABLE)
    assert json.loads((tmp_path / "sub" / "graph.json").read_text())["directed"]
    with pytest.raises(
        UnknownNameError, match=r"no graph format '.xlsx'.*There are: .graphml, .json, .dot, .png, .svg"
    ):
        export_graph(tmp_path / "graph.xlsx", TABLE)
