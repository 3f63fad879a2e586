"""Observation search: leads a policy out of a loop within one attribute set.

At a new observation the policy acts. When an observation repeats on the way to a target, an action that was tried there
is discounted: to lead elsewhere this time it must do something else than the last time, which happens with probability
1 − r, where r is how often actions lead to the same observation again. The best action is taken, at this observation
or at another known one. The way there costs time, and each of its steps leads to where it led before with
probability r.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from jaxtyping import Float


class Choice(NamedTuple):
    """An action and its value: the log of its discounted probability."""

    action: int
    value: float


@dataclass
class Situation:
    """One observation.

    log_probs: the policy's log probability of each action; −∞ if it is out of the question.
    in_a_row: how often in a row each action led to the same observation.
    led_to: the last outcome of each action that was taken here.
    """

    log_probs: Float[np.ndarray, " actions"]
    in_a_row: Float[np.ndarray, " actions"]
    led_to: dict[int, bytes] = field(default_factory=dict)
    _best: dict[float, Choice] = field(default_factory=dict)

    def best(self, discount: float) -> Choice:
        """The best action, if each outcome in a row lowers its log probability by `discount`."""
        if discount not in self._best:
            value, tried = self.log_probs.copy(), self.in_a_row > 0
            value[tried] -= self.in_a_row[tried] * discount
            action = int(np.argmax(value))
            self._best = {discount: Choice(action, float(value[action]))}
        return self._best[discount]

    def remember(self, action: int, there: bytes) -> None:
        """An action led to an observation."""
        same = self.led_to.get(action) == there
        self.in_a_row[action] = self.in_a_row[action] + 1 if same else 1
        self.led_to[action] = there
        self._best = {}


class Place(NamedTuple):
    """A known observation, the steps to it, and the first action on the way."""

    situation: Situation
    distance: int
    first: int | None


class ObservationSearch:
    """The observations and actions of the attempts at one target.

    repeatable: r, as practice measured it. If nothing differed there, or it measured nothing, what this search has seen
        counts: the share of repeated actions that led to the same observation, with one more that did.
    """

    def __init__(self, repeatable: float = 1.0) -> None:
        self._situations: dict[bytes, Situation] = {}
        self._measured = repeatable
        self._same = self._again = 0

    @property
    def repeatable(self) -> float:
        """How often an action leads to the same observation again."""
        return self._measured if self._measured < 1 else (self._same + 1) / (self._again + 1)

    def decide(self, here: bytes, log_probs: Float[np.ndarray, " actions"], sampled: int, left: int) -> int:
        """The policy's action at a new observation; at a known one, the best.

        log_probs: −∞ for actions that are out of the question. left: the remaining steps of the episode.
        """
        if here in self._situations:
            best = self._best(here, left)
            return sampled if best is None else best
        self._situations[here] = Situation(log_probs, np.zeros(len(log_probs)))
        return sampled

    def remember(self, here: bytes, action: int, there: bytes) -> None:
        """Record the outcome of an action."""
        if here in self._situations:
            situation = self._situations[here]
            self._again += action in situation.led_to
            self._same += situation.led_to.get(action) == there
            situation.remember(action, there)

    def _best(self, here: bytes, left: int) -> int | None:
        """The best action here, or the first step towards a better one; `None` if nothing is left to try."""
        with np.errstate(divide="ignore"):
            discount, cost = -np.log(1 - self.repeatable), 1 / max(left, 1) - np.log(self.repeatable)
        most, chosen = -np.inf, None
        for place in self._places(here, left):
            # No log probability is above zero, so no observation further away can be better.
            way = cost * place.distance if place.distance else 0.0
            if -way <= most:
                break
            action, value = place.situation.best(float(discount))
            if value - way > most:
                most, chosen = value - way, action if place.first is None else place.first
        return chosen

    def _places(self, here: bytes, left: int) -> Iterator[Place]:
        """The known observations that can be reached in time, the nearest first."""
        queue, known = deque([Place(self._situations[here], 0, None)]), {here}
        while queue:
            yield (place := queue.popleft())
            for action, there in place.situation.led_to.items() if place.distance + 1 < left else ():
                possible = np.isfinite(place.situation.log_probs[action])
                if possible and there not in known and there in self._situations:
                    known.add(there)
                    first = action if place.first is None else place.first
                    queue.append(Place(self._situations[there], place.distance + 1, first))
