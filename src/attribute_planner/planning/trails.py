"""Trails: what was seen within an attempt, so that a policy stuck behind an obstacle is led out of there.

Situations are told apart by what is observed. A trail holds how often each was seen, and where each action led from it.
Actions that lead back to where one has been become the less likely the more often one has been there, and those that
changed nothing most of all. A policy that makes headway never notices; one that goes in circles tries what it has not
tried yet, its favourites first. In a world of chance, where an action has led from one situation to two others, the
policy is left alone: to try the same thing again is no folly there.
"""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from attribute_planner.environments.spaces import ActionSpace, Discrete, Observation, UnitObservation

SEEN = 2.0
"""What is taken off the log probability of an action for each time that the situation it leads to was seen."""
CHANGED_NOTHING = 20.0
"""What is taken off, on top, if the action leads to the very same situation."""


@dataclass
class Trail:
    """The memory of one attempt.

    seen: how often each situation was seen.
    led_to: in which situation each action ended.
    """

    seen: Counter[bytes] = field(default_factory=Counter)
    led_to: dict[bytes, dict[int, bytes]] = field(default_factory=dict)

    def remember(self, here: bytes, action: int, there: bytes) -> bool:
        """Where an action has led; false if it led elsewhere before."""
        self.seen[here] += 1
        return self.led_to.setdefault(here, {}).setdefault(action, there) == there


class Trails:
    """The trails of several copies; only for a single agent's discrete actions, in a world without chance."""

    def __init__(self, actions: ActionSpace, copies: int) -> None:
        self._count = actions.count if isinstance(actions, Discrete) else 0
        self._by_chance = False
        self._trails = [Trail() for _ in range(copies)]

    def apply_to(self, observation: Observation) -> bool:
        """Whether situations can be told apart, actions listed, and nothing so far was left to chance."""
        return self._count > 0 and not self._by_chance and not isinstance(observation, UnitObservation)

    def discouragement(self, observation: np.ndarray, watched: np.ndarray) -> np.ndarray:
        """`float32[B, actions]` what to take off log probabilities, in the `watched` `[B]` copies."""
        penalty = np.zeros((len(observation), self._count), np.float32)
        for copy in np.flatnonzero(watched):
            here, trail = observation[copy].tobytes(), self._trails[copy]
            for action, there in trail.led_to.get(here, {}).items():
                penalty[copy, action] = SEEN * trail.seen[there] + CHANGED_NOTHING * (there == here)
        return penalty

    def remember(self, copy: int, before: np.ndarray, action: int, after: np.ndarray) -> None:
        """Where an action has led in one copy; `before` and `after` are all copies' observations."""
        as_before = self._trails[copy].remember(before[copy].tobytes(), action, after[copy].tobytes())
        self._by_chance |= not as_before

    def forget(self, copy: int) -> None:
        """A new attempt begins."""
        self._trails[copy] = Trail()
