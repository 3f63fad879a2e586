"""Encoders: features of an observation, the current attributes and the goal; one class per kind of observation.

An attribute value of −1 means "not given": the exploration policy has no goal, and a detector has no attributes as
input.
"""

import abc
import math
from itertools import pairwise

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int, Shaped, UInt8

from attribute_planner.attributes import AttributeSpace
from attribute_planner.environments.spaces import FlatSpec, ImageSpec, ObservationSpec, VectorSpec, WordsSpec
from attribute_planner.models.layers import BagOfWords, Dense, Tower, elu
from attribute_planner.models.observation_scaling import FlatInput, layout_of, related_numbers
from attribute_planner.models.relations import num_relations
from attribute_planner.models.vision import Convolutions, Keypoints, Patches

Key = jax.Array
Values = Int[jax.Array, "*batch A"]
Features = Float[jax.Array, "*batch features"]

NO_VALUE = -1
"""Value of an attribute that is not given."""


class Encoder(eqx.Module):
    """Maps an observation, the current attributes and the goal to a feature vector."""

    features: eqx.AbstractVar[int]

    @abc.abstractmethod
    def __call__(self, observation: Shaped[jax.Array, "..."], values: Values, goal: Values) -> Features:
        """Features of observations `[*batch, *shape]`, attribute values and goal values."""


class WordsEncoder(Encoder):
    """The paper's grid-world network: a bag of words, including current and goal attributes, then two layers."""

    bag: BagOfWords
    attributes: Dense
    tower: Tower
    features: int = eqx.field(static=True)
    space: AttributeSpace = eqx.field(static=True)

    def __init__(self, spec: WordsSpec, space: AttributeSpace, hidden_size: int, *, key: Key) -> None:
        bag_key, attribute_key, tower_key = jax.random.split(key, 3)
        self.bag = BagOfWords(spec.vocabulary, hidden_size, words=spec.count, key=bag_key)
        # Attribute words are few and always present: a matrix product is faster than a sum of rows.
        self.attributes = Dense(2 * int(space.sizes.sum()), hidden_size, gain=1.0, key=attribute_key)
        self.tower = Tower(hidden_size, (hidden_size,), key=tower_key)
        self.features, self.space = hidden_size, space

    def __call__(self, observation: Int[jax.Array, "*batch words"], values: Values, goal: Values) -> Features:
        slots = [self.space.one_hot(values), self.space.one_hot(still_to_change(values, goal))]
        summed = self.bag(observation) + self.attributes(jnp.concatenate(slots, axis=-1))
        return self.tower(elu(summed))


class VectorEncoder(Encoder):
    """For vectors: the observation concatenated with one-hot current and goal attributes, then two layers."""

    tower: Tower
    features: int = eqx.field(static=True)
    space: AttributeSpace = eqx.field(static=True)

    def __init__(self, spec: VectorSpec, space: AttributeSpace, hidden_size: int, *, key: Key) -> None:
        self.tower = Tower(spec.size + 2 * int(space.sizes.sum()), (hidden_size, hidden_size), key=key)
        self.features, self.space = hidden_size, space

    def __call__(self, observation: Float[jax.Array, "*batch size"], values: Values, goal: Values) -> Features:
        parts = [observation, self.space.one_hot(values), self.space.one_hot(still_to_change(values, goal))]
        return self.tower(jnp.concatenate(parts, axis=-1))


