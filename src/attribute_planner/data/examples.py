"""Examples of single steps: a random state, a random action, and what came of it.

Where a transition between attribute sets takes a single step, they are all that the agent learns from: the table's
edges, the inverse model and the outlook.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import numpy as np

from attribute_planner.data.random_actions import any_action, kept_up
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.spaces import Action, Array
from attribute_planner.environments.vector_env import TimeStep
from attribute_planner.errors import AttributePlannerError
from attribute_planner.learning.progress import Watch
from attribute_planner.models.detector import AttributeDetector, detected_values
from attribute_planner.transitions.counting import TransitionCounts

Key = jax.Array


class Examples(NamedTuple):
    """Single steps, `[N, ...]`.

    before: what `env.look` shows again.
    action: what was done.
    values, values_after: `int[N, A]` the attribute values before and after, as detected.
    """

    before: Any
    action: Action
    values: Array
    values_after: Array

    @property
    def size(self) -> int:
        return len(self.values)

    @property
    def changed(self) -> Array:
        """`[N]` whether the action changed any attribute."""
        return (self.values != self.values_after).any(axis=-1)

    def take(self, which: Any) -> "Examples":
        """Some of them: by number, by a mask or as a slice."""
        return jax.tree.map(lambda leaf: leaf[which], self)


def require_change(examples: Examples) -> None:
    """An error unless some example changed an attribute."""
    if not examples.changed.any():
        raise AttributePlannerError(
            f"None of {examples.size:,} steps changed an attribute, as far as is detected; nothing can be learned from "
            "them: take more (explore.steps), or learn the detector better (detect.num_labels, detect.fit.updates)."
        )


Choose = Callable[[TimeStep, np.ndarray, Key], Action]
"""Picks an action for each of the worlds, given what is seen of them and their attribute values `[B, A]`."""


def collect_examples(
    env: Environment,
    detector: AttributeDetector | None,
    count: int,
    *,
    num_envs: int,
    steps_per_episode: int,
    key: Key,
    watch: Watch,
    choose: Choose | None = None,
) -> Examples:
    """`count` actions in `copies` worlds at once, each of which begins anew after so many steps.

    Uniformly random ones, unless there is someone to `choose`.
    """
    walks = take_walks(
        env, detector, count, num_envs=num_envs, steps=steps_per_episode, key=key, watch=watch, choose=choose
    )
    return joined(*(step for walk in walks for step in walk)).take(slice(0, count))


def take_walks(
    env: Environment,
    detector: AttributeDetector | None,
    count: int,
    *,
    num_envs: int,
    steps: int,
    key: Key,
    watch: Watch,
    choose: Choose | None = None,
) -> Iterator[list[Examples]]:
    """Walks of at most `steps` actions from fresh states, in many copies at once, until there are `count`.

    Each is a list of its steps; a step holds one example per copy.
    """
    envs = env.vector_env(min(num_envs, count))
    choose, have = choose or random_choice(env), 0
    while have < count:
        key, reset_key = jax.random.split(key)
        timestep = envs.reset(reset_key)
        values, walk = _values(detector, timestep), []
        for _ in range(steps):
            key, action_key, chance_key = jax.random.split(key, 3)
            action = jax.tree.map(np.asarray, choose(timestep, values, action_key))
            after = envs.step(action, chance_key)
            values_after = _values(detector, after)
            walk.append(Examples(jax.tree.map(np.asarray, timestep.snapshot), action, values, values_after))
            timestep, values = after, values_after
            have += envs.num_envs
            watch("explore", min(have / count, 1.0), {"steps": min(have, count)}, None)
            if have >= count or timestep.over.any():
                break
        yield walk
    envs.close()


def random_choice(env: Environment, action_repeat: float = 1.0) -> Choose:
    """Random actions, each kept up for so many steps on average."""
    held: Action | None = None

    def choose(timestep: TimeStep, values: np.ndarray, key: Key) -> Action:
        nonlocal held
        del timestep
        if held is None or action_repeat == 1:
            held = any_action(env, len(values), key=key)
        else:
            held = kept_up(env, held, action_repeat, key=key)
        return held

    return choose


def joined(*several: Examples) -> Examples:
    """All of them, one after the other."""
    return jax.tree.map(lambda *leaves: np.concatenate(leaves), *several)


def count_examples(env: Environment, examples: Examples, *, symmetric: bool) -> TransitionCounts:
    """c_πe: how often each transition between different sets was seen, and, if so wanted, all that equal it."""
    counts = TransitionCounts(env.attributes.num_words)
    seen = examples.take(examples.changed)
    pack = env.attributes.pack
    counts.record(np.asarray(pack(np.asarray(seen.values))), np.asarray(pack(np.asarray(seen.values_after))))
    return renamed_counts(env, counts) if symmetric else counts


def renamed_counts(env: Environment, counts: TransitionCounts) -> TransitionCounts:
    """The counts of all transitions that the environment's symmetries make of those counted."""
    if env.symmetries is None:
        return counts
    space, every = env.attributes, TransitionCounts(env.attributes.num_words)
    values = np.asarray(space.unpack(counts.sets.rows))
    source, target = counts.pairs.rows.T
    for order in env.symmetries.counted:
        words = np.asarray(space.pack(values[:, order]))
        every.add(words[source], words[target], counts.visits)
    return every


def looked_at(env: Environment, examples: Examples, *, symmetric: bool, key: Key) -> Examples:
    """The examples with observations for their states, if so wanted each under a random symmetry; can be traced."""
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


def _values(detector: AttributeDetector | None, timestep: TimeStep) -> np.ndarray:
    """`int8` or wider `[B, A]`: a million examples are kept."""
    values = timestep.attributes if detector is None else detected_values(detector, timestep.observation)
    return compact(np.asarray(values))


def compact(values: np.ndarray) -> np.ndarray:
    """Values in the smallest type that holds small ones."""
    return values.astype(np.int8) if values.max(initial=0) < 128 else values
