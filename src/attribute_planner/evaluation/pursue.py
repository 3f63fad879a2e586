"""Run an executor in a batch of environments, and have it judged."""

import jax
import numpy as np

from attribute_planner.environments.vector_env import TimeStep, VectorEnv
from attribute_planner.evaluation.judge import Judge
from attribute_planner.planning.episode import Episode
from attribute_planner.planning.executor import Execution

Key = jax.Array


def pursue(
    execution: Execution, envs: VectorEnv, timestep: TimeStep, max_steps: int, *, key: Key, frames: bool = False
) -> list[Episode]:
    """Algorithm 2 for a batch: one goal in each environment, from the given time step."""
    judge = Judge(execution.goals, timestep)
    execution.start(timestep)
    images = [[envs.draw(i)] if frames else [] for i in range(envs.num_envs)]
    for step in range(max_steps):
        act_key, chance_key = jax.random.split(jax.random.fold_in(key, step))
        observation = timestep.observation
        action = execution.act(observation, key=act_key) if execution.active().any() else None
        active = execution.active()
        if action is None or not active.any():
            break
        timestep = envs.step_where(active, action, chance_key)
        execution.observe(observation, action, timestep)
        judge.watch(timestep, active)
        for i in np.flatnonzero(active).tolist() if frames else ():
            images[i].append(envs.draw(i))
    accounts = [episode.account(images[i]) for i, episode in enumerate(execution.episodes)]
    return judge.verdicts(accounts)
