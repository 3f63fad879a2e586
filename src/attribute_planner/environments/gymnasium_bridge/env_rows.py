"""Runs the user's code for some environments of a batch: in the learner's process, or in a worker process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import gymnasium
import numpy as np

from attribute_planner.environments.faults import check_image, fault_of
from attribute_planner.environments.gymnasium_bridge.batch_arrays import BatchArrays
from attribute_planner.environments.gymnasium_bridge.bridge import Bridge
from attribute_planner.environments.gymnasium_bridge.returned import RESET, STEP, checked_flag, checked_info, parts_of
from attribute_planner.environments.watchdog import WATCHDOG, HungError
from attribute_planner.errors import EnvironmentFaultError

Operation = Literal["reset", "step"]


class EnvRows:
    """The environments `rows` of a batch, from the pool of `bridge`; what they return is written into `arrays`.

    `close` returns the environments to the pool, or closes them if one of them has failed.

    offset: the number of the first row of `arrays` in the whole batch, for messages.
    """

    def __init__(self, bridge: Bridge, arrays: BatchArrays, rows: range, *, offset: int = 0) -> None:
        self._bridge, self.arrays, self._rows, self._offset = bridge, arrays, rows, offset
        self._envs: list[gymnasium.Env] = bridge.pool.acquire(len(rows))
        self._is_healthy = True
        self._seeds, self._episodes = np.zeros((2, len(rows)), np.int64)

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
        index, seed = row - self._rows.start, int(self.arrays.seed[row])
        self._seeds[index], self._episodes[index] = seed, self._episodes[index] + 1
        observation, info = parts_of(self._env(row).reset(seed=seed), RESET)
        return observation, checked_info(info)

    def _step(self, row: int) -> None:
        observation, info = self._call("env.step", row, self._act, row)
        self._store(row, observation, info)

    def _act(self, row: int) -> tuple[Any, dict[str, Any]]:
        action = self._bridge.action_map.translate(self.arrays.action[row])
        observation, _, terminated, truncated, info = parts_of(self._env(row).step(action), STEP)
        self.arrays.terminated[row] = checked_flag("terminated", terminated)
        self.arrays.truncated[row] = checked_flag("truncated", truncated)
        return observation, checked_info(info)

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
        """Call the user's code; its errors become a one-line fault that names the place and the operation."""
        WATCHDOG.begin(what)
        try:
            return function(*arguments)
        except HungError as error:
            raise self._fault(row, what, EnvironmentFaultError(f"it {WATCHDOG.overdue}.")) from error
        except (Exception, SystemExit) as error:
            raise self._fault(row, what, error) from error
        finally:
            WATCHDOG.end()

    def _fault(self, row: int, what: str, error: BaseException) -> EnvironmentFaultError:
        """The fault of one environment, with what is needed to repeat it."""
        self._is_healthy = False
        index = row - self._rows.start
        place = f"environment {row + self._offset}, episode {self._episodes[index]}, step {self.arrays.age[row]}"
        return fault_of(self._bridge, f"{place}, seed {self._seeds[index]}: {what}", error)


def _image_of(env: gymnasium.Env) -> np.ndarray:
    image = np.asarray(env.render())
    check_image(image)
    return image


def _blame_numbers(observation: np.ndarray) -> None:
    kind = "NaN" if np.isnan(observation).any() else "an infinite number"
    place = int(np.flatnonzero(~np.isfinite(observation))[0])
    raise EnvironmentFaultError(f"number {place} of {observation.size} is {kind}; all must be finite.")
