"""Converts observations of a Gymnasium space into images, or vectors with entries of about −1 to 1."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from attribute_planner.environments.spaces import ImageSpec, VectorSpec
from attribute_planner.errors import ConfigurationError, EnvironmentFaultError

SMALLEST_IMAGE = 16
"""A `uint8` box of at least this height and width is treated as an image, a smaller one as a vector."""

MAX_CHANNELS = 16
MAX_NUMBERS = 2**16
"""Largest size of a vector."""

LOOSE_BOUND = 1000.0
"""Larger bounds of floating-point numbers are ignored when values are scaled."""


@dataclass(frozen=True)
class Encoder:
    """Conversion of raw observations.

    spec: shape and type of the result.
    encode: converts a raw observation; raises an error if it does not fit.
    """

    spec: VectorSpec | ImageSpec
    encode: Callable[[Any], np.ndarray]


def encoder_for(space: spaces.Space) -> Encoder:
    """The encoder of a space: images are not changed, everything else is flattened and scaled."""
    if isinstance(space, spaces.Box) and _is_image(space.shape, space.dtype):
        image = _image_encoder(space.shape)
        return Encoder(image.spec, lambda observation: image.encode(_fitting(space, observation)))
    try:
        flat = spaces.flatten_space(space)
    except NotImplementedError:
        flat = None
    if not isinstance(flat, spaces.Box):
        raise ConfigurationError(
            f"Observations in {space} cannot be converted automatically: "
            "pass encode_observation=…, a function from an observation to an array."
        )
    if flat.shape[0] > MAX_NUMBERS:
        raise ConfigurationError(
            f"Observations in {space} have {flat.shape[0]:,} numbers: pass encode_observation=… to reduce them."
        )
    return _flat_encoder(space, flat)


def encoder_by(function: Callable[[Any], Any], example: Any) -> Encoder:
    """The encoder by a user's function; shape and type are those of the encoded example."""
    found = np.asarray(function(example))
    if _is_image(found.shape, found.dtype):
        image = _image_encoder(found.shape)
        return Encoder(image.spec, lambda observation: image.encode(np.asarray(function(observation))))
    _require_numbers(found)
    if not 1 <= found.size <= MAX_NUMBERS:
        raise ConfigurationError(f"encode_observation returned {found.size:,} numbers, not 1 to {MAX_NUMBERS:,}.")

    def encode(observation: Any) -> np.ndarray:
        encoded = np.asarray(function(observation))
        _require_numbers(encoded)
        _require_shape(encoded, found.shape)
        return encoded.astype(np.float32).reshape(-1)

    return Encoder(VectorSpec(found.size), encode)


def _is_image(shape: tuple[int, ...], dtype: Any) -> bool:
    if dtype != np.uint8 or len(shape) not in (2, 3):
        return False
    *sides, channels = _channels_last(shape)
    return min(sides) >= SMALLEST_IMAGE and channels <= MAX_CHANNELS


def _channels_last(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape `[H, W, C]` of an image without channels, or with channels first or last."""
    if len(shape) == 2:
        return (*shape, 1)
    return (*shape[1:], shape[0]) if shape[0] <= MAX_CHANNELS < shape[2] else shape


def _image_encoder(shape: tuple[int, ...]) -> Encoder:
    height, width, channels = _channels_last(shape)

    def encode(image: np.ndarray) -> np.ndarray:
        _require_shape(image, shape)
        if image.dtype != np.uint8:
            raise EnvironmentFaultError(f"the image has type {image.dtype}; it must have uint8.")
        if len(shape) == 2:
            return image[..., None]
        return image if image.shape == (height, width, channels) else np.moveaxis(image, 0, -1)

    return Encoder(ImageSpec(height, width, channels), encode)


def _flat_encoder(space: spaces.Space, flat: spaces.Box) -> Encoder:
    middle, half = _scaling(flat)
    is_scaled = bool((middle != 0).any() or (half != 1).any())

    def encode(observation: Any) -> np.ndarray:
        if isinstance(space, spaces.Box):
            observation = _fitting(space, observation)
        numbers = np.asarray(spaces.flatten(space, observation), np.float32)
        _require_shape(numbers, flat.shape)
        return (numbers - middle) / half if is_scaled else numbers

    return Encoder(VectorSpec(flat.shape[0]), encode)


def _scaling(flat: spaces.Box) -> tuple[np.ndarray, np.ndarray]:
    """`float32[N]` centre and half-width of the range of each number; 0 and 1 if it is not scaled."""
    low, high = flat.low.astype(np.float64), flat.high.astype(np.float64)
    widest = np.maximum(np.abs(low), np.abs(high))
    is_range = np.isfinite(widest) & (low < high) & (widest > 1)
    if np.issubdtype(flat.dtype, np.floating):
        is_range &= widest <= LOOSE_BOUND
    low, high = np.where(is_range, low, -1.0), np.where(is_range, high, 1.0)
    return ((high + low) / 2).astype(np.float32), ((high - low) / 2).astype(np.float32)


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
