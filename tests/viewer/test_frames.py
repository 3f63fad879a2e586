"""What is shown of a step, and the part of the graph around a plan."""

import itertools

import numpy as np
import pytest

from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.planning.episode import ARRIVED, DEVIATED, ENDED, GAVE_UP, LOST, ON_THE_WAY, TraceStep
from attribute_planner.planning.plan import Planner
from attribute_planner.viewer import neighbourhood as module
from attribute_planner.viewer.data import groups_of
from attribute_planner.viewer.frames import FrameWriter, event_json
from attribute_planner.viewer.neighbourhood import neighbourhood
from tests.probes import numbers, partial_goal, table_of

CUBE = AttributeSpace(tuple(Attribute(name) for name in ("lamp", "door", "radio")))
SETS = list(itertools.product((0, 1), repeat=3))
PLANNER = Planner(
    table_of(CUBE, [(a, b, 0.9) for a in SETS for b in SETS if sum(x != y for x, y in zip(a, b, strict=True)) == 1])
)


@pytest.mark.parametrize(
    ("outcome", "failed", "posterior", "kind"),
    [
        (ON_THE_WAY, False, 0.9, None),
        (ON_THE_WAY, True, 0.6, "failed"),
        (GAVE_UP, True, 0.6, "failed"),
        (GAVE_UP, True, 0.2, "aliased"),
        (DEVIATED, True, 0.2, "drifted"),
        (ARRIVED, False, 0.9, "arrived"),
        (LOST, False, 0.0, "lost"),
        (ENDED, False, 0.9, "ended"),
    ],
)
def test_what_happened_has_a_name(outcome: str, failed: bool, posterior: float, kind: str | None):
    step = TraceStep(3, {"n": 1}, {"n": 2}, 0.9, 0, outcome, False, failed, posterior)
    event = event_json(numbers(5), step)
    assert (None if event is None else event["kind"]) == kind


def test_the_path_is_in_the_middle_and_alternatives_beside_it():
    goal = partial_goal([1, 1, 1])
    plan = PLANNER.plan(np.array([0, 0, 0], np.int32), goal)
    drawn = neighbourhood(PLANNER, PLANNER.distances(goal), list(plan.values))
    places = list(zip(drawn.column, drawn.row, strict=True))
    assert places[:4] == [(0, 0), (2, 0), (4, 0), (6, 0)]
    assert all(row != 0 for row in drawn.row[4:])
    assert len(set(places)) == len(places) == 7
    shown = drawn.to_json(PLANNER.listing)
    assert len(shown["edges"]) == len(drawn.edges)  # all of them exist
    assert all(edge["probability"] == 0.9 and edge["tried"] for edge in shown["edges"])


def test_the_part_of_the_graph_is_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "MAX_SETS", 5)
    assert len(neighbourhood(PLANNER, None, [np.array([0, 0, 0], np.int32)]).number) == 5


def test_a_frame_repeats_neither_plan_nor_graph():
    writer = FrameWriter(PLANNER, partial_goal([1, 1, None]))
    start, target = np.array([0, 0, 0], np.int32), np.array([0, 1, 0], np.int32)
    first, same, on = (writer.frame(n, values, target) for n, values in enumerate((start, start, start)))
    assert {"plan", "graph"} <= first.keys()
    assert not {"plan", "graph"} & (same.keys() | on.keys())
    moved = writer.frame(3, target, None)
    assert moved["plan"]["sets"] == [[0, 1, 0], [1, 1, 0]] and "graph" not in moved


def test_the_transition_that_was_walked_is_told_and_drawn_where_the_graph_begins_again():
    writer = FrameWriter(PLANNER, partial_goal([1, 1, 1]))
    start, far = np.array([0, 0, 1], np.int32), np.array([0, 1, 0], np.int32)
    writer.frame(0, start, None)
    writer._drawn = set()  # nothing of what is drawn is on the way from there
    moved = writer.frame(1, far, None)
    assert moved["walked"]["source"] == [0, 0, 1] and moved["walked"]["target"] == [0, 1, 0]
    assert moved["walked"]["probability"] is None  # two attributes change: it is not listed
    nodes, first = moved["graph"]["nodes"], moved["graph"]["edges"][0]
    assert nodes[first["source"]] == {"values": [0, 0, 1], "column": -2, "row": 0} and first["target"] == 0
    assert first["probability"] is None and not first["tried"]
    stayed = writer.frame(2, far, None)
    assert "walked" not in stayed


def test_the_set_that_was_left_may_be_on_the_path():
    left, here = np.array([0, 1, 0], np.int32), np.array([0, 0, 0], np.int32)
    drawn = neighbourhood(PLANNER, PLANNER.distances(partial_goal([1, 1, 0])), [here, left], left)
    assert next(iter(drawn.edges)) == (1, 0) and drawn.column[:2] == [0, 2] and min(drawn.column) == 0


def test_names_are_grouped_by_what_they_share():
    assert groups_of(["switch_0", "switch_1", "ore"]) == ["switch", "switch", ""]
    relations = [f"{a}_left_of_{b}" for a, b in itertools.permutations(("red", "green", "blue"), 2)]
    assert set(groups_of([*relations, "door"])) == {"_left_of_", ""}
