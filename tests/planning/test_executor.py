from collections.abc import Sequence
from dataclasses import fields, replace
from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.agent import Agent
from attribute_planner.environments.graph_world import Edge, GraphWorld, Place, graph_world
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.vector_env import PureVectorEnv
from attribute_planner.errors import UnknownNameError
from attribute_planner.evaluation.evaluate import evaluate
from attribute_planner.models.detector import AttributeDetector
from attribute_planner.models.policy import GoalPolicy, PolicyOutput
from attribute_planner.planning.episode import ARRIVED, DEVIATED, ENDED, GAVE_UP, ON_THE_WAY, Episode
from attribute_planner.planning.episode_model import EpisodeModel
from attribute_planner.planning.execution import padded_rows, stacked
from attribute_planner.planning.executor import EXECUTORS, Conduct, Executor, episode_model, executor_named
from attribute_planner.planning.observation_search import ObservationSearch
from attribute_planner.planning.posterior import Posterior
from attribute_planner.planning.state_success import SuccessModel, log_odds
from attribute_planner.transitions.edge_numbers import edge_numbers
from attribute_planner.transitions.table import TransitionTable
from tests.probes import RING, Hosted, Oracle, numbers, partial_goal, table_of, with_drawn_weights

RING_TABLE = table_of(numbers(5), [((i,), ((i + step) % 5,), 0.9) for i in range(5) for step in (1, -1)])


def starting_at(world: GraphWorld, value: int) -> GraphWorld:
    return replace(world, start=Place((value,)))


def agent_on(env: Environment, world: GraphWorld, table: TransitionTable) -> Agent:
    """An agent whose policy takes the right actions, and whose table is given."""
    return Agent(env, None, Oracle(world), table, max_attempt_steps=3)


def reach(env: Environment, world: GraphWorld, table: TransitionTable, goal: int, **options) -> Episode:
    return agent_on(env, world, table).reach({"n": goal}, **options)


def pursue(agent: Agent, starts: Sequence[Place], goals: Sequence[int], max_steps: int, **options) -> list[Episode]:
    """One episode from each place of a graph world to each goal, in one batch."""
    assert isinstance(agent.env, GraphWorld)
    envs = PureVectorEnv(agent.env, len(starts))
    envs._states = jnp.array([agent.env.places.index(place) for place in starts])
    wanted = [partial_goal([goal]) for goal in goals]
    return agent.pursue(envs, envs._timestep(), wanted, max_steps, Executor(), key=jax.random.key(0), **options)


def outcomes(episode: Episode) -> list[str]:
    return [step.outcome for step in episode.trace]


def test_the_policy_acts_at_the_temperature_that_practice_found_best():
    """A policy that hardly prefers an action wanders; multiplied, its preference decides."""
    ignorant = with_drawn_weights(lambda key: GoalPolicy(RING.spec, 4, key=key))
    agent = Agent(RING, None, ignorant, RING_TABLE, max_attempt_steps=3)
    starts, goals = [Place((0,))] * 8, [2] * 8

    def actions(conduct: Conduct) -> set[tuple[Any, ...]]:
        episodes = pursue(replace(agent, conduct=conduct), starts, goals, 4, record=True)
        return {tuple(step.action for step in episode.trace) for episode in episodes}

    assert len(actions(Conduct())) > 1
    assert len(actions(Conduct(inverse_temperature=1e6))) == 1


def test_every_set_is_reached_from_every_other_by_the_shortest_way():
    pairs = [pair for pair in product(range(5), range(5)) if pair[0] != pair[1]]
    starts, goals = [Place((start,)) for start, _ in pairs], [goal for _, goal in pairs]
    episodes = pursue(agent_on(RING, RING, RING_TABLE), starts, goals, 10)
    assert all(episode.success for episode in episodes)
    expected = [min((goal - start) % 5, (start - goal) % 5) for start, goal in pairs]
    assert [episode.steps for episode in episodes] == [episode.transitions for episode in episodes] == expected
    assert {episode.replans for episode in episodes} == {0}
    assert {tuple(episode.trace) for episode in episodes} == {()}


