"""Run an executor in a batch of environments, and judge the episodes."""

import jax
import numpy as np

from attribute_planner.attributes import AttributeSpace
from attribute_planner.data.rollout import advance, start
from attribute_planner.environments.vector_env import TimeStep, VectorEnv
from attribute_planner.evaluation.judge import judge
from attribute_planner.planning.episode import Episode
from attribute_planner.planning.execution import Execution

Key = jax.Array


def pursue(
    execution: Execution, envs: VectorEnv, timestep: TimeStep, space: AttributeSpace, *, key: Key
) -> list[Episode]:
    """Algorithm 2 for a batch: one goal in each environment, from the given time step."""
    start_key, steps_key = jax.random.split(key)
    limit = execution.max_steps
    begun = start(execution, envs, key=start_key, timestep=timestep)
    # The executor counts its steps itself: no time limit of the environment's rules ends an episode before.
    ended, trajectories = advance(
        execution, envs, begun, limit, space=space, key=steps_key, keep="nothing", episode_steps=limit + 1
    )
    truth = None if timestep.attributes is None else np.asarray(timestep.attributes)
    return judge(execution.accounts(ended.memory), truth, trajectories, space)
