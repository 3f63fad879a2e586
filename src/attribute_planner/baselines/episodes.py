"""Trials: episodes in which a policy tries tasks, in many copies of an environment.

A trial begins where its task says, with a goal that does not hold there. It ends for good when the goal holds, as far
as the policy can tell, when the only attempt is made, or when the environment says so; the task's limit of steps only
cuts it off.
"""

import abc
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from attribute_planner.baselines.reactive_policy import ReactivePolicy
from attribute_planner.baselines.training_distribution import Stage
from attribute_planner.environments.spaces import Action, Observation
from attribute_planner.errors import AttributePlannerError

Key = jax.Array


class Steps(NamedTuple):
    """What was tried, `[T, B, ...]`.

    observation, values, aim: what the policy saw; attribute values and goal are `int32[T, B, A]`.
    action, record: what it did, and what it said of that.
    reached: whether the step made the goal hold.
    ended: whether the trial is over for good.
    cut: whether the trial was cut off by a time limit, with its goal not reached.
    weight: 0 for copies that wait for others, and learn nothing from that; else 1.
    """

    observation: Observation
    values: jax.Array
    aim: jax.Array
    action: Action
    record: Any
    reached: jax.Array
    ended: jax.Array
    cut: jax.Array
    weight: jax.Array


class Trials(abc.ABC):
    """Trials that go on where the last call has left them."""

    @abc.abstractmethod
    def collect(self, policy: ReactivePolicy, steps: int, open_stages: int, *, key: Key) -> Steps:
        """Try for `steps` steps in every copy. Trials that begin meanwhile draw from the first `open_stages` tasks."""

    def close(self) -> None:
        """Let go of the environment."""


def require_something_to_do(stages: Sequence[Stage], unsolved: np.ndarray) -> None:
    """An error if no copy `[B]` got a goal that does not hold already."""
    if not unsolved.any():
        names = ", ".join(stage.task.name for stage in stages)
        raise AttributePlannerError(f"All goals drawn for {names} hold at the start: there is nothing to learn.")
