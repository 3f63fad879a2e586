"""A door that only opens with a key, which no attribute tells."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import jax
import numpy as np
import pytest

import attribute_planner as ap
from attribute_planner.algorithm import hidden_attributes
from attribute_planner.aliasing.waypoints import Waypoint
from attribute_planner.attributes import Attribute, AttributeSpace, Value
from attribute_planner.configuration import TrainConfig
from attribute_planner.data.attempt_log import ARRIVED, FAILED, AttemptLog
from attribute_planner.data.replay import Replay
from attribute_planner.data.replay_rows import NO_GOAL
from attribute_planner.data.trajectories import Trajectories
from attribute_planner.environments.graph_world import Place, graph_world
from attribute_planner.environments.gymnasium_bridge import GymnasiumEnvironment, from_gymnasium
from attribute_planner.environments.hidden_attributes import with_hidden_attributes
from attribute_planner.environments.spaces import VectorSpec
from attribute_planner.errors import ConfigurationError
from attribute_planner.evaluation import calibrate
from attribute_planner.phases.practise_config import PractiseConfig
from tests.probes import TINY, Hosted, numbers

HALL, CELLAR, OPEN, OPEN_CELLAR = (0, 0), (1, 0), (0, 1), (1, 1)
SPACE = AttributeSpace((Attribute("room", ("hall", "cellar")), Attribute("door", ("closed", "open"))))
KEY_IN_CELLAR = graph_world(
    SPACE,
    [
        (HALL, 0, CELLAR),
        (CELLAR, 0, HALL),
        (CELLAR, 1, Place(CELLAR, 1)),
        (Place(CELLAR, 1), 0, Place(HALL, 1)),
        (Place(HALL, 1), 0, Place(CELLAR, 1)),
        (Place(HALL, 1), 1, Place(OPEN, 1)),
        (Place(OPEN, 1), 0, Place(OPEN_CELLAR, 1)),
        (Place(OPEN_CELLAR, 1), 0, Place(OPEN, 1)),
    ],
    episode_steps=20,
)
"""Action 0 changes the room; action 1 takes the key in the cellar, and opens the door in the hall with it. Episodes
begin anywhere."""

REFINING = replace(
    TINY,
    rounds=4,
    refine=True,
    explore=replace(TINY.explore, steps=2_400, policy="random", num_envs=16),
    practise=PractiseConfig(
        steps=19_200,
        method="dqn",
        max_attempt_steps=2,
        stop_on_any_change=False,
        num_envs=16,
        rollout_length=10,
        rollouts_per_epoch=10,
        hidden_size=16,
    ),
)


def test_refining_adds_what_is_missing_and_the_run_keeps_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(calibrate, "SHARE", 0.0)  # it would take longer than training
    env = Hosted(KEY_IN_CELLAR)
    agent = ap.train(env, seed=0, config=REFINING, run_dir=tmp_path / "run")
    assert agent.env.attributes.names == ("room", "door", "hidden_0")
    hall = {"room": "hall", "door": "closed"}
    without, key = (agent.plan({**hall, "hidden_0": value}, "door=open") for value in (False, True))
    assert len(key.edges) == 1 and len(without.edges) > 1
    assert agent.plan(hall, "door=open").reachable
    assert agent.reach("door=open", max_steps=20).success
    loaded = ap.load(tmp_path / "run", env)
    assert loaded.env.attributes == agent.env.attributes and loaded.table.num_edges >= agent.table.num_edges
    (found,) = [line for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines() if '"refine"' in line]
    assert "Changing door from closed to open" in found


def test_refining_needs_attempts_and_rounds():
    with pytest.raises(ConfigurationError, match="at least 2 rounds"):
        TrainConfig(refine=True)


def recorded(values: np.ndarray, pursued: np.ndarray, over: np.ndarray) -> Replay:
    """A buffer with the steps of one environment whose observation is the time."""
    length = len(values)
    replay = Replay(capacity=4)
    none = np.zeros((length, 1), bool)
    time = np.arange(length, dtype=np.float32)[:, None, None]
    steps = Trajectories(time, None, np.zeros((length, 1)), None, None, none, over[:, None], None)
    after = np.append(values[1:], values[-1:])
    replay.add(steps, values[:, None, None], after[:, None, None], pursued[:, None, None])
    return replay


def test_attempts_are_read_from_the_buffer_while_it_holds_them():
    replay = recorded(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]), np.array([False, True, False, False]))
    log = AttemptLog()
    log.add(last=np.array([1, 3]), env=np.zeros(2, int), age=np.array([1, 1]), outcome=np.array([ARRIVED, FAILED]))
    record = log.record(replay, numbers(2), VectorSpec(1))
    assert record.observation[:, 0].tolist() == [0, 2] and record.reached.tolist() == [True, False]
    assert record.last_observation is not None and record.last_observation[:, 0].tolist() == [1, 3]
    assert (record.source[:, 0].tolist(), record.target[:, 0].tolist()) == ([0, 1], [1, 0])
    assert record.episode is not None and record.episode.tolist() == [0, 1]
    replay.add(*_one_more_step())
    assert len(log.record(replay, numbers(2), VectorSpec(1))) == 1


def _one_more_step() -> tuple[Trajectories, np.ndarray, np.ndarray, np.ndarray]:
    value, flag = np.zeros((1, 1, 1), int), np.zeros((1, 1), bool)
    steps = Trajectories(np.zeros((1, 1, 1), np.float32), None, np.zeros((1, 1)), None, None, flag, flag, None)
    return steps, value, value, value


def test_recorded_steps_are_described_by_further_attributes():
    replay = recorded(np.array([0, 0, 1, 1]), np.array([NO_GOAL, 1, 1, 0]), np.array([False, True, False, False]))
    replay.append_values(lambda observation: (np.asarray(observation) > 1.5).astype(int))
    steps = replay.steps_at(np.arange(4), np.zeros(4, int))
    assert steps.values.tolist() == [[0, 0], [0, 0], [1, 1], [1, 1]]
    # What follows the end of an episode is not known, and the values are taken to stay.
    assert steps.next_values[:, 1].tolist() == [0, 0, 1, 1]
    assert steps.pursued.tolist() == [[-1, -1], [1, 0], [1, 1], [0, 1]]
    before, after = replay.transitions()
    assert before.tolist() == [[0, 0]] and after.tolist() == [[1, 0]]


class Slider(gymnasium.Env):
    """A point in [−1, 1]; the attribute is its sign."""

    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        return self.np_random.uniform(-1, 1, 1).astype(np.float32), {}


def slider() -> GymnasiumEnvironment:
    def describe(observation: Any, info: dict[str, Any], env: gymnasium.Env) -> dict[str, Value]:
        return {"right": bool(observation[0] > 0)}

    return from_gymnasium(Slider, attributes=[Attribute("right")], describe=describe, episode_steps=10)


def recorded_attempts(success: float | np.ndarray) -> tuple[Replay, AttemptLog]:
    """Attempts of a step each, in one environment, to change the sign of the slider; 300, if success changes."""
    random, count = np.random.default_rng(0), 300
    position = random.uniform(-1, 1, (count, 1, 1)).astype(np.float32)
    values = (position > 0).astype(int)
    no = np.zeros((count, 1), bool)
    replay, log = Replay(capacity=count), AttemptLog()
    replay.add(
        Trajectories(position, None, np.zeros((count, 1)), None, None, no, ~no, None), values, values, 1 - values
    )
    outcome = np.where(random.random(count) < success, ARRIVED, FAILED)
    log.add(last=np.arange(count), env=np.zeros(count, int), age=np.zeros(count, int), outcome=outcome)
    return replay, log


WAYPOINTS = replace(REFINING, refine=False, waypoints=True)


def test_ways_are_divided_in_the_first_half_of_the_rounds_if_attempts_seldom_succeed():
    env, (replay, log), key = slider(), recorded_attempts(0.05), jax.random.key(0)
    find = partial(hidden_attributes, replay=replay, log=log, key=key)
    found = find(env, WAYPOINTS, number=0)
    thresholds = [each.threshold.value for each in found if isinstance(each, Waypoint)]
    assert thresholds == pytest.approx([-0.5, 0.5], abs=0.02)
    assert len(find(env, WAYPOINTS, number=1)) == 2
    assert find(env, WAYPOINTS, number=2) == [], "too late"
    assert find(env, replace(WAYPOINTS, waypoints=False), number=0) == []
    divided = with_hidden_attributes(env, [each.split for each in found])
    assert find(divided, WAYPOINTS, number=1) == [], "once is enough"
    assert hidden_attributes(env, WAYPOINTS, None, log, 0, key=key) == [], "nothing is recorded"
    replay, log = recorded_attempts(0.5)
    assert hidden_attributes(env, WAYPOINTS, replay, log, 0, key=key) == []


def test_ways_are_divided_only_if_attempts_will_seldom_succeed_after_half_of_the_rounds():
    env, (replay, log), key = slider(), recorded_attempts(np.linspace(0, 0.15, 300)), jax.random.key(0)
    find = partial(hidden_attributes, env, WAYPOINTS, replay, log, key=key)
    assert find(number=0) == [], "30 % by then"
    assert len(find(number=1)) == 2
