"""Finds the agent in grids and images: what the actions move."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int, Integer

from attribute_planner.environments.space_specs import Marker

MAX_KEYS, MAX_CELLS = 256, 10_000
"""The agent is not looked for among more keys (colours of an image, or codes of a grid), or in more cells."""
EXPLAINED = 0.1
"""The actions move something if they explain at least this share of the variance of its moves."""
STEPS_PER_FEATURE = 4
"""The number of steps that a thing must have been seen for each feature of an action, to tell whether they move it."""
SAME_SIZE = 0.95
"""The share of the observations of a thing that show it as a block of the same size, at least."""
PRESENT = 0.9
"""The share of observations that show the agent, at least. The code of a direction is there while it faces that way."""
SAME_WAY, MIN_MOVES = 0.95, 10
"""Keys of the agent's cell tell which way it faces if at least this share of at least so many moves went there."""
WAYS = ((-1, 0), (0, 1), (1, 0), (0, -1))
"""Rows and columns of a move after which 0, 1, 2 and 3 quarter turns to the left it would have gone up."""
CHANNEL = 2**40
"""Distance between the keys of two channels."""
MIXING = np.int64(1_000_003)
"""The base of the numbers of cells with several values; products overflow, as in a hash."""


@dataclass(frozen=True)
class RandomSteps:
    """Observations of random steps, in order.

    observations: as the environment gives them.
    actions: the features `[T, F]` of the action before each observation.
    begins: `[T]` whether an observation is the first of its episode.
    """

    observations: Sequence[Any]
    actions: Float[np.ndarray, "T F"]
    begins: Bool[np.ndarray, " T"]


def cell_types(cells: Integer[np.ndarray, "*lead H W C"]) -> Int[np.ndarray, "*lead H W"]:
    """A number for each cell that tells it from cells with other values; the value itself if it has only one."""
    cells = np.asarray(cells).astype(np.int64)
    return (cells * MIXING ** np.arange(cells.shape[-1])).sum(axis=-1)


def cells_of_agent(marker: Marker, keys: Int[np.ndarray, "H W K"]) -> Bool[np.ndarray, "H W"]:
    """The cells that the agent is in: those with one of its keys or, if there are none, with a key never seen."""
    mask = keys == marker.keys[0]
    for key in marker.keys[1:]:
        mask |= keys == key
    return np.asarray((mask if mask.any() else ~np.isin(keys, marker.known)).any(axis=-1))


def place_in(mask: Bool[np.ndarray, "H W"], size: tuple[int, int]) -> tuple[int, int] | None:
    """The first row and column of the agent's cells; `None` if they are no block of its size."""
    found = _box(mask)
    return found[0] if found is not None and found[1] == size else None


def cell_keys(cells: Integer[np.ndarray, "*lead H W C"], *, image: bool) -> Int[np.ndarray, "*lead H W K"]:
    """By which the agent is recognised: the colour in an image, the value in each channel of a grid."""
    if image:
        return cell_types(cells)[..., None]
    return np.asarray(cells).astype(np.int64) + CHANNEL * np.arange(cells.shape[-1])


def find_agent(cells: Integer[np.ndarray, "T H W C"], steps: RandomSteps, *, part: str, image: bool) -> Marker | None:
    """What the actions move in a part of the observations, if it can be recognised; otherwise `None`."""
    if cells[0, ..., 0].size > MAX_CELLS:
        return None
    keys = cell_keys(cells, image=image)
    known = np.unique(keys)
    if len(known) > MAX_KEYS:
        return None
    tracks = {key: _track((keys == key).any(axis=-1)) for key in known.tolist()}
    tracks = {key: track for key, track in tracks.items() if track is not None}
    moved = [key for key, track in tracks.items() if _explained(track, steps) >= EXPLAINED]
    joined = [_with_other_looks(key, tracks, steps.begins) for key in moved]
    found = [(_explained(track, steps), chosen, track) for chosen, track in joined if track.present.mean() >= PRESENT]
    if not found:
        return None
    _, chosen, agent = max(found, key=lambda each: each[0])
    types, agents = cell_types(cells), np.isin(keys, chosen).any(axis=-1)
    others, looks = (tuple(np.unique(each).tolist()) for each in (types[~agents], types[agents]))
    if image or len(looks) == 1:
        return Marker(part, tuple(chosen), tuple(known.tolist()), others, agent.size)
    return Marker(part, tuple(chosen), tuple(known.tolist()), others, agent.size, looks, _headings(keys, agent, steps))


