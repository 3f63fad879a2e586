"""Option-Critic with a deliberation cost (Harb et al. 2018): the paper's hierarchical baseline on the blocks.

Options are learned together with the policy over them: each option's policy by the policy gradient, with the option's
worth as its critic; and each option's end by whether another option would be worth more here, by at least the
deliberation cost. As with actor-critic, all copies act for a few steps before there is one update from all of them.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

from attribute_planner.baselines.descent import (
    DescentConfig,
    TrainState,
    bootstrapped_returns,
    descend,
    new_train_state,
)
from attribute_planner.baselines.episodes import Steps
from attribute_planner.baselines.options import OptionOutput, OptionPolicy, of_option
from attribute_planner.baselines.reactive_policy import ReactivePolicy
from attribute_planner.baselines.training_loop import TaskTrainingConfig, batch_of, train_on_tasks
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.spaces import Action, Observation
from attribute_planner.learning.policy_gradient import Batch, weighted_mean
from attribute_planner.learning.progress import Watch, nobody
from attribute_planner.models.detector import AttributeDetector

Key = jax.Array


@dataclass(frozen=True)
class OptionCriticConfig:
    """How the Option-Critic baseline is trained."""

    training: TaskTrainingConfig = field(default_factory=lambda: TaskTrainingConfig(rollout_length=5))
    """Budget, network and rewards, as for actor-critic."""
    descent: DescentConfig = field(default_factory=DescentConfig)
    """How the options learn, as actor-critic does."""
    options: int = 8
    """How many options there are; as many as Harb et al. have."""
    deliberation_cost: float = 0.02
    """η: by how much others must be worth more for the present option to be given up. Harb et al. try 0 to 0.03."""
    exploring: float = 0.1
    """ε: how often any option is picked instead of the worthiest, while learning."""


class Held(NamedTuple):
    """What a copy remembers: the option that it follows, `int32[B]`; `NO_OPTION` at the start of an episode."""

    option: jax.Array


NO_OPTION = -1


class Choice(NamedTuple):
    """How an action came about; `[B]` each.

    held: the option that was followed up to here, `NO_OPTION` at the start of a trial.
    option: the one that the action was taken under.
    log_prob: of the action, under that option.
    baseline: what the option was thought to be worth.
    """

    held: jax.Array
    option: jax.Array
    log_prob: jax.Array
    baseline: jax.Array


def loss(
    policy: OptionPolicy,
    batch: Batch,
    choice: Choice,
    returns: jax.Array,
    config: OptionCriticConfig,
    anneal: jax.Array,
) -> tuple[jax.Array, dict[str, jax.Array]]:
    """Policy gradient of the options, error of their worth, entropy, and the loss of their ends; steps are `[T, B]`."""
    output = policy(batch.observation, batch.values, batch.goal)
    followed = output.under(choice.option)
    advantage = returns - batch.value
    carried = jnp.where(choice.held == NO_OPTION, 0.0, batch.weight)
    shown = {
        "entropy": weighted_mean(followed.entropy(), batch.weight),
        "critic_error": weighted_mean((followed.baseline - returns) ** 2, batch.weight),
        "return": weighted_mean(returns, batch.weight),
        "end": weighted_mean(of_option(output.end, jnp.maximum(choice.held, 0)), carried),
    }
    gain = weighted_mean(followed.log_prob(batch.action) * advantage, batch.weight)
    descent = config.descent
    total = descent.value_coef * shown["critic_error"] - descent.entropy_coef * anneal * shown["entropy"] - gain
    return total + weighted_mean(ending_loss(output, choice.held, config), carried), shown


def ending_loss(output: OptionOutput, held: jax.Array, config: OptionCriticConfig) -> jax.Array:
    """`[...]` β(s, ω) (Q(s, ω) − V(s) + η): small if an option ends just where others are worth more, by at least η."""
    held = jnp.maximum(held, 0)
    lead = of_option(output.worth, held) - output.value(config.exploring)
    return of_option(output.end, held) * jax.lax.stop_gradient(lead + config.deliberation_cost)


@eqx.filter_jit
def update(
    train_state: TrainState[OptionPolicy],
    batch: Batch,
    choice: Choice,
    config: OptionCriticConfig,
    remaining: jax.Array,
) -> tuple[TrainState[OptionPolicy], dict[str, jax.Array]]:
    """The train_state after one window of steps, and its metrics."""
    returns = bootstrapped_returns(batch, config.descent)

    def of_network(policy: OptionPolicy, anneal: jax.Array) -> tuple[jax.Array, dict[str, jax.Array]]:
        return loss(policy, batch, choice, returns, config, anneal)

    return descend(train_state, of_network, config.descent, remaining)


class OptionActor(ReactivePolicy[Held]):
    """Follows an option until that ends, then picks another.

    exploring: how often any option is picked instead of the worthiest.
    greedy: whether all else is decided by what is likeliest.
    """

    policy: OptionPolicy
    exploring: float = eqx.field(static=True, default=0.0)
    deterministic: bool = eqx.field(static=True, default=False)

    def begin(self, num_envs: int) -> Held:
        return Held(jnp.full(num_envs, NO_OPTION, jnp.int32))

    def decide(
        self, memory: Held, observation: Observation, values: jax.Array, goal: jax.Array, *, key: Key
    ) -> tuple[Held, Action, Choice]:
        end_key, option_key, action_key = jax.random.split(key, 3)
        output = self.policy(observation, values, goal)
        end = of_option(output.end, jnp.maximum(memory.option, 0))
        threshold = 0.5 if self.deterministic else jax.random.uniform(end_key, end.shape)
        ends = (end > threshold) | (memory.option == NO_OPTION)
        option = jnp.where(ends, output.choice(self.exploring).sample(key=option_key), memory.option)
        followed = output.under(option)
        action = followed.mode() if self.deterministic else followed.sample(key=action_key)
        return Held(option), action, Choice(memory.option, option, followed.log_prob(action), followed.baseline)


def train(
    env: Environment,
    training_distribution: str,
    config: OptionCriticConfig,
    *,
    key: Key,
    detector: AttributeDetector | None = None,
    watch: Watch = nobody,
) -> OptionActor:
    """Options that were learned while trying tasks of the training_distribution."""
    network_key, train_key = jax.random.split(key)

    def learn(
        train_state: TrainState[OptionPolicy], steps: Steps, remaining: jax.Array, key: Key
    ) -> tuple[TrainState[OptionPolicy], dict[str, Any]]:
        del key  # a batch is used once, as a whole
        batch = batch_of(steps, config.training.step_reward)
        return update(train_state, batch, steps.record, config, remaining)

    network = OptionPolicy(env.spec, config.training.hidden_size, config.options, key=network_key)
    train_state = train_on_tasks(
        env,
        training_distribution,
        config.training,
        new_train_state(network, config.descent),
        lambda train_state: OptionActor(train_state.network, config.exploring),
        learn,
        name="option-critic",
        detector=detector,
        key=train_key,
        watch=watch,
    )
    return OptionActor(train_state.network, deterministic=config.training.deterministic)
