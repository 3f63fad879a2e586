"""Converts observations of a Gymnasium space into a flat array of values.

Values are not scaled here. `FlatSpec` says what they are, and the first layer of a network scales or one-hot encodes
them by what was seen (`models/observation_scaling.py`). A choice is stored as one number, a text as the hashes of its
words, so that recorded observations are small.
"""

import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from gymnasium import spaces

from attribute_planner.environments.finding_agent import RandomSteps
from attribute_planner.environments.seen_from_agent import (
    Read,
    ReadPart,
    cells_of,
    find_agents,
    views_of,
)
from attribute_planner.environments.space_specs import FlatSpec, Marker, Part
from attribute_planner.errors import ConfigurationError, EnvironmentFaultError

SMALLEST_IMAGE = 16
"""A `uint8` box of at least this height and width is treated as an image, a smaller one as numbers."""

MAX_CHANNELS = 16
MAX_NUMBERS = 2**16
"""Largest size of a vector, and largest number of values of its choices."""

MAX_CODES = 32
"""Integers in a range of this size are one-hot, if no other number is seen."""
LOWEST_CODE = -8
"""The range begins at the lower bound of the space, but not below this."""
MAX_ROWS = 2**15
"""Largest number of values, over all components of a box of integers, that are one-hot; each has a row of weights."""
MAX_FLOAT_ROWS = 2**12
"""The same of a box of floating-point numbers, which rarely are whole."""

WORDS = 16
"""Number of words of a text that are used."""
WORD_HASHES = 255
"""Number of hash values of a word, from 1."""


@dataclass(frozen=True)
class Encoder:
    """Conversion of raw observations.

    spec: shape and type of the result.
    encode: converts a raw observation; raises an error if it does not fit.
    bounds: the lowest and the highest value of each part, as the space declares them; `None` for
        what a user's function encodes.
    """

    spec: FlatSpec
    encode: Callable[[Any], np.ndarray]
    bounds: tuple[tuple[float, float], ...] | None = None


NO_MARKERS: Mapping[str, Marker] = {}


def encoder_for(space: spaces.Space, example: Any = None, markers: Mapping[str, Marker] = NO_MARKERS) -> Encoder:
    """The encoder of a space: all its parts, flattened and joined.

    example: an observation, which distinguishes an image from a large grid of small integers.
    markers: the agent in those parts that show it, by name; what is seen from it is added.
    """
    given = _parts_of(space, "", example)
    views = views_of(given, markers)
    parts = [*(each.part for each in given), *(part for view in views for part in view.parts)]
    bounds = [*((each.low, each.high) for each in given), *(each for view in views for each in view.bounds)]
    reads = [each.read for each in (*given, *views)]
    slots = sum(part.size * part.slots for part in parts)
    numbers = sum(part.size for part in parts if part.kind != "image")
    if not parts or numbers > MAX_NUMBERS or slots > 2 * MAX_NUMBERS:
        raise ConfigurationError(
            f"Observations in {space} have {max(numbers, slots):,} numbers: pass encode_observation=… to reduce them."
        )
    spec = FlatSpec(tuple(parts), _stored_as(parts, bounds))
    return Encoder(spec, _joined(reads, spec), tuple(bounds))


def shows_cells(space: spaces.Space, example: Any) -> bool:
    """Whether a part of the observation is a grid or an image, in which the agent may be seen."""
    return any(cells_of(each.part) is not None for each in _parts_of(space, "", example))


def find_markers(space: spaces.Space, steps: RandomSteps) -> dict[str, Marker]:
    """The agent in those parts that show it, by name, from some random steps."""
    return find_agents(_parts_of(space, "", steps.observations[0]), steps) if len(steps.observations) else {}


def encoder_by(function: Callable[[Any], Any], example: Any) -> Encoder:
    """The encoder by a user's function; shape and type are those of the encoded example."""
    found = np.asarray(function(example))
    if _is_image(found.shape, found.dtype):
        shape, convert = _image(found.shape)
        spec = FlatSpec((Part("", shape, "image"),), "uint8")
        return Encoder(spec, lambda observation: convert(np.asarray(function(observation))).reshape(-1))
    _require_numbers(found)
    if not 1 <= found.size <= MAX_NUMBERS:
        raise ConfigurationError(f"encode_observation returned {found.size:,} numbers, not 1 to {MAX_NUMBERS:,}.")
    integers = not np.issubdtype(found.dtype, np.floating)
    low, high = _bounds_of_type(found.dtype)
    part = _numbers_part("", found.shape, low, high, integers)

    def read(observation: Any) -> np.ndarray:
        encoded = np.asarray(function(observation))
        _require_numbers(encoded)
        _require_shape(encoded, found.shape)
        return encoded.reshape(-1)

    spec = FlatSpec((part,), _stored_as([part], [(low, high)]))
    return Encoder(spec, _joined([read], spec))


