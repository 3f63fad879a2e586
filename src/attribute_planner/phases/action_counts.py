"""How often each action was taken at each observation of an episode, in a hash table of fixed size.

If observations repeat, taking the action that was taken least often covers an environment much faster than random
actions. Two observations with the same row of the table are counted as one, which hardly affects exploration.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Int, Shaped

BITS = 16
"""The table has 2^16 rows."""

_MULTIPLIERS = np.random.default_rng(0).integers(0, 2**32, 2**16, np.uint32) | np.uint32(1)


def row_of(
    observation: Shaped[jax.Array, "B *shape"], values: Int[jax.Array, "B A"], episode: Int[jax.Array, " B"]
) -> Int[jax.Array, " B"]:
    """The row of each observation with its attribute values in an episode."""
    mixed = hash_of(observation) ^ hash_of(values, 1) * np.uint32(0x9E3779B1)
    mixed = (mixed ^ episode.astype(jnp.uint32) * np.uint32(0x85EBCA77)) * np.uint32(0xC2B2AE3D)
    return (mixed >> np.uint32(32 - BITS)).astype(jnp.int32)


def hash_of(array: jax.Array, offset: int = 0) -> jax.Array:
    """`uint32[B]` a hash of each row of an array `[B, ...]`."""
    words = jax.lax.bitcast_convert_type(array.reshape(len(array), -1).astype(jnp.float32), jnp.uint32)
    which = (np.arange(words.shape[1]) + offset) % len(_MULTIPLIERS)
    # Every word is mixed before it is multiplied: the low bits of small whole numbers as floats are all zero.
    mixed = (words ^ (words >> np.uint32(15))) * jnp.asarray(_MULTIPLIERS[which])[None]
    return (mixed ^ (mixed >> np.uint32(13))).sum(axis=1, dtype=jnp.uint32)


def no_counts(num_actions: int) -> Int[jax.Array, "rows actions"]:
    """Zeros."""
    return jnp.zeros((2**BITS, num_actions), jnp.int32)


def least_taken(
    counts: Int[jax.Array, "rows actions"], rows: Int[jax.Array, " B"], *, key: jax.Array
) -> Int[jax.Array, " B"]:
    """The action that was taken least often in each row, a random one of several."""
    noise = jax.random.uniform(key, (len(rows), counts.shape[1]))
    return jnp.argmin(counts[rows].astype(jnp.float32) + 0.5 * noise, axis=1).astype(jnp.int32)
