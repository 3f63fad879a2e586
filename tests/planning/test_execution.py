from dataclasses import replace
from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.agent import Agent
from attribute_planner.environments.graph_world import GraphWorld, Place, graph_world
from attribute_planner.environments.interface import Environment
from attribute_planner.evaluation.evaluate import evaluate
from attribute_planner.models.detector import AttributeDetector
from attribute_planner.planning.episode import ARRIVED, DEVIATED, ENDED, GAVE_UP, ON_THE_WAY, Episode
from attribute_planner.planning.execution import enough_of
from attribute_planner.planning.executor import ExecutionConfig
from attribute_planner.transitions.table import TransitionTable
from tests.probes import RING, Hosted, Oracle, numbers, partial_goal, table_of, with_drawn_weights

RING_TABLE = table_of(numbers(5), [((i,), ((i + step) % 5,), 0.9) for i in range(5) for step in (1, -1)])


def starting_at(world: GraphWorld, value: int) -> GraphWorld:
    return replace(world, start=Place((value,)))


def agent_on(env: Environment, world: GraphWorld, table: TransitionTable, patience: int = 3) -> Agent:
    """An agent that knows its way about and believes in the table."""
    return Agent(env, None, Oracle(world), table, patience)


def reach(env: Environment, world: GraphWorld, table: TransitionTable, goal: int, **options) -> Episode:
    return agent_on(env, world, table).reach({"n": goal}, **options)


def outcomes(episode: Episode) -> list[str]:
    return [step.outcome for step in episode.trace]


def test_every_set_is_reached_from_every_other_by_the_shortest_way():
    pairs = [pair for pair in product(range(5), range(5)) if pair[0] != pair[1]]
    agent = agent_on(RING, RING, RING_TABLE)
    envs = RING.vector_env(len(pairs))
    envs._states = jnp.array([RING.places.index(Place((start,))) for start, _ in pairs])  # pyright: ignore[reportAttributeAccessIssue]
    timestep = envs._timestep()  # pyright: ignore[reportAttributeAccessIssue]
    goals = [partial_goal([goal]) for _, goal in pairs]
    episodes = agent.pursue(envs, timestep, goals, 10, ExecutionConfig(), key=jax.random.key(0))
    assert all(episode.success for episode in episodes)
    expected = [min((goal - start) % 5, (start - goal) % 5) for start, goal in pairs]
    assert [episode.steps for episode in episodes] == [episode.transitions for episode in episodes] == expected
    assert {episode.replans for episode in episodes} == {0}
    assert {tuple(episode.trace) for episode in episodes} == {()}


def test_the_trace_tells_what_was_seen_aimed_at_and_done():
    world = starting_at(RING, 1)
    episode = reach(world, world, RING_TABLE, 3)
    assert [(step.step, step.observed, step.aim) for step in episode.trace] == [
        (0, {"n": 1}, {"n": 2}),
        (1, {"n": 2}, {"n": 3}),
    ]
    assert [step.action for step in episode.trace] == [0, 0]
    assert [step.probability for step in episode.trace] == pytest.approx([0.9, 0.9])
    assert outcomes(episode) == [ARRIVED, ARRIVED]
    assert not any(step.replanned for step in episode.trace)
    assert (episode.success, episode.reason, episode.final.tolist()) == (True, "", [3])
    assert episode.plan.probability == pytest.approx(0.81)


def test_a_goal_that_is_satisfied_takes_no_step():
    world = starting_at(RING, 1)
    episode = reach(world, world, RING_TABLE, 1)
    assert (episode.success, episode.steps, episode.trace) == (True, 0, [])


def test_an_unreachable_goal_is_not_even_tried():
    world = starting_at(RING, 1)
    table = table_of(numbers(5), [((0,), (1,), 1.0), ((1,), (2,), 1.0)])
    episode = reach(world, world, table, 0)
    assert (episode.success, episode.steps) == (False, 0)
    assert "no chain of transitions" in episode.reason


def test_too_few_steps_are_too_few():
    world = starting_at(RING, 0)
    episode = reach(world, world, RING_TABLE, 2, max_steps=1)
    assert (episode.success, episode.steps, episode.reason) == (False, 1, "the goal was not reached within 1 steps.")


