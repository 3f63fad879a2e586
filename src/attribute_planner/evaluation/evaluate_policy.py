"""Evaluation of policies: how often one reaches the goals of a task, on the same tasks as an agent that plans."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.baselines.reactive_policy import ReactivePolicy
from attribute_planner.baselines.training_distribution import aim_of
from attribute_planner.configuration import require_positive
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.spaces import Action, Array, Observation
from attribute_planner.environments.tasks import Task
from attribute_planner.environments.vector_env import TimeStep
from attribute_planner.evaluation.evaluate import AT_ONCE, Evaluation, batch_keys, draw_goals
from attribute_planner.evaluation.statistics import success_interval
from attribute_planner.models.detector import AttributeDetector, detected_values

Key = jax.Array

MODE = "reactive"
"""What a policy's evaluation has in the place of a mode of execution."""


def evaluate_policy(
    env: Environment,
    policy: ReactivePolicy,
    task: str | None = None,
    *,
    episodes: int = 1000,
    seed: int = 0,
    detector: AttributeDetector | None = None,
) -> Evaluation:
    """The success rate of a policy on fresh tasks: for the same seed, those that `evaluate` sets an agent."""
    require_positive("episodes", episodes)
    chosen, won, steps = env.task(task), np.zeros(0, bool), np.zeros(0, int)
    for batch_key in batch_keys(seed):
        count = min(AT_ONCE, episodes - len(won))
        successes, lengths = attempt_tasks(env, policy, chosen, count, detector, key=batch_key)
        won, steps = np.concatenate([won, successes]), np.concatenate([steps, lengths])
        if len(won) >= episodes:
            break
    return _summary(env, chosen, won, steps)


def attempt_tasks(
    env: Environment, policy: ReactivePolicy, task: Task, count: int, detector: AttributeDetector | None, *, key: Key
) -> tuple[np.ndarray, np.ndarray]:
    """`bool[B]` whether each of `count` episodes, side by side, reached its goal; `int[B]` its steps."""
    start_key, goal_key, play_key = jax.random.split(key, 3)
    envs = env.vector_env(count)
    try:
        timestep = envs.reset(start_key, task)
        values = seen_values(detector, timestep)
        truth = values if timestep.attributes is None else np.asarray(timestep.attributes)
        goal = jax.tree.map(np.asarray, draw_goals(task, envs, truth, key=goal_key))
        aim, memory = aim_of(goal), policy.begin(count)
        there = np.asarray(goal.satisfied_by(values))
        success, steps, active = there & np.asarray(goal.satisfied_by(truth)), np.zeros(count, int), ~there
        for number in range(task.max_steps):
            if not active.any():
                break
            act_key, chance_key = jax.random.split(jax.random.fold_in(play_key, number))
            memory, action = _act(policy, memory, timestep.observation, values, aim, act_key)
            timestep = envs.step(jax.tree.map(np.asarray, action), chance_key)
            values = seen_values(detector, timestep)
            truth = values if timestep.attributes is None else np.asarray(timestep.attributes)
            # As with an agent: it stops where it believes to be, and success is judged by the true f.
            there = active & np.asarray(goal.satisfied_by(values))
            success |= there & np.asarray(goal.satisfied_by(truth))
            steps += active
            active &= ~there & ~timestep.over
        return success, steps
    finally:
        envs.close()


def seen_values(detector: AttributeDetector | None, timestep: TimeStep) -> np.ndarray:
    """`int32[B, A]` what the policy takes the attributes to be."""
    values = timestep.attributes if detector is None else detected_values(detector, timestep.observation)
    assert values is not None, "an environment without f needs a detector"
    return np.asarray(values, np.int32)


@eqx.filter_jit
def _act(
    policy: ReactivePolicy, memory: Any, observation: Observation, values: Array, aim: Array, key: Key
) -> tuple[Any, Action]:
    return policy.act(memory, observation, jnp.asarray(values), jnp.asarray(aim), key=key)


def _summary(env: Environment, task: Task, won: np.ndarray, steps: np.ndarray) -> Evaluation:
    return Evaluation(
        environment=env.name,
        task=task.name,
        mode=MODE,
        episodes=len(won),
        success=float(won.mean()),
        interval=success_interval(int(won.sum()), len(won)),
        mean_steps=float(steps[won].mean()) if won.any() else float("nan"),
        mean_replans=0.0,
        planned=float("nan"),
        max_steps=task.max_steps,
    )
