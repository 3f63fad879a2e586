"""Steps of environments on the host, and of actors whose logic is Python."""

from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax
import numpy as np

from attribute_planner.attributes import AttributeSpace
from attribute_planner.data.episodes import Episodes, Keep, attributes_of, ends_of
from attribute_planner.data.trajectories import Actor, TracedActor, Trajectories
from attribute_planner.environments.spaces import Action, Observation
from attribute_planner.environments.vector_env import TimeStep, VectorEnv
from attribute_planner.models.detector import AttributeDetector
from attribute_planner.models.given_policy import raise_fault

Key = jax.Array


class Decision(NamedTuple):
    """The actor's decision.

    env_key, reset_key: keys for the environments, computed in the same call to save a dispatch.
    """

    memory: Any
    action: Action
    info: Any
    env_key: Key
    reset_key: Key


def host_loop(
    actor: Actor,
    envs: VectorEnv,
    episodes: Episodes,
    length: int,
    space: AttributeSpace,
    key: Key,
    detector: AttributeDetector | None,
    keep: Keep,
    episode_steps: int | None,
    first_step: int = 0,
) -> tuple[Episodes, Trajectories]:
    """`advance`, one step after the other."""
    decide, observe_and_decide = _host_calls(actor)
    recorded, age, active, decision = [], np.array(episodes.age), None, None
    for number in range(first_step, first_step + length):
        if decision is None:
            decision = decide(episodes.memory, episodes.observation, episodes.attributes, key, number)
            active = actor.active(decision.memory)
        if active is not None and not active.any():
            episodes = episodes._replace(memory=decision.memory)
            break
        action = jax.tree.map(np.asarray, decision.action)
        raise_fault()
        timestep = (
            envs.step(action, decision.env_key) if active is None else envs.step_where(active, action, decision.env_key)
        )
        age += 1
        truncated = timestep.truncated if episode_steps is None else timestep.truncated | (age >= episode_steps)
        attributes = attributes_of(detector, timestep)
        # The next decision is made at once. If an episode ends, it is made again with the first observation of the
        # next.
        seen = timestep.observation, attributes, timestep.terminated, truncated, timestep.states
        memory, outcome, over, truncated, following = observe_and_decide(decision.memory, seen, key, number + 1)
        kept = {"observation": episodes.observation, "snapshot": episodes.states, "nothing": None}[keep]
        ends = timestep.terminated, truncated
        recorded.append(Trajectories(kept, episodes.attributes, action, decision.info, attributes, *ends, outcome))
        over, active = np.array(over), actor.active(memory)
        if active is not None:
            over &= active
        if over.any():
            timestep, age, following = envs.reset_where(over, decision.reset_key), np.where(over, 0, age), None
            attributes = attributes_of(detector, timestep)
        episodes = Episodes(timestep.snapshot, timestep.observation, attributes, age, memory)
        decision = following
    return episodes, _packed(space, _stacked(recorded))


def _host_calls(actor: Actor) -> tuple[Any, Any]:
    """The functions that decide, and that observe a step and decide on the next one."""
    if not isinstance(actor, TracedActor):
        return partial(_decide_in_python, actor), partial(_observe_in_python, actor)
    # Networks are taken apart once per rollout: at each step, that takes longer than their computation.
    parts, structure = jax.tree.flatten(actor)
    decide, observe_and_decide = _compiled_calls(structure)
    return partial(decide, parts), partial(observe_and_decide, parts)


@lru_cache(maxsize=64)
def _compiled_calls(structure: Any) -> tuple[Any, Any]:
    """The functions for actors of the same structure; their first argument are the arrays of an actor."""

    def decide(parts: list, memory: Any, observation: Observation, attributes: Any, key: Key, number: Any) -> Decision:
        actor: Actor = jax.tree.unflatten(structure, parts)
        act_key, env_key, reset_key = jax.random.split(jax.random.fold_in(key, number), 3)
        return Decision(*actor.act(memory, observation, attributes, key=act_key), env_key, reset_key)

    def observe_and_decide(parts: list, memory: Any, seen: tuple, key: Key, number: Any) -> tuple:
        actor, timestep = jax.tree.unflatten(structure, parts), TimeStep(*seen)
        memory, outcome = actor.observe(memory, timestep)
        over, truncated = ends_of(actor, memory, timestep)
        decision = decide(parts, memory, timestep.observation, timestep.attributes, key, number)
        return memory, outcome, over, truncated, decision

    return jax.jit(decide), jax.jit(observe_and_decide)


def _decide_in_python(
    actor: Actor, memory: Any, observation: Observation, attributes: Any, key: Key, number: int
) -> Decision:
    act_key, env_key, reset_key = _three_keys(key, number)
    return Decision(*actor.act(memory, observation, attributes, key=act_key), env_key, reset_key)


def _observe_in_python(actor: Actor, memory: Any, seen: tuple, key: Key, number: int) -> tuple:
    del key, number
    timestep = TimeStep(*seen)
    memory, outcome = actor.observe(memory, timestep)
    return memory, outcome, *ends_of(actor, memory, timestep), None


@jax.jit
def _three_keys(key: Key, number: Any) -> tuple[Key, Key, Key]:
    act_key, env_key, reset_key = jax.random.split(jax.random.fold_in(key, number), 3)
    return act_key, env_key, reset_key


def _stacked(recorded: list[Trajectories]) -> Trajectories:
    """`[T, ...]` arrays; stacked on the host, where that takes one call and not one for each step."""
    if not recorded:
        nothing = np.zeros((0, 0), bool)
        return Trajectories(None, None, nothing, None, None, nothing, nothing, None)
    return jax.tree.map(lambda *leaves: np.stack([np.asarray(leaf) for leaf in leaves]), *recorded)


def _packed(space: AttributeSpace, recorded: Trajectories) -> Trajectories:
    """The same with packed attribute sets instead of values; in one call, and not one for each step."""
    if recorded.attributes is None:
        return recorded
    before, after = (np.asarray(space.pack(values)) for values in (recorded.attributes, recorded.next_attributes))
    return recorded._replace(attributes=before, next_attributes=after)