FORK = graph_world(
    numbers(4),
    [
        ((0,), 0, Place((1,), hidden=1)),
        ((0,), 1, (2,)),
        ((1,), 0, (3,)),
        (Place((1,), hidden=1), 1, (0,)),
        ((2,), 0, (3,)),
        ((2,), 1, (0,)),
    ],
    start=(0,),
)
"""From some places with value 1 there is a way to 3, but not from the one to which 0 leads; another way is by 2."""
HOPEFUL = table_of(
    numbers(4),
    [((0,), (1,), 0.9), ((1,), (3,), 0.9), ((1,), (0,), 0.9), ((0,), (2,), 0.6), ((2,), (3,), 0.9), ((2,), (0,), 0.9)],
)


def test_the_papers_way_walks_into_the_same_wall_for_ever():
    episode = reach(FORK, FORK, HOPEFUL, 3, mode="paper", max_steps=60)
    assert (episode.success, episode.replans) == (False, 0)
    assert outcomes(episode) == [ARRIVED] + [ON_THE_WAY] * 59
    assert {step.aim["n"] for step in episode.trace[1:] if step.aim} == {3}


def test_the_default_way_goes_around_it():
    episode = reach(FORK, FORK, HOPEFUL, 3, max_steps=60)
    assert episode.success
    # One try at the wall; what else can be done there leads back to the fork; and in the end by way of 2.
    assert outcomes(episode)[:3] == [ARRIVED, ON_THE_WAY, DEVIATED]
    assert [step.observed["n"] for step in episode.trace[-2:]] == [0, 2]
    assert [step.replanned for step in episode.trace[:3]] == [False, False, True]
    assert episode.replans >= 1


DEAD_END = graph_world(numbers(3), [((0,), 0, Place((1,), hidden=1)), ((1,), 0, (2,)), ((1,), 1, (2,))], start=(0,))
"""The place with value 1 to which 0 leads has no way on."""


def test_patience_runs_out_where_nothing_helps():
    hopeful = table_of(numbers(3), [((0,), (1,), 0.9), ((1,), (2,), 0.9)])
    episode = reach(DEAD_END, DEAD_END, hopeful, 2, max_steps=8)
    assert outcomes(episode)[:5] == [ARRIVED, ON_THE_WAY, ON_THE_WAY, GAVE_UP, ON_THE_WAY]
    assert (episode.success, episode.replans) == (False, 2)


SLIPPERY = graph_world(numbers(4), [((0,), 0, (2,)), ((1,), 0, (3,)), ((2,), 0, (3,)), ((0,), 1, (1,))], start=(0,))
"""The table below says that 0 leads to 1; what the policy takes for the way there ends in 2."""


class Confused(Oracle):
    """Takes action 0 wherever it is."""

    def __init__(self, world: GraphWorld) -> None:
        super().__init__(world)
        self.best = jnp.zeros_like(self.best)


def test_after_a_deviation_the_way_leads_on_from_there():
    table = table_of(numbers(4), [((0,), (1,), 0.9), ((1,), (3,), 0.9), ((2,), (3,), 0.1)])
    episode = Agent(SLIPPERY, None, Confused(SLIPPERY), table, 3).reach("n=3")
    assert outcomes(episode) == [DEVIATED, ARRIVED]
    assert [step.aim for step in episode.trace] == [{"n": 1}, {"n": 3}]
    assert (episode.success, episode.replans, episode.transitions) == (True, 1, 2)
    assert [step.replanned for step in episode.trace] == [True, False]


def test_a_set_that_was_never_seen_is_left_like_the_most_similar_one_or_ends_the_papers_episode():
    table = table_of(numbers(4), [((0,), (1,), 0.9), ((1,), (3,), 0.9)])
    agent = Agent(SLIPPERY, None, Confused(SLIPPERY), table, 3)
    paper = agent.reach("n=3", mode="paper")
    assert (paper.success, outcomes(paper)) == (False, [DEVIATED])
    assert "led to where no plan is known" in paper.reason
    # In 2 it does what it would do in 1: two more.
    default = agent.reach("n=3", max_steps=60)
    assert (default.success, outcomes(default)) == (True, [DEVIATED, ARRIVED])
    assert default.trace[1].aim == {"n": 3}