def test_the_trace_has_sets_targets_actions_and_outcomes():
    world = starting_at(RING, 1)
    episode = reach(world, world, RING_TABLE, 3)
    assert [(step.step, step.observed, step.target) for step in episode.trace] == [
        (0, {"n": 1}, {"n": 2}),
        (1, {"n": 2}, {"n": 3}),
    ]
    assert [step.action for step in episode.trace] == [0, 0]
    assert [step.probability for step in episode.trace] == pytest.approx([0.9, 0.9])
    assert outcomes(episode) == [ARRIVED, ARRIVED]
    assert not any(step.replanned for step in episode.trace)
    assert (episode.claimed, episode.success, episode.reason, episode.final.tolist()) == (True, True, "", [3])
    # Half of the failures repeat themselves: each transition is available with probability 0.95.
    assert [each.probability for each in episode.plan.evidence] == pytest.approx([0.9, 0.9])
    assert episode.plan.edges == pytest.approx((0.95, 0.95), abs=1e-4)


@pytest.mark.parametrize("mode", ["paper", "default"])
def test_a_satisfied_goal_takes_no_step(mode):
    world = starting_at(RING, 1)
    episode = reach(world, world, RING_TABLE, 1, mode=mode)
    assert (episode.success, episode.steps, episode.trace) == (True, 0, [])


NO_WAY = table_of(numbers(5), [((0,), (1,), 1.0), ((1,), (2,), 1.0)])


def test_an_attempt_that_takes_longer_than_half_of_those_that_arrive_is_reconsidered(monkeypatch: pytest.MonkeyPatch):
    # Nothing happens on the way to 1, which seems better than 2 until the median has passed.
    world = graph_world(numbers(4), [((0,), 0, (0,)), ((0,), 1, (2,)), ((2,), 1, (3,))], start=(0,))
    table = table_of(numbers(4), [((0,), (1,), 0.55), ((1,), (3,), 0.9), ((0,), (2,), 0.5), ((2,), (3,), 0.9)])
    arrival_steps = edge_numbers(table.listing(), np.array([0]), np.array([3.0 / np.log(2)]))
    conduct = Conduct(arrival_steps=arrival_steps)
    agent = Agent(world, None, Confused(world), table, max_attempt_steps=10, conduct=conduct)
    episode = agent.reach("n=3", max_steps=8, mode="no-observation-search")
    assert outcomes(episode)[:3] == [ON_THE_WAY, ON_THE_WAY, GAVE_UP]
    assert [step.target for step in episode.trace[2:4]] == [{"n": 1}, {"n": 2}]
    half_a_failure = float(EpisodeModel().attempt(episode.trace[2].probability, np.array(0.5)))
    assert episode.trace[2].posterior == pytest.approx(half_a_failure)
    monkeypatch.setitem(EXECUTORS, "patient", Executor(early_replanning=False, observation_search=False))
    patient = agent.reach("n=3", max_steps=8, mode="patient")
    assert all(step.target == {"n": 1} for step in patient.trace)


@pytest.mark.parametrize("mode", ["paper", "no-nearest-set"])
def test_an_unreachable_goal_is_not_tried(mode):
    world = starting_at(RING, 1)
    episode = reach(world, world, NO_WAY, 0, mode=mode)
    assert (episode.claimed, episode.success, episode.steps) == (False, False, 0)
    assert "no chain of transitions" in episode.reason


def test_where_not_even_the_nearest_set_has_a_way_nothing_is_tried():
    world = starting_at(RING, 1)
    episode = reach(world, world, NO_WAY, 4, max_steps=8, seed=1, mode="no-goal-relaxation")
    assert (episode.success, episode.steps, episode.reason) == (False, 0, episode.plan.reason)


def test_too_few_steps():
    world = starting_at(RING, 0)
    episode = reach(world, world, RING_TABLE, 2, max_steps=1)
    assert (episode.success, episode.steps, episode.reason) == (False, 1, "the goal was not reached within 1 steps.")


def test_exactly_enough_steps():
    world = starting_at(RING, 0)
    episode = reach(world, world, RING_TABLE, 2, max_steps=2)
    assert (episode.success, episode.steps, episode.reason) == (True, 2, "")


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


