"""The peer of `benchmark train`: PPO from rejax, fully compiled, on the same environment with the same network size.

rejax's environments follow gymnax: `step` takes one environment and resets it by itself. Each attempt at a goal is one
episode of the peer's: it ends when the attributes change or after t_max steps, and reaching the goal earns 1. New
states come from a pool that is drawn in advance, so that the peer does not generate a map for every step.
"""

# pyright: reportMissingImports=false
# (rejax and its dependencies are optional, and not installed for development.)
import time
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from flax import linen as nn
from gymnax.environments.spaces import Box, Discrete
from rejax import PPO
from rejax.networks import DiscretePolicy

from attribute_planner.attributes import AttributeSpace
from attribute_planner.environments.gridworld.crafting import Crafting
from attribute_planner.environments.gridworld.switches import ColoredSwitches
from attribute_planner.models.encoders import still_to_change
from attribute_planner.models.layers import sum_of_rows
from attribute_planner.phases.practise_config import PractiseConfig

Key = jax.Array
GridWorld = ColoredSwitches | Crafting

POOL = 4096
"""How many initial states are drawn in advance."""
SECONDS = 5.0
"""How long the peer trains at least."""


class PeerSpeed(NamedTuple):
    """What was measured: environment steps per second, and how long the compilation took, in seconds."""

    steps_per_second: float
    compilation: float


def speed(env: GridWorld, config: PractiseConfig, *, key: Key) -> PeerSpeed:
    """PPO with the settings of practice: environments, rollout length, network size, epochs and minibatches."""
    pool_key, train_key = jax.random.split(key)
    ppo = peer_ppo(AttemptEnv(env, config.max_attempt_steps, key=pool_key), config)
    train = jax.jit(lambda state: jax.lax.fori_loop(0, 4, lambda _, state: ppo.train_iteration(state), state))
    start = time.perf_counter()
    state = jax.block_until_ready(train(ppo.init_state(train_key)))
    compiled = time.perf_counter()
    calls = 0
    while time.perf_counter() - compiled < SECONDS or calls < 2:
        state, calls = jax.block_until_ready(train(state)), calls + 1
    per_call = (time.perf_counter() - compiled) / calls
    return PeerSpeed(4 * config.num_envs * config.rollout_length / per_call, compiled - start - per_call)


def peer_ppo(env: "AttemptEnv", config: PractiseConfig) -> PPO:
    """rejax's algorithm for an environment, with two networks of our size: its actor and its critic share nothing."""
    space, vocabulary = env.env.attributes, env.env.observation.vocabulary
    learning = config.ppo
    return PPO(
        env=env,
        env_params=None,
        eval_callback=lambda *_: (),
        actor=WordsPolicy(env.env.actions.count, (), nn.elu, vocabulary, space, config.hidden_size),
        critic=WordsValue(vocabulary, space, config.hidden_size),
        num_envs=config.num_envs,
        num_steps=config.rollout_length,
        num_epochs=learning.update_epochs,
        num_minibatches=learning.num_minibatches,
        learning_rate=learning.learning_rate,
        gamma=learning.discount,
        gae_lambda=learning.gae_lambda,
        clip_eps=learning.clip_eps,
        vf_coef=learning.value_coef,
        ent_coef=learning.entropy_coef,
        max_grad_norm=learning.max_grad_norm,
    )


class Attempt(NamedTuple):
    """The state of one environment: the map and the agent, the goal values `[A]`, and two ages in steps."""

    state: Any
    goal: jax.Array
    attempt_age: jax.Array
    episode_age: jax.Array


