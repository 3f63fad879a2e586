"""The attribute detector f̂(s) → ρ: exact where the environment gives f, learned from labelled pairs elsewhere."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.attributes import AttributeSpace
from attribute_planner.environments.spaces import Observation, ObservationSpec, UnitObservation, WordsSpec
from attribute_planner.environments.spec import EnvironmentSpec
from attribute_planner.models.encoders import encoder_for, no_values
from attribute_planner.models.layers import BagOfWords, Dense, Tower

Key = jax.Array


class AttributeDetector(eqx.Module):
    """f̂: a network from an observation to one distribution over values per attribute."""

    trunk: eqx.Module
    heads: Dense
    space: AttributeSpace = eqx.field(static=True)

    def __init__(self, spec: EnvironmentSpec, hidden_size: int, keypoints: int = 0, *, key: Key) -> None:
        trunk_key, head_key = jax.random.split(key)
        self.trunk = _trunk_for(spec.observation, spec.attributes, hidden_size, keypoints, key=trunk_key)
        self.heads = Dense(hidden_size, int(spec.attributes.sizes.sum()), gain=0.1, key=head_key)
        self.space = spec.attributes

    def logits(self, observation: jax.Array) -> jax.Array:
        """`[..., A, V]` of each value of each attribute, not normalised."""
        return self.space.by_attribute(self.heads(self.trunk(observation)))  # pyright: ignore[reportCallIssue]

    def __call__(self, observation: Observation) -> jax.Array:
        """`int32[..., A]` the most likely value of each attribute."""
        assert not isinstance(observation, UnitObservation), "what single units see is nothing to detect attributes in"
        return jnp.argmax(self.logits(jnp.asarray(observation)), axis=-1).astype(jnp.int32)


@eqx.filter_jit
def detected_values(detector: AttributeDetector, observation: Observation) -> jax.Array:
    """`int32[B, A]` what a detector sees in a batch of observations, compiled."""
    return detector(observation)


@eqx.filter_jit
def detected_shares(detector: AttributeDetector, observation: Observation) -> jax.Array:
    """`[B, A, V]` how likely each value is, to a detector, in a batch of observations (log probabilities); compiled."""
    return jax.nn.log_softmax(detector.logits(jnp.asarray(observation)))


class ItemsTrunk(eqx.Module):
    """For bags of words: each thing in the world is read by itself, and what was read is summed.

    A single sum over all words cannot tell which colour belongs to which switch; a sum per thing can.
    """

    bag: BagOfWords
    reader: Tower
    tower: Tower
    items: tuple[int, ...] = eqx.field(static=True)

    def __init__(self, spec: WordsSpec, hidden_size: int, *, key: Key) -> None:
        bag_key, reader_key, tower_key = jax.random.split(key, 3)
        self.bag = BagOfWords(spec.vocabulary, hidden_size, words=2, key=bag_key)
        self.reader = Tower(hidden_size, (hidden_size,), key=reader_key)
        self.tower = Tower(hidden_size, (hidden_size,), key=tower_key)
        self.items = spec.items

    def __call__(self, observation: jax.Array) -> jax.Array:
        read = self.reader(jax.nn.elu(self.bag(self._words_by_item(observation))))
        return self.tower(jnp.sum(read, axis=-2))

    def _words_by_item(self, observation: jax.Array) -> jax.Array:
        """`[..., items, most words of an item]`, padded with absent words."""
        groups = [np.flatnonzero(np.equal(self.items, item)) for item in sorted(set(self.items))]
        longest = max(len(group) for group in groups)
        absent = observation.shape[-1]
        places = np.array([[*group, *[absent] * (longest - len(group))] for group in groups])
        padded = jnp.pad(observation, [(0, 0)] * (observation.ndim - 1) + [(0, 1)], constant_values=-1)
        return padded[..., places]


class BodyTrunk(eqx.Module):
    """For vectors and images: the policy's own body, told neither attributes nor goal."""

    encoder: eqx.Module
    space: AttributeSpace = eqx.field(static=True)
    observation_rank: int = eqx.field(static=True)

    def __init__(
        self, spec: ObservationSpec, space: AttributeSpace, hidden_size: int, keypoints: int, *, key: Key
    ) -> None:
        self.encoder = encoder_for(spec, space, hidden_size, keypoints, key=key)
        self.space, self.observation_rank = space, len(spec.shape)

    def __call__(self, observation: jax.Array) -> jax.Array:
        nothing = no_values(self.space, observation.shape[: observation.ndim - self.observation_rank])
        return self.encoder(observation, nothing, nothing)  # pyright: ignore[reportCallIssue]


def _trunk_for(
    spec: ObservationSpec, space: AttributeSpace, hidden_size: int, keypoints: int, *, key: Key
) -> eqx.Module:
    if isinstance(spec, WordsSpec):
        return ItemsTrunk(spec, hidden_size, key=key)
    return BodyTrunk(spec, space, hidden_size, keypoints, key=key)
