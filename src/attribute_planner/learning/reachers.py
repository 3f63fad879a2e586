"""Reachers: the ways in which π learns to reach a neighbouring attribute set.

A reacher may be fitted to the steps that exploration recorded, and it may be updated on the attempts of practice.
"""

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import jax

from attribute_planner.data.examples import Examples
from attribute_planner.environments.interface import Environment
from attribute_planner.learning import ppo, reinforce
from attribute_planner.learning.inverse import InverseConfig, fit_inverse
from attribute_planner.learning.policy_gradient import Batch, TrainState, new_train_state
from attribute_planner.learning.ppo import PPOConfig
from attribute_planner.learning.progress import Watch
from attribute_planner.learning.reinforce import ReinforceConfig
from attribute_planner.models.policy import GoalPolicy

Key = jax.Array

LearnerConfig = PPOConfig | ReinforceConfig
Update = Callable[..., tuple[TrainState, dict]]

LEARNERS: dict[str, Update] = {"ppo": ppo.update, "reinforce": reinforce.update}
"""The policy-gradient learners by name."""


@runtime_checkable
class Reacher(Protocol):
    """How π learns to reach a neighbouring set.

    fits: whether it is fitted to recorded steps, which exploration then keeps.
    """

    fits: bool

    def train_state(self, policy: GoalPolicy) -> TrainState:
        """The state in which learning begins with `policy`."""
        ...

    def fit(
        self, env: Environment, policy: GoalPolicy, examples: Examples | None, *, key: Key, watch: Watch
    ) -> GoalPolicy:
        """The policy, fitted to the examples that exploration recorded."""
        ...

    def update(
        self, train_state: TrainState, batch: Batch, *, remaining: jax.Array, key: Key
    ) -> tuple[TrainState, dict]:
        """The train state after a batch of attempts, and metrics; can be traced."""
        ...


class PolicyGradient:
    """Learns from the rewards of its attempts alone."""

    fits = False

    def __init__(self, name: str, config: LearnerConfig) -> None:
        self._update, self._config = LEARNERS[name], config

    def train_state(self, policy: GoalPolicy) -> TrainState:
        return new_train_state(policy, self._config)

    def fit(self, env: Environment, policy: GoalPolicy, examples: Any, *, key: Key, watch: Watch) -> GoalPolicy:
        del env, examples, key, watch
        return policy

    def update(
        self, train_state: TrainState, batch: Batch, *, remaining: jax.Array, key: Key
    ) -> tuple[TrainState, dict]:
        return self._update(train_state, batch, self._config, remaining=remaining, key=key)


class InverseModel:
    """Is fitted to recorded steps, as an inverse model; attempts only measure it."""

    fits = True

    def __init__(self, name: str, config: InverseConfig) -> None:
        del name
        self._config = config

    def train_state(self, policy: GoalPolicy) -> TrainState:
        return TrainState(policy, ())

    def fit(
        self, env: Environment, policy: GoalPolicy, examples: Examples | None, *, key: Key, watch: Watch
    ) -> GoalPolicy:
        assert examples is not None, "exploration must record its steps"
        return fit_inverse(env, policy, examples, self._config, key=key, watch=watch)

    def update(self, train_state: TrainState, batch: Batch, *, remaining: Any, key: Key) -> tuple[TrainState, dict]:
        del batch, remaining, key
        return train_state, {}


REACHERS: dict[str, Callable[[str, Any], Reacher]] = {
    "ppo": PolicyGradient,
    "reinforce": PolicyGradient,
    "inverse": InverseModel,
}
"""The reachers by name; each is made of its name and its settings."""
