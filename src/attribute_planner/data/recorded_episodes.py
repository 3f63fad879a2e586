"""Episodes that were recorded elsewhere, in Minari's layout, as recorded experience (`data/dataset.py`).

An episode has `observations` (one more than there are actions; an array, or a dictionary or tuple of arrays),
`actions`, `terminations`, `truncations`, and perhaps `infos`. It is an object with these attributes, a dictionary, or a
group of the file `main_data.hdf5` that Minari writes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from attribute_planner.attributes import AttributeSpace
from attribute_planner.data.replay_rows import NO_GOAL, Columns
from attribute_planner.environments.spaces import Box
from attribute_planner.errors import AttributePlannerError, ConfigurationError

Read = Callable[[Any, dict[str, Any]], list[int]]
"""The index of each attribute's value, given an observation and its info."""


def columns_of_episodes(
    episodes: Any, space: AttributeSpace, actions: Any, encode: Callable[[Any], np.ndarray], read: Read
) -> Columns:
    """`[N, 1, ...]` the steps of all episodes, one after the other.

    episodes: an iterable of episodes, a Minari dataset, or the path of an HDF5 file.
    actions: the conversion of actions (`gymnasium_bridge.actions.Actions`).
    encode: converts an observation.
    """
    kind = np.min_scalar_type(-int(space.sizes.max()))
    index = None if isinstance(actions.space, Box) else _action_index(actions)
    parts: list[Columns] = []
    for number, episode in enumerate(episodes_in(episodes)):
        try:
            parts.append(_columns(episode, kind, index, encode, read))
        except AttributePlannerError as error:
            raise ConfigurationError(f"recorded episode {number}: {error}") from error
        except (KeyError, AttributeError, TypeError, ValueError, IndexError) as error:
            raise ConfigurationError(f"recorded episode {number}: {type(error).__name__}: {error}") from error
    if not parts:
        raise ConfigurationError("The recorded data hold no episode.")
    return Columns(*(np.concatenate(column)[:, None] for column in zip(*parts, strict=True)))


def episodes_in(source: Any) -> Iterator[Any]:
    """The episodes of a Minari dataset, of an iterable, or of an HDF5 file."""
    if isinstance(source, str | Path):
        yield from _episodes_in_file(Path(source))
    elif hasattr(source, "iterate_episodes"):
        yield from source.iterate_episodes()
    elif isinstance(source, Iterable):
        yield from source
    else:
        raise ConfigurationError(f"Recorded episodes are a Minari dataset or a list, not a {type(source).__name__}.")


def _episodes_in_file(path: Path) -> Iterator[Any]:
    try:
        import h5py  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise ConfigurationError("HDF5 files need h5py: pip install h5py.") from error
    if not path.is_file():
        raise ConfigurationError(f"There is no file {path}.")
    try:
        opened = h5py.File(path)
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read as an HDF5 file: {error}.") from error
    with opened as file:
        names = [name for name in file if name.startswith("episode_")]
        for name in sorted(names, key=lambda each: int(each.removeprefix("episode_"))):
            yield _loaded(file[name])


def _loaded(group: Any) -> Any:
    """A group of an HDF5 file as a dictionary of arrays; tuples are groups `_index_0`, `_index_1`, …"""
    if not hasattr(group, "items"):
        return group[()]
    inside = {name: _loaded(each) for name, each in group.items()}
    if inside and all(name.startswith("_index_") for name in inside):
        return tuple(inside[f"_index_{number}"] for number in range(len(inside)))
    return inside


def _columns(
    episode: Any, kind: np.dtype, index: dict[bytes, int] | None, encode: Callable[[Any], np.ndarray], read: Read
) -> Columns:
    """`[T, ...]` the steps of one episode."""
    observations, actions = _field(episode, "observations"), np.asarray(_field(episode, "actions"))
    terminated = np.asarray(_field(episode, "terminations"), bool)
    truncated = np.asarray(_field(episode, "truncations"), bool)
    infos, count = _field(episode, "infos", {}), len(actions)
    if not len(terminated) == len(truncated) == count:
        raise ConfigurationError(f"there are {count} actions, but {len(terminated)} terminations.")
    if _length(observations) != count + 1:
        raise ConfigurationError(f"there are {count} actions and {_length(observations)} observations, not one more.")
    seen = [at(observations, step) for step in range(count + 1)]
    encoded = _of_each("observation", lambda step: encode(seen[step]), count + 1)
    values = np.array(_of_each("describe", lambda step: read(seen[step], _info(infos, step)), count + 1), kind)
    # The next episode follows: where recording just stopped, the last step is a cut.
    over = terminated | truncated
    over[-1] = True
    return Columns(
        observation=np.stack(encoded[:-1]),
        values=values[:-1],
        action=_encoded_actions(actions, index),
        next_values=values[1:],
        pursued=np.full_like(values[:-1], NO_GOAL),
        terminated=terminated,
        over=over,
    )


def _of_each(what: str, function: Callable[[int], Any], count: int) -> list[Any]:
    """The result of a function for each step; an error names the step, and `what` failed."""
    results = []
    for step in range(count):
        try:
            results.append(function(step))
        except AttributePlannerError as error:
            raise ConfigurationError(f"step {step}: {what}: {error}") from error
        except Exception as error:
            raise ConfigurationError(f"step {step}: {what}: {type(error).__name__}: {error}") from error
    return results


MISSING = object()


def _field(episode: Any, name: str, default: Any = MISSING) -> Any:
    found = episode.get(name, MISSING) if isinstance(episode, Mapping) else getattr(episode, name, MISSING)
    found = default if found is MISSING or found is None else found
    if found is MISSING:
        raise ConfigurationError(f"it has no {name}.")
    return found


def at(values: Any, step: int) -> Any:
    """The part of structured arrays that belongs to a step."""
    if isinstance(values, Mapping):
        return {name: at(each, step) for name, each in values.items()}
    return tuple(at(each, step) for each in values) if isinstance(values, tuple) else values[step]


def _length(values: Any) -> int:
    while isinstance(values, Mapping | tuple):
        values = next(iter(values.values())) if isinstance(values, Mapping) else values[0]
    return len(values)


def _info(infos: Any, step: int) -> dict[str, Any]:
    """The info of a step; what was not recorded for it is left out."""
    if not isinstance(infos, Mapping):
        return dict(infos[step]) if step < len(infos) else {}
    return {name: at(each, step) for name, each in infos.items() if _length(each) > step}


def _action_index(actions: Any) -> dict[bytes, int]:
    """The number of each action, by what the environment takes."""
    return {_key(actions.translate(number)): number for number in range(actions.space.count)}


def _key(action: Any) -> bytes:
    return np.asarray(action, np.int64).tobytes()


def _encoded_actions(actions: np.ndarray, index: dict[bytes, int] | None) -> np.ndarray:
    if index is None:
        return actions.reshape(len(actions), -1).astype(np.float32)
    try:
        return np.array([index[_key(each)] for each in actions], np.int32)
    except KeyError:
        wrong = next(each for each in actions if _key(each) not in index)
        raise ConfigurationError(f"action {wrong.tolist()} is not in the action space.") from None