def test_the_published_execution_repeats_a_transition_that_is_not_available():
    episode = reach(FORK, FORK, HOPEFUL, 3, mode="paper", max_steps=60)
    assert (episode.success, episode.replans) == (False, 0)
    assert outcomes(episode) == [ARRIVED] + [ON_THE_WAY] * 59
    assert {step.target["n"] for step in episode.trace[1:] if step.target} == {3}


@pytest.mark.parametrize("mode", ["default", "no-observation-search", "no-time"])
def test_the_default_execution_takes_another_way(mode):
    episode = reach(FORK, FORK, HOPEFUL, 3, max_steps=60, mode=mode)
    assert episode.success
    assert outcomes(episode)[0] == ARRIVED
    assert [step.observed["n"] for step in episode.trace[-2:]] == [0, 2]
    assert episode.replans >= 1


class Valuing(Oracle):
    """The optimal policy, which knows from where each value can be reached by one edge."""

    possible: jax.Array

    def __init__(self, world: GraphWorld) -> None:
        super().__init__(world)
        possible = np.zeros(self.best.shape, np.float32)
        for edge in world.edges:
            possible[world.places.index(edge.source), edge.target.values[0]] = 1
        self.possible = jnp.asarray(possible)

    def __call__(self, observation: Any, values: jax.Array, goal: jax.Array) -> PolicyOutput:
        here = jnp.argmax(observation, axis=-1)
        return replace(super().__call__(observation, values, goal), baseline=self.possible[here, goal[..., 0]])


def valuing_agent(usual: float) -> Agent:
    """An agent whose policy knows what is possible; `usual`: the log odds of its values in practice."""
    agent = Agent(FORK, None, Valuing(FORK), HOPEFUL, max_attempt_steps=3)
    known = agent.table.listing()
    every = np.arange(known.num_edges)
    model = SuccessModel(1.0, edge_numbers(known, every, np.full(known.num_edges, usual)))
    return replace(agent, conduct=Conduct(success=model))


def test_values_count_relative_to_the_usual_ones():
    """Where values are as low as usual, they tell nothing."""
    impossible = float(log_odds(np.zeros(1))[0])
    episode = valuing_agent(impossible).reach({"n": 3}, max_steps=60)
    assert [step.target["n"] for step in episode.trace[:2] if step.target] == [1, 3]
    assert episode.trace[1].probability == pytest.approx(0.9)


def test_values_of_the_present_state_spare_attempts_that_must_fail():
    agent = valuing_agent(0.0)
    episode = agent.reach({"n": 3}, max_steps=60)
    assert outcomes(episode) == [ARRIVED] * 4
    assert [step.target["n"] for step in episode.trace if step.target] == [1, 0, 2, 3]
    without = agent.reach({"n": 3}, max_steps=60, mode="no-state-success")
    assert without.success and DEVIATED in outcomes(without)


def test_observation_search_tries_other_actions_before_the_attempt_fails():
    episode = reach(FORK, FORK, HOPEFUL, 3, max_steps=60)
    # One step changes nothing. The other action leads back to the fork.
    assert outcomes(episode)[:3] == [ARRIVED, ON_THE_WAY, DEVIATED]
    assert [step.action for step in episode.trace[:3]] == [0, 0, 1]
    assert [step.replanned for step in episode.trace[:3]] == [False, False, True]


DEAD_END = graph_world(numbers(3), [((0,), 0, Place((1,), hidden=1)), ((1,), 0, (2,)), ((1,), 1, (2,))], start=(0,))
"""The place with value 1 to which 0 leads has no way on."""


def test_an_attempt_that_changes_nothing_fails_after_the_steps_of_training():
    hopeful = table_of(numbers(3), [((0,), (1,), 0.9), ((1,), (2,), 0.9)])
    episode = reach(DEAD_END, DEAD_END, hopeful, 2, max_steps=8)
    assert outcomes(episode)[:5] == [ARRIVED, ON_THE_WAY, ON_THE_WAY, GAVE_UP, ON_THE_WAY]
    assert (episode.success, episode.replans) == (False, 2)


SLIPPERY = graph_world(numbers(4), [((0,), 0, (2,)), ((1,), 0, (3,)), ((2,), 0, (3,)), ((0,), 1, (1,))], start=(0,))
"""The tables below say that 0 leads to 1; the action of the policy leads to 2."""


