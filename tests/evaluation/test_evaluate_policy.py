from dataclasses import replace
from typing import Any

import jax
import numpy as np
import pytest

from attribute_planner.agent import Agent
from attribute_planner.baselines.reactive_policy import ReactivePolicy
from attribute_planner.environments.graph_world import Place
from attribute_planner.evaluation.evaluate import evaluate
from attribute_planner.evaluation.evaluate_policy import attempt_tasks, evaluate_policy
from tests.baselines.probes import AlwaysForward
from tests.probes import RING, Hosted, HostedWorlds, Oracle, table_of


def test_players_face_the_tasks_of_agents(monkeypatch: pytest.MonkeyPatch):
    seen: list[Any] = []
    draw = HostedWorlds.sample_goals

    def spy(envs: HostedWorlds, *arguments: Any) -> Any:
        goals = draw(envs, *arguments)
        seen.append((np.asarray(envs.inner._timestep().attributes), np.asarray(goals.values)))
        return goals

    monkeypatch.setattr(HostedWorlds, "sample_goals", spy)
    env = Hosted(RING)
    table = table_of(RING.space, [((n,), ((n + 1) % 5,), 1.0) for n in range(5)])
    evaluate(Agent(env, None, Oracle(RING), table, max_attempt_steps=5), episodes=20, seed=3)
    agents, seen[:] = list(seen), []
    evaluate_policy(env, AlwaysForward(), episodes=20, seed=3)
    for agent, policy in zip(agents, seen, strict=True):
        np.testing.assert_array_equal(agent, policy)


def test_a_player_that_knows_the_way():
    # Of the ring the oracle knows the next places alone; for those further on it takes action 0, which gets there too.
    evaluation = evaluate_policy(RING, ReactivePolicy(Oracle(RING)), episodes=200)
    assert evaluation.success == 1.0
    assert 1.5 < evaluation.mean_steps < 2.1
    assert (evaluation.environment, evaluation.task, evaluation.mode) == ("graph", "any-to-any", "reactive")


def test_time_runs_out():
    env = replace(RING, start=Place((0,)), episode_steps=3)
    success, steps = attempt_tasks(env, AlwaysForward(), env.task(None), 64, key=jax.random.key(0))
    # Goals are one to four steps away, and time is up after three.
    assert 0.5 < success.mean() < 1
    assert set(steps[success].tolist()) == {1, 2, 3}
    assert set(steps[~success].tolist()) == {3}
