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

manifest.json lists size and SHA-256 of these files; those of a run are in the manifest of its run directory. A folder
that another program has written may have none: what is read from it is only checked for being possible.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from attribute_planner.attributes import Attribute, Value
from attribute_planner.data.recorded_columns import columns_of
from attribute_planner.data.recorded_episodes import columns_of_episodes
from attribute_planner.data.replay_rows import Columns
from attribute_planner.data.trajectories import Trajectories, concatenate
from attribute_planner.environments.spec import EnvironmentSpec
from attribute_planner.environments.spec_json import spec_from_json, spec_to_json
from attribute_planner.errors import AttributePlannerError, DamagedFileError, RunDirectoryError
from attribute_planner.files.array_file import array_bytes, parse_arrays
from attribute_planner.files.manifest import commit, has_manifest, read_manifest, read_verified
from attribute_planner.files.reading import MAX_TEXT_BYTES, memory_bytes, read_file
from attribute_planner.files.strict_json import MALFORMED, parse_json

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
        if SPEC not in self._names():
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
        commit(path, {SPEC: spec_bytes(source.spec), shard_name(0): array_bytes(shard_arrays(columns), {})})
        return Dataset(path)

    def __repr__(self) -> str:
        return f"Dataset({self.path}: {self.num_steps:,} steps of {self.spec.name})"

    @cached_property
    def num_steps(self) -> int:
        """The number of recorded steps."""
        return sum(trajectories.terminated.size for trajectories in self)

    @cached_property
    def spec(self) -> EnvironmentSpec:
        """The specification of the environment."""
        saved = parse_json(self._content(SPEC, MAX_TEXT_BYTES), self.path / SPEC)
        try:
            return spec_from_json(saved)
        except (*MALFORMED, AttributePlannerError) as error:
            raise DamagedFileError(f"{self.path / SPEC} does not describe an environment: {error!r}") from error

    @property
    def shards(self) -> dict[int, str]:
        """The names of the shards, oldest first, by the number of their first row."""
        stems = {name: name.removesuffix(SUFFIX) for name in sorted(self._names()) if name.endswith(SUFFIX)}
        return {int(stem): name for name, stem in stems.items() if stem.isdecimal()}

    def columns(self, name: str) -> Columns:
        """The rows of a shard, checked against the specification."""
        arrays, _ = parse_arrays(self._content(name, memory_bytes() // 2), self.path / name)
        return columns_of(arrays, self.spec, self.path / name)

    def _names(self) -> set[str]:
        """The files of the dataset: those that the manifest lists, or all if there is none."""
        if (listed := self._listed) is None:
            return {each.name for each in self.path.iterdir()} if self.path.is_dir() else set()
        folder, prefix = listed
        names = [name for name in read_manifest(folder) if name.startswith(prefix)]
        return {name.removeprefix(prefix) for name in names}

    def _content(self, name: str, max_bytes: int) -> bytes:
        if (listed := self._listed) is None:
            return read_file(self.path / name, max_bytes)
        folder, prefix = listed
        return read_verified(folder, prefix + name)

    @cached_property
    def _listed(self) -> tuple[Path, str] | None:
        """The folder whose manifest lists the files, and the beginning of their names in it; `None` if none does."""
        if has_manifest(self.path):
            return self.path, ""
        return (self.path.parent, f"{self.path.name}/") if has_manifest(self.path.parent) else None

    def __iter__(self) -> Iterator[Trajectories]:
        """The steps of one shard after the other, `[T, B, ...]`."""
        for name in self.shards.values():
            yield self._trajectories(self.columns(name))

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


def shard_name(first: int) -> str:
    """The name of the shard with this first row."""
    return f"{first:09d}{SUFFIX}"


def spec_bytes(spec: EnvironmentSpec) -> bytes:
    """The contents of spec.json."""
    return json.dumps(spec_to_json(spec), indent=2).encode()


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