class Confused(Oracle):
    """Takes action 0 everywhere."""

    def __init__(self, world: GraphWorld) -> None:
        super().__init__(world)
        self.best = jnp.zeros_like(self.best)


def test_after_a_deviation_the_path_leads_on_from_there():
    table = table_of(numbers(4), [((0,), (1,), 0.9), ((1,), (3,), 0.9), ((2,), (3,), 0.1)])
    episode = Agent(SLIPPERY, None, Confused(SLIPPERY), table, 3).reach("n=3")
    assert outcomes(episode) == [DEVIATED, ARRIVED]
    assert [step.target for step in episode.trace] == [{"n": 1}, {"n": 3}]
    assert (episode.success, episode.replans, episode.transitions) == (True, 1, 2)
    assert [step.replanned for step in episode.trace] == [True, False]


DETOUR = graph_world(
    numbers(5),
    [((0,), 0, (1,)), ((1,), 0, (2,)), ((2,), 0, (3,)), ((2,), 1, (4,)), ((3,), 1, (4,)), ((3,), 0, (3,))],
    start=(0,),
)
"""Action 0 leads from 0 to 3, one set at a time; action 1 from 2 and 3 to 4."""


def holding(table: TransitionTable, **options: Any) -> Episode:
    """An agent that takes action 0 and whose attempts go on to their target."""
    agent = Agent(DETOUR, None, Confused(DETOUR), table, max_attempt_steps=3, stop_on_any_change=False)
    return agent.reach("n=3", max_steps=10, **options)


def test_an_attempt_holds_its_target_through_sets_that_promise_less():
    # The table knows the way from 0 to 3 as one transition; 1 and 2 are worth less than 3, the goal.
    table = table_of(numbers(5), [((0,), (3,), 0.9), ((1,), (3,), 0.2), ((2,), (3,), 0.2)])
    episode = holding(table)
    assert outcomes(episode) == [ON_THE_WAY, ON_THE_WAY, ARRIVED]
    assert [step.target for step in episode.trace] == [{"n": 3}] * 3
    assert (episode.success, episode.replans, episode.transitions) == (True, 0, 3)
    # As published, every change is replanned from.
    assert outcomes(holding(table, mode="paper")) == [DEVIATED, DEVIATED, ARRIVED]


def test_an_attempt_goes_on_unless_another_target_is_the_better_bet():
    # On the way to 2, set 1 is reached. Nothing is known of the way from there to 2.
    table = table_of(numbers(5), [((0,), (2,), 0.9), ((2,), (3,), 0.5), ((1,), (3,), 0.5)])
    episode = holding(table)
    assert [step.target for step in episode.trace] == [{"n": 2}, {"n": 3}, {"n": 3}]
    assert outcomes(episode) == [DEVIATED, ON_THE_WAY, ARRIVED]
    assert (episode.success, episode.replans) == (True, 1)
    # With as much known of both, the better one is pursued.
    both = [((0,), (2,), 0.9), ((2,), (3,), 0.5), ((1,), (3,), 0.2)]
    assert outcomes(holding(table_of(numbers(5), [*both, ((1,), (2,), 0.9)]))) == [ON_THE_WAY, ARRIVED, ARRIVED]
    assert outcomes(holding(table_of(numbers(5), [*both, ((1,), (2,), 0.1)])))[0] == DEVIATED


def test_an_abandoned_attempt_is_evidence_for_the_share_of_steps_that_it_had():
    table = table_of(numbers(5), [((0,), (2,), 0.9), ((2,), (3,), 0.5), ((1,), (3,), 0.5)])
    first = holding(table).trace[0]
    assert (first.outcome, first.replanned, first.failed) == (DEVIATED, True, False)
    one_of_three_steps = float(EpisodeModel().attempt(first.probability, np.array(1 / 3)))
    assert first.posterior == pytest.approx(one_of_three_steps)
    assert first.probability > first.posterior > float(EpisodeModel().attempt(first.probability, np.array(1.0)))


