"""Option-critic with a deliberation cost (Harb et al. 2018): the paper's hierarchical baseline on the blocks.

Options are learned together with the policy over them: the policy of each option by the policy gradient, with the
option's value as its critic; and its termination by whether another option has a value higher by at least the
deliberation cost. As with actor-critic, all environments act for a few steps, then there is one update.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

from attribute_planner.baselines import actor_critic
from attribute_planner.baselines.actor_critic import DescentConfig
from attribute_planner.baselines.options import OptionOutput, OptionPolicy, of_option
from attribute_planner.baselines.training_loop import TaskTrainingConfig, batch_of, train_on_tasks
from attribute_planner.data.trajectories import TracedActor, Trajectories
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.spaces import Action
from attribute_planner.environments.vector_env import TimeStep
from attribute_planner.learning.policy_gradient import (
    Batch,
    TrainState,
    annealed,
    descend,
    new_train_state,
    returns_of,
    weighted_mean,
)
from attribute_planner.learning.progress import Watch, no_callback
from attribute_planner.ranges import FRACTION, NOT_NEGATIVE, WIDTH, check_settings

Key = jax.Array


@dataclass(frozen=True)
class OptionCriticConfig:
    """How the option-critic baseline is trained."""

    training: TaskTrainingConfig = field(default_factory=lambda: TaskTrainingConfig(rollout_length=5))
    """Budget, network and rewards, as for actor-critic."""
    descent: DescentConfig = field(default_factory=DescentConfig)
    """How the options learn, as for actor-critic."""
    options: int = 8
    """Number of options; as in Harb et al."""
    deliberation_cost: float = 0.02
    """η: by how much the value of another option must be higher to terminate an option. Harb et al. try 0 to 0.03."""
    epsilon: float = 0.1
    """ε of the ε-greedy policy over options during training."""

    def __post_init__(self) -> None:
        check_settings(self, options=WIDTH, deliberation_cost=NOT_NEGATIVE, epsilon=FRACTION)


NO_OPTION = -1
"""The option of an environment whose episode has just begun."""


class Choice(NamedTuple):
    """Recorded with each action, `[B]`.

    held: the option of the previous step, `NO_OPTION` in the first step of an episode.
    option: the option under which the action was taken.
    log_prob: the log probability of the action under that option.
    value: the value estimate of the option.
    """

    held: jax.Array
    option: jax.Array
    log_prob: jax.Array
    value: jax.Array


def loss(
    policy: OptionPolicy,
    batch: Batch,
    choice: Choice,
    returns: jax.Array,
    config: OptionCriticConfig,
    scale: jax.Array,
) -> tuple[jax.Array, dict[str, jax.Array]]:
    """The actor-critic loss of the chosen options plus the loss of their terminations, on steps `[T, B]`."""
    output = policy(batch.observation, batch.values, batch.goal)
    total, metrics = actor_critic.loss(output.under(choice.option), batch, returns, config.descent, scale)
    held = jnp.where(choice.held == NO_OPTION, 0.0, batch.weight)
    metrics["end"] = weighted_mean(of_option(output.end, jnp.maximum(choice.held, 0)), held)
    return total + weighted_mean(ending_loss(output, choice.held, config), held), metrics


def ending_loss(output: OptionOutput, held: jax.Array, config: OptionCriticConfig) -> jax.Array:
    """`[...]` β(s, ω) (Q(s, ω) − V(s) + η): minimal if an option ends where others are better by more than η."""
    held = jnp.maximum(held, 0)
    lead = of_option(output.q_value, held) - output.value(config.epsilon)
    return of_option(output.end, held) * jax.lax.stop_gradient(lead + config.deliberation_cost)


@eqx.filter_jit
def update(
    train_state: TrainState[OptionPolicy],
    batch: Batch,
    choice: Choice,
    config: OptionCriticConfig,
    remaining: jax.Array,
) -> tuple[TrainState[OptionPolicy], dict[str, jax.Array]]:
    """The train state after one rollout, and metrics."""
    returns, scale = returns_of(batch, config.descent.discount), annealed(config.descent, remaining)

    def of_policy(policy: OptionPolicy) -> tuple[jax.Array, dict[str, jax.Array]]:
        return loss(policy, batch, choice, returns, config, scale)

    return descend(train_state, of_policy, config.descent, scale)


class OptionActor(TracedActor[jax.Array]):
    """Follows an option until it ends, then chooses another. Its memory is the option of each environment.

    epsilon: ε of the policy over options.
    deterministic: whether terminations and actions are the most likely ones.
    """

    policy: OptionPolicy
    epsilon: float = eqx.field(static=True, default=0.0)
    deterministic: bool = eqx.field(static=True, default=False)

    def begin(self, num_envs: int, *, key: Key) -> jax.Array:
        return jnp.full(num_envs, NO_OPTION, jnp.int32)

    def act(
        self, memory: jax.Array, observation: Any, attributes: Any, *, key: Key
    ) -> tuple[jax.Array, Action, Choice]:
        end_key, option_key, action_key = jax.random.split(key, 3)
        output = self.policy(observation.observation, attributes, observation.goal)
        end = of_option(output.end, jnp.maximum(memory, 0))
        threshold = 0.5 if self.deterministic else jax.random.uniform(end_key, end.shape)
        ends = (end > threshold) | (memory == NO_OPTION)
        option = jnp.where(ends, output.choice(self.epsilon).sample(key=option_key), memory)
        followed = output.under(option)
        action = followed.mode() if self.deterministic else followed.sample(key=action_key)
        return option, action, Choice(memory, option, followed.log_prob(action), followed.baseline)

    def observe(self, memory: jax.Array, timestep: TimeStep) -> tuple[jax.Array, Any]:
        observation: Any = timestep.observation
        return jnp.where(timestep.over, NO_OPTION, memory), observation.reached


def train(
    env: Environment,
    training_distribution: str,
    config: OptionCriticConfig,
    *,
    key: Key,
    watch: Watch = no_callback,
) -> OptionActor:
    """Options trained on tasks."""
    network_key, train_key = jax.random.split(key)

    def learn(
        train_state: TrainState[OptionPolicy], steps: Trajectories, remaining: jax.Array, key: Key
    ) -> tuple[TrainState[OptionPolicy], dict[str, Any]]:
        del key
        batch = batch_of(steps, env.attributes, config.training.step_reward)
        return update(train_state, batch, jax.tree.map(jnp.asarray, steps.info), config, remaining)

    policy = OptionPolicy(env.spec, config.training.hidden_size, config.options, key=network_key)
    train_state = train_on_tasks(
        env,
        training_distribution,
        config.training,
        new_train_state(policy, config.descent),
        lambda train_state: OptionActor(train_state.policy, config.epsilon),
        learn,
        name="option-critic",
        key=train_key,
        watch=watch,
    )
    return OptionActor(train_state.policy, deterministic=config.training.deterministic)
