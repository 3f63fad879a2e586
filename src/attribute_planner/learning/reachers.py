"""Reachers: the ways in which π learns to reach a neighbouring attribute set.

A reacher may be fitted to the steps that exploration recorded, and it may be updated on the attempts of practice.
"""

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.data.examples import Examples
from attribute_planner.data.replay import Replay
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.spec import EnvironmentSpec
from attribute_planner.learning import dqn, ppo, reinforce, sac
from attribute_planner.learning.dqn import DQNConfig
from attribute_planner.learning.finite import require_finite
from attribute_planner.learning.inverse import InverseConfig, fit_inverse
from attribute_planner.learning.policy_gradient import Batch, TrainState, new_train_state
from attribute_planner.learning.ppo import PPOConfig
from attribute_planner.learning.progress import Watch
from attribute_planner.learning.reinforce import ReinforceConfig
from attribute_planner.models.observation_scaling import ObservationStatistics, statistics_of, with_statistics
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
    replays: whether it learns from a replay buffer, which exploration then fills too.
    """

    fits: bool
    replays: bool

    def new_policy(self, spec: EnvironmentSpec, hidden_size: int, *, key: Key) -> GoalPolicy:
        """A new policy."""
        ...

    def train_state(self, policy: GoalPolicy, spec: EnvironmentSpec, *, key: Key) -> TrainState:
        """The initial train state of `policy`."""
        ...

    def with_statistics(self, train_state: TrainState, statistics: ObservationStatistics | None) -> TrainState:
        """The train state with new statistics of the observations, if it learns while they still change."""
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

    def learn(
        self, train_state: TrainState, replay: Replay, *, discount: float, remaining: float, random: np.random.Generator
    ) -> tuple[TrainState, dict]:
        """The train state after learning from the replay buffer, in proportion to the steps that were added to it.

        remaining: the fraction of practice that is still to come.
        """
        ...


class Unchanging:
    """What a reacher does that neither fits, updates nor replays; each reacher overrides its own way of learning."""

    def with_statistics(self, train_state: TrainState, statistics: ObservationStatistics | None) -> TrainState:
        del statistics
        return train_state

    def fit(self, env: Environment, policy: GoalPolicy, examples: Any, *, key: Key, watch: Watch) -> GoalPolicy:
        del env, examples, key, watch
        return policy

    def update(self, train_state: TrainState, batch: Batch, *, remaining: Any, key: Key) -> tuple[TrainState, dict]:
        del batch, remaining, key
        return train_state, {}

    def learn(
        self, train_state: TrainState, replay: Replay, *, discount: float, remaining: float, random: np.random.Generator
    ) -> tuple[TrainState, dict]:
        del replay, discount, remaining, random
        return train_state, {}


class PolicyGradient(Unchanging):
    """Learns only from the rewards of its attempts."""

    fits = replays = False

    def __init__(self, name: str, config: LearnerConfig) -> None:
        self._update, self._config = LEARNERS[name], config

    def new_policy(self, spec: EnvironmentSpec, hidden_size: int, *, key: Key) -> GoalPolicy:
        return GoalPolicy(spec, hidden_size, key=key)

    def train_state(self, policy: GoalPolicy, spec: EnvironmentSpec, *, key: Key) -> TrainState:
        del spec, key
        return new_train_state(policy, self._config)

    def update(
        self, train_state: TrainState, batch: Batch, *, remaining: jax.Array, key: Key
    ) -> tuple[TrainState, dict]:
        return self._update(train_state, batch, self._config, remaining=remaining, key=key)


class InverseModel(Unchanging):
    """An inverse model, fitted to recorded steps. Attempts only measure its success."""

    fits, replays = True, False

    def __init__(self, name: str, config: InverseConfig) -> None:
        del name
        self._config = config

    def new_policy(self, spec: EnvironmentSpec, hidden_size: int, *, key: Key) -> GoalPolicy:
        return GoalPolicy(spec, hidden_size, key=key)

    def train_state(self, policy: GoalPolicy, spec: EnvironmentSpec, *, key: Key) -> TrainState:
        del spec, key
        return TrainState(policy, ())

    def fit(
        self, env: Environment, policy: GoalPolicy, examples: Examples | None, *, key: Key, watch: Watch
    ) -> GoalPolicy:
        assert examples is not None, "exploration must record its steps"
        return fit_inverse(env, policy, examples, self._config, key=key, watch=watch)


class Given(Unchanging):
    """A policy that was made elsewhere (`models.given_policy`): it learns nothing, attempts only measure it."""

    fits = replays = False

    def __init__(self, name: str, config: None) -> None:
        del name, config

    def new_policy(self, spec: EnvironmentSpec, hidden_size: int, *, key: Key) -> GoalPolicy:
        del hidden_size
        return GoalPolicy(spec, 1, key=key)  # its networks are not used

    def train_state(self, policy: GoalPolicy, spec: EnvironmentSpec, *, key: Key) -> TrainState:
        del spec, key
        return TrainState(policy, ())


TEMPERATURE = 0.02
"""Temperature of a policy that samples actions by their values: an action whose value is two per cent lower than the
best one is sampled about a third as often."""

UPDATES_PER_CALL = 16
"""Updates that are compiled into one call."""


class OffPolicy(Unchanging):
    """Learns from a replay buffer: DQN for discrete actions, SAC for a box."""

    fits, replays = False, True

    def __init__(self, name: str, config: DQNConfig) -> None:
        self._name, self._config = name, config

    def new_policy(self, spec: EnvironmentSpec, hidden_size: int, *, key: Key) -> GoalPolicy:
        return GoalPolicy(spec, hidden_size, key=key, temperature=TEMPERATURE if self._name == "dqn" else None)

    def train_state(self, policy: GoalPolicy, spec: EnvironmentSpec, *, key: Key) -> TrainState:
        if self._name == "dqn":
            return dqn.new_train_state(policy, self._config)
        train_state = sac.new_train_state(policy, spec, policy.encoder.features, self._config, key=key)
        return self.with_statistics(train_state, statistics_of(policy))

    def with_statistics(self, train_state: TrainState, statistics: ObservationStatistics | None) -> TrainState:
        policy = with_statistics(train_state.policy, statistics)
        if self._name == "dqn":
            return TrainState(policy, train_state.optimiser, with_statistics(train_state.critic, statistics))
        return TrainState(policy, train_state.optimiser, sac.critics_with(train_state.critic, statistics))

    def learn(
        self, train_state: TrainState, replay: Replay, *, discount: float, remaining: float, random: np.random.Generator
    ) -> tuple[TrainState, dict]:
        config, metrics = self._config, {}
        per_call, rate = UPDATES_PER_CALL * config.batch_size, jnp.float32(config.learning_rate_at(remaining))
        while replay.pending * config.replay_ratio >= per_call:
            before = metrics
            replay.pending -= per_call / config.replay_ratio
            batch = replay.sample(
                per_call,
                config.goals_at(remaining),
                discount=discount,
                n_step=config.n_step_at(remaining),
                random=random,
            )
            batches = jax.tree.map(lambda leaf: leaf.reshape(UPDATES_PER_CALL, -1, *leaf.shape[1:]), batch)
            if self._name == "dqn":
                train_state, metrics = dqn.update(train_state, batches, config, rate=rate)
            else:
                key = jax.random.key(random.integers(2**31))
                train_state, metrics = sac.update(train_state, batches, config, rate=rate, key=key)
            # Those of the call before: to wait for this one would leave the device idle.
            require_finite(self._name, before)
        require_finite(self._name, metrics)
        return train_state, metrics


REACHERS: dict[str, Callable[[str, Any], Reacher]] = {
    "ppo": PolicyGradient,
    "reinforce": PolicyGradient,
    "inverse": InverseModel,
    "dqn": OffPolicy,
    "sac": OffPolicy,
    "given": Given,
}
"""The reachers by name; each is built from its name and its settings."""
