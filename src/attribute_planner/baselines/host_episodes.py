"""Trials in worlds that are stepped from the host: what a policy does between two steps is one compiled call."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.baselines.episodes import Steps, Trials, require_something_to_do
from attribute_planner.baselines.reactive_policy import ReactivePolicy
from attribute_planner.baselines.training_distribution import Stage, aim_of
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.spaces import Action, Array, Observation
from attribute_planner.environments.vector_env import TimeStep
from attribute_planner.models.detector import AttributeDetector, detected_values

Key = jax.Array


class HostTrials(Trials):
    """In worlds on the host, in rounds: all copies begin together, at the same task, and wait for the last of them.

    Drawing tasks may cost as much as many steps (of physics), and is done for all copies at once. A copy whose goal
    holds from the start sits the round out. Where worlds can be put back, the same tasks are tried in several rounds.
    """

    def __init__(
        self, env: Environment, detector: AttributeDetector | None, stages: Sequence[Stage], num_envs: int, rounds: int
    ) -> None:
        self._detector, self._stages, self._envs = detector, tuple(stages), env.vector_env(num_envs)
        self._busy, self._rounds, self._rounds_left = np.zeros(num_envs, bool), rounds, 0

    def collect(self, policy: ReactivePolicy, steps: int, open_stages: int, *, key: Key) -> Steps:
        tried = [self._step(policy, open_stages, jax.random.fold_in(key, number)) for number in range(steps)]
        return Steps(*jax.tree.map(_stack, *tried))

    def close(self) -> None:
        self._envs.close()

    def _step(self, policy: ReactivePolicy, open_stages: int, key: Key) -> tuple[Any, ...]:
        """The fields of `Steps`, for one step."""
        begin_key, act_key, chance_key = jax.random.split(key, 3)
        if not self._busy.any():
            self._begin(policy, open_stages, begin_key)
        observation, values, busy = self._observation, self._values, self._busy
        self._memory, action, record = _decide(policy, self._memory, observation, values, self._aim, act_key)
        action = jax.tree.map(np.asarray, action)
        timestep = self._envs.step_where(busy, action, chance_key)
        self._age += 1
        self._see(timestep)
        reached = np.asarray(self._goal.satisfied_by(self._values))
        tried_once = self._stage.single_attempt & (self._values != values).any(axis=-1)
        ended = reached | tried_once | timestep.terminated
        cut = (timestep.truncated | (self._age >= self._stage.task.max_steps)) & ~ended
        self._busy = busy & ~ended & ~cut
        # Whoever waits has ended before: nothing that happens meanwhile is a sequel of anything.
        outcome = reached & busy, ended | ~busy, cut & busy, np.float32(busy)
        return observation, values, self._aim, action, record, *outcome

    def _begin(self, policy: ReactivePolicy, open_stages: int, key: Key) -> None:
        """A round: of the tasks that were tried before, if they may be once more, or of new ones."""
        timestep = self._envs.restore_state(self._start) if self._rounds_left > 0 else None
        if timestep is None:
            self._draw(open_stages, key)
        else:
            self._see(timestep)
        self._rounds_left -= 1
        self._busy = ~np.asarray(self._goal.satisfied_by(self._values))
        require_something_to_do((self._stage,), self._busy)
        self._memory, self._age = policy.begin(self._envs.num_envs), 0

    def _draw(self, open_stages: int, key: Key) -> None:
        """A new task for each copy."""
        stage_key, start_key, goal_key = jax.random.split(key, 3)
        self._stage = self._stages[int(jax.random.randint(stage_key, (), 0, open_stages))]
        timestep = self._envs.reset(start_key, self._stage.task)
        self._start, self._rounds_left = timestep.states, self._rounds
        self._see(timestep)
        self._goal = jax.tree.map(np.asarray, self._envs.sample_goals(self._stage.task, goal_key))
        self._aim = np.asarray(aim_of(self._goal))

    def _see(self, timestep: TimeStep) -> None:
        values = (
            timestep.attributes if self._detector is None else detected_values(self._detector, timestep.observation)
        )
        assert values is not None, "an environment without f needs a detector"
        self._observation, self._values = timestep.observation, np.asarray(values, np.int32)


@eqx.filter_jit
def _decide(
    policy: ReactivePolicy, memory: Any, observation: Observation, values: Array, aim: Array, key: Key
) -> tuple[Any, Action, Any]:
    return policy.decide(memory, observation, jnp.asarray(values), jnp.asarray(aim), key=key)


def _stack(*leaves: Any) -> jax.Array:
    """One array `[T, ...]`."""
    return jnp.asarray(np.stack([np.asarray(leaf) for leaf in leaves]))
