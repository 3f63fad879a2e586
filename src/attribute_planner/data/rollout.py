"""The step loop of the package: an actor acts in a batch of environments, and the steps are recorded.

A pure environment with a traceable actor runs as one compiled scan over steps. Everything else is stepped from Python.
`rollout` begins with fresh episodes. `start` and `advance` are its two halves, for callers that continue.
"""

from functools import partial
from typing import Any, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.attributes import AttributeSpace
from attribute_planner.data.trajectories import Actor, Trajectories
from attribute_planner.environments.interface import PureEnvironment
from attribute_planner.environments.spaces import Action, Observation
from attribute_planner.environments.vector_env import PureVectorEnv, TimeStep, VectorEnv, where_batch
from attribute_planner.models.detector import AttributeDetector, detected_values

Key = jax.Array

Keep = Literal["observation", "snapshot", "nothing"]
"""What `Trajectories.observation` holds. Snapshots are smaller than images; `env.observe_batch` shows them again."""


class Episodes(NamedTuple):
    """Episodes in progress, from which a rollout continues.

    states: what the environments keep of their current state: `[B, ...]` states, or a snapshot.
    observation, attributes: what the actor sees; attributes are `int32[B, A]` values, `None` if not known.
    age: `int32[B]` steps since each episode began.
    memory: the actor's memory.
    """

    states: Any
    observation: Observation
    attributes: Any
    age: Any
    memory: Any


def rollout(
    actor: Actor,
    envs: VectorEnv,
    length: int,
    *,
    space: AttributeSpace,
    key: Key,
    detector: AttributeDetector | None = None,
    keep: Keep = "observation",
    episode_steps: int | None = None,
    timestep: TimeStep | None = None,
) -> Trajectories:
    """Act for `length` steps in every environment, from fresh episodes. An episode that ends is followed by another.

    space: the attributes, which are recorded packed.
    detector: detects the attribute values; without one they are those of the environment.
    keep: what to record of each observation.
    episode_steps: the time limit of an episode; by default the environment's own.
    timestep: where to begin, if the environments have been reset already.
    """
    start_key, steps_key = jax.random.split(key)
    episodes = start(actor, envs, key=start_key, detector=detector, timestep=timestep)
    return advance(
        actor,
        envs,
        episodes,
        length,
        space=space,
        key=steps_key,
        detector=detector,
        keep=keep,
        episode_steps=episode_steps,
    )[1]


def start(
    actor: Actor,
    envs: VectorEnv,
    *,
    key: Key,
    detector: AttributeDetector | None = None,
    timestep: TimeStep | None = None,
) -> Episodes:
    """Fresh episodes, or those at `timestep`, and a fresh memory."""
    reset_key, memory_key = jax.random.split(key)
    timestep = envs.reset(reset_key) if timestep is None else timestep
    memory = actor.begin(envs.num_envs, key=memory_key)
    attributes = _attributes(detector, timestep)
    return Episodes(timestep.snapshot, timestep.observation, attributes, np.zeros(envs.num_envs, np.int32), memory)


def advance(
    actor: Actor,
    envs: VectorEnv,
    episodes: Episodes,
    length: int,
    *,
    space: AttributeSpace,
    key: Key,
    detector: AttributeDetector | None = None,
    keep: Keep = "observation",
    episode_steps: int | None = None,
) -> tuple[Episodes, Trajectories]:
    """Continue for `length` steps; with an actor that says which environments are active, at most that many."""
    if isinstance(envs, PureVectorEnv) and actor.traceable:
        limit = envs.env.episode_steps if episode_steps is None else episode_steps
        return _compiled_scan(actor, envs.env, episodes, length, key, detector=detector, keep=keep, episode_steps=limit)
    if isinstance(envs, PureVectorEnv) and episode_steps is None:
        episode_steps = envs.env.episode_steps
    return _host_loop(actor, envs, episodes, length, space, key, detector, keep, episode_steps)


# On the device.


