"""Relations: how the numbers of an observation compare with each other, with a high resolution where they are equal.

Whether a point touches a disc, and from which side it pushes, follows from small differences of coordinates. A network
that gets each coordinate by itself learns to resolve them slowly. Of each pair of numbers with the difference d it also
gets

    d / (|d| + s)

for small and for larger s. Numbers of different kinds do not compare: each feature is multiplied by the overlap of the
distributions of its two numbers, taken as normal (the Bhattacharyya coefficient).
"""

from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Shaped

SCALES = (0.1, 0.4)
"""Each s, in standard deviations of the number that varies more."""

MOST_COMPARED = 12
"""The largest number of numbers that are compared with each other: the number of pairs grows with its square."""


@lru_cache
def pairs_of(count: int) -> tuple[np.ndarray, np.ndarray]:
    """The first and the second number of each pair; none if there are too many numbers."""
    return np.triu_indices(count if count <= MOST_COMPARED else 0, 1)


def num_relations(count: int) -> int:
    """The number of features of `count` numbers."""
    return len(SCALES) * len(pairs_of(count)[0])


def relations(
    values: Shaped[jax.Array, "*batch numbers"],
    mean: Float[jax.Array, "numbers"],
    deviation: Float[jax.Array, "numbers"],
) -> Float[jax.Array, "*batch relations"]:
    """The features of numbers with this mean and standard deviation; 0 for pairs with a number that has none (0)."""
    first, second = pairs_of(values.shape[-1])
    larger = jnp.maximum(deviation[first], deviation[second])
    # In units of the larger deviation, so that nothing overflows.
    unit = jnp.where(larger > 0, larger, 1.0)
    smaller = jnp.minimum(deviation[first], deviation[second]) / unit
    between = (mean[first] / unit - mean[second] / unit) ** 2
    overlap = jnp.sqrt(2 * smaller / (1 + smaller**2)) * jnp.exp(-between / (4 * (1 + smaller**2)))
    lead = (1,) * (values.ndim - 1)
    units = values[..., second] / unit.reshape(*lead, -1), values[..., first] / unit.reshape(*lead, -1)
    apart = jnp.clip(units[0] - units[1], -FURTHEST, FURTHEST)
    compared = [apart / (jnp.abs(apart) + scale) for scale in SCALES]
    return jnp.concatenate([overlap.reshape(*lead, -1) * each for each in compared], axis=-1)


FURTHEST = 1e6
"""Differences are clipped to ± this, in the same unit."""
