from dataclasses import replace
from typing import Any

import jax
import numpy as np
import pytest

from attribute_planner.baselines import training_loop
from attribute_planner.baselines.episodes import Steps
from attribute_planner.baselines.host_episodes import HostTrials
from attribute_planner.baselines.training_distribution import Stage
from attribute_planner.baselines.training_loop import Ends, TaskTrainingConfig, add_ends, batch_of, trials_for
from attribute_planner.environments.graph_world import Place
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.spaces import Action
from attribute_planner.environments.tasks import Task
from attribute_planner.environments.vector_env import TimeStep
from attribute_planner.errors import AttributePlannerError
from tests.baselines.probes import AlwaysForward, go_to
from tests.probes import RING, Hosted, HostedWorlds

START = replace(RING, start=Place((0,)))
BOTH = pytest.mark.parametrize("env", [START, Hosted(START, episode_steps=100)], ids=["pure", "host"])


def tried(env: Environment, stages: list[Stage], *, steps: int = 12, num_envs: int = 8, open_stages: int = 9) -> Steps:
    """What comes of going on and on round the ring, in two calls."""
    trials = trials_for(env, None, tuple(stages), TaskTrainingConfig(num_envs=num_envs), key=jax.random.key(0))
    opened = min(open_stages, len(stages))
    halves = [trials.collect(AlwaysForward(), steps // 2, opened, key=jax.random.key(i)) for i in (1, 2)]
    trials.close()
    return jax.tree.map(lambda *leaves: np.concatenate(leaves), *halves)


def column(steps: Steps, name: str) -> list[Any]:
    """The first copy's entries."""
    return np.asarray(getattr(steps, name))[:, 0].ravel().tolist()


@BOTH
def test_a_trial_ends_where_its_goal_holds(env: Environment):
    steps = tried(env, [Stage(go_to(3))], steps=6)
    assert column(steps, "values") == [0, 1, 2, 0, 1, 2]
    assert column(steps, "aim") == [3] * 6
    assert column(steps, "reached") == column(steps, "ended") == [False, False, True] * 2
    assert not np.any(steps.cut) and np.all(steps.weight == 1)
    # A memory lasts for a trial, also across calls.
    assert steps.record.baseline[:, 0].tolist() == [0, 1, 2] * 2
    assert add_ends(Ends.none(), steps).success == 1.0


def test_success_is_told_of_as_many_trials_as_there_are_copies(monkeypatch: pytest.MonkeyPatch):
    """Of those that are over sooner, most have succeeded: the others go on until time is up."""
    monkeypatch.setattr(training_loop, "WINDOWS_PER_REPORT", 1)
    monkeypatch.setattr(training_loop, "stages_of", lambda *_, **__: (Stage(go_to(3)),))
    shown: list[float | None] = []
    training_loop.train_on_tasks(
        START,
        "probe",
        TaskTrainingConfig(steps=48, num_envs=8, rollout_length=1),
        None,
        lambda _: AlwaysForward(),
        lambda train_state, steps, remaining, key: (train_state, {}),
        name="probe",
        detector=None,
        key=jax.random.key(0),
        watch=lambda phase, done, metrics, so_far: shown.append(metrics.get("success")),
    )
    assert shown == [None, None, 1.0, None, None, 1.0]


class PutBack(HostedWorlds):
    """Worlds that can be put back, and tell which copies they were to act in."""

    def __init__(self, env: Hosted, num_envs: int) -> None:
        super().__init__(env, num_envs)
        self.resets, self.acted = 0, []

    def reset(self, key: jax.Array, task: Task | None = None) -> TimeStep:
        self.resets += 1
        return self._with_states(super().reset(key, task))

    def step_where(self, which: np.ndarray, action: Action, key: jax.Array) -> TimeStep:
        self.acted.append(which.tolist())
        return self.step(action, key)

    def restore_state(self, states: Any) -> TimeStep:
        self.inner._states, self.ages[:] = states, 0
        return self._with_states(self._on_the_host(self.inner._timestep()))

    def _with_states(self, timestep: TimeStep) -> TimeStep:
        return replace(timestep, states=self.inner._states)


def test_tasks_are_tried_again_where_worlds_can_be_put_back(monkeypatch: pytest.MonkeyPatch):
    made: list[PutBack] = []

    def vector_env(self: Hosted, num_envs: int) -> PutBack:
        made.append(PutBack(self, num_envs))
        return made[-1]

    monkeypatch.setattr(Hosted, "vector_env", vector_env)
    # From a random place of the ring to 3: up to four steps, so that copies wait for each other.
    trials = HostTrials(Hosted(RING, episode_steps=100), None, (Stage(go_to(3)),), 16, rounds=3)
    steps = [trials.collect(AlwaysForward(), 1, 1, key=jax.random.key(i)) for i in range(24)]
    values, weight = (np.stack([getattr(each, name)[0] for each in steps]) for name in ("values", "weight"))
    began = np.flatnonzero(np.concatenate([[True], (weight[1:].sum(axis=1) > weight[:-1].sum(axis=1))]))
    starts = values[began][..., 0].tolist()
    assert made[0].resets == -(-len(began) // 3)
    assert starts[0] == starts[1] == starts[2] and starts[3] == starts[4] == starts[5] != starts[0]
    assert np.array_equal(np.array(made[0].acted), weight > 0)


@BOTH
def test_a_time_limit_cuts_a_trial_off_and_does_not_end_it(env: Environment):
    steps = tried(env, [Stage(go_to(4, max_steps=2))], steps=6)
    assert column(steps, "values") == [0, 1] * 3
    assert column(steps, "cut") == [False, True] * 3
    assert not np.any(steps.ended) and not np.any(steps.reached)
    assert add_ends(Ends.none(), steps).success == 0.0


@BOTH
def test_a_single_attempt_is_over_when_the_attributes_change(env: Environment):
    steps = tried(env, [Stage(go_to(4), single_attempt=True)], steps=4)
    assert column(steps, "values") == [0] * 4
    assert np.all(steps.ended) and not np.any(steps.reached) and not np.any(steps.cut)


@BOTH
def test_tasks_are_drawn_from_the_open_stages(env: Environment):
    stages = [Stage(go_to(1, name="near")), Stage(go_to(2, name="far"))]
    assert set(np.asarray(tried(env, stages, open_stages=1).aim).ravel().tolist()) == {1}
    steps = tried(env, stages, steps=40)
    assert set(np.asarray(steps.aim).ravel().tolist()) == {1, 2}
    # Each trial reaches its own goal.
    after = (np.asarray(steps.values) + 1) % 5
    np.testing.assert_array_equal((after == steps.aim)[..., 0] & (steps.weight > 0), steps.reached)


@BOTH
def test_goals_that_hold_at_the_start_are_not_tried(env: Environment):
    with pytest.raises(AttributePlannerError, match="go-0"):
        tried(env, [Stage(go_to(0))])


def test_on_the_host_copies_wait_for_the_last_of_them():
    env = Hosted(RING, episode_steps=100)
    steps = tried(env, [Stage(go_to(0))], steps=60, num_envs=16)
    waiting = np.asarray(steps.weight) == 0
    assert 0 < waiting.mean() < 0.9
    # Who waits reaches nothing, and all begin again together.
    assert np.all(np.asarray(steps.ended)[waiting]) and not np.any(np.asarray(steps.reached)[waiting])
    begins = np.asarray(steps.record.baseline)[:, 0] == 0
    assert begins.sum() > 3
    np.testing.assert_array_equal(np.asarray(steps.record.baseline) == 0, np.broadcast_to(begins[:, None], (60, 16)))


def test_reaching_the_goal_earns_one_and_each_step_costs():
    steps = tried(START, [Stage(go_to(3))], steps=4)
    batch = batch_of(steps, -0.1)
    np.testing.assert_allclose(np.asarray(batch.reward)[:, 0], [-0.1, -0.1, 0.9, -0.1], rtol=1e-6)
    assert np.asarray(batch.goal)[:, 0, 0].tolist() == [3] * 4
    assert not np.any(batch.imitate)
