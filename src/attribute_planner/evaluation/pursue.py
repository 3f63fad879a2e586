"""Run an executor in a batch of environments, and judge the episodes."""

import jax
import numpy as np

from attribute_planner.attributes import AttributeSpace
from attribute_planner.data.episodes import Episodes
from attribute_planner.data.rollout import advance, start
from attribute_planner.data.trajectories import Trajectories, concatenate
from attribute_planner.environments.vector_env import TimeStep, VectorEnv
from attribute_planner.evaluation.judge import judge
from attribute_planner.planning.episode import Episode
from attribute_planner.planning.execution import Execution

Key = jax.Array


class RunningEpisodes:
    """Algorithm 2 for a batch: one goal in each environment, from a given time step. It can be paused.

    now: the episodes in progress.
    """

    def __init__(
        self, execution: Execution, envs: VectorEnv, timestep: TimeStep, space: AttributeSpace, *, key: Key
    ) -> None:
        start_key, self._key = jax.random.split(key)
        self.execution, self._envs, self._space = execution, envs, space
        self._start = None if timestep.attributes is None else np.asarray(timestep.attributes)
        self._recorded: list[Trajectories] = []
        self._steps = 0
        self.now: Episodes = start(execution, envs, key=start_key, timestep=timestep)

    def advance(self, steps: int) -> int:
        """Continue by at most that many steps; the number of steps that were taken is smaller at the end."""
        # The executor counts its steps itself: no time limit of the environment's rules ends an episode before.
        self.now, trajectories = advance(
            self.execution,
            self._envs,
            self.now,
            min(steps, self.execution.max_steps - self._steps),
            space=self._space,
            key=self._key,
            keep="nothing",
            episode_steps=self.execution.max_steps + 1,
            first_step=self._steps,
        )
        taken = len(trajectories.terminated)
        self._recorded += [trajectories] if taken else []
        self._steps += taken
        return taken

    def episodes(self) -> list[Episode]:
        """The episodes so far, judged by the true attributes."""
        nothing = Trajectories(*(np.zeros((0, 0), bool),) * 8)
        recorded = concatenate(*self._recorded) if self._recorded else nothing
        return judge(self.execution.accounts(self.now.memory), self._start, recorded, self._space)


def pursue(
    execution: Execution, envs: VectorEnv, timestep: TimeStep, space: AttributeSpace, *, key: Key
) -> list[Episode]:
    """The whole episodes."""
    running = RunningEpisodes(execution, envs, timestep, space, key=key)
    running.advance(execution.max_steps)
    return running.episodes()
