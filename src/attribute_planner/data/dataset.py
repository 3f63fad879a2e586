"""Recorded experience on disk: a directory of shards, which any program can read.

spec.json                 the specification of the environment: attributes, observation, actions
000000000.safetensors     recorded steps; the name is the number of the first row

A shard holds these columns, each with axes `[T, B, ...]`: T rows, oldest first, of B parallel environments. Shards are
consecutive. A part of a structured observation or action has a name with a dot: `action.choice`, `action.point`.

Attributes that `refine` adds in the course of a run come last; the specification and `Dataset` leave them out.

observation      before the step, in the format of the specification
attributes       int[T, B, A] the index of each attribute's value before the step, detected if there is a detector
action           the action
next_attributes  int[T, B, A] the attribute values after the step, before any reset
goal             int[T, B, A] the attribute values that were pursued; −1 if none were
terminated       bool[T, B] the episode terminated with this step
truncated        bool[T, B] the episode was truncated after this step; the next row belongs to another one
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from attribute_planner.attributes import Attribute, Value
from attribute_planner.data.recorded_episodes import columns_of_episodes
from attribute_planner.data.replay_rows import Columns
from attribute_planner.data.trajectories import Trajectories, concatenate
from attribute_planner.environments.spaces import MixedAction, UnitObservation
from attribute_planner.environments.spec import EnvironmentSpec
from attribute_planner.environments.spec_json import spec_from_json, spec_to_json
from attribute_planner.errors import RunDirectoryError

SPEC, SUFFIX = "spec.json", ".safetensors"
EXPERIENCE = "experience"
"""The directory of recorded experience in a run directory."""


class Pursued(NamedTuple):
    """The recorded information about a decision.

    goal: `int[T, B, A]` the attribute values that were pursued; `NO_GOAL` if none were.
    """

    goal: Any


class Dataset:
    """Recorded experience, read shard by shard.

        dataset = Dataset("runs/taxi")
        dataset.spec.attributes.names
        for trajectories in dataset:
            ...

    path: a run directory, or a directory of shards.
    """

    def __init__(self, path: str | Path) -> None:
        path = Path(path)
        self.path = path / EXPERIENCE if (path / EXPERIENCE).is_dir() else path
        if not (self.path / SPEC).is_file():
            raise RunDirectoryError(f"{path} holds no recorded experience: there is no {SPEC}.")

    @staticmethod
    def from_minari(
        episodes: Any,
        path: str | Path,
        *,
        env: Any = None,
        attributes: Sequence[Attribute] | None = None,
        describe: Callable[[Any, dict[str, Any], Any], Mapping[str, Value]] | None = None,
        observation_space: Any = None,
        action_space: Any = None,
        name: str = "recorded",
    ) -> "Dataset":
        """Episodes in Minari's layout as recorded experience, written to the directory `path`.

        episodes: a Minari dataset, a list of episodes (see `data/recorded_episodes.py`), or an HDF5 file of Minari.
        env: the environment (`from_gymnasium`), if there is one: its attributes, `describe`, spaces and name are used.
        attributes, describe: without an environment, as in `from_gymnasium`. The third argument of `describe`, the
            environment, is `None`: only observation and info were recorded.
        observation_space, action_space: without an environment; by default those of the Minari dataset.
        """
        from attribute_planner.environments.gymnasium_bridge.recorded import recorded_source

        path = Path(path)
        if path.exists() and any(path.iterdir()):
            raise RunDirectoryError(f"{path} is not empty; choose another directory for the dataset.")
        source = recorded_source(env, episodes, attributes, describe, observation_space, action_space, name)
        columns = columns_of_episodes(episodes, source.spec.attributes, source.actions, source.encode, source.read)
        path.mkdir(parents=True, exist_ok=True)
        (path / SPEC).write_text(json.dumps(spec_to_json(source.spec), indent=2))
        save_file(
            {name: np.ascontiguousarray(array) for name, array in shard_arrays(columns).items()},
            path / f"{0:09d}{SUFFIX}",
        )
        return Dataset(path)

    def __repr__(self) -> str:
        return f"Dataset({self.path}: {self.num_steps:,} steps of {self.spec.name})"

    @property
    def num_steps(self) -> int:
        """The number of recorded steps."""
        return sum(int(np.prod(shard_shape(path))) for path in self.shards.values())

    @cached_property
    def spec(self) -> EnvironmentSpec:
        """The specification of the environment."""
        try:
            return spec_from_json(json.loads((self.path / SPEC).read_text()))
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise RunDirectoryError(f"{self.path / SPEC} does not describe an environment: {error!r}") from error

    @property
    def shards(self) -> dict[int, Path]:
        """The shards, oldest first, by the number of their first row."""
        return shards_in(self.path)

    def __iter__(self) -> Iterator[Trajectories]:
        """The steps of one shard after the other, `[T, B, ...]`."""
        for path in self.shards.values():
            yield self._trajectories(read_shard(path))

    def read(self) -> Trajectories:
        """All steps, `[T, B, ...]`."""
        return concatenate(*self)

    def _trajectories(self, columns: Columns) -> Trajectories:
        # Hidden attributes that were added in the course of a run come last.
        pack, given = self.spec.attributes.pack, slice(len(self.spec.attributes))
        return Trajectories(
            observation=columns.observation,
            attributes=pack(columns.values[..., given]),
            action=columns.action,
            info=Pursued(columns.pursued[..., given]),
            next_attributes=pack(columns.next_values[..., given]),
            terminated=columns.terminated,
            truncated=columns.over & ~columns.terminated,
            outcome=None,
        )


def shard_shape(path: Path) -> tuple[int, ...]:
    """T and B of a shard, without reading it."""
    try:
        with safe_open(path, framework="np") as file:
            return tuple(file.get_slice("terminated").get_shape())
    except (SafetensorError, OSError) as error:
        raise RunDirectoryError(f"{path} cannot be read as recorded experience: {error!r}") from error


def shards_in(path: Path) -> dict[int, Path]:
    """The shards in a directory, oldest first, by the number of their first row."""
    return {int(each.stem): each for each in sorted(path.glob(f"[0-9]*{SUFFIX}")) if each.stem.isdecimal()}


def shard_arrays(columns: Columns) -> dict[str, np.ndarray]:
    """The columns of a shard by name."""
    named = {
        "observation": columns.observation,
        "attributes": columns.values,
        "action": columns.action,
        "next_attributes": columns.next_values,
        "goal": columns.pursued,
        "terminated": columns.terminated,
        "truncated": columns.over & ~columns.terminated,
    }
    return {
        name + jax.tree_util.keystr(path): leaf
        for name, column in named.items()
        for path, leaf in jax.tree_util.tree_flatten_with_path(column)[0]
    }


def read_shard(path: Path) -> Columns:
    """The rows of a shard."""
    try:
        with safe_open(path, framework="np") as file:
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        return Columns(
            observation=_column("observation", UnitObservation, arrays),
            values=arrays["attributes"],
            action=_column("action", MixedAction, arrays),
            next_values=arrays["next_attributes"],
            pursued=arrays["goal"],
            terminated=arrays["terminated"],
            over=arrays["terminated"] | arrays["truncated"],
        )
    except (SafetensorError, OSError, ValueError, KeyError) as error:
        raise RunDirectoryError(f"{path} cannot be read as recorded experience: {error!r}") from error


def _column(name: str, structure: type, arrays: dict[str, np.ndarray]) -> Any:
    """An array, or a structure whose parts are arrays of their own."""
    if name in arrays:
        return arrays[name]
    return structure(**{field: arrays[f"{name}.{field}"] for field in structure._fields})
