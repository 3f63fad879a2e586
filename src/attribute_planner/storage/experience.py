"""The replay buffer in the run directory: shards in `experience/`, which change together with the checkpoint."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from attribute_planner.data.dataset import EXPERIENCE, SPEC, SUFFIX, Dataset, shard_arrays, shard_name, spec_bytes
from attribute_planner.data.refill import require_same
from attribute_planner.data.replay import Replay, ReplayState
from attribute_planner.data.replay_rows import Columns, widened
from attribute_planner.environments.hidden_attributes import hidden_values, without_hidden_attributes
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.spec import EnvironmentSpec
from attribute_planner.errors import DamagedFileError, RunDirectoryError
from attribute_planner.files.array_file import array_bytes
from attribute_planner.files.manifest import read_manifest


class NewExperience(NamedTuple):
    """What a checkpoint adds to the recorded steps.

    note: the counters of the buffer.
    files: new files by name.
    removed: names of the shards whose steps are no longer in the buffer.
    """

    note: dict[str, Any]
    files: dict[str, bytes]
    removed: tuple[str, ...]


class ExperienceWriter:
    """Collects the steps that are added to a replay buffer: `note` is called at the end of an epoch, `new` for a
    checkpoint, and `saved` after it.

    run: the run directory. Shards that no checkpoint has are removed: a killed process has left them.
    """

    def __init__(self, run: Path, spec: EnvironmentSpec, replay: Replay) -> None:
        self._run, self._spec, self._replay = run, spec, replay
        self._unsaved: list[tuple[int, Columns]] = []
        self._state = replay.state
        listed = read_manifest(run)
        for path in (run / EXPERIENCE).glob(f"[0-9]*{SUFFIX}"):
            if f"{EXPERIENCE}/{path.name}" not in listed:
                path.unlink()

    def note(self) -> None:
        """Take the rows that were added since the last call. The next epoch begins with other episodes."""
        added = self._replay.rows_since(self._state.end)
        self._state = self._replay.state
        if added is not None:
            self._unsaved.append(added)

    def new(self) -> NewExperience:
        """What was noted since the last checkpoint, as one shard."""
        kept = [(first, columns) for first, columns in self._unsaved if first + len(columns.over) > self._oldest]
        listed, files = read_manifest(self._run), {}
        if kept:
            columns = jax.tree.map(lambda *leaves: np.concatenate(leaves), *(columns for _, columns in kept))
            files[shard_name(kept[0][0])] = array_bytes(shard_arrays(columns), {"rows": len(columns.over)})
            if f"{EXPERIENCE}/{SPEC}" not in listed:
                files[SPEC] = spec_bytes(self._spec)
        files = {f"{EXPERIENCE}/{name}": content for name, content in files.items()}
        return NewExperience(self._state._asdict(), files, self._old(sorted({*listed, *files})))

    def saved(self) -> None:
        """What `new` returned last is saved."""
        self._unsaved = []

    def _old(self, names: list[str]) -> tuple[str, ...]:
        """The shards all of whose steps have been overwritten."""
        shards = [name for name in names if name.startswith(EXPERIENCE) and name.endswith(SUFFIX)]
        following = [int(Path(name).stem) for name in shards[1:]]
        return tuple(name for name, first in zip(shards, following, strict=False) if first <= self._oldest)

    @property
    def _oldest(self) -> int:
        return self._state.end - self._state.rows


def load_replay(run: Path, note: Mapping[str, Any], capacity: int, env: Environment) -> Replay:
    """The replay buffer of a checkpoint, whose note this is; steps are described by all attributes of `env`."""
    replay, state = Replay(capacity), ReplayState(**note)
    if state.end == 0:
        return replay
    dataset, oldest, parts = Dataset(run), max(state.end - state.rows, 0), []
    require_same(dataset.spec, without_hidden_attributes(env).spec)
    for first, name in dataset.shards.items():
        if first < state.end:
            columns, wanted = dataset.columns(name), slice(max(oldest - first, 0), state.end - first)
            columns = jax.tree.map(lambda leaf, wanted=wanted: leaf[wanted], columns)
            if len(columns.over):
                parts.append(with_all_attributes(columns, env))
    if len({each.over.shape[1] for each in parts}) > 1:
        raise DamagedFileError(f"{dataset.path} holds steps of different numbers of environments.")
    columns = jax.tree.map(lambda *leaves: np.concatenate(leaves), *parts) if parts else None
    if columns is None or len(columns.over) != state.end - oldest:
        raise RunDirectoryError(
            f"{dataset.path} does not hold all recorded steps of the checkpoint: shards are missing."
        )
    if state.rows > replay.most_rows(columns):
        raise DamagedFileError(
            f"{dataset.path}: the checkpoint has a buffer of {state.rows:,} rows, which is too many."
        )
    replay.restore(state, columns)
    return replay


def with_all_attributes(columns: Columns, env: Environment) -> Columns:
    """Steps with the hidden attributes of `env` that were added after they were recorded."""
    known = columns.values.shape[-1] - len(without_hidden_attributes(env).attributes)
    if columns.values.shape[-1] > len(env.attributes):
        raise DamagedFileError(f"Recorded steps have {known} hidden attributes; the run has fewer.")
    if columns.values.shape[-1] == len(env.attributes):
        return columns
    return widened(columns, lambda observation: np.asarray(hidden_values(env, observation))[..., known:])
