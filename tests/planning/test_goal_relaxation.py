from dataclasses import replace

import numpy as np

from attribute_planner.agent import Agent
from attribute_planner.attributes import Attribute, AttributeSpace, goal_from_names
from attribute_planner.environments.graph_world import Place, graph_world
from attribute_planner.planning.goal_relaxation import relaxed_goal, shifted_goal
from attribute_planner.planning.plan import Planner
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
START = np.array([0, 0, 0], np.int32)


def test_a_goal_is_lowered_as_little_as_possible_to_what_is_easiest_to_reach():
    lowered = relaxed_goal(PLANNER, START, goal_from_names(SPACE, {"a": 2, "b": 1}))
    assert lowered is not None
    assert lowered.named(SPACE) == {"a": 1, "b": 1}


def test_a_bound_that_is_exceeded_lacks_nothing():
    lowered = relaxed_goal(PLANNER, START, goal_from_names(SPACE, {"a": ">=3", "b": ">=0"}))
    assert lowered is not None
    assert lowered.text(SPACE) == "a>=2 b>=0"


def test_only_integers_are_lowered():
    assert relaxed_goal(PLANNER, START, goal_from_names(SPACE, {"a": 1, "door": "open"})) is None


def test_the_rest_of_the_way_is_that_from_lower_values():
    less = shifted_goal(PLANNER, np.array([1, 1, 0]), goal_from_names(SPACE, {"a": 2, "b": 1}))
    assert less is not None
    assert less.shift.tolist() == [1, 0, 0]
    assert less.goal.named(SPACE) == {"a": 1, "b": 1}


def test_without_a_known_way_from_lower_values_there_is_no_shift():
    assert shifted_goal(PLANNER, np.array([2, 0, 0]), goal_from_names(SPACE, {"a": 2, "b": 3})) is None


CHAIN = graph_world(numbers(6), [((i,), 0, (i + 1,)) for i in range(5)], start=(0,))
FIRST_STEPS = table_of(numbers(6), [((0,), (1,), 0.9), ((1,), (2,), 0.9)])


def test_goals_beyond_the_table_are_reached_but_not_by_the_published_execution():
    agent = Agent(CHAIN, None, Oracle(CHAIN), FIRST_STEPS, max_attempt_steps=3)
    for goal in (3, 4):
        episode = agent.reach({"n": goal})
        assert (episode.success, episode.plan.reachable) == (True, False)
        assert [step.target for step in episode.trace] == [{"n": number + 1} for number in range(goal)]
    paper = agent.reach({"n": 3}, mode="paper")
    assert (paper.success, paper.steps) == (False, 0)


def test_an_episode_may_start_at_the_relaxed_goal():
    there_and_back = table_of(numbers(6), [((0,), (1,), 0.9), ((1,), (2,), 0.9), ((2,), (1,), 0.9)])
    world = replace(CHAIN, start=Place((2,)))
    episode = Agent(world, None, Oracle(CHAIN), there_and_back, max_attempt_steps=3).reach({"n": 3})
    assert (episode.success, episode.steps) == (True, 1)


def test_an_impossible_goal_fails_with_a_reason():
    short = graph_world(numbers(6), [((i,), 0, (i + 1,)) for i in range(2)], start=(0,))
    episode = Agent(short, None, Oracle(short), FIRST_STEPS, max_attempt_steps=3).reach({"n": 5}, max_steps=30)
    assert (episode.success, episode.steps) == (False, 30)
    assert "no attribute set that was ever seen satisfies the goal" in episode.reason
