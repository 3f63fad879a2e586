"""Foresight: choosing what to do by what each action would lead to from here, and how far it is from there.

The table says how far every attribute set is from the goal. The outlook says, from the observation, which set each
action would lead to. Together they pick a first step that is possible now, whatever other states of the same attribute
set may allow; the rest of the way is the table's.

There is a second witness: the policy, of which the table says how often it reaches what it aims at. The worse the
outlook was on steps that it had not learned from, the more the policy is listened to.
"""

from collections import Counter
from dataclasses import dataclass, field

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.attributes import Goal
from attribute_planner.environments.spaces import Action, Observation
from attribute_planner.models.beliefs import Beliefs
from attribute_planner.models.forward_model import ForwardModel, expect_all, log_prob_of
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.planning.planner import Planner
from attribute_planner.planning.proposals import beside, candidates
from attribute_planner.transitions.table import UNKNOWN

Key = jax.Array

FAILED = 3.0
"""How much costlier an outcome becomes each time it was expected and did not come (in −log probability)."""
STEP_COST = 0.1
"""What each step costs, now and on the way that the table knows: about as much as a chance of 10 % to fail. Without it
a hair more certainty would be worth any detour."""
TAKEN = 0.05
"""How much costlier an option becomes each time it was taken from the same set: of two actions that lead to the same
set, the other one may lead to another of its states."""
BEEN_THERE = 1.0
"""How much costlier a set becomes each time it was left: a good way leads through no set twice, so whoever comes back
was misled by other states of the same set."""
WEARINESS = 0.1
"""How much costlier whatever leads no nearer becomes with each step that led no nearer. The table promises as much of
all sets that are alike, and what makes them hopeless, a tower that leans, may be in none of their attributes: without
it an agent would go from one to the next for ever, and not try what is unlikely but leads on."""
LIKELY = 0.1
"""What is so likely to arrive is tried at once. A table promises more certainty elsewhere than will be found there:
whoever is unsure of the last step here is so in the states next to this one too, and a step that fails costs little.
Besides, the outlook takes attributes for independent, and of narrow spots is right more often than it says."""


@dataclass(frozen=True)
class Options:
    """What could be done, for a batch: K actions each, of which the last is what the policy would do.

    actions: `[B, K]`.
    expected: `int32[B, K, A]` the attribute values that each is expected to lead to; by the policy's, its aim.
    log_prob: `float32[B, K, A]` how sure the outlook is of each value.
    numbers: `int32[B, K]` these sets in the table.
    """

    actions: Action
    expected: np.ndarray
    log_prob: np.ndarray
    numbers: np.ndarray


def consider(
    forward_model: ForwardModel,
    policy: GoalPolicy,
    planner: Planner,
    observation: Observation,
    beliefs: Beliefs,
    aims: np.ndarray,
    goals: np.ndarray,
    *,
    key: Key,
) -> Options:
    """What each of many actions would lead to.

    aims: `[B, A]` the sets that the policy would go for. goals: `[B, A]` what is wanted in the end, which may be nearer
    than the table knows; `NO_VALUE` for what does not matter.
    """
    actions, expected, log_prob = _consider(
        forward_model, policy, observation, beliefs, jnp.asarray(aims), jnp.asarray(goals), key
    )
    expected = np.asarray(expected)
    words = np.asarray(planner.table.space.pack(expected))
    numbers = planner.table.numbers_of(words.reshape(-1, words.shape[-1])).reshape(expected.shape[:2])
    return Options(jax.tree.map(np.asarray, actions), expected, np.asarray(log_prob), numbers)


@eqx.filter_jit
def _consider(
    forward_model: ForwardModel,
    policy: GoalPolicy,
    observation: Observation,
    beliefs: Beliefs,
    aims: jax.Array,
    goals: jax.Array,
    key: Key,
) -> tuple[Action, jax.Array, jax.Array]:
    features = forward_model.features(observation)
    actions = candidates(forward_model, policy, observation, features, beliefs, (aims, goals), key=key)
    expected, log_prob = expect_all(forward_model, features, beliefs, actions)
    followed = jax.tree.map(lambda leaf: leaf[:, None], policy(observation, beliefs.values[:, 0], aims).mode())
    policys = followed, jnp.maximum(aims, 0)[:, None], log_prob_of(forward_model, features, beliefs, followed, aims)
    return beside((actions, expected, log_prob), policys)


