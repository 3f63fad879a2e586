"""Pictures and what notebooks show: of graphs, plans, episodes, evaluations and agents."""

import inspect
import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import attribute_planner as ap
from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.drawing.episode_picture import lanes_of
from attribute_planner.drawing.graph_layout import columns_of, crossings, heights, layers_from, neighbours_of, spread
from attribute_planner.drawing.picture import change_label, set_label
from attribute_planner.drawing.small_graph import curves_of
from attribute_planner.environments.graph_world import Place
from attribute_planner.errors import ConfigurationError
from attribute_planner.evaluation.statistics import Interval
from attribute_planner.planning.plan import Planner
from attribute_planner.transitions.table import TransitionTable
from tests.probes import RING, Hosted, Oracle, numbers, partial_goal, table_of

LADDER = table_of(numbers(6), [((i,), (i + 1,), 0.9) for i in range(5)])
"""What was built stays: no way leads back."""


def cube() -> TransitionTable:
    """All sets of four binary attributes; a transition changes one."""
    space = AttributeSpace(tuple(Attribute(name) for name in ("lamp", "door", "radio", "oven")))
    sets = list(itertools.product((0, 1), repeat=4))
    edges = [(a, b, 0.9) for a in sets for b in sets if sum(x != y for x, y in zip(a, b, strict=True)) == 1]
    return table_of(space, edges)


def test_sets_stand_in_columns_also_where_no_way_leads_back():
    assert layers_from(LADDER, 0) == [[0], [1], [2], [3], [4], [5]]
    assert columns_of(layers_from(LADDER, 2)).tolist() == [2, 1, 0, 1, 2, 3]


def test_columns_of_a_cube_are_those_of_its_distances():
    table = cube()
    layers, neighbours = layers_from(table, 0), neighbours_of(table)
    assert [len(layer) for layer in layers] == [1, 4, 6, 4, 1]
    assert crossings(layers, neighbours) <= crossings([sorted(layer) for layer in layers], neighbours)
    y = heights(layers, neighbours, np.full(16, 0.5), 0.3)
    assert all((np.diff(y[layer]) >= 0.8 - 1e-9).all() for layer in layers)


def test_places_are_spread_no_more_than_needed():
    size = np.full(3, 1.0)
    np.testing.assert_allclose(spread(np.array([0.0, 5.0, 10.0]), size, 0.5), [0, 5, 10])
    np.testing.assert_allclose(spread(np.array([0.0, 0.0, 0.0]), size, 0.5), [-1.5, 0, 1.5])


def test_both_directions_of_an_edge_are_apart():
    table = cube()
    layers = layers_from(table, 0)
    places = np.random.default_rng(0).random((16, 2)) * 10
    curves = curves_of(table, places, np.full((16, 2), 0.5), columns_of(layers))
    assert len(curves) == table.num_edges
    ends = {tuple(np.round(point, 6)) for points in curves.values() for point in (points[0], points[-1])}
    assert len(ends) == 2 * table.num_edges


def test_labels_are_short():
    assert set_label({"wood": True, "iron": False, "n": 3}) == ["wood, n=3"]
    assert set_label({"wood": False}) == ["nothing"]
    assert len(set_label({f"a_long_name_{i}": True for i in range(20)})) == 5
    assert change_label({"wood": True, "iron": False, "n": 3}) == ["+ wood, − iron, n → 3"]


@pytest.fixture(scope="module")
def episode() -> ap.Episode:
    world = Hosted(replace(RING, start=Place((0,))))
    table = table_of(numbers(5), [((i,), ((i + step) % 5,), 0.9) for i in range(5) for step in (1, -1)])
    return ap.Agent(world, None, Oracle(RING), table, 3).reach({"n": 2}, frames=True)


def test_everything_draws_itself(episode: ap.Episode, tmp_path: Path):
    plan = Planner(LADDER).plan(np.array([0]), partial_goal([3]))
    none = Planner(LADDER).plan(np.array([3]), partial_goal([0]))
    for name, drawn in {
        "plan.png": plan.draw(tmp_path / "plan.png"),
        "none.svg": none.draw(tmp_path / "none.svg"),
        "table.png": LADDER.draw(tmp_path / "table.png", plan),
        "episode.png": episode.draw(tmp_path / "episode.png"),
    }.items():
        assert isinstance(drawn, Image.Image) and min(drawn.size) > 100
        assert (tmp_path / name).stat().st_size > 1000
    episode.gif(tmp_path / "episode.gif")
    with pytest.raises(ConfigurationError, match=r"no frames: record them with agent.reach\(…, frames=True\)"):
        replace(episode, frames=[]).gif(tmp_path / "other.gif")
    with pytest.raises(ConfigurationError, match="The episode was not recorded"):
        replace(episode, trace=[]).draw()


def test_an_episode_has_a_lane_for_what_changed_or_is_wanted(episode: ap.Episode):
    (lane,) = lanes_of(episode)
    assert (lane.name, lane.wanted) == ("n", "= 2")
    assert lane.values == [(0, 0), (1, 1), (2, 2)]


def test_reprs_are_short_and_notebooks_see_html(episode: ap.Episode):
    plan = Planner(LADDER).plan(np.array([0]), partial_goal([3]))
    none = Planner(LADDER).plan(np.array([3]), partial_goal([0]))
    agent = ap.Agent(RING, None, Oracle(RING), LADDER, 3)
    result = ap.Evaluation("ring", "<any>", "default", 9, 0.5, Interval(0.3, 0.7), 3.0, 0.0, 0.6, 20, None, {"late": 4})
    found = ap.Diagnosis([ap.Finding("weak-edge", "n=2 & n=3", 0.4)])
    shown = {
        "Plan(n=3: 3 steps, probability 72.9%)": plan,
        "Episode(n=2: reached; 2 steps, 0 replans)": episode,
        "Evaluation(ring, <any>: 50.0% of 9 episodes [30.0%, 70.0%])": result,
        "Agent(graph: 6 attribute sets, 5 transitions)": agent,
        "TransitionTable(6 attribute sets, 5 transitions)": LADDER,
        "Diagnosis(weak-edge)": found,
    }
    assert {text: repr(each) for text, each in shown.items()} == {text: text for text in shown}
    assert repr(none).startswith("Plan(n=0: none, no chain of transitions")
    pages = [each._repr_html_() for each in (plan, none, episode, result, agent, found)]
    assert all("<" in page for page in pages)
    assert "&lt;any&gt;" in pages[3] and "n=2 &amp; n=3" in pages[5]
    assert "<iframe" in pages[0] and "<iframe" in pages[2] and "data:image/png" in pages[2]


def test_the_signature_of_from_gymnasium_is_the_real_one():
    assert list(inspect.signature(ap.from_gymnasium).parameters)[:3] == ["make", "attributes", "describe"]
    assert "from_gymnasium" in dir(ap)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        ap.nonsense  # noqa: B018  # pyright: ignore[reportAttributeAccessIssue]
