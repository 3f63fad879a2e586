"""A world as a goal-conditioned Gymnasium environment with a sparse reward."""

from typing import Any

import gymnasium
import jax
import numpy as np
from gymnasium import spaces

from attribute_planner.environments.gymnasium_bridge import GymnasiumEnvironment
from attribute_planner.environments.tasks import Task

NUM_CODES = 11
"""Values of a byte in a small table of codes; MiniGrid's codes are 0 to 10."""

MAX_RESTARTS = 1000


class GoalEnv(gymnasium.Env):
    """The first task of a world. Observations have the layout that hindsight experience replay expects.

    observation: the environment's own; discrete values and small tables of bytes are one-hot, the rest is flat.
    achieved_goal: the values of all attributes, one-hot.
    desired_goal: the values that the goal requires, one-hot; zero for attributes that it does not mention.

    The reward is 1 when all required values hold, which ends the episode, and 0 otherwise. It is not negative: some of
    the worlds end at a failure, and a cost for each step would make that attractive. Episodes that would begin at the
    goal begin again. The time limit is the world's.
    """

    def __init__(self, world: GymnasiumEnvironment) -> None:
        self.world = world
        (self.env,) = world.pool.acquire(1)
        self.task: Task = next(iter(world.tasks.values()))
        self.action_space = self.env.action_space
        size = int(world.attributes.sizes.sum())
        goals = spaces.Box(0, 1, (size,), np.uint8)
        self.observation_space = spaces.Dict(
            {"observation": _flat_space(self.env.observation_space), "achieved_goal": goals, "desired_goal": goals}
        )
        self._steps, self._desired = 0, np.zeros(size, np.uint8)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Draw a start, and a goal of the task that the start does not satisfy."""
        super().reset(seed=seed)
        self._steps = 0
        for _ in range(MAX_RESTARTS):
            observation, info = self.env.reset(seed=int(self.np_random.integers(2**31)), options=options)
            values = self._values(observation, info)
            goal = self.task.goal(None, jax.numpy.asarray(values), jax.random.key(int(self.np_random.integers(2**31))))
            self._desired = self._one_hot(np.where(np.asarray(goal.wanted), np.asarray(goal.values), -1))
            observed = self._observed(observation, values)
            if not self.reached(observed["achieved_goal"], self._desired):
                return observed, info
        raise RuntimeError(f"{self.world.name}: the start satisfied the goal {MAX_RESTARTS} times in a row.")

    def step(self, action: Any) -> tuple[dict[str, np.ndarray], float, bool, bool, dict[str, Any]]:
        """A step of the environment, with the reward of the goal in place of its own."""
        action = int(action) if isinstance(self.action_space, spaces.Discrete) else action
        observation, _, terminated, truncated, info = self.env.step(action)
        self._steps += 1
        observed = self._observed(observation, self._values(observation, info))
        reached = bool(self.reached(observed["achieved_goal"], self._desired))
        truncated = bool(truncated) or self._steps >= self.world.episode_steps
        return observed, float(reached), bool(terminated) or reached, truncated, {**info, "is_success": reached}

    def compute_reward(self, achieved_goal: np.ndarray, desired_goal: np.ndarray, info: Any) -> np.ndarray:
        """The reward of goals `[..., G]` in hindsight."""
        return self.reached(achieved_goal, desired_goal).astype(np.float32)

    @staticmethod
    def reached(achieved: np.ndarray, desired: np.ndarray) -> np.ndarray:
        """Whether all required values hold."""
        return np.asarray((achieved >= desired).all(axis=-1))

    def close(self) -> None:
        """Return the environment to the world."""
        self.world.pool.release([self.env])

    def _values(self, observation: Any, info: dict[str, Any]) -> np.ndarray:
        assert self.world.read_values is not None
        return np.array(self.world.read_values(observation, info, self.env), np.int32)

    def _observed(self, observation: Any, values: np.ndarray) -> dict[str, np.ndarray]:
        return {
            "observation": _flat(self.env.observation_space, observation),
            "achieved_goal": self._one_hot(values),
            "desired_goal": self._desired.copy(),
        }

    def _one_hot(self, values: np.ndarray) -> np.ndarray:
        """One-hot values, attribute after attribute; a negative value gives zeros."""
        parts = [np.arange(size) == value for size, value in zip(self.world.attributes.sizes, values, strict=True)]
        return np.concatenate(parts).astype(np.uint8)


def _flat_space(space: spaces.Space) -> spaces.Box:
    """The space of `_flat`. A vector of one-hot values has type `uint8`, to save memory in a replay buffer."""
    example = _flat(space, space.sample())
    if example.dtype == np.uint8:
        return spaces.Box(0, 1, example.shape, np.uint8)
    return spaces.Box(-np.inf, np.inf, example.shape, np.float32)


def _flat(space: spaces.Space, observation: Any) -> np.ndarray:
    """An observation as one vector: of `uint8` if all of it is one-hot, otherwise of `float32`."""
    if isinstance(space, spaces.Dict):
        return np.concatenate([_flat(each, observation[name]) for name, each in space.spaces.items()])
    if isinstance(space, spaces.Box) and space.dtype == np.uint8:
        codes = np.minimum(np.asarray(observation).reshape(-1, 1), NUM_CODES - 1)
        return (codes == np.arange(NUM_CODES)).astype(np.uint8).reshape(-1)
    if isinstance(space, spaces.Discrete | spaces.MultiDiscrete):
        return np.asarray(spaces.flatten(space, np.asarray(observation)), np.uint8).reshape(-1)
    return np.asarray(spaces.flatten(space, observation), np.float32)
