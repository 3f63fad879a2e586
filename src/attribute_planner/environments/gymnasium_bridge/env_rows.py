"""Runs the user's code for some environments of a batch: in the learner's process, or in a worker process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import gymnasium
import numpy as np

from attribute_planner.environments.faults import blaming, check_image
from attribute_planner.environments.gymnasium_bridge.batch_arrays import BatchArrays
from attribute_planner.environments.gymnasium_bridge.bridge import Bridge
from attribute_planner.errors import EnvironmentFaultError

Operation = Literal["reset", "step"]


class EnvRows:
    """The environments `rows` of a batch, from the pool of `bridge`; what they return is written into `arrays`.

    `close` returns the environments to the pool, or closes them if one of them has failed.
    """

    def __init__(self, bridge: Bridge, arrays: BatchArrays, rows: range) -> None:
        self._bridge, self.arrays, self._rows = bridge, arrays, rows
        self._envs: list[gymnasium.Env] = bridge.pool.acquire(len(rows))
        self._is_healthy = True

    def run(self, operation: Operation) -> None:
        """Reset or step the environments `arrays.which`."""
        one = {"reset": self._reset, "step": self._step}[operation]
        for row in self._rows:
            if self.arrays.which[row]:
                one(row)
                self.arrays.finished[row] = True

    def render(self, row: int) -> np.ndarray:
        """An image of one environment."""
        env = self._env(row)
        if env.render_mode != "rgb_array":
            raise NotImplementedError(
                f"{self._bridge.name} cannot be rendered, because its render_mode is {env.render_mode!r}: "
                'make it with render_mode="rgb_array".'
            )
        return self._call("env.render", row, _image_of, env)

    def close(self) -> None:
        """Return the environments to the pool."""
        if self._is_healthy:
            self._bridge.pool.release(self._envs)
        else:
            self._bridge.pool.discard(self._envs)
        self._envs = []

    def _env(self, row: int) -> gymnasium.Env:
        return self._envs[row - self._rows.start]

    def _reset(self, row: int) -> None:
        observation, info = self._call("env.reset", row, self._begin, row)
        self._store(row, observation, info)

    def _begin(self, row: int) -> tuple[Any, dict[str, Any]]:
        observation, info = self._env(row).reset(seed=int(self.arrays.seed[row]))
        return observation, info

    def _step(self, row: int) -> None:
        observation, info = self._call("env.step", row, self._act, row)
        self._store(row, observation, info)

    def _act(self, row: int) -> tuple[Any, dict[str, Any]]:
        action = self._bridge.action_map.translate(self.arrays.action[row])
        observation, _, terminated, truncated, info = self._env(row).step(action)
        self.arrays.terminated[row], self.arrays.truncated[row] = bool(terminated), bool(truncated)
        return observation, info

    def _store(self, row: int, observation: Any, info: dict[str, Any]) -> None:
        """Store the observation and the attributes of one environment."""
        bridge, arrays = self._bridge, self.arrays
        encoded = self._call("observation", row, bridge.encoder.encode, observation)
        if encoded.dtype.kind == "f" and not np.isfinite(encoded).all():
            self._call("observation", row, _blame_numbers, encoded)
        arrays.observation[row] = encoded
        if bridge.read_values is not None:
            arrays.values[row] = self._call("describe", row, bridge.read_values, observation, info, self._env(row))

    def _call(self, what: str, row: int, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call the user's code; its errors become a one-line fault that names environment, step and operation."""
        try:
            return function(*arguments)
        except Exception:
            self._is_healthy = False
            with blaming(self._bridge, f"environment {row}, step {self.arrays.age[row]}: {what}"):
                raise


def _image_of(env: gymnasium.Env) -> np.ndarray:
    image = np.asarray(env.render())
    check_image(image)
    return image


def _blame_numbers(observation: np.ndarray) -> None:
    kind = "NaN" if np.isnan(observation).any() else "an infinite number"
    raise EnvironmentFaultError(f"it contains {kind}.")
