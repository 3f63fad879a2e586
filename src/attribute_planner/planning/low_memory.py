"""What was tried within an attempt: a policy that walks to and fro behind an obstacle is led out of there.

Every time an action is taken in a situation that looks exactly the same, with the same aim, it becomes less likely
there. A policy that makes headway never notices; one that goes in circles tries everything else, its favourites first.
"""

from collections import defaultdict

import numpy as np

from attribute_planner.environments.spaces import ActionSpace, Discrete, Observation, UnitObservation

DISCOURAGEMENT = 4.0
"""How much is taken off the log probability of an action each time it was taken in the same situation."""


class TriedActions:
    """Counts of actions per observation, for each of several copies; only for a single agent's discrete actions."""

    def __init__(self, actions: ActionSpace, copies: int) -> None:
        self._count = actions.count if isinstance(actions, Discrete) else 0
        self._tried = [self._nothing() for _ in range(copies)]

    def _nothing(self) -> dict[bytes, np.ndarray]:
        return defaultdict(lambda: np.zeros(self._count, np.float32))

    def applies_to(self, observation: Observation) -> bool:
        """Whether situations can be told apart and actions counted."""
        return self._count > 0 and not isinstance(observation, UnitObservation)

    def discouraged(self, observation: np.ndarray, watched: np.ndarray) -> np.ndarray:
        """`float32[B, actions]` what to take off log probabilities, in the `watched` `[B]` copies."""
        penalty = np.zeros((len(observation), self._count), np.float32)
        for copy in np.flatnonzero(watched):
            penalty[copy] = self._tried[copy].get(observation[copy].tobytes(), 0.0)
        return DISCOURAGEMENT * penalty

    def remember(self, copy: int, observation: np.ndarray, action: int) -> None:
        """One more time that `action` was taken in this situation."""
        self._tried[copy][observation[copy].tobytes()][action] += 1

    def forget(self, copy: int) -> None:
        """A new attempt begins."""
        if self._tried[copy]:
            self._tried[copy] = self._nothing()