def test_who_comes_back_to_where_an_attempt_was_abandoned_has_seen_it_fail(monkeypatch: pytest.MonkeyPatch):
    failures: list[tuple[int, int, float]] = []
    monkeypatch.setattr(
        Posterior,
        "failed",
        lambda self, source, target, share: failures.append((int(source[0]), int(target[0]), share)),
    )
    # On the way to 2 the agent comes to 1, from where it goes back to 0: that is part of another way to the goal.
    world = graph_world(numbers(4), [((0,), 0, (1,)), ((1,), 0, (0,)), ((0,), 1, (3,))], start=(0,))
    table = table_of(numbers(4), [((0,), (2,), 0.9), ((2,), (3,), 0.9), ((1,), (0,), 0.9), ((0,), (3,), 0.1)])
    agent = Agent(world, None, Confused(world), table, max_attempt_steps=10, stop_on_any_change=False)
    agent.reach("n=3", max_steps=2)
    assert failures == [(0, 2, pytest.approx(0.1)), (0, 2, pytest.approx(0.9))]


def test_observation_search_remembers_what_led_astray_until_it_arrives():
    """Action 0, which the policy takes, leads from 0 to 1 and back; the way to 2 is action 1."""
    world = graph_world(numbers(3), [((0,), 0, (1,)), ((1,), 0, (0,)), ((0,), 1, (2,))], start=(0,))
    table = table_of(numbers(3), [((0,), (2,), 0.5), ((1,), (0,), 0.9), ((1,), (2,), 0.1)])
    agent = Agent(world, None, Confused(world), table, max_attempt_steps=5, stop_on_any_change=False)
    episode = agent.reach("n=2", max_steps=20)
    assert [step.action for step in episode.trace] == [0, 0, 1]
    assert episode.success
    assert not agent.reach("n=2", max_steps=20, mode="no-observation-search").success


def test_observation_search_knows_what_repeats_itself_and_the_steps_that_are_left(monkeypatch: pytest.MonkeyPatch):
    asked: list[tuple[float, int]] = []
    decide = ObservationSearch.decide

    def noted(self: ObservationSearch, here: bytes, log_probs: np.ndarray, sampled: int, left: int) -> int:
        asked.append((self.repeatable, left))
        return decide(self, here, log_probs, sampled, left)

    monkeypatch.setattr(ObservationSearch, "decide", noted)
    hopeful = table_of(numbers(3), [((0,), (1,), 0.9), ((1,), (2,), 0.9)])
    agent = Agent(DEAD_END, None, Confused(DEAD_END), hopeful, 3, conduct=Conduct(repeatable=0.25))
    agent.reach("n=2", max_steps=4)
    assert asked == [(0.25, 4), (0.25, 3), (0.25, 2), (0.25, 1)]


def test_a_set_that_an_abandoned_attempt_left_is_not_worth_less(monkeypatch: pytest.MonkeyPatch):
    left: list[int] = []
    monkeypatch.setattr(Posterior, "left", lambda self, source: left.append(int(source[0])))
    table = table_of(numbers(5), [((0,), (2,), 0.9), ((2,), (3,), 0.5), ((1,), (3,), 0.5)])
    assert holding(table).success and left == [1]
    left.clear()
    stopping = Agent(DETOUR, None, Confused(DETOUR), table, max_attempt_steps=3, stop_on_any_change=True)
    assert stopping.reach("n=3", max_steps=10).success and left[0] == 0


def test_a_held_attempt_fails_after_the_steps_of_training():
    table = table_of(numbers(5), [((0,), (4,), 0.9), ((4,), (3,), 0.9), ((2,), (4,), 0.2), ((1,), (4,), 0.2)])
    agent = Agent(DETOUR, None, Confused(DETOUR), table, max_attempt_steps=2, stop_on_any_change=False)
    episode = agent.reach("n=3", max_steps=10, mode="no-observation-search")
    # 1 is passed through, and with the second step the attempt is given up; 3, the goal, comes by chance.
    assert outcomes(episode)[:2] == [ON_THE_WAY, GAVE_UP]
    assert episode.trace[1].replanned


@pytest.mark.parametrize("mode", ["paper", "no-nearest-set"])
def test_an_unknown_set_ends_an_episode_without_the_nearest_set(mode):
    table = table_of(numbers(4), [((0,), (1,), 0.9), ((1,), (3,), 0.9)])
    episode = Agent(SLIPPERY, None, Confused(SLIPPERY), table, 3).reach("n=3", mode=mode)
    assert (episode.success, outcomes(episode)) == (False, [DEVIATED])
    assert "led to where no plan is known" in episode.reason