class FlatEncoder(Encoder):
    """For raw values: a first layer scales, one-hot encodes or cuts them into patches; attributes and a layer follow.

    raw: the input layer of all parts but images; `None` if there are no others.
    images: the networks of the parts that are images.
    """

    raw: FlatInput | None
    images: tuple["ImagePart", ...]
    attributes: Dense
    tower: Tower
    features: int = eqx.field(static=True)
    space: AttributeSpace = eqx.field(static=True)

    def __init__(self, spec: FlatSpec, space: AttributeSpace, hidden_size: int, *, key: Key) -> None:
        raw_key, attribute_key, tower_key, image_key = jax.random.split(key, 4)
        has_raw = any(len(components.place) for components in layout_of(spec))
        self.raw = FlatInput(spec, hidden_size, key=raw_key) if has_raw else None
        places = [place for place, part in enumerate(spec.parts) if part.kind == "image"]
        keys = jax.random.split(image_key, len(places))
        self.images = tuple(ImagePart(spec, place, hidden_size, key=k) for place, k in zip(places, keys, strict=True))
        self.attributes = Dense(2 * int(space.sizes.sum()), hidden_size, gain=1.0, key=attribute_key)
        self.tower = Tower(hidden_size, (hidden_size,), key=tower_key)
        self.features, self.space = hidden_size, space

    def __call__(self, observation: Shaped[jax.Array, "*batch size"], values: Values, goal: Values) -> Features:
        slots = [self.space.one_hot(values), self.space.one_hot(still_to_change(values, goal))]
        summed = self.attributes(jnp.concatenate(slots, axis=-1))
        for layer in (self.raw, *self.images):
            summed = summed if layer is None else summed + layer(observation)
        return self.tower(elu(summed))


class ImagePart(eqx.Module):
    """An image within a flat array: patches and a linear layer."""

    patches: Patches
    picture: Dense
    start: int = eqx.field(static=True)
    shape: tuple[int, int, int] = eqx.field(static=True)

    def __init__(self, spec: FlatSpec, place: int, outputs: int, *, key: Key) -> None:
        patch_key, image_key = jax.random.split(key)
        self.start = sum(part.size for part in spec.parts[:place])
        height, width, channels = spec.parts[place].shape
        self.shape = height, width, channels
        self.patches = Patches(self.shape, key=patch_key)
        self.picture = Dense(self.patches.features, outputs, gain=1.0, key=image_key)

    def __call__(self, observation: Shaped[jax.Array, "*batch size"]) -> Float[jax.Array, "*batch outputs"]:
        flat = observation[..., self.start : self.start + math.prod(self.shape)]
        images = flat.reshape(-1, *self.shape).astype(jnp.float32) / 255 - 0.5
        return self.picture(self.patches(images)).reshape(*observation.shape[:-1], -1)


class ImageEncoder(Encoder):
    """The paper's block-stacking network.

    Convolutions and a dense layer encode the image, a dense layer encodes the attributes; two layers follow. The
    optional keypoints are inputs of the image's dense layer; the paper has none.
    """

    convolutions: Convolutions
    keypoints: Keypoints | None
    picture: Dense
    target: Dense
    tower: Tower
    features: int = eqx.field(static=True)
    space: AttributeSpace = eqx.field(static=True)

    def __init__(
        self, spec: ImageSpec, space: AttributeSpace, hidden_size: int, keypoints: int = 0, *, key: Key
    ) -> None:
        convolution_key, image_key, target_key, tower_key, keypoint_key = jax.random.split(key, 5)
        channels, features = _convolved(spec)
        self.convolutions = Convolutions(channels, key=convolution_key)
        self.keypoints = None
        if keypoints:
            map_channels = channels[min(KEYPOINT_MAP + 1, len(channels) - 1)]
            self.keypoints = Keypoints(map_channels, keypoints, key=keypoint_key)
        self.picture = Dense(features + 2 * keypoints, hidden_size, key=image_key)
        self.target = Dense(2 * int(space.sizes.sum()), hidden_size, key=target_key)
        self.tower = Tower(2 * hidden_size, (hidden_size, hidden_size), key=tower_key)
        self.features, self.space = hidden_size, space

    def __call__(self, observation: UInt8[jax.Array, "*batch H W C"], values: Values, goal: Values) -> Features:
        lead = observation.shape[:-3]
        images = observation.reshape(-1, *observation.shape[-3:]).astype(jnp.float32) / 255 - 0.5
        maps = self.convolutions(images if self.keypoints is None else CONTRAST * images)
        parts = [maps[-1].reshape(len(images), -1)]
        if self.keypoints is not None:
            parts.append(self.keypoints(maps[min(KEYPOINT_MAP, len(maps) - 1)]))
        encoded = jax.nn.elu(self.picture(jnp.concatenate(parts, axis=-1))).reshape(*lead, -1)
        attributes = jnp.concatenate([self.space.one_hot(values), self.space.one_hot(goal)], axis=-1)
        return self.tower(jnp.concatenate([encoded, jax.nn.elu(self.target(attributes))], axis=-1))


