"""Relations: how the numbers of an observation compare with each other, with a high resolution where they are equal.

Whether a point touches a disc, and from which side it pushes, follows from small differences of coordinates. A network
that gets each coordinate by itself learns to resolve them slowly. Of each pair of numbers with the difference d it also
gets

    d / (|d| + s)

for small and for larger s. Only numbers of the same kind compare: each feature is multiplied by the overlap of the
distributions of its two numbers, taken as normal (the Bhattacharyya coefficient). It is near 0 for a position and a
velocity in other units.
"""

from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Shaped

SCALES = (0.1, 0.4)
"""Each s, in standard deviations of the two numbers."""

MOST_NUMBERS = 12
"""The largest number of numbers that are compared with each other: the number of pairs grows with its square."""


@lru_cache
def pairs_of(count: int) -> tuple[np.ndarray, np.ndarray]:
    """The first and the second number of each pair; none if there are too many numbers."""
    return np.triu_indices(count if count <= MOST_NUMBERS else 0, 1)


def num_relations(count: int) -> int:
    """The number of features of `count` numbers."""
    return len(SCALES) * len(pairs_of(count)[0])


def relations(
    values: Shaped[jax.Array, "*batch numbers"],
    mean: Float[jax.Array, "numbers"],
    variance: Float[jax.Array, "numbers"],
    comparable: Float[jax.Array, "numbers"],
) -> Float[jax.Array, "*batch relations"]:
    """The features of numbers with this mean and variance; 0 unless both numbers of a pair are comparable (1)."""
    first, second = pairs_of(values.shape[-1])
    together = variance[first] + variance[second]
    safe = jnp.where(together > 0, together, 1.0)
    product = jnp.sqrt(variance[first] * variance[second])
    overlap = jnp.sqrt(2 * product / safe) * jnp.exp(-((mean[first] - mean[second]) ** 2) / (4 * safe))
    overlap *= comparable[first] * comparable[second]
    values, lead = values.astype(jnp.float32), (1,) * (values.ndim - 1)
    apart, deviation = values[..., second] - values[..., first], jnp.sqrt(safe / 2)
    compared = [apart / (jnp.abs(apart) + (scale * deviation).reshape(*lead, -1)) for scale in SCALES]
    return jnp.concatenate([overlap.reshape(*lead, -1) * each for each in compared], axis=-1)