def test_what_fails_where_nobody_knows_the_way_is_not_tried_for_ever():
    table = table_of(numbers(4), [((0,), (1,), 0.9), ((1,), (3,), 0.9), ((1,), (0,), 0.8), ((0,), (3,), 0.1)])
    stuck = graph_world(numbers(4), [((0,), 0, (2,))], start=(0,))
    episode = Agent(stuck, None, Confused(stuck), table, 3).reach("n=3", max_steps=12)
    assert not episode.success
    # From 2 as from 1: twice as 1 → 3 would lead, before 0.9 · 0.2 · 0.2 is less than what 1 → 0 promises.
    assert [step.aim for step in episode.trace[1:10]] == [{"n": 3}] * 6 + [{"n": 1}] * 3


def test_the_end_of_an_episode_ends_the_pursuit():
    world = starting_at(RING, 0)
    episode = reach(Hosted(world, episode_steps=1), world, RING_TABLE, 2, max_steps=10)
    assert (episode.success, episode.steps, outcomes(episode)) == (False, 1, [ENDED])
    assert "the episode ended" in episode.reason
    in_time = reach(Hosted(world, episode_steps=2), world, RING_TABLE, 2, max_steps=10)
    assert in_time.success


class Mistaken(AttributeDetector):
    """Takes each place of the ring for one with another value."""

    sees: jax.Array

    def __init__(self, sees: list[int]) -> None:
        ignorant = with_drawn_weights(lambda key: AttributeDetector(RING.spec, 2, key=key))
        self.trunk, self.heads, self.space = ignorant.trunk, ignorant.heads, ignorant.space
        self.sees = jnp.array([sees[place.values[0]] for place in RING.places])

    def logits(self, observation: Any) -> jax.Array:
        return 20 * jax.nn.one_hot(self.sees[jnp.argmax(observation, axis=-1)], 5)[..., None, :]


@pytest.mark.parametrize(
    ("sees", "steps"),
    [
        ([2, 1, 2, 3, 4], 0),  # 0 looks like 2: it believes to be there at the start
        ([0, 2, 2, 3, 4], 1),  # 1 looks like 2: it believes to be there on the way
    ],
)
def test_success_is_judged_by_the_true_attributes(sees, steps):
    world = starting_at(RING, 0)
    fooled = Agent(world, Mistaken(sees), Oracle(world), RING_TABLE, 3).reach({"n": 2})
    assert (fooled.success, fooled.steps, fooled.final.tolist()) == (False, steps, [2])
    assert "the detector took another attribute set for the goal" in fooled.reason


def test_a_detector_that_overlooks_the_goal_is_found_out():
    world = starting_at(RING, 0)
    blind = Agent(world, Mistaken([0, 1, 3, 3, 4]), Oracle(world), RING_TABLE, 3)
    episode = blind.reach({"n": 2}, max_steps=2)
    assert (episode.success, episode.steps) == (False, 2)
    assert episode.reason == "the goal was reached on the way, but the detector did not see it."
    tried = evaluate(blind, episodes=40)
    assert sum(tried.failures.values()) == 40 - round(40 * tried.success) > 0
    told = evaluate(blind.with_true_attributes(), episodes=40)
    assert (told.success, told.failures) == (1.0, {})


def test_a_detector_that_is_right_where_it_matters_is_good_enough():
    world = starting_at(RING, 0)
    episode = Agent(world, Mistaken([0, 1, 2, 3, 3]), Oracle(world), RING_TABLE, 3).reach({"n": 2})
    assert (episode.success, episode.steps) == (True, 2)


def test_pictures_are_taken_before_every_step_and_after_the_last():
    world = starting_at(RING, 0)
    episode = reach(Hosted(world), world, RING_TABLE, 2, pictures=True)
    assert [frame.shape for frame in episode.frames] == [(8, 12, 3)] * 3


@pytest.mark.parametrize(
    ("under_way", "most", "count"),
    [(range(1000), 1000, 1000), (range(251), 1000, 1000), ([7, 9], 1000, 250), ([3], 5, 5)],
)
def test_only_those_under_way_are_looked_ahead_for(under_way, most, count):
    rows = enough_of(np.array(under_way), most)
    assert len(rows) == count
    assert set(rows.tolist()) == set(under_way)
    assert rows[: len(under_way)].tolist() == list(under_way)
