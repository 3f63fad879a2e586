"""Bodies: how a network takes in an observation, the current attributes and the goal; one for each kind of observation.

Attribute values of −1 mean "none": a policy that explores has no goal, a detector knows no attributes.
"""

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.attributes import AttributeSpace
from attribute_planner.environments.spaces import ImageSpec, ObservationSpec, VectorSpec, WordsSpec
from attribute_planner.models.layers import BagOfWords, Dense, Tower
from attribute_planner.models.vision import Convolutions, Keypoints

Key = jax.Array

NO_VALUE = -1
"""The value of an attribute that is not given."""


class Encoder(eqx.Module):
    """Features of what a decision depends on."""

    features: eqx.AbstractVar[int]

    @abc.abstractmethod
    def __call__(self, observation: jax.Array, values: jax.Array, goal: jax.Array) -> jax.Array:
        """`[..., features]` of an observation `[..., *shape]`, attribute values and goal values `[..., A]`."""


class WordsEncoder(Encoder):
    """The paper's grid-world network: a bag of words, current and target attributes among them, then two layers."""

    bag: BagOfWords
    attributes: Dense
    tower: Tower
    features: int = eqx.field(static=True)
    space: AttributeSpace = eqx.field(static=True)

    def __init__(self, spec: WordsSpec, space: AttributeSpace, hidden_size: int, *, key: Key) -> None:
        bag_key, attribute_key, tower_key = jax.random.split(key, 3)
        self.bag = BagOfWords(spec.vocabulary, hidden_size, words=spec.count, key=bag_key)
        # The words of the special slots: few and always there, so a matrix product is the faster sum of rows.
        self.attributes = Dense(2 * int(space.sizes.sum()), hidden_size, gain=1.0, key=attribute_key)
        self.tower = Tower(hidden_size, (hidden_size,), key=tower_key)
        self.features, self.space = hidden_size, space

    def __call__(self, observation: jax.Array, values: jax.Array, goal: jax.Array) -> jax.Array:
        slots = [self.space.one_hot(values), self.space.one_hot(still_to_change(values, goal))]
        summed = self.bag(observation) + self.attributes(jnp.concatenate(slots, axis=-1))
        return self.tower(jax.nn.elu(summed))


class VectorEncoder(Encoder):
    """For plain vectors: the observation beside one-hot current and target attributes; then two layers."""

    tower: Tower
    features: int = eqx.field(static=True)
    space: AttributeSpace = eqx.field(static=True)

    def __init__(self, spec: VectorSpec, space: AttributeSpace, hidden_size: int, *, key: Key) -> None:
        self.tower = Tower(spec.size + 2 * int(space.sizes.sum()), (hidden_size, hidden_size), key=key)
        self.features, self.space = hidden_size, space

    def __call__(self, observation: jax.Array, values: jax.Array, goal: jax.Array) -> jax.Array:
        parts = [observation, self.space.one_hot(values), self.space.one_hot(still_to_change(values, goal))]
        return self.tower(jnp.concatenate(parts, axis=-1))


class ImageEncoder(Encoder):
    """The paper's block-stacking network: convolutions and a layer to `width`, the goal to `width`, then two layers.

    With keypoints, the first of these layers is also told where things are; the paper has none.
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
        convolution_key, picture_key, target_key, tower_key = jax.random.split(key, 4)
        channels, height, columns = [spec.channels], spec.height, spec.width
        while len(channels) <= MAX_CONVOLUTIONS and (len(channels) == 1 or min(height, columns) > SMALLEST_MAP):
            channels.append(min(16 * 2 ** (len(channels) - 1), 64))
            height, columns = -(-height // 2), -(-columns // 2)
        self.convolutions = Convolutions(channels, key=convolution_key)
        self.keypoints = None
        if keypoints:
            pointed_at = channels[min(KEYPOINT_MAP + 1, len(channels) - 1)]
            self.keypoints = Keypoints(pointed_at, keypoints, key=jax.random.fold_in(convolution_key, 1))
        self.picture = Dense(height * columns * channels[-1] + 2 * keypoints, hidden_size, key=picture_key)
        self.target = Dense(2 * int(space.sizes.sum()), hidden_size, key=target_key)
        self.tower = Tower(2 * hidden_size, (hidden_size, hidden_size), key=tower_key)
        self.features, self.space = hidden_size, space

    def __call__(self, observation: jax.Array, values: jax.Array, goal: jax.Array) -> jax.Array:
        lead = observation.shape[:-3]
        images = observation.reshape(-1, *observation.shape[-3:]).astype(jnp.float32) / 255 - 0.5
        maps = self.convolutions(images if self.keypoints is None else CONTRAST * images)
        parts = [maps[-1].reshape(len(images), -1)]
        if self.keypoints is not None:
            parts.append(self.keypoints(maps[min(KEYPOINT_MAP, len(maps) - 1)]))
        seen = jax.nn.elu(self.picture(jnp.concatenate(parts, axis=-1))).reshape(*lead, -1)
        wanted = jnp.concatenate([self.space.one_hot(values), self.space.one_hot(goal)], axis=-1)
        return self.tower(jnp.concatenate([seen, jax.nn.elu(self.target(wanted))], axis=-1))


MAX_CONVOLUTIONS = 5
SMALLEST_MAP = 4
"""Convolutions stop halving a picture here: 128 × 128 gets the paper's five, a 56 × 56 one four."""

CONTRAST = 4.0
"""Where there are keypoints, pictures are shown with so much more contrast: the network learns a little faster."""
KEYPOINT_MAP = 2
"""In which map keypoints are found, from 0: in the third, where a picture of 128 × 128 has become 16 × 16."""


def encoder_for(
    spec: ObservationSpec, space: AttributeSpace, hidden_size: int, keypoints: int = 0, *, key: Key
) -> Encoder:
    """The body that fits a kind of observation; in pictures with so many keypoints."""
    if isinstance(spec, WordsSpec):
        return WordsEncoder(spec, space, hidden_size, key=key)
    if isinstance(spec, VectorSpec):
        return VectorEncoder(spec, space, hidden_size, key=key)
    return ImageEncoder(spec, space, hidden_size, keypoints, key=key)


def still_to_change(values: jax.Array, goal: jax.Array) -> jax.Array:
    """`int32[..., A]` the goal's values where they differ from the current ones, none elsewhere.

    Neighbouring sets differ in an attribute or two. A network that is shown only those need not find them out by
    comparing all pairs of values.
    """
    return jnp.where(values == goal, NO_VALUE, goal)


def no_values(space: AttributeSpace, lead: tuple[int, ...]) -> jax.Array:
    """`int32[*lead, A]` attributes that are not given."""
    return jnp.full((*lead, len(space)), np.int32(NO_VALUE))
