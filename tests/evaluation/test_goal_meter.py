from dataclasses import replace
from typing import Any

import jax
import numpy as np
import pytest

from attribute_planner import algorithm
from attribute_planner.algorithm import Progress
from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.evaluation import goal_meter
from attribute_planner.evaluation.goal_meter import GoalMeter, metrics_of, num_unseen_values, weakest_edge
from attribute_planner.evaluation.random_goals import pursue_random_goals, random_goals
from attribute_planner.phases.practise import Practised
from attribute_planner.planning.episode import Episode
from attribute_planner.planning.plan import Planner
from tests.probes import RING, TINY, numbers, partial_goal, ring_agent, table_of


def test_goals_are_sets_to_which_observed_transitions_lead():
    """From 0 one can get to 1 and 2; 3 and 4 were seen from elsewhere."""
    table = table_of(numbers(5), [((0,), (1,), 1.0), ((1,), (2,), 0.5), ((3,), (4,), 1.0), ((4,), (3,), 1.0)])
    agent, random = replace(ring_agent(), table=table), np.random.default_rng(0)
    goals = random_goals(agent, np.zeros((40, 1), np.int32), random)
    assert {int(goal.values[0]) for goal in goals} == {1, 2}
    # Nothing leads away from 2: any other set.
    goals = random_goals(agent, np.full((60, 1), 2, np.int32), random)
    assert {int(goal.values[0]) for goal in goals} == {0, 1, 3, 4}


def test_an_agent_that_was_trained_reaches_random_goals():
    measured = metrics_of(pursue_random_goals(ring_agent(), 16, key=jax.random.key(0)))
    assert measured["goals_measured"] == 16 and measured["goals_reached"] >= 0.9
    assert measured["weakest_edge"].startswith("n from ")


def test_the_weakest_edge_is_the_least_probable_one_on_any_plan():
    table = table_of(numbers(3), [((0,), (1,), 0.9), ((1,), (2,), 0.75), ((2,), (0,), 0.1)])
    plans = [Planner(table).plan(np.array([0], np.int32), partial_goal([n])) for n in (1, 2)]
    assert weakest_edge(plans) == "n from 1 to 2: 75 % (750 of 1,000)"
    assert weakest_edge([]) is None


def test_values_that_no_set_has_are_counted():
    space = AttributeSpace((Attribute("lit"), Attribute("n", range(4))))
    words = np.asarray(space.pack(np.array([[0, 1], [0, 3]], np.int32)))
    assert num_unseen_values(space, words) == 3


def test_nothing_is_measured_before_practice_or_too_early():
    assert GoalMeter(RING, TINY, key=jax.random.key(0)).measure_if_due(Progress()) == {}


def practised_on_the_ring() -> Practised:
    """The product of a whole practice."""
    reports: list[Practised] = []

    def watch(phase: str, done: float, metrics: dict[str, Any], so_far: Any) -> None:
        if isinstance(so_far, Practised):
            reports.append(so_far)

    algorithm.train(RING, TINY, key=jax.random.key(1), watch=watch)
    return reports[-1]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time in seconds, as a list of one number; a measurement takes 2 s."""
    now, episode = [0.0], ring_agent().reach("n=3")

    def pursue(*arguments: Any, **options: Any) -> list[Episode]:
        now[0] += 2.0
        return [episode]

    monkeypatch.setattr(goal_meter, "FIRST_AFTER", 20.0)
    monkeypatch.setattr(goal_meter.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(goal_meter, "agent_so_far", lambda *arguments: ring_agent())
    monkeypatch.setattr(goal_meter, "pursue_random_goals", pursue)
    return now


def test_measurements_go_on_while_they_take_a_small_share_of_the_time(clock: list[float]):
    """However few steps a training has: each measurement takes 3 % of 67 s."""
    meter, measured = GoalMeter(RING, TINY, key=jax.random.key(0)), []
    progress = Progress(practised=practised_on_the_ring()._replace(steps=100))
    for seconds in np.arange(0.0, 300.0, 10.0).tolist():
        clock[0] = seconds
        if meter.measure_if_due(progress):
            measured.append(seconds)
    assert measured == [20.0, 140.0, 200.0, 270.0]


def test_no_measurement_is_older_than_a_quarter_of_practice(clock: list[float]):
    meter, measured = GoalMeter(RING, TINY, key=jax.random.key(0)), []
    practised = practised_on_the_ring()
    for tenth in range(1, 11):
        clock[0] = 20.0 + tenth
        if meter.measure_if_due(Progress(practised=practised._replace(steps=tenth * TINY.practise.steps // 10))):
            measured.append(tenth)
    assert measured == [1, 4, 7, 10]
