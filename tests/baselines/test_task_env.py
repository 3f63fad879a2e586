from dataclasses import replace
from typing import Any

import jax
import numpy as np
import pytest

from attribute_planner.baselines import training_loop
from attribute_planner.baselines.host_task_env import HostTaskEnvs
from attribute_planner.baselines.training_distribution import Stage
from attribute_planner.baselines.training_loop import (
    Ends,
    TaskTrainingConfig,
    add_ends,
    batch_of,
    task_envs,
    train_on_tasks,
)
from attribute_planner.data.rollout import advance, start
from attribute_planner.data.trajectories import Trajectories, concatenate
from attribute_planner.environments.graph_world import Place
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.tasks import Task
from attribute_planner.environments.vector_env import TimeStep
from attribute_planner.errors import AttributePlannerError
from tests.baselines.probes import AlwaysForward, go_to
from tests.probes import RING, Hosted, HostedWorlds

START = replace(RING, start=Place((0,)))
BOTH = pytest.mark.parametrize("env", [START, Hosted(START, episode_steps=100)], ids=["pure", "host"])


def tried(
    env: Environment, stages: list[Stage], *, steps: int = 12, num_envs: int = 8, opened: int | None = None
) -> Trajectories:
    """Steps round the ring, in two rollouts."""
    envs, actor = task_envs(env, tuple(stages), num_envs, tries=8), AlwaysForward()
    envs.open_stages = opened or len(stages)
    episodes, halves = start(actor, envs, key=jax.random.key(0)), []
    for number in (1, 2):
        key = jax.random.key(number)
        episodes, half = advance(actor, envs, episodes, steps // 2, space=env.attributes, key=key)
        halves.append(half.on_host())
    envs.close()
    return concatenate(*halves)


def values(steps: Trajectories) -> np.ndarray:
    """`[T, B]` the attribute before each step."""
    return np.asarray(RING.attributes.unpack(steps.attributes))[..., 0]


@BOTH
def test_an_episode_terminates_when_its_goal_is_reached(env: Environment):
    steps = tried(env, [Stage(go_to(3))], steps=6)
    assert values(steps)[:, 0].tolist() == [0, 1, 2, 0, 1, 2]
    assert np.all(steps.observation.goal == 3)
    assert steps.outcome[:, 0].tolist() == steps.terminated[:, 0].tolist() == [False, False, True] * 2
    assert not np.any(steps.truncated)
    # The memory lasts for an episode, also from one rollout to the next.
    assert steps.info.value[:, 0].tolist() == [0, 1, 2] * 2
    assert add_ends(Ends.none(), steps).success == 1.0


def test_success_is_reported_of_as_many_episodes_as_there_are_environments(monkeypatch: pytest.MonkeyPatch):
    """Of those that end sooner, most have succeeded: the others continue until their time limit."""
    monkeypatch.setattr(training_loop, "ROLLOUTS_PER_REPORT", 1)
    monkeypatch.setattr(training_loop, "stages_of", lambda *_, **__: (Stage(go_to(3)),))
    shown: list[float | None] = []
    train_on_tasks(
        START,
        "probe",
        TaskTrainingConfig(steps=48, num_envs=8, rollout_length=1),
        None,
        lambda _: AlwaysForward(),
        lambda train_state, steps, remaining, key: (train_state, {}),
        name="probe",
        key=jax.random.key(0),
        watch=lambda phase, done, metrics, so_far: shown.append(metrics.get("success")),
    )
    assert shown == [None, None, 1.0, None, None, 1.0]


class Restorable(HostedWorlds):
    """Environments whose states can be restored."""

    resets = 0

    def reset(self, key: jax.Array, task: Task | None = None) -> TimeStep:
        Restorable.resets += 1
        return self._with_states(super().reset(key, task))

    def step(self, action: Any, key: jax.Array) -> TimeStep:
        return self._with_states(super().step(action, key))

    def restore_state(self, states: Any) -> TimeStep:
        self.inner._states, self.ages[:] = states, 0
        return self._with_states(self._on_the_host(self.inner._timestep()))

    def _with_states(self, timestep: TimeStep) -> TimeStep:
        return replace(timestep, states=self.inner._states)


def test_tasks_are_attempted_several_times_where_states_can_be_restored(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Hosted, "vector_env", lambda self, num_envs: Restorable(self, num_envs))
    monkeypatch.setattr(Restorable, "resets", 0)
    env, actor = Hosted(RING, episode_steps=100), AlwaysForward()
    # From a random place of the ring to 3, in up to four steps.
    envs = HostTaskEnvs(env, (Stage(go_to(3)),), 16, tries=3)
    episodes = start(actor, envs, key=jax.random.key(0))
    _, steps = advance(actor, envs, episodes, 24, space=env.attributes, key=jax.random.key(1))
    begins = np.concatenate([np.ones((1, 16), bool), np.asarray(steps.over)[:-1]])
    starts = values(steps)[begins]
    # Every task is one of those drawn, none is solved at the start, and each batch of about 16 serves three times.
    assert (starts != 3).all() and np.asarray(steps.outcome)[steps.over].all()
    assert 1 < Restorable.resets <= -(-len(starts) // (3 * 8)) and len(starts) > 3 * 16
    # Those that continue are not disturbed when others are restored.
    np.testing.assert_array_equal(values(steps)[1:][~begins[1:]], (values(steps)[:-1][~begins[1:]] + 1) % 5)


@BOTH
def test_a_time_limit_truncates_an_episode_and_does_not_terminate_it(env: Environment):
    steps = tried(env, [Stage(go_to(4, max_steps=2))], steps=6)
    assert values(steps)[:, 0].tolist() == [0, 1] * 3
    assert steps.truncated[:, 0].tolist() == [False, True] * 3
    assert not np.any(steps.terminated) and not np.any(steps.outcome)
    assert add_ends(Ends.none(), steps).success == 0.0


@BOTH
def test_each_stage_has_its_own_time_limit(env: Environment):
    steps = tried(env, [Stage(go_to(4, 1, "short")), Stage(go_to(3, 2, "long"))], steps=60)
    goals, ages = steps.observation.goal[..., 0], steps.info.value
    np.testing.assert_array_equal(steps.truncated, ages + 1 == np.where(goals == 4, 1, 2))
    assert set(goals.ravel().tolist()) == {3, 4}


@BOTH
def test_a_single_attempt_terminates_when_the_attributes_change(env: Environment):
    steps = tried(env, [Stage(go_to(4), single_attempt=True)], steps=4)
    assert values(steps)[:, 0].tolist() == [0] * 4
    assert np.all(steps.terminated) and not np.any(steps.outcome) and not np.any(steps.truncated)


@BOTH
def test_tasks_are_drawn_from_the_open_stages(env: Environment):
    stages = [Stage(go_to(1, name="near")), Stage(go_to(2, name="far"))]
    assert set(tried(env, stages, opened=1).observation.goal.ravel().tolist()) == {1}
    steps = tried(env, stages, steps=40)
    assert set(steps.observation.goal.ravel().tolist()) == {1, 2}
    # Each episode reaches its own goal.
    np.testing.assert_array_equal((values(steps) + 1) % 5 == steps.observation.goal[..., 0], steps.outcome)


@pytest.mark.parametrize("env", [START, Hosted(START)], ids=["pure", "host"])
def test_goals_that_hold_at_the_start_are_an_error(env: Environment, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(training_loop, "stages_of", lambda *_, **__: (Stage(go_to(0)),))
    with pytest.raises(AttributePlannerError, match="go-0"):
        train_on_tasks(
            env,
            "probe",
            TaskTrainingConfig(num_envs=4),
            None,
            lambda _: AlwaysForward(),
            lambda train_state, *_: (train_state, {}),
            name="probe",
            key=jax.random.key(0),
            watch=lambda *_: None,
        )


def test_reaching_the_goal_has_reward_one_and_each_step_costs():
    steps = tried(START, [Stage(go_to(3))], steps=4)
    batch = batch_of(steps, START.attributes, -0.1)
    np.testing.assert_allclose(np.asarray(batch.reward)[:, 0], [-0.1, -0.1, 0.9, -0.1], rtol=1e-6)
    assert np.asarray(batch.goal)[:, 0, 0].tolist() == [3] * 4
    assert np.asarray(batch.values)[:, 0, 0].tolist() == [0, 1, 2, 0]
    assert not np.any(batch.imitate)
