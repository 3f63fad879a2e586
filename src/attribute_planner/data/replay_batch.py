"""Batches of replayed steps: their goals, and what they should be worth."""

from typing import Any, NamedTuple

import numpy as np

from attribute_planner.environments.spaces import Action, Observation


class ReplayBatch(NamedTuple):
    """Steps with goals, `[N, ...]`.

    observation, values, goal, action: before the step; values and goals are `int[N, A]`.
    next_observation, next_values: where the return is bootstrapped.
    next_goal: the goal whose value counts there; once the goal is reached, one of its neighbours.
    arrived: `float32[N]` 0 if the goal was not reached before that; otherwise the share of its worth that is certain.
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
    onward: `int[N, A]` a neighbour of each of them.
    leads_on: `bool[N]` whether there is one: the episode must not end at the goal then.
    """

    values: np.ndarray
    onward: np.ndarray
    leads_on: np.ndarray


class GoalShares(NamedTuple):
    """Which goals sampled steps have; the others have the one that was pursued.

    hindsight: share of steps whose goal is a set that was reached later. That is good news about a set that is seldom
        reached, and too good where luck played a part.
    balanced: share of these that are drawn by transitions, rare ones as often as others.
    neighbours: share of the rest whose goal is any neighbour of the set that they are in, whatever happened next. So
        are steps that pursued nothing.
    """

    hindsight: float
    balanced: float = 0.0
    neighbours: float = 0.0
