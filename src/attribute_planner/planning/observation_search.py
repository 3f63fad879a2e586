"""Observation search: leads a policy out of a loop within one attribute set.

Situations are told apart by what is observed. At a new observation the policy acts. At an observation that it has seen
before in this attempt, the most promising untried action is taken: the one that the policy finds most probable, here or
at another observation that is known to be reachable, less a cost for the steps to get there. Where an action has led
from one observation to two others, the environment is stochastic; the policy then acts alone in that environment.
"""

from collections import deque
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

LEAST_LOG_PROB = -6.0
"""The log probability of an action that the policy would never take (nats)."""
DETOUR_COST = 0.5
"""The cost of a step back to another observation (nats of log probability)."""


@dataclass
class Situation:
    """What is known of one observation: log probabilities of the actions, and where those tried have led."""

    log_probs: Float[np.ndarray, " actions"]
    led_to: dict[int, bytes] = field(default_factory=dict)


class ObservationSearch:
    """The observations and actions of the attempts at one target."""

    def __init__(self) -> None:
        self._situations: dict[bytes, Situation] = {}
        self._stochastic = False

    def decide(self, here: bytes, log_probs: Float[np.ndarray, " actions"], sampled: int) -> int:
        """The policy's action at a new observation; the most promising untried one at a known observation."""
        if self._stochastic:
            return sampled
        if here in self._situations:
            return self._most_promising(here)
        self._situations[here] = Situation(np.maximum(log_probs, LEAST_LOG_PROB))
        return sampled

    def remember(self, here: bytes, action: int, there: bytes) -> None:
        """Note where an action has led."""
        if here in self._situations:
            led_to = self._situations[here].led_to
            self._stochastic |= led_to.setdefault(action, there) != there

    def _most_promising(self, here: bytes) -> int:
        """The first step towards the best untried action, by breadth-first search over known observations."""
        queue, known = deque([(here, 0, -1)]), {here}
        best, step = -np.inf, 0
        while queue:
            place, distance, first_step = queue.popleft()
            # No log probability is above zero, so nothing farther away can be better.
            if -DETOUR_COST * distance <= best:
                break
            situation = self._situations[place]
            promise = situation.log_probs.copy()
            promise[list(situation.led_to)] = -np.inf
            favourite = int(np.argmax(promise))
            if promise[favourite] - DETOUR_COST * distance > best:
                best, step = promise[favourite] - DETOUR_COST * distance, first_step if distance else favourite
            for action, next_place in situation.led_to.items():
                if next_place not in known and next_place in self._situations:
                    known.add(next_place)
                    queue.append((next_place, distance + 1, first_step if distance else action))
        return step