def test_in_an_unknown_set_the_change_of_the_nearest_set_is_made():
    table = table_of(numbers(4), [((0,), (1,), 0.9), ((1,), (3,), 0.9)])
    episode = Agent(SLIPPERY, None, Confused(SLIPPERY), table, 3).reach("n=3", max_steps=60)
    # In 2 as in 1: two more, and no more than there are.
    assert (episode.success, outcomes(episode)) == (True, [DEVIATED, ARRIVED])
    assert episode.trace[1].target == {"n": 3}


def test_failures_in_an_unknown_set_are_evidence_too():
    table = table_of(numbers(4), [((0,), (1,), 0.9), ((1,), (3,), 0.9), ((1,), (0,), 0.8), ((0,), (3,), 0.1)])
    stuck = graph_world(numbers(4), [((0,), 0, (2,))], start=(0,))
    episode = Agent(stuck, None, Confused(stuck), table, 3).reach("n=3", max_steps=30)
    assert not episode.success
    # In 2 as in 1: two up, as 1 → 3; after that has failed, one down, as 1 → 0.
    assert [step.target for step in episode.trace[1:4]] == [{"n": 3}] * 3
    assert {"n": 1} in [step.target for step in episode.trace[4:]]


def test_the_end_of_the_environments_episode_ends_the_pursuit():
    world = starting_at(RING, 0)
    episode = reach(Hosted(world, episode_steps=1), world, RING_TABLE, 2, max_steps=10)
    assert (episode.success, episode.steps, outcomes(episode)) == (False, 1, [ENDED])
    assert "the episode ended" in episode.reason
    in_time = reach(Hosted(world, episode_steps=2), world, RING_TABLE, 2, max_steps=10)
    assert in_time.success


class Mistaken(AttributeDetector):
    """Detects the given value at each place of the ring."""

    sees: jax.Array

    def __init__(self, sees: list[int]) -> None:
        drawn = with_drawn_weights(lambda key: AttributeDetector(RING.spec, 2, key=key))
        self.trunk, self.heads, self.space = drawn.trunk, drawn.heads, drawn.space
        self.sees = jnp.array([sees[place.values[0]] for place in RING.places])

    def logits(self, observation: Any) -> jax.Array:
        return 20 * jax.nn.one_hot(self.sees[jnp.argmax(observation, axis=-1)], 5)[..., None, :]


@pytest.mark.parametrize(
    ("sees", "steps"),
    [
        ([2, 1, 2, 3, 4], 0),  # 0 is taken for 2: the agent believes to be there at the start
        ([0, 2, 2, 3, 4], 1),  # 1 is taken for 2: it believes to be there on the way
    ],
)
def test_success_is_judged_by_the_true_attributes(sees, steps):
    world = starting_at(RING, 0)
    fooled = Agent(world, Mistaken(sees), Oracle(world), RING_TABLE, 3).reach({"n": 2})
    assert (fooled.claimed, fooled.success, fooled.steps, fooled.final.tolist()) == (True, False, steps, [2])
    assert "the detector took another attribute set for the goal" in fooled.reason


def test_a_detector_that_overlooks_the_goal_is_the_reason_of_failure():
    world = starting_at(RING, 0)
    blind = Agent(world, Mistaken([0, 1, 3, 3, 4]), Oracle(world), RING_TABLE, 3)
    episode = blind.reach({"n": 2}, max_steps=2)
    assert (episode.success, episode.steps) == (False, 2)
    assert episode.reason == "the goal was reached on the way, but the detector did not see it."
    tried = evaluate(blind, episodes=40)
    assert sum(tried.failures.values()) == 40 - round(40 * tried.success) > 0
    told = evaluate(blind.with_true_attributes(), episodes=40)
    assert (told.success, told.failures) == (1.0, {})


def test_a_detector_that_is_right_on_the_way_is_good_enough():
    world = starting_at(RING, 0)
    episode = Agent(world, Mistaken([0, 1, 2, 3, 3]), Oracle(world), RING_TABLE, 3).reach({"n": 2})
    assert (episode.success, episode.steps) == (True, 2)


