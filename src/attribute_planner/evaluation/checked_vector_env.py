"""A batch of environments that checks and counts what another one returns, for `check_environment`."""

from dataclasses import dataclass, field, replace

import jax
import numpy as np
from jaxtyping import Bool

from attribute_planner.attributes import Goal
from attribute_planner.environments.contract import blaming, check_timestep
from attribute_planner.environments.interface import Environment, PureEnvironment
from attribute_planner.environments.spaces import Action, FlatSpec
from attribute_planner.environments.tasks import Task
from attribute_planner.environments.vector_env import TimeStep, VectorEnv
from attribute_planner.errors import EnvironmentFaultError
from attribute_planner.evaluation.attribute_report import values_seen

Key = jax.Array


@dataclass
class Observed:
    """Statistics of the steps taken.

    steps, episodes: steps, and episodes that ended, in all environments together.
    terminated: episodes that ended in a terminal state.
    changed: `bool[A]` which attributes a step has changed.
    seen: for each attribute, which of its values occurred.
    """

    changed: np.ndarray
    seen: list[np.ndarray]
    steps: int = 0
    episodes: int = 0
    terminated: int = 0
    sets: set[int] = field(default_factory=set)
    transitions: set[tuple[int, int]] = field(default_factory=set)


class CheckedVectorEnv(VectorEnv):
    """Passes all calls on to a `VectorEnv`, and checks and counts what it returns; `flat` has all raw observations."""

    def __init__(self, env: Environment, envs: VectorEnv) -> None:
        self.env, self.inner, self.num_envs = env, envs, envs.num_envs
        self.observed = Observed(np.zeros(len(env.attributes), bool), values_seen(env.attributes))
        self._steps, self._ages = 0, np.zeros(envs.num_envs, int)
        self._last: TimeStep | None = None
        self.flat: list[np.ndarray] = [np.zeros((0, *env.observation.shape), env.observation.dtype)]

    def reset(self, key: Key, task: Task | None = None) -> TimeStep:
        with blaming(self.env, "reset" if task is None else f"start of task {task.name!r}"):
            self._last = self._checked(self.inner.reset(key, task))
        self._ages[:] = 0
        return self._last

    def reset_where(self, which: Bool[np.ndarray, "B"], key: Key, task: Task | None = None) -> TimeStep:
        with blaming(self.env, f"reset of some environments after step {self._steps}"):
            timestep = self._checked(self.inner.reset_where(which, key, task))
            if self._last is not None:
                _check_unchanged(self._last, timestep, ~which)
        self._ages[which], self._last = 0, timestep
        return timestep

    def step(self, action: Action, key: Key) -> TimeStep:
        self._steps += 1
        self._ages += 1
        with blaming(self.env, f"step {self._steps}"):
            timestep = self._checked(self.inner.step(action, key))
            _check_end(self.env, timestep, self._ages)
        self.observed.steps += self.num_envs
        # A pure environment has no time limit of its own.
        self.observed.episodes += int((timestep.over | (self._ages >= self.env.episode_steps)).sum())
        self.observed.terminated += int(timestep.terminated.sum())
        self._count(timestep)
        self._last = timestep
        return timestep

    def sample_goals(self, task: Task, key: Key) -> Goal:
        return self.inner.sample_goals(task, key)

    def render(self, index: int) -> np.ndarray:
        return self.inner.render(index)

    def close(self) -> None:
        self.inner.close()

    def _checked(self, timestep: TimeStep) -> TimeStep:
        check_timestep(self.env, timestep, self.num_envs)
        if isinstance(self.env.observation, FlatSpec):
            self.flat.append(np.asarray(timestep.observation))
        if timestep.attributes is None or not self.env.has_attribute_fn:
            return replace(timestep, attributes=None)
        for had, values in zip(self.observed.seen, np.asarray(timestep.attributes).T, strict=True):
            had[values] = True
        return timestep

    def _count(self, after: TimeStep) -> None:
        before, space = self._last, self.env.attributes
        if before is None or before.attributes is None or after.attributes is None:
            return
        old, new = np.asarray(before.attributes), np.asarray(after.attributes)
        self.observed.changed |= (old != new).any(axis=0)
        for source, target in zip(map(space.key, old), map(space.key, new), strict=True):
            self.observed.sets |= {source, target}
            if source != target:
                self.observed.transitions.add((source, target))


def _check_end(env: Environment, timestep: TimeStep, ages: np.ndarray) -> None:
    """Check that episodes end when they must, and only as the environment declares."""
    if isinstance(env, PureEnvironment):
        if not env.can_terminate and timestep.terminated.any():
            raise EnvironmentFaultError("an episode terminated, although can_terminate is false.")
        return  # a pure environment has no time limit of its own
    if (~timestep.over & (ages >= env.episode_steps)).any():
        raise EnvironmentFaultError(f"an episode was not truncated after episode_steps = {env.episode_steps} steps.")


def _check_unchanged(before: TimeStep, after: TimeStep, which: np.ndarray) -> None:
    """Check that the environments `which` `bool[B]` have kept their attributes."""
    if before.attributes is None or after.attributes is None:
        return
    if (np.asarray(before.attributes)[which] != np.asarray(after.attributes)[which]).any():
        raise EnvironmentFaultError("an environment that was not reset has changed its attribute values.")
