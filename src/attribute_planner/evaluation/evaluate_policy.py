"""Evaluation of reactive policies: how often one reaches the goals of a task, on the same tasks as an agent."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.baselines.training_distribution import goal_values
from attribute_planner.data.rollout import rollout
from attribute_planner.data.trajectories import Actor, TracedActor
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.spaces import Action, GoalObservation, Observation
from attribute_planner.environments.tasks import Task
from attribute_planner.evaluation.evaluate import AT_ONCE, Evaluation, batch_keys, draw_starts_and_goals
from attribute_planner.evaluation.statistics import success_interval
from attribute_planner.ranges import require_positive

Key = jax.Array

MODE = "reactive"
"""The mode of execution in the evaluation of a policy."""


def evaluate_policy(
    env: Environment, policy: Actor, task: str | None = None, *, episodes: int = 1000, seed: int = 0
) -> Evaluation:
    """The success rate of a policy on new tasks: for the same seed, those of `evaluate`."""
    require_positive("episodes", episodes)
    chosen, won, steps = env.task(task), np.zeros(0, bool), np.zeros(0, int)
    for batch_key in batch_keys(seed):
        count = min(AT_ONCE, episodes - len(won))
        successes, lengths = attempt_tasks(env, policy, chosen, count, key=batch_key)
        won, steps = np.concatenate([won, successes]), np.concatenate([steps, lengths])
        if len(won) >= episodes:
            break
    return _summary(env, chosen, won, steps)


class TowardsGoals(TracedActor[Any]):
    """A reactive policy with a goal `int32[B, A]` for each environment."""

    policy: Actor
    goal: jax.Array

    def begin(self, num_envs: int, *, key: Key) -> Any:
        return self.policy.begin(num_envs, key=key)

    def act(self, memory: Any, observation: Observation, attributes: Any, *, key: Key) -> tuple[Any, Action, None]:
        with_goal: Any = GoalObservation(observation, self.goal, jnp.zeros(len(self.goal), bool))
        return *self.policy.act(memory, with_goal, attributes, key=key)[:2], None


def attempt_tasks(
    env: Environment, policy: Actor, task: Task, count: int, *, key: Key
) -> tuple[np.ndarray, np.ndarray]:
    """`bool[B]` whether each of `count` episodes reached its goal; `int[B]` its number of steps."""
    start_key, goal_key, rollout_key = jax.random.split(key, 3)
    envs = env.vector_env(count)
    try:
        timestep, drawn = draw_starts_and_goals(
            task, envs, lambda timestep: np.asarray(timestep.attributes), start_key=start_key, goal_key=goal_key
        )
        goal = jax.tree.map(np.asarray, drawn)
        steps = rollout(
            TowardsGoals(policy, goal_values(goal)),
            envs,
            task.max_steps,
            space=env.attributes,
            key=rollout_key,
            keep="nothing",
            episode_steps=task.max_steps,
            timestep=timestep,
        ).on_host()
    finally:
        envs.close()
    reached = np.asarray(goal.satisfied_by(env.attributes.unpack(steps.next_attributes)))
    last = np.argmax(reached | steps.over, axis=0)  # the time limit ends every episode
    return reached[last, np.arange(count)], last + 1


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
