"""How networks see the raw values of a `FlatSpec`: numbers are normalised, small integers one-hot, images in patches.

`ObservationStatistics` are part of a network, in its `FlatInput`. They are saved with it and are not trained. Training
sets them by these functions, which accept any network and do nothing if it has no `FlatInput`:

    statistics_of(network)                      the statistics, or None
    with_statistics(network, statistics)        the network with these statistics
    with_observations(network, observations)    the network with its statistics updated by observations [..., size]

A train state must not be passed: the moments in its optimiser have the form of the network.

A component is treated by what the space says and what was seen of it:

- a choice of the space (Discrete, MultiDiscrete, MultiBinary) or a word of a text is always one-hot;
- one that only took whole numbers in a small range is one-hot; each value has a row of weights of its own, which does
  not depend on what else was seen; values outside the range add nothing;
- if the range has no rows because the observation is too large, whole numbers from −1 to 1 are left unchanged;
- any other is normalised by its mean and standard deviation. A component that never changed is 0.

Before the first observations, numbers of integer type are one-hot and the others are left unchanged.
"""

from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int, Shaped

from attribute_planner.environments.spaces import FlatSpec, ObservationSpec, VectorSpec
from attribute_planner.models.layers import BagOfWords, Dense
from attribute_planner.models.relations import num_relations, relations

Key = jax.Array
Network = TypeVar("Network")

LARGEST = 10.0
"""Normalised numbers are clipped to ± this."""

CONSTANT = 1e-6
"""A component is constant if its standard deviation is below this fraction of its mean."""


class ObservationStatistics(eqx.Module):
    """Statistics of each number of an observation; all arrays are `float32`, so that optimisers accept them.

    Numbers are the components of parts of that kind: choices, texts and images need no statistics.

    count: number of observations.
    mean, variance: of each number.
    coded: 1 for those that were only whole numbers in their range, else 0.
    """

    count: Float[jax.Array, ""]
    mean: Float[jax.Array, "numbers"]
    variance: Float[jax.Array, "numbers"]
    coded: Float[jax.Array, "numbers"]


class Components(NamedTuple):
    """Some components of an observation.

    place: `[n]` where they are in the flat array.
    first, slots: `[n]` the range of values that can be one-hot; no value can if `slots` is 0.
    integers: `[n]` whether the space holds integers.
    """

    place: np.ndarray
    first: np.ndarray
    slots: np.ndarray
    integers: np.ndarray

    def take(self, which: np.ndarray) -> "Components":
        return Components(*(column[which] for column in self))


class Layout(NamedTuple):
    """The components that are numbers, and those that are always one-hot."""

    numbers: Components
    choices: Components


@lru_cache
def layout_of(spec: FlatSpec) -> Layout:
    """Which components of an observation are numbers and which are choices."""
    sizes = [part.size for part in spec.parts]
    first, slots, integers = (
        np.repeat([getattr(part, name) for part in spec.parts], sizes) for name in ("first", "slots", "integers")
    )
    kind = np.repeat([part.kind for part in spec.parts], sizes)
    every = Components(np.arange(len(kind)), first.astype(np.int32), slots.astype(np.int32), integers)
    return Layout(every.take(kind == "numbers"), every.take((kind == "choice") | (kind == "text")))


def number_components(spec: ObservationSpec) -> np.ndarray:
    """Which components of a flat observation are numbers: no pixels, words or choices."""
    if isinstance(spec, FlatSpec):
        return layout_of(spec).numbers.place
    return np.arange(spec.size if isinstance(spec, VectorSpec) else 0)


@lru_cache
def related_numbers(spec: FlatSpec) -> np.ndarray:
    """Which numbers are compared with each other: those that are not of an integer type."""
    return np.flatnonzero(~layout_of(spec).numbers.integers)


def initial_statistics(spec: FlatSpec) -> ObservationStatistics:
    """The statistics before the first observation, from the space alone."""
    numbers = layout_of(spec).numbers
    coded = jnp.asarray(numbers.integers & (numbers.slots > 0), jnp.float32)
    return ObservationStatistics(jnp.zeros(()), jnp.zeros(len(coded)), jnp.ones(len(coded)), coded)


def updated(
    statistics: ObservationStatistics, spec: FlatSpec, observations: Shaped[Any, "*batch size"]
) -> ObservationStatistics:
    """The statistics of all observations so far, computed on the host in double precision."""
    numbers = layout_of(spec).numbers
    values = np.asarray(observations).reshape(-1, spec.shape[0])[:, numbers.place].astype(np.float64)
    before, count = float(statistics.count), float(statistics.count) + len(values)
    if count == before:
        return statistics
    coded = _in_range(numbers, values).all(axis=0)
    if before:
        coded &= np.asarray(statistics.coded) > 0
    # The means and variances of two samples give those of both together (Chan et al.).
    share = len(values) / count
    mean, variance = np.asarray(statistics.mean, float), np.asarray(statistics.variance, float)
    step = values.mean(axis=0) - mean
    variance = (1 - share) * variance + share * values.var(axis=0) + share * (1 - share) * step**2
    each, largest = (count, mean + share * step, variance, coded), np.finfo(np.float32).max
    return ObservationStatistics(*(jnp.asarray(np.clip(array, -largest, largest), jnp.float32) for array in each))


def _in_range(numbers: Components, values: np.ndarray) -> np.ndarray:
    """`[N, numbers]` whether each value is a whole number with a row; from −1 to 1 where no value has one."""
    first = np.where(numbers.slots > 0, numbers.first, -1)
    last = np.where(numbers.slots > 0, numbers.first + numbers.slots - 1, 1)
    return (values >= first) & (values <= last) & (values == np.round(values))