class AttemptEnv:
    """A pure environment as rejax steps it; the goals are those of the task `1-step`."""

    def __init__(self, env: GridWorld, max_attempt_steps: int, *, key: Key) -> None:
        self.env, self._max_attempt_steps = env, max_attempt_steps
        self._draw_goal = env.task("1-step").goal
        self._pool = jax.jit(jax.vmap(env.reset))(jax.random.split(key, POOL))

    def observation_space(self, params: None) -> Box:
        del params
        return Box(-1, 2**15 - 1, (self.env.observation.shape[0] + 2 * len(self.env.attributes),), jnp.int32)

    def action_space(self, params: None) -> Discrete:
        del params
        return Discrete(self.env.actions.count)

    def reset(self, key: Key, params: None) -> tuple[jax.Array, Attempt]:
        del params
        state_key, goal_key = jax.random.split(key)
        number = jax.random.randint(state_key, (), 0, POOL)
        return self._begin(jax.tree.map(lambda leaf: leaf[number], self._pool), jnp.int32(0), goal_key)

    def step(self, key: Key, attempt: Attempt, action: jax.Array, params: None) -> tuple:
        step_key, goal_key, reset_key = jax.random.split(key, 3)
        before: jax.Array = self.env.describe(attempt.state)
        state: Any = self.env.step(attempt.state, action, step_key)
        after = self.env.describe(state)
        reached = jnp.all(after == attempt.goal)
        truncated = attempt.episode_age + 1 >= self.env.episode_steps
        done = jnp.any(after != before) | (attempt.attempt_age + 1 >= self._max_attempt_steps) | truncated
        same = attempt._replace(state=state, attempt_age=attempt.attempt_age + 1, episode_age=attempt.episode_age + 1)
        results = self._observed(same), self._begin(state, same.episode_age, goal_key), self.reset(reset_key, params)
        following = jax.tree.map(
            lambda going_on, next_goal, fresh: jnp.where(truncated, fresh, jnp.where(done, next_goal, going_on)),
            *results,
        )
        return *following, reached.astype(jnp.float32), done, {}

    def _begin(self, state: Any, episode_age: jax.Array, key: Key) -> tuple[jax.Array, Attempt]:
        goal = self._draw_goal(state, self.env.describe(state), key).values
        return self._observed(Attempt(state, jnp.asarray(goal), jnp.int32(0), episode_age))

    def _observed(self, attempt: Attempt) -> tuple[jax.Array, Attempt]:
        words = jnp.asarray(self.env.observe(attempt.state)).astype(jnp.int32)
        return jnp.concatenate([words, self.env.describe(attempt.state), attempt.goal]), attempt


class WordsBody(nn.Module):
    """The network of `WordsEncoder` in flax: a sum of word embeddings and of attributes, then one layer.

    The sum is ours, since it is several times as fast on a CPU as that of flax's embeddings.
    """

    vocabulary: int
    space: AttributeSpace
    hidden_size: int

    @nn.compact
    def __call__(self, observation: jax.Array) -> jax.Array:
        num_words = observation.shape[-1] - 2 * len(self.space)
        split_at = [num_words, num_words + len(self.space)]
        words, values, goal = jnp.split(observation.astype(jnp.int32), split_at, axis=-1)
        words = jnp.where(words < 0, self.vocabulary, words)
        rows = self.param("rows", nn.initializers.normal(0.1), (self.vocabulary + 1, self.hidden_size))
        bag = sum_of_rows(rows, words)
        slots = [self.space.one_hot(values), self.space.one_hot(still_to_change(values, goal))]
        summed = bag + nn.Dense(self.hidden_size)(jnp.concatenate(slots, axis=-1))
        return nn.elu(nn.Dense(self.hidden_size)(nn.elu(summed)))


class WordsPolicy(DiscretePolicy):
    """rejax's discrete policy on that network."""

    vocabulary: int
    space: AttributeSpace
    hidden_size: int

    def setup(self) -> None:
        self.features = WordsBody(self.vocabulary, self.space, self.hidden_size)
        self.action_logits = nn.Dense(self.action_dim)


class WordsValue(nn.Module):
    """rejax's critic on that network."""

    vocabulary: int
    space: AttributeSpace
    hidden_size: int

    @nn.compact
    def __call__(self, observation: jax.Array) -> jax.Array:
        features = WordsBody(self.vocabulary, self.space, self.hidden_size)(observation)
        return nn.Dense(1)(features)[..., 0]