def test_images_are_kept_before_every_step_and_after_the_last():
    world = starting_at(RING, 0)
    episode = reach(Hosted(world), world, RING_TABLE, 2, frames=True)
    assert [frame.shape for frame in episode.frames] == [(8, 12, 3)] * 3


NOISE = tuple(
    Edge(Place((4,), hidden=here), action, Place((4,), hidden=there), 0.5)
    for here, action, there in product((0, 1), (0, 1), (0, 1))
)
"""Two places with value 4; either action leads to either of them by chance."""
CHAIN = tuple(Edge(Place((value,)), 0, Place(((value + 1) % 16,))) for value in range(5, 16))
"""Eleven transitions from 5 to 0, where the fork is."""
WITH_NOISE = replace(FORK, space=numbers(16), edges=(*FORK.edges, *NOISE, *CHAIN), start=None)
NOISE_TABLE = table_of(
    numbers(16),
    [((source,), (target,), 0.9) for source, target in ((0, 1), (1, 3), (1, 0), (2, 3), (4, 3))]
    + [((0,), (2,), 0.6)]
    + [(edge.source.values, edge.target.values, 1.0) for edge in CHAIN],
)


def test_an_episode_does_not_depend_on_the_others_of_its_batch():
    agent, noise, start = agent_on(WITH_NOISE, WITH_NOISE, NOISE_TABLE), Place((4,)), Place((5,))
    (alone,) = pursue(agent, [start], [3], 60, record=True)
    assert alone.success
    assert DEVIATED in outcomes(alone), "observation search leads out of the dead end"
    # By the time of the dead end, the other environments are known to be stochastic; one has stopped.
    batch = pursue(agent, [*[noise] * 8, start, Place((2,))], [3] * 10, 60, record=True)
    assert [episode.success for episode in batch] == [False] * 8 + [True] * 2
    assert batch[8].trace == alone.trace
    assert (batch[8].steps, batch[8].transitions, batch[8].replans) == (alone.steps, alone.transitions, alone.replans)
    assert batch[9].steps == 1


@pytest.mark.parametrize(
    ("under_way", "most", "count"),
    [(range(1000), 1000, 1000), (range(251), 1000, 1000), ([7, 9], 1000, 250), ([3], 5, 5)],
)
def test_rows_under_way_are_padded_to_one_of_few_lengths(under_way, most, count):
    rows = padded_rows(np.array(under_way), most)
    assert len(rows) == count
    assert set(rows.tolist()) == set(under_way)
    assert rows[: len(under_way)].tolist() == list(under_way)


def test_goals_with_and_without_bounds_share_a_batch():
    goals = stacked([partial_goal([2]), replace(partial_goal([2]), at_least=np.array([True]))])
    assert goals.satisfied_by(np.array([[3], [3]])).tolist() == [False, True]


def test_an_unknown_executor_is_refused():
    with pytest.raises(UnknownNameError, match=r"no execution mode 'papr'.*Did you mean 'paper'"):
        executor_named("papr")


def test_each_other_executor_changes_one_part_of_the_default():
    for name, executor in EXECUTORS.items():
        changed = [each.name for each in fields(Executor) if getattr(executor, each.name) != each.default]
        assert len(changed) == {"paper": len(fields(Executor)), "default": 0}.get(name, 1)


@pytest.mark.parametrize(
    ("mode", "deterministic", "measured", "aliasing"),
    [
        ("default", False, None, 0.5),
        ("default", True, None, 0.95),
        ("default", False, 0.2, 0.2),
        ("default", True, 0.2, 0.2),
        ("no-measured-aliasing", False, 0.2, 0.5),
        ("no-evidence", True, 0.2, 0.0),
    ],
)
def test_failures_are_attributed_as_practice_has_measured(
    mode: str, deterministic: bool, measured: float | None, aliasing: float
):
    model = episode_model(EXECUTORS[mode], Conduct(aliasing=measured), deterministic=deterministic)
    assert model is not None and model.aliasing == aliasing


def test_the_published_execution_has_no_evidence():
    assert episode_model(EXECUTORS["paper"], Conduct(aliasing=0.2), deterministic=False) is None
