import numpy as np

from attribute_planner.environments.starcraft.environment import StarcraftBuild
from attribute_planner.environments.starcraft.timeline import BuildEvent, draw_timeline, events_of, planned_events

SPACE = StarcraftBuild().attributes  # ore, scv, depot, barracks, marine
VALUES = np.array([[2, 4, 0, 0, 0], [0, 5, 0, 0, 0], [9, 5, 0, 0, 0], [1, 5, 2, 1, 0]], np.int32)


def test_events_are_what_became_more():
    assert events_of(SPACE, VALUES) == [
        BuildEvent(0, "scv"),
        BuildEvent(2, "depot"),
        BuildEvent(2, "depot"),
        BuildEvent(2, "barracks"),
    ]


def test_what_the_plan_did_not_ask_for_is_not_planned():
    asked = [np.array([0, 5, 0, 0, 0]), None, np.array([1, 5, 1, 0, 0])]
    assert [event.planned for event in events_of(SPACE, VALUES, asked)] == [True, True, False, False]


def test_the_figure_has_a_row_for_each_kind_and_a_mark_for_each_event():
    figure = draw_timeline(events_of(SPACE, VALUES, [None, None, VALUES[3]]), steps=10)
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["scv", "barracks", "depot"]
    marks = [line for line in axes.lines if line.get_marker() == "o"]
    assert sorted(np.asarray(mark.get_xdata()).item() for mark in marks) == [0, 2, 2, 2]
    assert sum(mark.get_markerfacecolor() == "white" for mark in marks) == 1


def test_a_plan_is_drawn_at_the_times_that_its_transitions_should_take():
    plan = planned_events(SPACE, VALUES, np.array([3.0, 20.0, 1.6]))
    assert plan == [BuildEvent(3, "scv"), BuildEvent(25, "depot"), BuildEvent(25, "depot"), BuildEvent(25, "barracks")]
    axes = draw_timeline([BuildEvent(5, "scv")], plan=plan).axes[0]
    strokes = [line for line in axes.lines if line.get_marker() == "|"]
    assert sorted(np.asarray(stroke.get_xdata()).item() for stroke in strokes) == [3, 25, 25, 25]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["scv", "barracks", "depot"]


def test_a_game_in_which_nothing_was_begun_has_an_empty_figure():
    assert draw_timeline([]).axes[0].get_xlabel() == "step"
