"""Observation search: leads a policy out of a loop within one attribute set.

At a new observation the policy acts. When an observation repeats on the way to a target, the best untried action is
taken: the one with the highest log probability under the policy, at this observation or at another known one, minus a
cost for the steps to get there. If an action has led from one observation to two others, the environment is stochastic,
and the search is switched off for it.
"""

from collections import deque
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

DETOUR_COST = 0.5
"""The cost of a step back to another observation (nats of log probability)."""


@dataclass
class Situation:
    """One observation: log probabilities of the actions, and the outcomes of those that were tried."""

    log_probs: Float[np.ndarray, " actions"]
    led_to: dict[int, bytes] = field(default_factory=dict)


class ObservationSearch:
    """The observations and actions of the attempts at one target."""

    def __init__(self) -> None:
        self._situations: dict[bytes, Situation] = {}
        self._stochastic = False

    def decide(self, here: bytes, log_probs: Float[np.ndarray, " actions"], sampled: int) -> int:
        """The policy's action at a new observation; the best untried action at a known one.

        log_probs: −∞ for actions that are out of the question.
        """
        if self._stochastic:
            return sampled
        if here in self._situations:
            untried = self._most_promising(here)
            return sampled if untried is None else untried
        self._situations[here] = Situation(log_probs)
        return sampled

    def remember(self, here: bytes, action: int, there: bytes) -> None:
        """Record the outcome of an action."""
        if here in self._situations:
            led_to = self._situations[here].led_to
            self._stochastic |= led_to.setdefault(action, there) != there

    def _most_promising(self, here: bytes) -> int | None:
        """The first step towards the best untried action, by breadth-first search over known observations.

        `None` if there is none.
        """
        queue, known = deque([(here, 0, -1)]), {here}
        best, step = -np.inf, None
        while queue:
            place, distance, first_step = queue.popleft()
            # No log probability is above zero, so no observation further away can be better.
            if -DETOUR_COST * distance <= best:
                break
            situation = self._situations[place]
            log_probs = situation.log_probs.copy()
            log_probs[list(situation.led_to)] = -np.inf
            untried = int(np.argmax(log_probs))
            if log_probs[untried] - DETOUR_COST * distance > best:
                best, step = log_probs[untried] - DETOUR_COST * distance, first_step if distance else untried
            for action, next_place in situation.led_to.items():
                if next_place not in known and next_place in self._situations:
                    known.add(next_place)
                    queue.append((next_place, distance + 1, first_step if distance else action))
        return step