@dataclass(frozen=True)
class _Track:
    """Where a thing was in each observation.

    place: `[T, 2]` its first row and column.
    present: `[T]` whether it was there.
    size: its height and width there.
    """

    place: Int[np.ndarray, "T 2"]
    present: Bool[np.ndarray, " T"]
    size: tuple[int, int]

    def continues(self, other: "_Track", begins: Bool[np.ndarray, " T"]) -> bool:
        """Whether this may be the other thing with another look: it appears beside where that one disappears."""
        if self.size != other.size or (self.present & other.present).any():
            return False
        switched = other.present[:-1] & self.present[1:] & ~begins[1:]
        jumps = np.abs(self.place[1:] - other.place[:-1])[switched].max(axis=1)
        return bool(len(jumps)) and bool((jumps <= other.stride(begins)).all())

    def stride(self, begins: Bool[np.ndarray, " T"]) -> int:
        """The longest step in an episode."""
        return int(np.abs(np.diff(self.place, axis=0))[self.followed(begins)].max(initial=0))

    def followed(self, begins: Bool[np.ndarray, " T"]) -> Bool[np.ndarray, " T-1"]:
        """Whether a step of an episode shows it before and after."""
        return self.present[1:] & self.present[:-1] & ~begins[1:]

    def moved(self, begins: Bool[np.ndarray, " T"]) -> Bool[np.ndarray, " T-1"]:
        """Whether a step moved it."""
        return self.followed(begins) & np.diff(self.place, axis=0).any(axis=1)

    def joined(self, other: "_Track") -> "_Track":
        """Both, which are never there at the same time."""
        place = np.where(self.present[:, None], self.place, other.place)
        return _Track(place, self.present | other.present, self.size)


def _headings(keys: Int[np.ndarray, "T H W K"], agent: "_Track", steps: RandomSteps) -> tuple[tuple[int, int], ...]:
    """Which way the agent faces by a key of its cell, where such a key tells which way the next move goes."""
    if agent.size != (1, 1):
        return ()
    moved = agent.moved(steps.begins)
    moves, own = np.diff(agent.place, axis=0)[moved], keys[np.arange(len(keys)), agent.place[:, 0], agent.place[:, 1]]
    for begun, shown in zip(own[:-1][moved].T, own[agent.present].T, strict=True):
        known = np.unique(shown).tolist()
        counts = np.array([[(moves[begun == key] == way).all(axis=1).sum() for way in WAYS] for key in known])
        turns, usual = counts.argmax(axis=1).tolist(), counts.max(axis=1)
        is_clear = len(begun) >= MIN_MOVES and usual.min() > 0 and usual.sum() >= SAME_WAY * len(begun)
        if is_clear and 1 < len(known) == len(set(turns)):
            return tuple(zip(known, turns, strict=True))
    return ()


def _with_other_looks(
    first: int, tracks: Mapping[int, _Track], begins: Bool[np.ndarray, " T"]
) -> tuple[list[int], _Track]:
    """A thing, and those that it may be with another look: it may look different when it carries something."""
    agent, chosen = tracks[first], [first]
    for key, track in tracks.items():
        if key != first and track.continues(agent, begins):
            agent, chosen = agent.joined(track), [*chosen, key]
    return chosen, agent


def _track(masks: Bool[np.ndarray, "T H W"]) -> _Track | None:
    """The track of the cells that a mask shows; `None` if they are not nearly always one block of the same size."""
    found = [_box(mask) for mask in masks]
    sizes = Counter(box[1] for box in found if box is not None)
    if not sizes:
        return None
    (size, count), shown = sizes.most_common(1)[0], masks.any(axis=(1, 2)).sum()
    if count < SAME_SIZE * shown or max(size) * 2 > min(masks.shape[1:]):
        return None
    present = np.array([box is not None and box[1] == size for box in found])
    place = np.array([(0, 0) if box is None else box[0] for box in found])
    return _Track(place, present, size)


def _box(mask: Bool[np.ndarray, "H W"]) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """The first row and column, and the size, of a block of cells; `None` if they do not fill half of a rectangle."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return None
    size = int(rows[-1] - rows[0]) + 1, int(columns[-1] - columns[0]) + 1
    return ((int(rows[0]), int(columns[0])), size) if 2 * mask.sum() >= size[0] * size[1] else None


def _explained(track: _Track, steps: RandomSteps) -> float:
    """The share of the variance of a thing's moves that actions explain, adjusted for what they explain by chance."""
    both = track.followed(steps.begins)
    moves = np.diff(track.place, axis=0)[both].astype(float)
    moves = np.concatenate([moves, np.abs(moves).sum(axis=1, keepdims=True) > 0], axis=1)
    actions = steps.actions[1:][both]
    count, features = actions.shape
    if count <= STEPS_PER_FEATURE * (1 + features):
        return 0.0
    moves, actions = moves - moves.mean(axis=0), actions - actions.mean(axis=0)
    total = np.square(moves).sum()
    if total == 0:
        return 0.0
    weights = np.linalg.lstsq(actions, moves, rcond=None)[0]
    left = float(np.square(moves - actions @ weights).sum() / total)
    return 1 - left * (count - 1) / (count - features - 1)
