"""The copies of a Gymnasium environment that have been made, lent to one batch of worlds after the other."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from weakref import WeakSet

import gymnasium

from attribute_planner.errors import ConfigurationError

MAX_IDLE = 128
"""How many copies are kept for later: making one may take long, but each takes up memory."""


class Copies:
    """Makes copies of an environment, and keeps those that nobody uses at the moment.

    Training opens fresh worlds in every epoch; simulators may take seconds to start.
    """

    def __init__(self, make: Callable[[], gymnasium.Env]) -> None:
        self._make = make
        self._idle: list[gymnasium.Env] = []
        self._made: WeakSet[gymnasium.Env] = WeakSet()

    def acquire(self, count: int) -> list[gymnasium.Env]:
        """So many copies, each to be reset before its use; they are the borrower's until given back."""
        lent: list[gymnasium.Env] = []
        try:
            for _ in range(count):
                lent.append(self._idle.pop() if self._idle else self._new())
        except BaseException:
            self.release(lent)
            raise
        return lent

    def release(self, num_envs: Sequence[gymnasium.Env]) -> None:
        """Copies that can be lent again; those that are too many are closed."""
        for copy in num_envs:
            if len(self._idle) < MAX_IDLE:
                self._idle.append(copy)
            else:
                copy.close()

    def discard(self, num_envs: Sequence[gymnasium.Env]) -> None:
        """Copies that something is wrong with."""
        for copy in num_envs:
            with suppress(Exception):  # what is wrong with it may keep it from closing, too
                copy.close()

    def close(self) -> None:
        """Close all copies that nobody uses."""
        self.discard(self._idle)
        self._idle = []

    def _new(self) -> gymnasium.Env:
        made = self._make()
        if not isinstance(made, gymnasium.Env):
            raise ConfigurationError(
                f"The function that makes the environment returned a {type(made).__name__}, not a gymnasium.Env."
            )
        if made in self._made:
            raise ConfigurationError(
                "The function that makes the environment returned the same one twice; it must make a new one at every "
                'call, as lambda: gymnasium.make("…") does.'
            )
        self._made.add(made)
        return made
