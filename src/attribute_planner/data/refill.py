"""A replay buffer filled with recorded experience."""

from dataclasses import replace

import jax
import numpy as np

from attribute_planner.attributes import AttributeSpace
from attribute_planner.data.dataset import Dataset
from attribute_planner.data.replay import Replay
from attribute_planner.data.replay_rows import Columns
from attribute_planner.data.trajectories import Trajectories
from attribute_planner.environments.seen_from_agent import with_views
from attribute_planner.environments.spaces import FlatSpec, ObservationSpec, Part
from attribute_planner.environments.spec import EnvironmentSpec
from attribute_planner.errors import ConfigurationError
from attribute_planner.transitions.counting import TransitionCounts


def refill(replay: Replay, dataset: Dataset, num_envs: int, spec: EnvironmentSpec) -> TransitionCounts:
    """Add all recorded steps to a replay buffer of `num_envs` environments; the transitions that they show.

    What is seen from the agent is added to observations that were recorded without it.
    """
    recorded, needed = dataset.spec, spec.observation
    adds_view = recorded.observation != needed and _without_view(recorded.observation) == _without_view(needed)
    require_same(replace(recorded, observation=needed) if adds_view else recorded, spec)
    # Hidden attributes that were added in the course of a run come last.
    given = slice(len(spec.attributes))
    shards = [dataset.columns(name) for name in dataset.shards.values()]
    columns: Columns = jax.tree.map(lambda *leaves: np.concatenate(leaves), *shards)
    columns = columns._replace(
        values=columns.values[..., given],
        next_values=columns.next_values[..., given],
        pursued=columns.pursued[..., given],
    )
    if adds_view and isinstance(needed, FlatSpec):
        columns = columns._replace(observation=with_views(columns.observation[..., : needed.given], needed))
    columns = in_lanes(columns, num_envs)
    replay.add(
        Trajectories(
            observation=columns.observation,
            attributes=None,
            action=columns.action,
            info=None,
            next_attributes=None,
            terminated=columns.terminated,
            truncated=columns.over & ~columns.terminated,
            outcome=None,
        ),
        columns.values,
        columns.next_values,
        columns.pursued,
    )
    replay.cut()
    return transitions_of(columns, spec.attributes)


def _without_view(spec: ObservationSpec) -> ObservationSpec | tuple[Part, ...]:
    """What an environment gives: without the parts that are seen from the agent."""
    return tuple(part for part in spec.parts if part.seen_from is None) if isinstance(spec, FlatSpec) else spec


def in_lanes(columns: Columns, num_envs: int) -> Columns:
    """Steps `[T, B, ...]` as `[T', num_envs, ...]`: cut where a lane ends, without the few that fill no row."""
    length, lanes = columns.over.shape
    if lanes == num_envs:
        return columns
    over = columns.over.copy()
    over[-1] = True
    flat: Columns = jax.tree.map(
        lambda leaf: np.swapaxes(leaf, 0, 1).reshape(length * lanes, *leaf.shape[2:]), columns._replace(over=over)
    )
    rows = length * lanes // num_envs
    if rows == 0:
        raise ConfigurationError(f"The dataset has {length * lanes} steps, fewer than the {num_envs} environments.")
    cut: Columns = jax.tree.map(
        lambda leaf: np.swapaxes(leaf[: rows * num_envs].reshape(num_envs, rows, *leaf.shape[1:]), 0, 1), flat
    )
    over = cut.over.copy()
    over[-1] = True
    return cut._replace(over=over)


def transitions_of(columns: Columns, space: AttributeSpace) -> TransitionCounts:
    """How often each transition between different sets was seen."""
    counts = TransitionCounts(space.num_words)
    changed = (columns.values != columns.next_values).any(axis=-1)
    before, after = (
        np.asarray(space.pack(each[changed].astype(np.int32))) for each in (columns.values, columns.next_values)
    )
    counts.record(before, after)
    return counts


def require_same(recorded: EnvironmentSpec, spec: EnvironmentSpec) -> None:
    """An error unless a dataset has the attributes, observations and actions of an environment."""
    for name in ("attributes", "observation", "actions"):
        if getattr(recorded, name) != getattr(spec, name):
            raise ConfigurationError(
                f"The dataset was recorded with other {name} than {spec.name} has: {getattr(recorded, name)!r}, "
                f"not {getattr(spec, name)!r}."
            )
