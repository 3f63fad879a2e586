"""The posterior of an episode: the table, updated by the outcomes of attempts (docs/execution.md)."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Float, Int

from attribute_planner.attributes import Goal
from attribute_planner.environments.spaces import Action
from attribute_planner.planning.episode_model import EpisodeModel
from attribute_planner.planning.plan import Planner
from attribute_planner.planning.search import Distances, Graph
from attribute_planner.planning.state_success import Success
from attribute_planner.transitions.numbering import UNKNOWN

MOST_REPLANNED = 20_000
"""Number of transitions up to which failures change the values of all sets that lead there. In larger tables, in which
a search takes long, they change those of the set alone."""

Failures = Callable[[np.ndarray], np.ndarray]
"""From targets `[K, A]` to how often each failed `[K]`."""


class Target(NamedTuple):
    """A set to move to next.

    values: the set. probability: that of the transition, before any failed attempt.
    """

    values: Int[np.ndarray, " A"]
    probability: float


class StateMemory:
    """What the state told of the transitions of each set when the agent was there, as the difference to c_π.

    When it comes back, the state may be the same, such as the floor on which a passenger waits, or another one, such
    as the cell of a region. Which share of the difference is found again is measured in the episode, by least squares.
    Before any set was seen twice, half of it is expected, which counts like one transition that was seen twice with a
    difference of 1.
    """

    def __init__(self) -> None:
        self._surplus: dict[int, np.ndarray] = {}
        self._here = UNKNOWN
        self._repeated, self._squares = 0.5, 1.0

    def seen(self, number: int, surplus: Float[np.ndarray, " K"]) -> None:
        """The agent is in a set, and its transitions are more likely than c_π says by a surplus."""
        if number != self._here and number in self._surplus:
            before = self._surplus[number]
            self._repeated += float(before @ surplus)
            self._squares += float(before @ before)
        self._here, self._surplus[number] = number, surplus

    def expected(self) -> Iterator[tuple[int, Float[np.ndarray, " K"]]]:
        """The sets that were seen, and the surplus that is expected there."""
        share = min(max(self._repeated / self._squares, 0.0), 1.0)
        return ((number, share * surplus) for number, surplus in self._surplus.items())


class Posterior:
    """The evidence of one episode, and the values that follow from it and from a planner's distances to the goal.

    A failed attempt lowers the probability of the transition, and the values of sets whose path takes it. What the
    state told of the transitions of a set is remembered. With lookahead, leaving a set lowers its value: a good path
    visits no set twice, so if the agent returns to a set, the path from there did not work. An action that was already
    taken from the same set also has a lower probability: if two actions lead to the same set, the other one may lead
    to another of its states.

    replans: whether failures change the values of other sets than that in which they happened.
    """

    def __init__(
        self, planner: Planner, goal: Goal, model: EpisodeModel = EpisodeModel(), *, replans: bool = True
    ) -> None:
        self._planner, self._model, self._goal = planner, model, goal
        self._distances = planner.distances(goal)
        self._replans = replans and planner.listing.num_edges <= MOST_REPLANNED
        self._news, self._left = False, planner.graph.horizon
        self._failures: dict[bytes, list[tuple[np.ndarray, float]]] = {}
        self._state = StateMemory()
        self._departures: Counter[int] = Counter()
        self._taken: dict[bytes, list[Any]] = {}

    @property
    def model(self) -> EpisodeModel:
        return self._model

    def failed(self, source: Int[np.ndarray, " A"], target: Int[np.ndarray, " A"], share: float = 1.0) -> None:
        """An attempt to move from one set to another did not arrive there.

        share: the share of the longest attempt that it had; less than 1 if it was abandoned.
        """
        self._failures.setdefault(source.tobytes(), []).append((target, share))
        self._news = self._replans

    def took(self, source: Int[np.ndarray, " A"], action: Any) -> None:
        """An action was taken from a set."""
        self._taken.setdefault(source.tobytes(), []).append(action)

    def taken(self, source: Int[np.ndarray, " A"], actions: Action) -> Float[np.ndarray, " K"]:
        """How often each of K actions was taken from a set."""
        count = np.zeros(len(jax.tree.leaves(actions)[0]))
        for action in self._taken.get(source.tobytes(), ()):
            same = [
                (leaf == one).reshape(len(leaf), -1).all(axis=1)
                for leaf, one in zip(jax.tree.leaves(actions), jax.tree.leaves(action), strict=True)
            ]
            count += np.all(same, axis=0)
        return count

    def left(self, source: Int[np.ndarray, " A"]) -> None:
        """The set was left without having reached the goal."""
        self._departures[self._planner.listing.number_of(source)] += 1

    def failures(self, source: Int[np.ndarray, " A"], targets: Int[np.ndarray, "K A"]) -> Float[np.ndarray, " K"]:
        """How often an attempt from a set at each target failed."""
        count = np.zeros(len(targets))
        for target, share in self._failures.get(source.tobytes(), ()):
            count += share * (targets == target).all(axis=-1)
        return count

    def attempt(self, source: Int[np.ndarray, " A"], target: Int[np.ndarray, " A"], c: float) -> float:
        """The probability that the next attempt at a transition arrives, given how often it failed in this episode."""
        return float(self._model.attempt(c, self.failures(source, target[None])[0]))

    def value(self, numbers: Int[np.ndarray, " K"], left: Float[np.ndarray, " K"] | float) -> Float[np.ndarray, " K"]:
        """The probability of reaching the goal in time from each set, with `left` steps remaining there."""
        value = self._ways().value(numbers, left)
        departures = np.array([self._departures.get(number, 0) for number in numbers.tolist()], float)
        return np.where(departures > 0, self._model.attempt(value, departures), value)

    def _note_time(self, left: float) -> None:
        """So many steps remain: the ways to the goal are searched again when these are half of those searched for."""
        if np.isfinite(self._left):
            self._left = max(left, 1.0)
            self._news |= self._replans and left < self._distances.graph.horizon / 2

    def _ways(self) -> Distances:
        """The ways to the goal, given the failures so far and the states that were seen."""
        if self._news:
            listing = self._planner.listing
            success = listing.probability.copy()
            for number, surplus in self._state.expected():
                success[listing.edges_of(number)] += surplus
            for source, failed in self._failures.items():
                values = np.frombuffer(source, failed[0][0].dtype)
                number = listing.number_of(values)
                if number != UNKNOWN:
                    row = listing.edges_of(number)
                    failures = self.failures(values, listing.values_of(listing.target[row]))
                    success[row] = self._model.attempt(success[row], failures)
            self._distances, self._news = Graph(listing, self._left, success).to_goal(self._goal), False
        return self._distances

    def next_target(
        self,
        values: Int[np.ndarray, " A"],
        left: float,
        failures: Failures | None = None,
        success: Success | None = None,
    ) -> Target | None:
        """The best set to move to from a set; `None` if nothing leads to the goal.

        failures: how often each target failed, if not from this set.
        success: the probability of arriving from the present state, instead of c_π.
        """
        listing, number = self._planner.listing, self._planner.listing.number_of(values)
        if number == UNKNOWN or self._distances.successor[number] == UNKNOWN:
            return None
        self._note_time(left)
        row = listing.edges_of(number)
        numbers, c, steps = listing.target[row], listing.probability[row], np.maximum(listing.steps[row], 1.0)
        targets = listing.values_of(numbers)
        failed = self.failures(values, targets) if failures is None else failures(targets)
        if success is not None:
            now = success(row, targets, c)
            self._state.seen(number, now - c)
            self._news, c = self._replans, now
        in_time = self._distances.graph.in_time(steps, left)
        best = int(np.argmax(self._model.attempt(c, failed) * in_time * self._ways().value(numbers, left)))
        return Target(targets[best], float(c[best]))


class Published(Posterior):
    """Algorithm 2: the next set on the planned path, even if it has failed before."""

    def failed(self, source: Int[np.ndarray, " A"], target: Int[np.ndarray, " A"], share: float = 1.0) -> None:
        del source, target, share

    def took(self, source: Int[np.ndarray, " A"], action: Any) -> None:
        del source, action

    def left(self, source: Int[np.ndarray, " A"]) -> None:
        del source

    def next_target(
        self,
        values: Int[np.ndarray, " A"],
        left: float,
        failures: Failures | None = None,
        success: Success | None = None,
    ) -> Target | None:
        del left, failures, success
        listing, number = self._planner.listing, self._planner.listing.number_of(values)
        if number == UNKNOWN or self._distances.successor[number] == UNKNOWN:
            return None
        target = int(self._distances.successor[number])
        return Target(listing.values_of([target])[0], float(listing.probability[listing.edge(number, target)]))