class FlatInput(eqx.Module):
    """The first layer for numbers, choices and texts.

    A linear function of normalised numbers, one-hot values and relations between numbers (`models.relations`).
    """

    statistics: ObservationStatistics
    bag: BagOfWords | None
    numbers: Dense | None
    related: Dense | None
    spec: FlatSpec = eqx.field(static=True)

    def __init__(self, spec: FlatSpec, outputs: int, *, key: Key) -> None:
        bag_key, number_key, related_key = jax.random.split(key, 3)
        numbers, choices = layout_of(spec)
        slots = np.concatenate([numbers.slots, choices.slots])
        self.statistics = initial_statistics(spec)
        self.bag = self.numbers = self.related = None
        if slots.any():
            self.bag = BagOfWords(int(slots.sum()), outputs, words=int((slots > 0).sum()), key=bag_key)
        if len(numbers.place):
            self.numbers = Dense(len(numbers.place), outputs, gain=1.0, key=number_key)
        if count := num_relations(len(related_numbers(spec))):
            self.related = Dense(count, outputs, gain=1.0, key=related_key)
        self.spec = spec

    def __call__(self, observation: Shaped[jax.Array, "*batch size"]) -> Float[jax.Array, "*batch outputs"]:
        layers = []
        if self.numbers is not None:
            layers.append(self.numbers(self.normalised(observation)))
        if self.bag is not None:
            layers.append(self.bag(self.rows(observation)))
        if self.related is not None:
            layers.append(self.related(self.relations(observation)))
        return sum(layers[1:], layers[0])

    def relations(self, observation: Shaped[jax.Array, "*batch size"]) -> Float[jax.Array, "*batch relations"]:
        """How the numbers of an observation compare with each other; 0 for those that are one-hot."""
        which, statistics = related_numbers(self.spec), jax.lax.stop_gradient(self.statistics)
        values = observation[..., layout_of(self.spec).numbers.place[which]].astype(jnp.float32)
        deviation = jnp.where(statistics.coded > 0, 0.0, _deviation(statistics))
        return relations(values, statistics.mean[which], deviation[which])

    def normalised(self, observation: Shaped[jax.Array, "*batch size"]) -> Float[jax.Array, "*batch numbers"]:
        """The numbers, normalised; 0 for those that are one-hot."""
        numbers, statistics = layout_of(self.spec).numbers, jax.lax.stop_gradient(self.statistics)
        coded, lead = statistics.coded > 0, (1,) * (observation.ndim - 1)
        deviation = _deviation(statistics)
        scale = jnp.where(deviation > 0, 1 / jnp.where(deviation > 0, deviation, 1.0), 0.0)
        scale = jnp.where(coded, jnp.asarray(numbers.slots == 0, jnp.float32), scale)
        mean = jnp.where(coded, 0.0, statistics.mean)
        values = observation[..., numbers.place].astype(jnp.float32)
        return jnp.clip((values - mean.reshape(*lead, -1)) * scale.reshape(*lead, -1), -LARGEST, LARGEST)

    def rows(self, observation: Shaped[jax.Array, "*batch size"]) -> Int[jax.Array, "*batch coded"]:
        """The row of each one-hot component; −1 where it has none."""
        numbers, choices = layout_of(self.spec)
        has_slots = numbers.slots > 0
        coded = jax.lax.stop_gradient(self.statistics.coded)[has_slots] > 0
        coded = jnp.concatenate([coded, jnp.ones(len(choices.place), bool)])
        pairs = zip(numbers.take(has_slots), choices, strict=True)
        place, first, slots, _ = (np.concatenate(pair) for pair in pairs)
        starts = np.cumsum(slots, dtype=np.int32) - slots
        lead = (1,) * (observation.ndim - 1)
        first, slots, starts, coded = (jnp.asarray(each).reshape(*lead, -1) for each in (first, slots, starts, coded))
        values = observation[..., place]
        whole = values.astype(jnp.int32)
        has_row = coded & (whole >= first) & (whole - first < slots) & (whole.astype(values.dtype) == values)
        return jnp.where(has_row, starts + whole - first, -1)


def _deviation(statistics: ObservationStatistics) -> Float[jax.Array, "numbers"]:
    """The standard deviation of each number; 0 for one that never changed."""
    deviation = jnp.sqrt(statistics.variance)
    return jnp.where(deviation > CONSTANT * jnp.abs(statistics.mean), deviation, 0.0)


def _is_input(node: Any) -> bool:
    return isinstance(node, FlatInput)


def _inputs(network: Any) -> list[FlatInput]:
    return [node for node in jax.tree.leaves(network, is_leaf=_is_input) if _is_input(node)]


def statistics_of(network: Any) -> ObservationStatistics | None:
    """The statistics of a network; `None` if it has none."""
    inputs = _inputs(network)
    return inputs[0].statistics if inputs else None


def with_statistics(network: Network, statistics: ObservationStatistics | None) -> Network:
    """The network with these statistics in all its inputs."""
    if statistics is None or not _inputs(network):
        return network

    def replaced(node: Any) -> Any:
        return eqx.tree_at(lambda layer: layer.statistics, node, statistics) if _is_input(node) else node

    return jax.tree.map(replaced, network, is_leaf=_is_input)


def with_observations(network: Network, observations: Any) -> Network:
    """The network with its statistics updated by observations `[..., size]`."""
    inputs = _inputs(network)
    if not inputs:
        return network
    return with_statistics(network, updated(inputs[0].statistics, inputs[0].spec, observations))


def is_trained(network: Any) -> Any:
    """A prefix of the tree of a network: `False` for statistics, which weight decay must not change."""

    def is_statistics(node: Any) -> bool:
        return isinstance(node, ObservationStatistics)

    return jax.tree.map(lambda node: not is_statistics(node), network, is_leaf=is_statistics)