def start_pure(
    actor: Actor, env: PureEnvironment, num_envs: int, *, key: Key, detector: AttributeDetector | None = None
) -> Episodes:
    """`start` as a function that can be traced."""
    reset_key, memory_key = jax.random.split(key)
    states = jax.vmap(env.reset)(jax.random.split(reset_key, num_envs))
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
    pool = _start_states(env, detector, num_envs, rounds=1 + length // episode_steps, key=pool_key)

    def step(carry: tuple[Episodes, jax.Array], step_key: Key) -> tuple[tuple[Episodes, jax.Array], Trajectories]:
        before, used = carry
        act_key, env_key = jax.random.split(step_key)
        memory, action, info = actor.act(before.memory, before.observation, before.attributes, key=act_key)
        states = jax.vmap(env.step)(before.states, action, jax.random.split(env_key, num_envs))
        age = before.age + 1
        timestep = _timestep(env, detector, states, age >= episode_steps)
        memory, outcome = actor.observe(memory, timestep)
        over, truncated = _ends(actor, memory, timestep)
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

    carry = episodes._replace(age=jnp.asarray(episodes.age)), jnp.zeros((), jnp.int32)
    (episodes, _), trajectories = jax.lax.scan(step, carry, jax.random.split(steps_key, length))
    return episodes, trajectories


_compiled_scan = eqx.filter_jit(scan_steps)


def _start_states(
    env: PureEnvironment, detector: AttributeDetector | None, num_envs: int, *, rounds: int, key: Key
) -> tuple[Any, jax.Array]:
    """`[rounds * num_envs]` start states and their attributes."""
    states = jax.vmap(env.reset)(jax.random.split(key, rounds * num_envs))
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


def _ends(actor: Actor, memory: Any, timestep: TimeStep) -> tuple[Any, Any]:
    """`bool[B]` which episodes are over, and which of them for another reason than that the environment ended them."""
    wanted = actor.wants_reset(memory, timestep)
    truncated = timestep.truncated if wanted is None else timestep.truncated | wanted
    truncated = truncated & ~timestep.terminated
    return timestep.terminated | truncated, truncated


# On the host.


class Decision(NamedTuple):
    """The actor's decision.

    env_key, reset_key: keys for the environments, computed in the same call to save a dispatch.
    """

    memory: Any
    action: Action
    info: Any
    env_key: Key
    reset_key: Key


def _host_loop(
    actor: Actor,
    envs: VectorEnv,
    episodes: Episodes,
    length: int,
    space: AttributeSpace,
    key: Key,
    detector: AttributeDetector | None,
    keep: Keep,
    episode_steps: int | None,
) -> tuple[Episodes, Trajectories]:
    decide, observe_and_decide = _host_calls(actor)
    recorded, age = [], np.array(episodes.age)
    pack = partial(_packed, space)
    words, active, decision = pack(episodes.attributes), None, None
    for number in range(length):
        if decision is None:
            decision = decide(actor, episodes.memory, episodes.observation, episodes.attributes, key, number)
            active = actor.active(decision.memory)
        if active is not None and not active.any():
            episodes = episodes._replace(memory=decision.memory)
            break
        action = jax.tree.map(np.asarray, decision.action)
        timestep = (
            envs.step(action, decision.env_key) if active is None else envs.step_where(active, action, decision.env_key)
        )
        age += 1
        truncated = timestep.truncated if episode_steps is None else timestep.truncated | (age >= episode_steps)
        attributes = _attributes(detector, timestep)
        # The next decision is made at once. If an episode ends, it is made again with the first observation of the
        # next.
        seen = timestep.observation, attributes, timestep.terminated, truncated, timestep.states
        memory, outcome, over, truncated, following = observe_and_decide(actor, decision.memory, seen, key, number + 1)
        kept = {"observation": episodes.observation, "snapshot": episodes.states, "nothing": None}[keep]
        after = pack(attributes)
        recorded.append(
            Trajectories(kept, words, action, decision.info, after, timestep.terminated, np.asarray(truncated), outcome)
        )
        over, active = np.array(over), actor.active(memory)
        if active is not None:
            over &= active
        if over.any():
            timestep, age, following = envs.reset_where(over, decision.reset_key), np.where(over, 0, age), None
            attributes = _attributes(detector, timestep)
            after = pack(attributes)
        episodes = Episodes(timestep.snapshot, timestep.observation, attributes, age, memory)
        words, decision = after, following
    return episodes, _stacked(recorded)


def _host_calls(actor: Actor) -> tuple[Any, Any]:
    return (_decide, _observe_and_decide) if actor.traceable else (_decide_in_python, _observe_in_python)


def _decide_now(
    actor: Actor, memory: Any, observation: Observation, attributes: Any, key: Key, number: Any
) -> Decision:
    act_key, env_key, reset_key = jax.random.split(jax.random.fold_in(key, number), 3)
    return Decision(*actor.act(memory, observation, attributes, key=act_key), env_key, reset_key)


@jax.jit
def _observe_and_decide(actor: Actor, memory: Any, seen: tuple, key: Key, number: Any) -> tuple:
    timestep = TimeStep(*seen)
    memory, outcome = actor.observe(memory, timestep)
    over, truncated = _ends(actor, memory, timestep)
    decision = _decide_now(actor, memory, timestep.observation, timestep.attributes, key, number)
    return memory, outcome, over, truncated, decision


_decide = jax.jit(_decide_now)


def _decide_in_python(
    actor: Actor, memory: Any, observation: Observation, attributes: Any, key: Key, number: int
) -> Decision:
    act_key, env_key, reset_key = _three_keys(key, number)
    return Decision(*actor.act(memory, observation, attributes, key=act_key), env_key, reset_key)


def _observe_in_python(actor: Actor, memory: Any, seen: tuple, key: Key, number: int) -> tuple:
    del key, number
    timestep = TimeStep(*seen)
    memory, outcome = actor.observe(memory, timestep)
    return memory, outcome, *_ends(actor, memory, timestep), None


@jax.jit
def _three_keys(key: Key, number: Any) -> tuple[Key, Key, Key]:
    act_key, env_key, reset_key = jax.random.split(jax.random.fold_in(key, number), 3)
    return act_key, env_key, reset_key


def _attributes(detector: AttributeDetector | None, timestep: TimeStep) -> Any:
    if detector is not None:
        return np.asarray(detected_values(detector, timestep.observation))
    return None if timestep.attributes is None else np.asarray(timestep.attributes)


def _packed(space: AttributeSpace, attributes: Any) -> np.ndarray | None:
    return None if attributes is None else np.asarray(space.pack(attributes))


def _stacked(recorded: list[Trajectories]) -> Trajectories:
    """`[T, ...]` arrays; stacked on the host, where that takes one call and not one for each step."""
    if not recorded:
        nothing = np.zeros((0, 0), bool)
        return Trajectories(None, None, nothing, None, None, nothing, nothing, None)
    return jax.tree.map(lambda *leaves: np.stack([np.asarray(leaf) for leaf in leaves]), *recorded)
