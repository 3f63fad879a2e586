"""Observation search: leads a policy out of a loop within one attribute set.

At a new observation the policy acts. When an observation repeats on the way to a target, the policy's probability that
an action is the right one is updated by Bayes' rule. If it was tried and is right all the same, something else than
usual followed, which happens with probability 1 − r: r is how often actions lead to the same observation again. What an
action did before it led elsewhere says nothing. The best action is taken, at this observation or at another known
one. The way there costs time, and each of its steps leads to where it led before with probability r.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from jaxtyping import Float


@dataclass
class Situation:
    """One observation.

    log_probs: the policy's log probability of each action; −∞ if it is out of the question.
    led_to: the last outcome of each action that was taken here.
    in_a_row: how often in a row it led there.
    """

    log_probs: Float[np.ndarray, " actions"]
    in_a_row: Float[np.ndarray, " actions"]
    led_to: dict[int, bytes] = field(default_factory=dict)


class _Place(NamedTuple):
    """A known observation, the steps to it, and the first action on the way."""

    situation: Situation
    distance: int
    first: int | None


class ObservationSearch:
    """The observations and actions of the attempts at one target.

    repeatable: r, as practice measured it. If nothing differed there, what this search has seen counts.
    """

    def __init__(self, repeatable: float = 1.0) -> None:
        self._situations: dict[bytes, Situation] = {}
        self._measured = repeatable
        self._same = self._again = 0

    @property
    def repeatable(self) -> float:
        """How often an action leads to the same observation again."""
        return self._measured if self._measured < 1 or not self._again else self._same / self._again

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
            before = situation.led_to.get(action)
            self._again += before is not None
            self._same += before == there
            situation.in_a_row[action] = situation.in_a_row[action] + 1 if before in (None, there) else 0
            situation.led_to[action] = there

    def _best(self, here: bytes, left: int) -> int | None:
        """The best action here, or the first step towards a better one; `None` if nothing is left to try."""
        with np.errstate(divide="ignore"):
            by_chance, cost = np.log(1 - self.repeatable), 1 / max(left, 1) - np.log(self.repeatable)
        best, chosen = -np.inf, None
        for place in self._places(here):
            # No log probability is above zero, so no observation further away can be better.
            way = cost * place.distance if place.distance else 0.0
            if -way <= best:
                break
            count = place.situation.in_a_row
            value = place.situation.log_probs + np.multiply(by_chance, count, where=count > 0, out=np.zeros_like(count))
            action = int(np.argmax(value))
            if value[action] - way > best:
                best, chosen = value[action] - way, action if place.first is None else place.first
        return chosen

    def _places(self, here: bytes) -> Iterator[_Place]:
        """The known observations, the nearest first."""
        queue, known = deque([_Place(self._situations[here], 0, None)]), {here}
        while queue:
            yield (place := queue.popleft())
            for action, there in place.situation.led_to.items():
                if there not in known and there in self._situations:
                    known.add(there)
                    first = action if place.first is None else place.first
                    queue.append(_Place(self._situations[there], place.distance + 1, first))
