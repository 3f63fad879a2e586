"""Batches of replayed steps: their goals, and what they should be worth."""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from attribute_planner.environments.spaces import Action, Observation


class ReplayBatch(NamedTuple):
    """Steps with goals, `[N, ...]`.

    observation, values, goal, action: before the step; values and goals are `int[N, A]`.
    next_observation, next_values: where the return is bootstrapped.
    next_goal: the goal whose value counts there; `NO_GOAL` once a goal is reached from which paths go on.
    arrived: `float32[N]` 0 if the goal was not reached before that; otherwise the share of its worth that is certain.
        Without a goal: the probability that the time for which the episode has to last is over.
    discount: `float32[N]` the discount of what is bootstrapped, or of the goal; 0 if the episode ended without it.
    weight: `float32[N]` 0 for steps whose successor is not known.
    """

    observation: Observation
    values: Any
    goal: Any
    action: Action
    next_observation: Observation
    next_values: Any
    next_goal: Any
    arrived: Any
    discount: Any
    weight: Any

    def wanted(self, sequel: Any) -> Any:
        """`[N]` what the steps should be worth, if `sequel` is the value where their returns are bootstrapped."""
        return self.discount * (self.arrived + (1 - self.arrived) * sequel)


class Goals(NamedTuple):
    """The goals of steps, and where they lead.

    values: `int[N, A]` the goals; `NO_GOAL` for none.
    leads_on: `bool[N]` whether a transition leads on from the goal: the episode must not end there then.
    only_neighbour: `int[N, A]` where it leads, if there is a single such set: a path that comes from there ends at the
        goal. Otherwise the goal itself.
    """

    values: np.ndarray
    leads_on: np.ndarray
    only_neighbour: np.ndarray


class GoalShares(NamedTuple):
    """Which goals sampled steps have; the others have the one that was pursued.

    hindsight: share of steps whose goal is a set that was reached later. That is good news about a set that is seldom
        reached, and too good where luck played a part.
    balanced: share of these that are drawn by transitions, rare ones as often as others.
    neighbours: share of the rest whose goal is any neighbour of the set that they are in, whatever happened next. So
        are steps that pursued nothing.
    survival: share of all steps that have no goal but that the episode goes on, if all episodes end in failure; in
        proportion less if fewer do.
    """

    hindsight: float
    balanced: float = 0.0
    neighbours: float = 0.0
    survival: float = 0.0


Flags = Bool[np.ndarray, " N"]
Counts = Int[np.ndarray, " N"]


def returns_to_goals(
    reached: Flags, continues: Flags, ended: Flags, steps: Counts, discount: float, *, certain: float
) -> Float[np.ndarray, "2 N"]:
    """`arrived` and `discount` of steps with goals, some steps later.

    reached, continues, ended: whether the goal was reached, the episode goes on there, or it ended without the goal.
    certain: the share of the worth of a goal that does not depend on how the episode goes on.
    """
    power = np.where(reached, steps - 1, steps)
    return np.stack([np.where(continues, certain, reached), np.where(ended, 0.0, discount**power)])


def returns_of_survival(ended: Flags, steps: Counts, discount: float) -> Float[np.ndarray, "2 N"]:
    """The same for steps without a goal, which are worth the probability that the episode lasts for some time.

    That time is over after each step with the probability 1 − `discount`.
    """
    over = 1 - discount ** (steps - ended)
    return np.stack([np.where(ended, 1.0, over), np.where(ended, over, 1.0)])
