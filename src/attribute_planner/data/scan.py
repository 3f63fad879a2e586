"""Steps of a pure environment as one compiled scan."""

from typing import Any

import jax
import jax.numpy as jnp

from attribute_planner.data.devices import divided, replicated
from attribute_planner.data.episodes import Episodes, Keep, ends_of
from attribute_planner.data.seeds import batched
from attribute_planner.data.trajectories import Actor, Trajectories
from attribute_planner.environments.interface import PureEnvironment
from attribute_planner.environments.vector_env import TimeStep, where_batch
from attribute_planner.models.detector import AttributeDetector

Key = jax.Array


def start_pure(
    actor: Actor, env: PureEnvironment, num_envs: int, *, key: Key, detector: AttributeDetector | None = None
) -> Episodes:
    """`start` as a function that can be traced."""
    reset_key, memory_key = jax.random.split(key)
    states = divided(jax.vmap(env.reset)(jax.random.split(reset_key, num_envs)), num_envs)
    observation = jax.vmap(env.observe)(states)
    attributes = jax.vmap(env.describe)(states) if detector is None else detector(observation)
    memory = actor.begin(num_envs, key=memory_key)
    return Episodes(states, observation, attributes, jnp.zeros(num_envs, jnp.int32), memory)


def scan_steps(
    actor: Actor,
    env: PureEnvironment,
    episodes: Episodes,
    length: int,
    key: Key,
    *,
    detector: AttributeDetector | None = None,
    keep: Keep = "observation",
    episode_steps: int,
) -> tuple[Episodes, Trajectories]:
    """`advance` for a pure environment and a traceable actor, as a function that can be traced.

    Start states are drawn before the first step, and a step only picks from them. If more episodes end than there
    are start states, the states are used again.
    """
    num_envs, pack = episodes.age.shape[0], env.attributes.pack
    pool_key, steps_key = jax.random.split(key)
    # Any environment may take any start state.
    pool = replicated(_start_states(env, detector, num_envs, rounds=1 + length // episode_steps, key=pool_key))

    def step(carry: tuple[Episodes, jax.Array], step_key: Key) -> tuple[tuple[Episodes, jax.Array], Trajectories]:
        before, used = carry
        act_key, env_key = jax.random.split(step_key)
        memory, action, info = actor.act(before.memory, before.observation, before.attributes, key=act_key)
        states = jax.vmap(env.step)(before.states, action, jax.random.split(env_key, num_envs))
        age = before.age + 1
        timestep = _timestep(env, detector, states, age >= episode_steps)
        memory, outcome = actor.observe(memory, timestep)
        over, truncated = ends_of(actor, memory, timestep)
        trajectories = Trajectories(
            {"observation": before.observation, "snapshot": before.states, "nothing": None}[keep],
            pack(before.attributes),
            action,
            info,
            pack(jnp.asarray(timestep.attributes)),
            timestep.terminated,
            truncated,
            outcome,
        )
        place = used + jnp.cumsum(over, dtype=jnp.int32) - 1
        fresh = jax.tree.map(lambda leaf: leaf[place % leaf.shape[0]], pool)
        states, attributes = where_batch(over, fresh, (states, timestep.attributes))
        after = Episodes(states, jax.vmap(env.observe)(states), attributes, jnp.where(over, 0, age), memory)
        return (after, used + jnp.sum(over, dtype=jnp.int32)), trajectories

    episodes = divided(episodes._replace(age=jnp.asarray(episodes.age)), num_envs)
    carry = episodes, jnp.zeros((), jnp.int32)
    (episodes, _), trajectories = jax.lax.scan(step, carry, jax.random.split(steps_key, length))
    return episodes, trajectories


compiled_scan = batched(scan_steps)


def _start_states(
    env: PureEnvironment, detector: AttributeDetector | None, num_envs: int, *, rounds: int, key: Key
) -> tuple[Any, jax.Array]:
    """`[rounds * num_envs]` start states and their attributes."""
    count = rounds * num_envs
    states = divided(jax.vmap(env.reset)(jax.random.split(key, count)), count)
    if detector is None:
        return states, jax.vmap(env.describe)(states)

    def detect(state: Any) -> jax.Array:
        return detector(jax.tree.map(lambda leaf: leaf[None], env.observe(state)))[0]

    # One batch after the other: the observations of all of them at once may be too large.
    return states, jax.lax.map(detect, states, batch_size=num_envs)


def _timestep(env: PureEnvironment, detector: AttributeDetector | None, states: Any, truncated: jax.Array) -> TimeStep:
    """The result of a step. XLA removes the parts that are not used."""
    observation = jax.vmap(env.observe)(states)
    attributes = jax.vmap(env.describe)(states) if detector is None else detector(observation)
    truncated = truncated | jax.vmap(env.truncated)(states)
    return TimeStep(observation, attributes, jax.vmap(env.terminated)(states), truncated, states)
