from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.agent import Agent
from attribute_planner.environments.tasks import Task, complete_goal
from attribute_planner.environments.vector_env import TimeStep, VectorEnv
from attribute_planner.errors import AttributePlannerError, ConfigurationError, UnknownNameError
from attribute_planner.evaluation.evaluate import draw_starts_and_goals, evaluate
from attribute_planner.evaluation.pursue import RunningEpisodes
from attribute_planner.planning.episode import Episode
from tests.probes import RING, ring_agent


@pytest.fixture(scope="module")
def agent() -> Agent:
    return ring_agent()


def test_a_trained_agent_knows_the_whole_ring(agent: Agent):
    assert (agent.table.num_nodes, agent.table.num_edges) == (5, 10)
    assert agent.table.probability.min() > 0.7
    assert agent.max_attempt_steps == 4


def test_plans_are_made_from_names_or_text(agent: Agent):
    plan = agent.plan({"n": 1}, goal={"n": 3})
    assert [step["n"] for step in plan.steps] == [1, 2, 3]
    assert plan.probability == pytest.approx(np.prod(plan.edges))
    assert agent.plan({"n": 1}, goal="n=3").steps == plan.steps
    assert [step["n"] for step in agent.plan({"n": 0}, goal="n>=3").steps] == [0, 4]


def test_a_plan_needs_a_complete_set_and_a_known_goal(agent: Agent):
    with pytest.raises(UnknownNameError, match=r"it lacks: n"):
        agent.plan({}, goal={"n": 3})
    with pytest.raises(UnknownNameError, match=r"no attribute 'm'"):
        agent.plan({"n": 1}, goal={"m": 3})
    with pytest.raises(UnknownNameError, match=r"Attribute 'n' has no value"):
        agent.plan({"n": 1}, goal={"n": 5})


def test_any_goal_is_reached_from_anywhere(agent: Agent):
    for mode in ("default", "paper"):
        result = evaluate(agent, episodes=60, mode=mode, seed=1)
        assert result.success > 0.95
        assert (result.environment, result.task, result.mode, result.episodes) == ("graph", "any-to-any", mode, 60)
        # Between one and two transitions are needed, and hardly ever more are taken.
        assert 1.0 < result.mean_steps < 2.5
        assert 0.7 < result.planned <= 1.0
        assert result.interval.low < result.success <= result.interval.high


def test_the_same_seed_gives_the_same_episode(agent: Agent):
    one, same = (agent.reach({"n": 2}, seed=4) for _ in range(2))
    assert (one.steps, one.trace) == (same.steps, same.trace)
    starts = {agent.reach({"n": 2}, seed=seed).plan.steps[0]["n"] for seed in range(8)}
    assert len(starts) > 2


def test_an_episode_that_is_paused_after_every_step_is_the_same(agent: Agent):
    seed = next(seed for seed in range(9) if agent.reach({"n": 2}, seed=seed).steps > 1)
    whole = agent.reach({"n": 2}, seed=seed)
    reset_key, pursue_key = jax.random.split(jax.random.key(seed))
    envs = agent.env.vector_env(1)
    execution = agent.execution([agent.goal({"n": 2})], agent.max_steps, record=True)
    running = RunningEpisodes(execution, envs, envs.reset(reset_key), agent.env.attributes, key=pursue_key)

    taken = [running.advance(1) for _ in range(whole.steps + 2)]
    paused = running.episodes()[0]

    assert taken == [1] * whole.steps + [0, 0]
    assert paused.trace == whole.trace
    assert (paused.success, paused.reason, paused.replans) == (whole.success, whole.reason, whole.replans)


@pytest.mark.parametrize("max_steps", [0, -1])
def test_an_episode_needs_steps(agent: Agent, max_steps: int):
    with pytest.raises(AttributePlannerError, match=r"max_steps must be greater than zero"):
        agent.reach({"n": 2}, max_steps=max_steps)


