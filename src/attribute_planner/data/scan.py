"""Steps of a pure environment as one compiled scan."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from attribute_planner.data.bundle import Bundle
from attribute_planner.data.devices import divided, replicated
from attribute_planner.data.episodes import Episodes, Keep, ends_of
from attribute_planner.data.seeds import batched
from attribute_planner.data.trajectories import TracedActor, Trajectories
from attribute_planner.environments.interface import PureEnvironment
from attribute_planner.environments.vector_env import TimeStep, where_batch
from attribute_planner.models.detector import AttributeDetector

Key = jax.Array


class StartStates(NamedTuple):
    """Start states that were drawn in advance, so that a step only picks from them.

    Each environment has its own; if it begins more episodes than it has start states, it uses them again.

    states, attributes: `[rounds * B, ...]`; those of environment b are at b, b + B, b + 2 B, …
    used: `[B]` how many of them have begun an episode.
    """

    states: Any
    attributes: jax.Array
    used: jax.Array


def draw_start_states(
    env: PureEnvironment, detector: AttributeDetector | None, num_envs: int, rounds: int, *, key: Key
) -> StartStates:
    """Start states for as many rounds of episodes in `num_envs` environments."""
    count = rounds * num_envs
    states = divided(jax.vmap(env.reset)(jax.random.split(key, count)), count)
    attributes = jax.vmap(env.describe)(states) if detector is None else _detected(env, detector, states, num_envs)
    # On every device, since those of an environment may have been drawn on another one.
    return StartStates(*replicated((states, attributes)), jnp.zeros(num_envs, jnp.int32))


def _detected(env: PureEnvironment, detector: AttributeDetector, states: Any, num_envs: int) -> jax.Array:
    """The attributes of states, a batch at a time: the observations of all of them at once may be too large."""

    def detect(state: Any) -> jax.Array:
        return detector(jax.tree.map(lambda leaf: leaf[None], env.observe(state)))[0]

    return jax.lax.map(detect, states, batch_size=num_envs)


def start_pure(
    actor: TracedActor, env: PureEnvironment, starts: StartStates, num_envs: int, *, key: Key
) -> tuple[Episodes, StartStates]:
    """`start` at the first of these states, as a function that can be traced."""
    states, attributes = jax.tree.map(lambda leaf: leaf[:num_envs], (starts.states, starts.attributes))
    states = divided(states, num_envs)
    age, memory = jnp.zeros(num_envs, jnp.int32), actor.begin(num_envs, key=key)
    episodes = Episodes(states, jax.vmap(env.observe)(states), attributes, age, memory)
    return episodes, starts._replace(used=starts.used + 1)


def scan_steps(
    actor: TracedActor,
    env: PureEnvironment,
    episodes: Episodes,
    starts: StartStates,
    length: int,
    key: Key,
    *,
    detector: AttributeDetector | None = None,
    keep: Keep = "observation",
    episode_steps: int,
) -> tuple[Episodes, StartStates, Trajectories]:
    """`advance` for a pure environment and a traced actor, as a function that can be traced."""
    num_envs, pack = episodes.age.shape[0], env.attributes.pack

    def step(carry: tuple[Episodes, StartStates], step_key: Key) -> tuple[tuple[Episodes, StartStates], Bundle]:
        before, starts = carry
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
        place = jnp.arange(num_envs) + starts.used * num_envs
        fresh = jax.tree.map(lambda leaf: leaf[place % leaf.shape[0]], (starts.states, starts.attributes))
        states, attributes = where_batch(over, fresh, (states, timestep.attributes))
        after = Episodes(states, jax.vmap(env.observe)(states), attributes, jnp.where(over, 0, age), memory)
        starts = starts._replace(used=starts.used + over.astype(jnp.int32))
        return (after, starts), Bundle.of(trajectories)

    episodes = divided(episodes._replace(age=jnp.asarray(episodes.age)), num_envs)
    (episodes, starts), recorded = jax.lax.scan(step, (episodes, starts), jax.random.split(key, length))
    return episodes, starts, recorded.tree(axis=1)


@batched
def compiled_scan(
    actor: TracedActor,
    env: PureEnvironment,
    episodes: Episodes,
    length: int,
    key: Key,
    *,
    detector: AttributeDetector | None = None,
    keep: Keep = "observation",
    episode_steps: int,
) -> tuple[Episodes, Trajectories]:
    """`scan_steps` as a compiled function, with start states of its own."""
    starts_key, steps_key = jax.random.split(key)
    num_envs = episodes.age.shape[0]
    starts = draw_start_states(env, detector, num_envs, 1 + length // episode_steps, key=starts_key)
    episodes, _, trajectories = scan_steps(
        actor, env, episodes, starts, length, steps_key, detector=detector, keep=keep, episode_steps=episode_steps
    )
    return episodes, trajectories


def _timestep(env: PureEnvironment, detector: AttributeDetector | None, states: Any, truncated: jax.Array) -> TimeStep:
    """The result of a step. XLA removes the parts that are not used."""
    observation = jax.vmap(env.observe)(states)
    attributes = jax.vmap(env.describe)(states) if detector is None else detector(observation)
    truncated = truncated | jax.vmap(env.truncated)(states)
    return TimeStep(observation, attributes, jax.vmap(env.terminated)(states), truncated, states)
