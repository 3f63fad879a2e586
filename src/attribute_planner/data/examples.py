"""Examples of single steps, from which detectors, inverse models and forward models are learned."""

from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Bool, Int

from attribute_planner.attributes import AttributeSpace
from attribute_planner.data.random_actions import RandomActions
from attribute_planner.data.rollout import advance, start
from attribute_planner.data.trajectories import Trajectories
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.spaces import Action, Array
from attribute_planner.errors import AttributePlannerError
from attribute_planner.models.detector import AttributeDetector
from attribute_planner.transitions.counting import TransitionCounts

Key = jax.Array


class Examples(NamedTuple):
    """Single steps, `[N, ...]`.

    before: snapshots of the states before, which `env.observe_batch` turns into observations.
    action: the actions.
    values, values_after: `int[N, A]` the attribute values before and after, in the smallest integer type that fits.
    """

    before: Any
    action: Action
    values: Array
    values_after: Array

    @property
    def size(self) -> int:
        return len(self.values)

    @property
    def changed(self) -> Bool[Array, " N"]:
        """Whether the action changed any attribute."""
        return (self.values != self.values_after).any(axis=-1)

    def take(self, which: Any) -> "Examples":
        """Some of them: by number, by a mask or as a slice."""
        return jax.tree.map(lambda leaf: leaf[which], self)


def examples_of(space: AttributeSpace, trajectories: Trajectories) -> Examples:
    """The recorded steps `[T, B, ...]`, which must hold snapshots, one after the other, earliest first."""
    flat = trajectories.on_host().flat()
    values, values_after = (
        compact(np.asarray(space.unpack(words))) for words in (flat.attributes, flat.next_attributes)
    )
    return Examples(flat.observation, flat.action, values, values_after)


CHUNK = 50
"""Steps that are recorded on the device before they are moved to the host."""


def random_examples(
    env: Environment,
    detector: AttributeDetector | None,
    count: int,
    *,
    num_envs: int,
    key: Key,
    action_repeat: float = 1.0,
    episode_steps: int | None = None,
    every: int = 1,
) -> Examples:
    """`count` steps with random actions; only every `every`-th step of each environment is kept.

    action_repeat: the mean number of steps for which an action is repeated.
    episode_steps: the length of an episode; by default the environment's own.
    """
    envs, actor, space = env.vector_env(min(num_envs, count)), RandomActions(env, action_repeat), env.attributes
    start_key, steps_key = jax.random.split(key)
    missing, parts = every * -(-count // envs.num_envs), []
    chunk = every * max(CHUNK // every, 1)
    try:
        episodes = start(actor, envs, key=start_key, detector=detector)
        for number in range(-(-missing // chunk)):
            length = min(chunk, missing - number * chunk)
            episodes, trajectories = advance(
                actor,
                envs,
                episodes,
                length,
                space=space,
                key=jax.random.fold_in(steps_key, number),
                detector=detector,
                keep="snapshot",
                episode_steps=episode_steps,
            )
            parts.append(examples_of(space, trajectories.take(slice(every - 1, None, every))))
    finally:
        envs.close()
    return joined(*parts).take(slice(0, count))


def require_change(examples: Examples) -> None:
    """An error unless some example changed an attribute."""
    if not examples.changed.any():
        raise AttributePlannerError(
            f"None of {examples.size:,} steps changed a detected attribute, so nothing can be learned from "
            "them: take more (explore.steps), or learn the detector better (detect.num_labels, detect.fit.updates)."
        )


def joined(*parts: Examples) -> Examples:
    """All parts in one."""
    return jax.tree.map(lambda *leaves: np.concatenate(leaves), *parts)


def symmetric_counts(env: Environment, counts: TransitionCounts) -> TransitionCounts:
    """The counts of each transition under all symmetries of the environment under which transitions are counted."""
    if env.symmetries is None:
        return counts
    space, every = env.attributes, TransitionCounts(env.attributes.num_words)
    values = np.asarray(space.unpack(counts.sets.rows))
    source, target = counts.pairs.rows.T
    for order in env.symmetries.counted:
        words = np.asarray(space.pack(values[:, order]))
        every.add(words[source], words[target], counts.visits)
    return every


def observed(env: Environment, examples: Examples, *, symmetric: bool, key: Key) -> Examples:
    """The examples with observations instead of snapshots, each under a random symmetry if wanted; can be traced."""
    examples = renamed(env, examples, key) if symmetric else examples
    return examples._replace(before=env.observe_batch(examples.before))


def renamed(env: Environment, examples: Examples, key: Key) -> Examples:
    """Each example under a random symmetry of the environment; can be traced."""
    symmetries = env.symmetries
    if symmetries is None:
        return examples
    which = jax.random.randint(key, (examples.size,), 0, symmetries.count)
    return Examples(
        jax.vmap(symmetries.rename_state)(examples.before, which),
        jax.vmap(symmetries.rename_action)(examples.action, which),
        symmetries.rename_values(examples.values, which),
        symmetries.rename_values(examples.values_after, which),
    )


def compact(values: Int[np.ndarray, "N A"]) -> Int[np.ndarray, "N A"]:
    """Values in the smallest integer type that holds them."""
    return values.astype(np.int8) if values.max(initial=0) < 128 else values
