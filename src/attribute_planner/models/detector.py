"""The attribute detector f̂(s) → ρ, learned from labelled pairs where the environment does not give f."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int, Shaped

from attribute_planner.attributes import AttributeSpace
from attribute_planner.environments.spaces import Observation, ObservationSpec, UnitObservation, WordsSpec
from attribute_planner.environments.spec import EnvironmentSpec
from attribute_planner.models.encoders import encoder_for, no_values
from attribute_planner.models.layers import BagOfWords, Dense, Tower, elu

Key = jax.Array


class AttributeDetector(eqx.Module):
    """f̂: maps an observation to a distribution over values for each attribute."""

    trunk: eqx.Module
    heads: Dense
    space: AttributeSpace = eqx.field(static=True)

    def __init__(self, spec: EnvironmentSpec, hidden_size: int, keypoints: int = 0, *, key: Key) -> None:
        trunk_key, head_key = jax.random.split(key)
        self.trunk = _trunk_for(spec.observation, spec.attributes, hidden_size, keypoints, key=trunk_key)
        self.heads = Dense(hidden_size, int(spec.attributes.sizes.sum()), gain=0.1, key=head_key)
        self.space = spec.attributes

    def logits(self, observation: Shaped[jax.Array, "..."]) -> Float[jax.Array, "*batch A V"]:
        """Unnormalised log probabilities of each value of each attribute, for observations `[*batch, ...]`."""
        return self.space.by_attribute(self.heads(self.trunk(observation)))  # pyright: ignore[reportCallIssue]

    def __call__(self, observation: Observation) -> Int[jax.Array, "*batch A"]:
        """The most likely value of each attribute."""
        assert not isinstance(observation, UnitObservation), "attributes cannot be detected from unit observations"
        return jnp.argmax(self.logits(jnp.asarray(observation)), axis=-1).astype(jnp.int32)


@eqx.filter_jit
def detected_values(detector: AttributeDetector, observation: Observation) -> Int[jax.Array, "B A"]:
    """The detected attribute values of a batch of observations; compiled."""
    return detector(observation)


@eqx.filter_jit
def detected_shares(detector: AttributeDetector, observation: Observation) -> Float[jax.Array, "B A V"]:
    """Log probabilities of each value of each attribute for a batch of observations; compiled."""
    return jax.nn.log_softmax(detector.logits(jnp.asarray(observation)))


class ItemsTrunk(eqx.Module):
    """For bags of words: encodes the words of each item separately and sums the results.

    A single sum over all words does not determine which colour belongs to which switch; a sum per item does.
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

    def __call__(self, observation: Int[jax.Array, "*batch words"]) -> Float[jax.Array, "*batch features"]:
        read = self.reader(elu(self.bag(self._words_by_item(observation))))
        return self.tower(jnp.sum(read, axis=-2))

    def _words_by_item(self, observation: jax.Array) -> jax.Array:
        """`[..., items, words per item]`, padded with `ABSENT`."""
        groups = [np.flatnonzero(np.equal(self.items, item)) for item in sorted(set(self.items))]
        longest = max(len(group) for group in groups)
        absent = observation.shape[-1]
        places = np.array([[*group, *[absent] * (longest - len(group))] for group in groups])
        padded = jnp.pad(observation, [(0, 0)] * (observation.ndim - 1) + [(0, 1)], constant_values=-1)
        return padded[..., places]


class EncoderTrunk(eqx.Module):
    """For vectors and images: the policy's encoder without attributes and goal."""

    encoder: eqx.Module
    space: AttributeSpace = eqx.field(static=True)
    observation_rank: int = eqx.field(static=True)

    def __init__(
        self, spec: ObservationSpec, space: AttributeSpace, hidden_size: int, keypoints: int, *, key: Key
    ) -> None:
        self.encoder = encoder_for(spec, space, hidden_size, keypoints, key=key)
        self.space, self.observation_rank = space, len(spec.shape)

    def __call__(self, observation: Shaped[jax.Array, "..."]) -> Float[jax.Array, "*batch features"]:
        nothing = no_values(self.space, observation.shape[: observation.ndim - self.observation_rank])
        return self.encoder(observation, nothing, nothing)  # pyright: ignore[reportCallIssue]


def _trunk_for(
    spec: ObservationSpec, space: AttributeSpace, hidden_size: int, keypoints: int, *, key: Key
) -> eqx.Module:
    if isinstance(spec, WordsSpec):
        return ItemsTrunk(spec, hidden_size, key=key)
    return EncoderTrunk(spec, space, hidden_size, keypoints, key=key)
