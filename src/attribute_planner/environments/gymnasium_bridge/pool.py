"""A pool of Gymnasium environments that are reused by one `VectorEnv` after the other."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from weakref import ref

import gymnasium

from attribute_planner.environments.faults import first_line
from attribute_planner.errors import ConfigurationError

MAX_IDLE = 128
"""Number of idle environments to keep: creating one may be slow, but each uses memory."""


class EnvPool:
    """Creates environments on demand and keeps those that are not in use.

    Training opens a new `VectorEnv` in every epoch; a simulator may take seconds to start.
    """

    def __init__(self, make: Callable[[], gymnasium.Env]) -> None:
        self._make = make
        self._idle: list[gymnasium.Env] = []
        self._made: list[ref[gymnasium.Env]] = []

    def acquire(self, count: int) -> list[gymnasium.Env]:
        """`count` environments for exclusive use until they are released; each must be reset first."""
        envs: list[gymnasium.Env] = []
        try:
            for _ in range(count):
                envs.append(self._idle.pop() if self._idle else self._new())
        except BaseException:
            self.release(envs)
            raise
        return envs

    def release(self, envs: Sequence[gymnasium.Env]) -> None:
        """Return environments to the pool; those beyond `MAX_IDLE` are closed."""
        for env in envs:
            if len(self._idle) < MAX_IDLE:
                self._idle.append(env)
            else:
                self.discard([env])

    def discard(self, envs: Sequence[gymnasium.Env]) -> None:
        """Close environments that must not be used again."""
        for env in envs:
            with suppress(Exception):  # a broken environment may also fail to close
                env.close()

    def close(self) -> None:
        """Close all idle environments."""
        self.discard(self._idle)
        self._idle = []

    def _new(self) -> gymnasium.Env:
        try:
            made = self._make()
        except (Exception, SystemExit) as error:
            raise ConfigurationError(
                f"The function that makes the environment failed: {type(error).__name__}: {first_line(str(error))}."
            ) from error
        if not isinstance(made, gymnasium.Env):
            raise ConfigurationError(
                f"The function that makes the environment returned a {type(made).__name__}, not a gymnasium.Env."
            )
        # By identity: an environment may be a dataclass, which is compared by its fields and cannot be hashed.
        self._made = [each for each in self._made if each() is not None]
        if any(each() is made for each in self._made):
            raise ConfigurationError(
                "The function that makes the environment returned the same one twice; it must make a new one at every "
                'call, as lambda: gymnasium.make("…") does.'
            )
        self._made.append(ref(made))
        return made