def _parts_of(space: spaces.Space, name: str, example: Any) -> list[ReadPart]:
    """The parts of a space, each with the function that reads it and its lowest and highest value."""
    if isinstance(space, spaces.Dict):
        return [part for key, inner in space.spaces.items() for part in _inner_parts(key, inner, name, example)]
    if isinstance(space, spaces.Tuple):
        return [part for key, inner in enumerate(space.spaces) for part in _inner_parts(key, inner, name, example)]
    if isinstance(space, spaces.Box):
        is_image = _is_image(space.shape, space.dtype) and not _is_grid(example)
        return [_image_part(space, name) if is_image else _box_part(space, name)]
    if isinstance(space, spaces.Discrete):
        return [_choice_part(name, (), int(space.start), int(space.start + space.n) - 1)]
    if isinstance(space, spaces.MultiDiscrete):
        return [_choice_part(name, space.shape, int(space.start.min()), int((space.start + space.nvec).max()) - 1)]
    if isinstance(space, spaces.MultiBinary):
        return [_choice_part(name, space.shape, 0, 1)]
    if space.dtype is not None and np.issubdtype(space.dtype, np.str_):
        return [ReadPart(Part(name, (WORDS,), "text", 1, WORD_HASHES), _hashed_words, 0, WORD_HASHES)]
    raise ConfigurationError(
        f"Observations in {space} cannot be converted automatically: "
        "pass encode_observation=…, a function from an observation to an array."
    )


def _inner_parts(key: Any, inner: spaces.Space, outer: str, example: Any) -> list[ReadPart]:
    """The parts of what a dictionary or tuple holds under `key`."""

    def of(read: Read) -> Read:
        return lambda observation: read(observation[key])

    name = f"{outer}.{key}" if outer else str(key)
    found = _parts_of(inner, name, None if example is None else example[key])
    return [each._replace(read=of(each.read)) for each in found]


def _choice_part(name: str, shape: tuple[int, ...], low: int, high: int) -> ReadPart:
    def read(observation: Any) -> np.ndarray:
        choice = np.asarray(observation)
        _require_shape(choice, shape)
        if choice.dtype.kind not in "biu":
            raise EnvironmentFaultError(f"it contains {choice.tolist()!r}; it must hold integers.")
        if choice.size and not (low <= choice.min() and choice.max() <= high):
            raise EnvironmentFaultError(f"it contains {choice.tolist()}; its space has {low} to {high}.")
        return choice.reshape(-1)

    return ReadPart(Part(name, shape, "choice", low, high - low + 1), read, low, high)


def _box_part(space: spaces.Box, name: str) -> ReadPart:
    low, high = float(space.low.astype(float).min()), float(space.high.astype(float).max())
    integers = not np.issubdtype(space.dtype, np.floating)
    part = _numbers_part(name, space.shape, low, high, integers)
    return ReadPart(part, lambda observation: _fitting(space, observation).reshape(-1), low, high)


def _image_part(space: spaces.Box, name: str) -> ReadPart:
    shape, convert = _image(space.shape)
    part = Part(name, shape, "image")
    return ReadPart(part, lambda observation: convert(_fitting(space, observation)).reshape(-1), 0, 255)


