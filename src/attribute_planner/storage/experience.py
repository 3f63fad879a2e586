"""The replay buffer in the run directory: shards are appended to `experience/`, in step with the checkpoint.

Shards are written before the checkpoint, which holds the number of rows that belong to it. A shard beyond that number
was written by a process that was killed before its next checkpoint; the resumed run removes it and records the same
steps again.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np

from attribute_planner.data.dataset import SPEC, SUFFIX, read_shard, shard_arrays, shards_in
from attribute_planner.data.replay import Replay, ReplayState
from attribute_planner.data.replay_rows import Columns, widened
from attribute_planner.environments.hidden_attributes import hidden_values, without_hidden_attributes
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.spec import EnvironmentSpec
from attribute_planner.environments.spec_json import spec_to_json
from attribute_planner.errors import RunDirectoryError
from attribute_planner.storage.arrays import write_arrays, write_bytes


class ExperienceWriter:
    """Writes the steps that are added to a replay buffer.

    `note` is called at the end of an epoch, `write` before a checkpoint, and `remove_old` after it.
    """

    def __init__(self, path: Path, spec: EnvironmentSpec, replay: Replay) -> None:
        self._path, self._spec, self._replay = path, spec, replay
        self._unsaved: list[tuple[int, Columns]] = []
        self._state = replay.state
        for first, shard in shards_in(path).items():
            if first >= self._state.end:
                shard.unlink()

    def note(self) -> None:
        """Take the rows that were added since the last call. The next epoch begins with other episodes."""
        added = self._replay.rows_since(self._state.end)
        self._state = self._replay.state
        if added is not None:
            self._unsaved.append(added)

    def write(self) -> dict[str, Any]:
        """Append what was noted as one shard; the note of the checkpoint that it belongs to."""
        kept = [(first, columns) for first, columns in self._unsaved if first + len(columns.over) > self._oldest]
        if kept:
            self._path.mkdir(exist_ok=True)
            if not (self._path / SPEC).exists():
                write_bytes(self._path / SPEC, json.dumps(spec_to_json(self._spec), indent=2).encode())
            columns = jax.tree.map(lambda *leaves: np.concatenate(leaves), *(columns for _, columns in kept))
            write_arrays(shard_path(self._path, kept[0][0]), shard_arrays(columns), {"rows": len(columns.over)})
        self._unsaved = []
        return self._state._asdict()

    def remove_old(self) -> None:
        """Remove the shards whose steps are no longer in the buffer."""
        shards = shards_in(self._path)
        for path, following in zip(shards.values(), list(shards)[1:], strict=False):
            if following <= self._oldest:
                path.unlink()

    @property
    def _oldest(self) -> int:
        return self._state.end - self._state.rows


def load_replay(path: Path, note: Mapping[str, Any], capacity: int, env: Environment) -> Replay:
    """The replay buffer of a checkpoint, whose note this is; steps are described by all attributes of `env`."""
    replay, state = Replay(capacity), ReplayState(**note)
    if state.end == 0:
        return replay
    oldest, parts = max(state.end - state.rows, 0), []
    for first, shard in shards_in(path).items():
        if first < state.end:
            columns, wanted = read_shard(shard), slice(max(oldest - first, 0), state.end - first)
            columns = jax.tree.map(lambda leaf, wanted=wanted: leaf[wanted], columns)
            if len(columns.over):
                parts.append(with_all_attributes(columns, env))
    columns = jax.tree.map(lambda *leaves: np.concatenate(leaves), *parts) if parts else None
    if columns is None or len(columns.over) != state.end - oldest:
        raise RunDirectoryError(f"{path} does not hold all recorded steps of the checkpoint: shards are missing.")
    replay.restore(state, columns)
    return replay


def with_all_attributes(columns: Columns, env: Environment) -> Columns:
    """Steps with the hidden attributes of `env` that were added after they were recorded."""
    known = columns.values.shape[-1] - len(without_hidden_attributes(env).attributes)
    if columns.values.shape[-1] == len(env.attributes):
        return columns
    return widened(columns, lambda observation: np.asarray(hidden_values(env, observation))[..., known:])


def shard_path(path: Path, first: int) -> Path:
    """Where the shard with this first row is stored."""
    return path / f"{first:09d}{SUFFIX}"
