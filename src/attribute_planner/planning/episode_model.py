"""The model of one episode: the success probability of an attempt, given earlier attempts (docs/execution.md).

A transition with success probability c fails for two reasons. Either it is not available from the current state,
although other states of the same attribute set allow it (aliasing), or it is available and the attempt fails by chance.
`aliasing` is the share of failures of the first kind:

    availability a = 1 − aliasing · (1 − c),    reliability q = c / a,    c = a · q

A failed attempt is evidence against availability, by Bayes' rule. The published execution uses no evidence and ignores
time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float

from attribute_planner.attributes import Goal

Probability = Float[np.ndarray, "..."] | float


@dataclass(frozen=True)
class EpisodeModel:
    """How the probability of an attempt follows from c_π and the failures so far.

    aliasing: the fraction of failures that are due to the state, and so repeat themselves; between 0 and 1.
    """

    aliasing: float = 0.5

    def availability(self, c: Probability, failures: Probability = 0.0) -> np.ndarray:
        """The posterior probability that a transition is available after a number of failed attempts."""
        prior = 1.0 - self.aliasing * (1.0 - np.asarray(c, float))
        by_chance = (1.0 - self.reliability(c)) ** failures
        with np.errstate(invalid="ignore"):
            posterior = prior * by_chance / (prior * by_chance + (1.0 - prior))
        # With c = 1 a failure has probability 0 under both explanations: the limit c → 1 is used.
        repeated = 1.0 if self.aliasing == 0.0 else 0.0
        limit = np.where(np.asarray(failures) > 1, repeated, 1.0 - self.aliasing)
        return np.where(np.isnan(posterior), limit, posterior)

    def reliability(self, c: Probability) -> np.ndarray:
        """The probability that an attempt at an available transition arrives."""
        c = np.asarray(c, float)
        prior = 1.0 - self.aliasing * (1.0 - c)
        return np.divide(c, prior, out=np.zeros_like(c), where=prior > 0)

    def attempt(self, c: Probability, failures: Probability = 0.0) -> np.ndarray:
        """The probability that the next attempt arrives."""
        return np.asarray(self.availability(c, failures) * self.reliability(c))


def edge_cost(
    c: Float[np.ndarray, " E"], steps: Float[np.ndarray, " E"] | None = None, horizon: float = np.inf
) -> Float[np.ndarray, " E"]:
    """The cost of a transition on a plan: −log c_π, and its share of the steps of an episode.

    The deadline is modelled as geometric with mean `horizon`, so that a plan of d steps is in time with probability
    exp(−d / horizon). An infinite horizon leaves −log c_π, as published; steps are then not needed.
    """
    with np.errstate(divide="ignore"):  # the cost of what is not possible is infinite
        cost = np.log(c)
    np.negative(cost, out=cost)
    if steps is not None and np.isfinite(horizon):
        cost += np.maximum(steps, 1.0) / horizon
    return cost


DETERMINISTIC = EpisodeModel(aliasing=0.95)
"""The same for a policy that always takes its most probable action: in the same state it fails in the same way. It is
below 1 because an agent that returns to a set may be in another of its states."""


@dataclass(frozen=True)
class Odds:
    """How likely attempts succeed when a goal is pursued, compared with practice.

    Execution searches where practice only follows the policy, and the policy has improved since the attempts that were
    counted. A goal that mentions few attributes can be reached in more ways than the one that is planned.

    log_odds, slope: the log odds of success are `slope` times those of practice, plus `log_odds`.
    by_goal: what is added to `log_odds` for goals that mention the same attributes (`mentioned`).
    """

    log_odds: float = 0.0
    slope: float = 1.0
    by_goal: Mapping[str, float] = field(default_factory=dict, hash=False)

    def for_goal(self, goal: Goal) -> "Odds":
        """The odds of a plan for this goal."""
        return Odds(self.log_odds + self.by_goal.get(mentioned(goal), 0.0), self.slope)

    def shifted(self, c: float) -> float:
        """The probability of an attempt that succeeded with probability c in practice."""
        if not 0 < c < 1 or (self.log_odds, self.slope) == (0.0, 1.0):
            return c
        return float(1 / (1 + np.exp(-self.slope * np.log(c / (1 - c)) - self.log_odds)))


def mentioned(goal: Goal) -> str:
    """`"0110"`: 1 for each attribute that a goal mentions."""
    return "".join("01"[int(each)] for each in np.asarray(goal.wanted))


@dataclass(frozen=True)
class AttemptModel:
    """How the attempts of an episode turn out, given what practice has counted.

    episode: which failures repeat themselves.
    max_attempt_steps: steps after which an attempt fails; `None`: failures take as long as successes.
    odds: how likely they succeed, compared with practice.
    """

    episode: EpisodeModel = EpisodeModel()
    max_attempt_steps: int | None = None
    odds: Odds = Odds()

    def for_goal(self, goal: Goal) -> "AttemptModel":
        """The attempts of a plan for this goal."""
        return replace(self, odds=self.odds.for_goal(goal))

    def success_within(self, c: Sequence[float], steps: Sequence[float], horizon: float) -> tuple[float, ...]:
        """The probability of each transition of a chain, given the ones before; the product is that of the chain.

        The chain must be completed within `horizon` steps. A failed attempt is made again while time is left. A
        transition that is not available in this episode fails every time. Without a horizon nothing is made again, and
        the probabilities are c, as published.

        c, steps: c_π and mean duration of the attempts at each transition.
        """
        if not np.isfinite(horizon):
            return tuple(c)
        arrived, chances = np.zeros(int(horizon) + 1), []
        arrived[0] = 1.0
        for practised, mean in zip(c, steps, strict=True):
            before, arrived = arrived, self._arrivals(arrived, practised, mean)
            chances.append(float(arrived.sum() / before.sum()) if before.any() else 0.0)
        return tuple(chances)

    def _arrivals(self, before: Float[np.ndarray, " T"], practised: float, mean: float) -> Float[np.ndarray, " T"]:
        """The probability of arriving after each number of steps, given that of setting out after each.

        The first attempt arrives after the steps of a success; each later one after those of another failure.
        """
        chance, (success, failure) = self.odds.shifted(practised), self.durations(practised, mean)
        first, by_chance = float(self.episode.attempt(chance)), 1.0 - float(self.episode.reliability(chance))
        arrived = np.zeros_like(before)
        arrived[success:] = first * before[:-success]
        for start in range(failure, len(arrived), failure):
            again = arrived[start : start + failure]
            again += by_chance * arrived[start - failure : start][: len(again)]
        return arrived

    def durations(self, c: float, mean: float) -> tuple[int, int]:
        """Steps of a successful attempt and of a failed one, whose mean was counted."""
        mean = max(mean, 1.0)
        if self.max_attempt_steps is None or not 0 < c < 1:
            return round(mean), round(mean)
        success = float(np.clip((mean - (1 - c) * self.max_attempt_steps) / c, 1.0, mean))
        return round(success), max(round((mean - c * success) / (1 - c)), 1)