def test_the_limit_of_an_episode_replaces_that_of_the_environment(monkeypatch: pytest.MonkeyPatch, agent: Agent):
    limits: list[int | None] = []
    pursue = Agent.pursue

    def observed(self: Agent, envs: VectorEnv, *rest: Any, **options: Any) -> list[Episode]:
        limits.append(envs.episode_steps)
        return pursue(self, envs, *rest, **options)

    monkeypatch.setattr(Agent, "pursue", observed)
    agent.reach({"n": 2}, max_steps=70)
    assert limits == [70]


KEYS = {"start_key": jax.random.key(0), "goal_key": jax.random.key(1)}


def attributes_of(timestep: TimeStep) -> np.ndarray:
    return np.asarray(timestep.attributes)


def test_goals_that_are_solved_at_the_start_are_drawn_again():
    anything = Task("anything", "any value", lambda s, v, key: complete_goal(jax.random.randint(key, (1,), 0, 5)), 9)
    envs = RING.vector_env(64)
    timestep, goals = draw_starts_and_goals(anything, envs, attributes_of, **KEYS)
    assert goals.values.shape == (64, 1)
    assert not np.any(goals.satisfied_by(attributes_of(timestep)))
    # The starts are those of a reset.
    np.testing.assert_array_equal(attributes_of(timestep), attributes_of(envs.reset(KEYS["start_key"])))


def home(start: Any = None) -> Task:
    return Task("home", "n=2", lambda state, values, key: complete_goal(jnp.full(1, 2, jnp.int32)), 9, start)


def test_starts_at_the_only_goal_of_a_task_are_drawn_again():
    envs = RING.vector_env(64)
    assert (attributes_of(envs.reset(KEYS["start_key"])) == 2).any()
    timestep, goals = draw_starts_and_goals(home(), envs, attributes_of, **KEYS)
    assert not np.any(goals.satisfied_by(attributes_of(timestep)))


def rarely_elsewhere(key: jax.Array) -> jax.Array:
    """Starts of the ring: at 2, and at 4 one time in fifty."""
    state = {place.values[0]: number for number, place in enumerate(RING.places)}
    return jnp.where(jax.random.bernoulli(key, 0.02), state[4], state[2])


def test_starts_are_drawn_again_where_nearly_all_of_them_satisfy_the_goal():
    envs = RING.vector_env(200)
    timestep, _ = draw_starts_and_goals(home(rarely_elsewhere), envs, attributes_of, **KEYS)
    assert (attributes_of(timestep) == 4).all()  # a start of the task, not of the environment


def test_a_task_without_anything_to_do_is_an_error():
    idle = Task("idle", "stay", lambda state, values, key: complete_goal(values), 9)
    with pytest.raises(AttributePlannerError, match=r"Task 'idle' only has goals that are satisfied at the start"):
        draw_starts_and_goals(idle, RING.vector_env(4), attributes_of, **KEYS)


def test_an_unknown_task_lists_those_that_exist(agent: Agent):
    with pytest.raises(UnknownNameError, match=r"graph has no task 'fly'.*There are: any-to-any"):
        evaluate(agent, "fly", episodes=1)


def test_another_estimate_of_the_same_practice(agent: Agent):
    by_visits = agent.with_estimator("visits")
    assert by_visits.table.probability.tolist() != agent.table.probability.tolist()
    # Two ways lead on from every place of the ring.
    np.testing.assert_allclose(np.bincount(by_visits.table.source, by_visits.table.probability), np.ones(5))
    with pytest.raises(UnknownNameError, match=r"no estimator 'guess'"):
        agent.with_estimator("guess")


def test_true_attributes_are_told_only_where_they_are_known(agent: Agent, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(type(agent.env), "has_attribute_fn", False)
    with pytest.raises(ConfigurationError, match="has no attribute function; only the detector gives attributes"):
        agent.with_true_attributes()