@dataclass
class Lookahead:
    """One episode's choices by foresight, and what it has learned from those that failed.

    Learning real-time A*, in a hurry: the cost of every set that was left is raised above what its best option implied,
    so that the agent soon stops going in circles.

    doubt: how often the outlook is wrong. An option is as likely to work as the outlook says, or, with this
        probability, as the table says, which knows of the policy's action alone.
    """

    planner: Planner
    goal: Goal
    model_error: float
    _failures: dict[tuple[int, bytes], float] = field(default_factory=dict)
    _raised: dict[int, float] = field(default_factory=dict)
    _taken: Counter[tuple[int, int]] = field(default_factory=Counter)
    _nearest: float = np.inf
    _idle_steps: int = 0

    def __post_init__(self) -> None:
        self._cost = self.planner.distances(self.goal).cost

    def choose(
        self, number: int, values: np.ndarray, options: Options, copy: int, trusted: float, *, last: bool = False
    ) -> int | None:
        """Which option to take from set `number` with `values` `[A]`; `None` if none leads to the goal.

        trusted: how likely the policy reaches its aim, as the table tells.
        last: whether time is up afterwards: then nothing but arriving is worth anything, however unlikely.
        """
        expected, numbers = options.expected[copy], options.numbers[copy]
        arrives = np.asarray(self.goal.satisfied_by(expected))
        wanted = np.asarray(self.goal.wanted)
        log_prob = options.log_prob[copy]
        sure = np.where(arrives, log_prob[:, wanted].sum(axis=-1), log_prob.sum(axis=-1))
        onward = np.where(numbers == UNKNOWN, np.inf, self._cost[numbers])
        weariness = np.where(arrives, 0.0, self._weariness(number, onward))
        for place, there in enumerate(numbers.tolist()):
            if there in self._raised:
                onward[place] = max(onward[place], self._raised[there])
        chance = (1 - self.model_error) * np.exp(sure)
        chance[-1] += self.model_error * trusted
        with np.errstate(divide="ignore"):
            cost = STEP_COST - np.log(chance) + np.where(arrives, 0.0, onward) + weariness
        if not self.goal.satisfied_by(values):
            cost[(expected == values).all(axis=-1)] = np.inf
        penalties = self._penalties(number, expected)
        cost += penalties
        for (source, option), times in self._taken.items():
            if source == number:
                cost[option] += TAKEN * times
        promising = (chance >= LIKELY) & (penalties == 0)
        at_once = arrives & np.isfinite(cost) & (promising | last)
        best = int(np.argmin(np.where(at_once, cost, np.inf) if at_once.any() else cost))
        if not np.isfinite(cost[best]):
            return None
        self._taken[number, best] += 1
        if number != UNKNOWN:
            self._raised[number] = max(float(cost[best]), self._raised.get(number, 0.0)) + BEEN_THERE
        return best

    def _weariness(self, number: int, onward: np.ndarray) -> np.ndarray:
        """`[K]` what options cost for leading no nearer, where the table's way from them costs `onward` `[K]`.

        Nearer than the agent has been, that is; it is in set `number` now.
        """
        here = np.inf if number == UNKNOWN else float(self._cost[number])
        self._idle_steps = 0 if here < self._nearest else self._idle_steps + 1
        self._nearest = min(self._nearest, here)
        return np.where(onward < self._nearest, 0.0, WEARINESS * self._idle_steps)

    def best_chance(self, options: Options, copy: int) -> float:
        """How likely the best of the options leads to the goal at once, less what a step costs."""
        arrives = np.asarray(self.goal.satisfied_by(options.expected[copy, :-1]))
        sure = options.log_prob[copy, :-1][:, np.asarray(self.goal.wanted)].sum(axis=-1)
        best = np.where(arrives, sure, -np.inf).max()
        return float(np.exp(best - STEP_COST))

    def failed(self, number: int, expected: np.ndarray) -> None:
        """From set `number`, the values `expected` `[A]` did not come about."""
        place = number, expected.tobytes()
        self._failures[place] = self._failures.get(place, 0.0) + FAILED

    def _penalties(self, number: int, expected: np.ndarray) -> np.ndarray:
        """`[K]` how much costlier outcomes `[K, A]` are for having failed to come from set `number`."""
        return np.array([self._failures.get((number, each.tobytes()), 0.0) for each in expected])
