"""Trails: what was seen and tried in an attribute set, so that a policy stuck behind an obstacle is led out of there.

Situations are told apart by what is observed. Where the policy comes to a new one, it acts as it likes. Where it comes
back to an old one, it goes for the most promising thing that it has not tried yet, here or at any situation that it
knows a way back to: a best-first search with the policy as its guide. A policy that makes headway never notices. In a
world of chance, where an action has led from one situation to two others, the policy is left alone: to try the same
thing again is no folly there.
"""

from collections import Counter, deque
from dataclasses import dataclass, field

import numpy as np

from attribute_planner.environments.spaces import ActionSpace, Discrete, Observation, UnitObservation

LEAST_PROMISE = -6.0
"""The log probability of what the policy would never do of its own accord: it is tried when all else has failed."""
TRIED = -40.0
"""What is added for an action that was tried in a situation: it is known where it leads."""
USELESS, TRIES = -8.0, 3
"""What is added for an action that was tried in so many situations and never changed a thing."""
WALKED = -0.5
"""What each step on the way back to another situation adds."""
DOUBTS, MOST_DOUBT = 60.0, 4.0
"""Each time that it has come back so often, the policy's opinion counts half as much (so many times at most): whoever
is still not out knows less than he thinks, and had better try what is near."""
TIMES_UNDONE = 2
"""After so many times, and no exception, an action is trusted to undo another one: back is where one came from."""


@dataclass
class Situation:
    """What is known of one situation.

    promise: `[actions]` the policy's log probabilities.
    tried: `[actions]` which actions need not be tried any more.
    led_to: the situation in which those ended that were taken.
    """

    promise: np.ndarray
    tried: np.ndarray
    led_to: dict[int, bytes] = field(default_factory=dict)


class Trail:
    """The memory of the attempts at one aim."""

    def __init__(self) -> None:
        self._situations: dict[bytes, Situation] = {}
        self._tried: Counter[int] = Counter()
        self._futile: Counter[int] = Counter()
        # How often an action came right after another one; and how often it led back to where that one began.
        self._followed: Counter[tuple[int, int]] = Counter()
        self._undone: Counter[tuple[int, int]] = Counter()
        self._last: tuple[bytes, int] | None = None
        self._returns = 0

    def decide(self, here: bytes, log_probs: np.ndarray, sampled: int) -> int:
        """The action to take: the one that was `sampled`, or, if it has been here before, the most promising one."""
        if here in self._situations:
            self._returns += 1
            return self._most_promising(here)
        promise = np.maximum(log_probs, LEAST_PROMISE)
        self._situations[here] = Situation(promise, self._leads_back(len(promise)))
        return sampled

    def remember(self, here: bytes, action: int, there: bytes) -> bool:
        """Where the action that was decided on has led; false if it led elsewhere before."""
        situation, last, self._last = self._situations[here], self._last, (here, action)
        if action in situation.led_to:
            return situation.led_to[action] == there
        if last is not None:
            self._followed[last[1], action] += 1
            self._undone[last[1], action] += there == last[0] != here
        situation.tried[action] = True
        situation.led_to[action] = there
        self._tried[action] += 1
        self._futile[action] += here == there
        return True

    def _most_promising(self, here: bytes) -> int:
        """The first step towards the best thing to try, nearest situations first."""
        queue, known = deque([(here, 0, -1)]), {here}
        trust = 0.5 ** min(self._returns / DOUBTS, MOST_DOUBT)
        best, step, useless = -np.inf, 0, self._useless(len(self._situations[here].promise))
        while queue:
            place, distance, first_step = queue.popleft()
            # No log probability is above zero: nothing further away can be better.
            if WALKED * distance <= best:
                break
            situation = self._situations[place]
            promises = trust * situation.promise + TRIED * situation.tried + useless
            favourite = int(np.argmax(promises))
            promise = promises[favourite] + WALKED * distance
            if promise > best:
                best, step = promise, first_step if distance else favourite
            for action, next_place in situation.led_to.items():
                if next_place not in known and next_place in self._situations:
                    known.add(next_place)
                    queue.append((next_place, distance + 1, first_step if distance else action))
        return step

    def _leads_back(self, actions: int) -> np.ndarray:
        """`[actions]` which ones have always undone what was done last."""
        if self._last is None:
            return np.zeros(actions, bool)
        after = [(self._last[1], each) for each in range(actions)]
        return np.array([self._undone[pair] == self._followed[pair] >= TIMES_UNDONE for pair in after])

    def _useless(self, actions: int) -> np.ndarray:
        """`[actions]` what is added, in whatever situation, for actions that never change a thing."""
        return USELESS * np.array([self._futile[each] == self._tried[each] >= TRIES for each in range(actions)])


class Trails:
    """The trails of several copies; only for a single agent's discrete actions, in a world without chance."""

    def __init__(self, actions: ActionSpace, num_envs: int) -> None:
        self._listed = isinstance(actions, Discrete)
        self._by_chance = False
        self._trails = [Trail() for _ in range(num_envs)]
        self._left: list[dict[int, Trail]] = [{} for _ in range(num_envs)]

    def apply_to(self, observation: Observation) -> bool:
        """Whether situations can be told apart, actions listed, and nothing so far was left to chance."""
        return self._listed and not self._by_chance and not isinstance(observation, UnitObservation)

    def decide(
        self, watched: np.ndarray, observation: np.ndarray, log_probs: np.ndarray, sampled: np.ndarray
    ) -> np.ndarray:
        """`[B]` the actions that were `sampled`; in the copies `watched` `[B]`, what their trails make of them."""
        actions = np.array(sampled)
        for copy in np.flatnonzero(watched):
            here = observation[copy].tobytes()
            actions[copy] = self._trails[copy].decide(here, log_probs[copy], int(actions[copy]))
        return actions

    def remember(self, copy: int, before: np.ndarray, action: int, after: np.ndarray) -> None:
        """Where an action has led in one copy; `before` and `after` are all copies' observations."""
        as_before = self._trails[copy].remember(before[copy].tobytes(), action, after[copy].tobytes())
        self._by_chance |= not as_before

    def turn(self, copy: int, before: int, now: int) -> None:
        """An attempt at set `before` was given up where it began; the next one aims at set `now`.

        Whoever comes back to an aim goes on searching where the last attempt at it stopped.
        """
        self._left[copy][before] = self._trails[copy]
        self._trails[copy] = self._left[copy].pop(now, None) or Trail()

    def forget(self, copy: int) -> None:
        """The attributes have changed, and with them what can be seen and what is sought."""
        self._trails[copy], self._left[copy] = Trail(), {}