MAX_CONVOLUTIONS = 5
SMALLEST_MAP = 4
"""No further convolution below this map size: an image of 128 × 128 gets the paper's five, one of 56 × 56 four."""


def _convolved(spec: ImageSpec) -> tuple[list[int], int]:
    """The number of channels before and after each convolution of an image, and the size of the last map."""
    channels, height, columns = [spec.channels], spec.height, spec.width
    while len(channels) <= MAX_CONVOLUTIONS and (len(channels) == 1 or min(height, columns) > SMALLEST_MAP):
        channels.append(min(16 * 2 ** (len(channels) - 1), 64))
        height, columns = -(-height // 2), -(-columns // 2)
    return channels, height * columns * channels[-1]


CONTRAST = 4.0
"""Factor on the input image if keypoints are used: the network learns slightly faster."""
KEYPOINT_MAP = 2
"""Index of the map on which keypoints are computed: the third, 16 × 16 for an image of 128 × 128."""


def encoder_for(
    spec: ObservationSpec, space: AttributeSpace, hidden_size: int, keypoints: int = 0, *, key: Key
) -> Encoder:
    """The encoder for a kind of observation. `keypoints` applies to images only."""
    if isinstance(spec, WordsSpec):
        return WordsEncoder(spec, space, hidden_size, key=key)
    if isinstance(spec, VectorSpec):
        return VectorEncoder(spec, space, hidden_size, key=key)
    if isinstance(spec, FlatSpec):
        return FlatEncoder(spec, space, hidden_size, key=key)
    return ImageEncoder(spec, space, hidden_size, keypoints, key=key)


def still_to_change(values: Values, goal: Values) -> Values:
    """The goal's values where they differ from the current ones, `NO_VALUE` elsewhere.

    Neighbouring sets differ in one or two attributes. With this input the network does not have to learn to compare
    each current value with its goal.
    """
    return jnp.where(values == goal, NO_VALUE, goal)


def no_values(space: AttributeSpace, batch: tuple[int, ...]) -> Int[jax.Array, "*batch A"]:
    """Attribute values `[*batch, A]` that are all `NO_VALUE`."""
    return jnp.full((*batch, len(space)), np.int32(NO_VALUE))


def work_of(spec: ObservationSpec, hidden_size: int) -> float:
    """About how many multiplications it takes to encode an observation: those of the first layers."""
    if isinstance(spec, ImageSpec):
        channels, features = _convolved(spec)
        height, width, work = spec.height, spec.width, features * hidden_size
        for inputs, outputs in pairwise(channels):
            height, width = -(-height // 2), -(-width // 2)
            work += height * width * 9 * inputs * outputs
        return float(work)
    if isinstance(spec, FlatSpec):
        images = [part for part in spec.parts if part.kind == "image"]
        others = sum(len(components.place) for components in layout_of(spec))
        compared = num_relations(len(related_numbers(spec)))
        first_layer = (ROW_WORK * others + compared) * hidden_size
        return float(sum(_patch_work(part.shape, hidden_size) for part in images) + first_layer)
    return float(ROW_WORK * math.prod(spec.shape) * hidden_size)


ROW_WORK = 3
"""To look up and add a weight takes as long as this many multiplications."""


def _patch_work(shape: tuple[int, ...], hidden_size: int) -> int:
    height, width, channels = shape
    patches = eqx.filter_eval_shape(lambda key: Patches((height, width, channels), key=key), jax.random.key(0))
    return patches.features * (patches.side**2 * channels + hidden_size)
