from dataclasses import replace

import numpy as np

from attribute_planner.agent import Agent
from attribute_planner.attributes import Attribute, AttributeSpace, goal_from_names
from attribute_planner.environments.graph_world import Place, graph_world
from attribute_planner.planning.goal_relaxation import nearly, shifted
from attribute_planner.planning.planner import Planner
from tests.probes import Oracle, numbers, table_of

SPACE = AttributeSpace((Attribute("a", range(4)), Attribute("b", range(4)), Attribute("door", ("shut", "open"))))
PLANNER = Planner(
    table_of(
        SPACE,
        [
            ((0, 0, 0), (1, 0, 0), 0.9),
            ((1, 0, 0), (2, 0, 0), 0.5),
            ((0, 0, 0), (0, 1, 0), 0.9),
            ((0, 1, 0), (1, 1, 0), 0.9),
        ],
    )
)
START = PLANNER.table.number_of(np.array([0, 0, 0]))


def test_a_goal_is_lowered_as_little_as_possible_to_what_is_easiest_to_reach():
    lowered = nearly(PLANNER, START, goal_from_names(SPACE, {"a": 2, "b": 1}))
    assert lowered is not None
    assert lowered.named(SPACE) == {"a": 1, "b": 1}


def test_more_than_enough_lacks_nothing():
    lowered = nearly(PLANNER, START, goal_from_names(SPACE, {"a": ">=3", "b": ">=0"}))
    assert lowered is not None
    assert lowered.text(SPACE) == "a>=2 b>=0"


def test_only_numbers_can_be_lowered():
    assert nearly(PLANNER, START, goal_from_names(SPACE, {"a": 1, "door": "open"})) is None


def test_the_missing_is_done_as_where_there_is_less():
    less = shifted(PLANNER, np.array([1, 1, 0]), goal_from_names(SPACE, {"a": 2, "b": 1}))
    assert less is not None
    assert less.shift.tolist() == [1, 0, 0]
    assert less.goal.named(SPACE) == {"a": 1, "b": 1}


def test_where_nothing_like_it_is_known_there_is_no_way():
    assert shifted(PLANNER, np.array([2, 0, 0]), goal_from_names(SPACE, {"a": 2, "b": 3})) is None


CHAIN = graph_world(numbers(6), [((i,), 0, (i + 1,)) for i in range(5)], start=(0,))
FIRST_STEPS = table_of(numbers(6), [((0,), (1,), 0.9), ((1,), (2,), 0.9)])


def test_goals_that_were_never_seen_are_reached_but_not_in_the_papers_way():
    agent = Agent(CHAIN, None, Oracle(CHAIN), FIRST_STEPS, patience=3)
    for goal in (3, 4):
        episode = agent.reach({"n": goal})
        assert (episode.success, episode.plan.reachable) == (True, False)
        assert [step.aim for step in episode.trace] == [{"n": number + 1} for number in range(goal)]
    paper = agent.reach({"n": 3}, mode="paper")
    assert (paper.success, paper.steps) == (False, 0)


def test_the_start_may_be_as_near_as_the_table_leads():
    there_and_back = table_of(numbers(6), [((0,), (1,), 0.9), ((1,), (2,), 0.9), ((2,), (1,), 0.9)])
    world = replace(CHAIN, start=Place((2,)))
    episode = Agent(world, None, Oracle(CHAIN), there_and_back, patience=3).reach({"n": 3})
    assert (episode.success, episode.steps) == (True, 1)


def test_a_goal_that_cannot_be_is_given_up_with_a_reason():
    short = graph_world(numbers(6), [((i,), 0, (i + 1,)) for i in range(2)], start=(0,))
    episode = Agent(short, None, Oracle(short), FIRST_STEPS, patience=3).reach({"n": 5}, max_steps=30)
    assert (episode.success, episode.steps) == (False, 30)
    assert "no attribute set that was ever seen satisfies the goal" in episode.reason