def _numbers_part(name: str, shape: tuple[int, ...], low: float, high: float, integers: bool) -> Part:
    """A part of numbers, with the range of values that are one-hot if no other number is seen."""
    first = int(np.ceil(np.clip(low, LOWEST_CODE, 2**31)))
    last = np.floor(np.clip(high, -(2**31), first + MAX_CODES - 1))
    part = Part(name, shape, "numbers", first, max(int(last) - first + 1, 0), integers)
    limit = MAX_ROWS if integers else MAX_FLOAT_ROWS
    if part.size * part.slots > limit:
        part = replace(part, slots=min(part.slots, MAX_CODES // 2))
    return part if part.size * part.slots <= limit else replace(part, slots=0)


def _hashed_words(text: Any) -> np.ndarray:
    """`uint8[WORDS]` the hash of each of the first words of a text; 0 after its end."""
    if not isinstance(text, str):
        raise EnvironmentFaultError(f"it is a {type(text).__name__}; it must be a text.")
    words = re.findall(r"\w+", text.lower())[:WORDS]
    hashes = [1 + zlib.crc32(word.encode()) % WORD_HASHES for word in words]
    return np.array(hashes + [0] * (WORDS - len(words)), np.uint8)


STORED = ("uint8", "int16", "int32")


def _stored_as(parts: list[Part], bounds: list[tuple[float, float]]) -> str:
    """The smallest type that holds all values."""
    low, high = min(low for low, _ in bounds), max(high for _, high in bounds)
    fitting = (name for name in STORED if np.iinfo(name).min <= low and high <= np.iinfo(name).max)
    return next(fitting, "float32") if all(part.integers for part in parts) else "float32"


def _joined(reads: list[Read], spec: FlatSpec) -> Read:
    """Reads all parts into one array. Integers outside the bounds of their space are clipped."""
    is_integer = np.issubdtype(spec.dtype, np.integer)

    def encode(observation: Any) -> np.ndarray:
        numbers = [read(observation) for read in reads]
        joined = numbers[0] if len(numbers) == 1 else np.concatenate(numbers)
        if is_integer and joined.dtype != spec.dtype and joined.dtype != bool:
            limits = np.iinfo(spec.dtype)
            joined = np.clip(joined, limits.min, limits.max)
        return joined.astype(spec.dtype)

    return encode


def _bounds_of_type(dtype: np.dtype) -> tuple[float, float]:
    if np.issubdtype(dtype, np.bool_):
        return 0, 1
    return (-np.inf, np.inf) if np.issubdtype(dtype, np.floating) else (np.iinfo(dtype).min, np.iinfo(dtype).max)


def _is_image(shape: tuple[int, ...], dtype: Any) -> bool:
    if dtype != np.uint8 or len(shape) not in (2, 3):
        return False
    *sides, channels = _channels_last(shape)
    return min(sides) >= SMALLEST_IMAGE and channels <= MAX_CHANNELS


def _is_grid(example: Any) -> bool:
    """Whether an array that could be an image is a grid of small integers: not all are zero, and none is large."""
    return example is not None and 0 < int(np.max(example)) < MAX_CODES


def _channels_last(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape `[H, W, C]` of an image without channels, or with channels first or last."""
    if len(shape) == 2:
        return (*shape, 1)
    return (*shape[1:], shape[0]) if shape[0] <= MAX_CHANNELS < shape[2] else shape


def _image(shape: tuple[int, ...]) -> tuple[tuple[int, int, int], Read]:
    """The shape `[H, W, C]` of images that come in `shape`, and the function that brings them into it."""
    height, width, channels = _channels_last(shape)

    def convert(image: np.ndarray) -> np.ndarray:
        _require_shape(image, shape)
        if image.dtype != np.uint8:
            raise EnvironmentFaultError(f"the image has type {image.dtype}; it must have uint8.")
        if len(shape) == 2:
            return image[..., None]
        return image if image.shape == (height, width, channels) else np.moveaxis(image, 0, -1)

    return (height, width, channels), convert


def _fitting(space: spaces.Box, observation: Any) -> np.ndarray:
    """The observation as an array of the shape and kind of its space; bounds are not checked."""
    array = np.asarray(observation)
    _require_shape(array, space.shape)
    if not np.can_cast(array.dtype, space.dtype, "same_kind"):
        raise EnvironmentFaultError(f"it has type {array.dtype}; its space says {space.dtype}.")
    return array


def _require_shape(array: np.ndarray, shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise EnvironmentFaultError(f"it has shape {array.shape}; it must have {shape}.")


def _require_numbers(array: np.ndarray) -> None:
    if not (np.issubdtype(array.dtype, np.number) or array.dtype == bool) or np.iscomplexobj(array):
        raise EnvironmentFaultError(f"encode_observation returned an array of {array.dtype}; it must hold numbers.")
