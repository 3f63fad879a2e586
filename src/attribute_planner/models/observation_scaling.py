"""How networks see the raw values of a `FlatSpec`: numbers are normalised, small integers are one-hot.

`ObservationStatistics` are part of a network, in its `FlatInput`. They are saved with it and are not trained. Training
sets them by these functions, which accept any network and do nothing if it has no `FlatInput`:

    statistics_of(network)                      the statistics, or None
    with_statistics(network, statistics)        the network with these statistics
    with_observations(network, observations)    the network with its statistics updated by observations [..., size]

A train state must not be passed: the moments in its optimiser have the form of the network.

A component is treated by what was seen of it:

- a choice of the space (Discrete, MultiDiscrete, MultiBinary) or a word of a text is always one-hot;
- one that only took whole numbers in a small range is one-hot; each value has a row of weights of its own, which does
  not depend on what else was seen; values outside the range add nothing;
- if the range has no rows because the observation is too large, whole numbers from −1 to 1 are left unchanged;
- any other is normalised by its mean and standard deviation. A component that never changed is 0.

Before the first observations, components of integer type are one-hot and the others are left unchanged.
"""

from typing import Any, NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int, Shaped

from attribute_planner.environments.spaces import FlatSpec
from attribute_planner.models.layers import BagOfWords, Dense

Key = jax.Array
Network = TypeVar("Network")

LARGEST = 10.0
"""Normalised numbers are clipped to ± this."""

CONSTANT = 1e-6
"""A component is constant if its standard deviation is below this fraction of its mean."""


class ObservationStatistics(eqx.Module):
    """Statistics of each component of an observation; all arrays are `float32`, so that optimisers accept them.

    count: number of observations.
    mean, variance: of each component.
    coded: 1 for components that only took whole numbers in their range, else 0.
    """

    count: Float[jax.Array, ""]
    mean: Float[jax.Array, "size"]
    variance: Float[jax.Array, "size"]
    coded: Float[jax.Array, "size"]


class Components(NamedTuple):
    """What the space says of each component, `[size]`.

    first, slots: the range of values that can be one-hot.
    integers: whether the space holds integers.
    fixed: whether it is one-hot whatever was seen.
    """

    first: np.ndarray
    slots: np.ndarray
    integers: np.ndarray
    fixed: np.ndarray


def components_of(spec: FlatSpec) -> Components:
    """What the space says of each component."""
    sizes = [part.size for part in spec.parts]
    columns = [(part.first, part.slots, part.integers, part.kind != "numbers") for part in spec.parts]
    return Components(*(np.repeat(column, sizes) for column in zip(*columns, strict=True)))


def initial_statistics(spec: FlatSpec) -> ObservationStatistics:
    """The statistics before the first observation: those of which nothing but the space is known."""
    size, components = spec.shape[0], components_of(spec)
    coded = (components.integers & (components.slots > 0)) | components.fixed
    return ObservationStatistics(jnp.zeros(()), jnp.zeros(size), jnp.ones(size), jnp.asarray(coded, jnp.float32))


def updated(
    statistics: ObservationStatistics, spec: FlatSpec, observations: Shaped[Any, "*batch size"]
) -> ObservationStatistics:
    """The statistics of all observations so far, on the host and in double precision."""
    values = np.asarray(observations, np.float64).reshape(-1, spec.shape[0])
    if not len(values):
        return statistics
    is_first = float(statistics.count) == 0
    components, before = components_of(spec), 0.0 if is_first else float(statistics.count)
    coded = components.fixed | np.all(_in_range(components, values), axis=0)
    if not is_first:
        coded &= np.asarray(statistics.coded) > 0
    share = len(values) / (before + len(values))
    mean, variance = np.asarray(statistics.mean, float), np.asarray(statistics.variance, float)
    step = values.mean(axis=0) - mean
    variance = (1 - share) * variance + share * values.var(axis=0) + share * (1 - share) * step**2
    each = (before + len(values), mean + share * step, variance, coded)
    return ObservationStatistics(*(jnp.asarray(array, jnp.float32) for array in each))


def _in_range(components: Components, values: np.ndarray) -> np.ndarray:
    """`[N, size]` whether each value is a whole number with a row; from −1 to 1 where no value has one."""
    first = np.where(components.slots > 0, components.first, -1)
    last = np.where(components.slots > 0, components.first + components.slots - 1, 1)
    return (values >= first) & (values <= last) & (values == np.round(values))


class FlatInput(eqx.Module):
    """The first layer for a `FlatSpec`: a linear function of normalised numbers and one-hot values."""

    statistics: ObservationStatistics
    bag: BagOfWords | None
    numbers: Dense
    spec: FlatSpec = eqx.field(static=True)

    def __init__(self, spec: FlatSpec, outputs: int, *, key: Key) -> None:
        bag_key, number_key = jax.random.split(key)
        slots = components_of(spec).slots
        self.statistics = initial_statistics(spec)
        self.bag = None
        if slots.any():
            self.bag = BagOfWords(int(slots.sum()), outputs, words=int((slots > 0).sum()), key=bag_key)
        self.numbers = Dense(spec.shape[0], outputs, gain=1.0, key=number_key)
        self.spec = spec

    def __call__(self, observation: Shaped[jax.Array, "*batch size"]) -> Float[jax.Array, "*batch outputs"]:
        outputs = self.numbers(self.normalised(observation))
        return outputs if self.bag is None else outputs + self.bag(self.rows(observation))

    def normalised(self, observation: Shaped[jax.Array, "*batch size"]) -> Float[jax.Array, "*batch size"]:
        """The components that are not one-hot, normalised; 0 for the others."""
        components, statistics = components_of(self.spec), jax.lax.stop_gradient(self.statistics)
        coded, lead = statistics.coded > 0, (1,) * (observation.ndim - 1)
        has_rows = jnp.asarray(components.slots > 0)
        deviation = jnp.sqrt(statistics.variance)
        is_constant = deviation <= CONSTANT * jnp.abs(statistics.mean)
        scale = jnp.where(is_constant, 0.0, 1 / jnp.where(is_constant, 1.0, deviation))
        scale = jnp.where(coded, jnp.where(has_rows, 0.0, 1.0), scale)
        mean = jnp.where(coded, 0.0, statistics.mean)
        mean, scale = mean.reshape(*lead, -1), scale.reshape(*lead, -1)
        return jnp.clip((observation.astype(jnp.float32) - mean) * scale, -LARGEST, LARGEST)

    def rows(self, observation: Shaped[jax.Array, "*batch size"]) -> Int[jax.Array, "*batch coded"]:
        """The row of each one-hot component; −1 where it has none."""
        components = components_of(self.spec)
        which = np.flatnonzero(components.slots)
        first, slots = (each[which].astype(np.int32) for each in components[:2])
        starts = (np.cumsum(slots) - slots).astype(np.int32)
        lead = (1,) * (observation.ndim - 1)
        first, slots, starts = (jnp.asarray(each).reshape(*lead, -1) for each in (first, slots, starts))
        values = observation[..., which]
        whole = values.astype(jnp.int32)
        place = whole - first
        coded = jax.lax.stop_gradient(self.statistics.coded)[which].reshape(*lead, -1) > 0
        has_row = coded & (place >= 0) & (place < slots) & (whole.astype(values.dtype) == values)
        return jnp.where(has_row, starts + place, -1)


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
