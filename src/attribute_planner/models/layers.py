"""Layers of all networks. They accept any number of leading batch axes."""

from collections.abc import Sequence
from functools import partial, reduce
from itertools import accumulate

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Float, Int

Key = jax.Array


class Dense(eqx.Module):
    """A linear layer on the last axis, initialised with orthogonal weights times `gain`."""

    weight: jax.Array
    bias: jax.Array

    def __init__(self, inputs: int, outputs: int, *, gain: float = 2**0.5, key: Key) -> None:
        self.weight = jax.nn.initializers.orthogonal(gain)(key, (inputs, outputs), jnp.float32)
        self.bias = jnp.zeros(outputs)

    def __call__(self, *inputs: jax.Array) -> jax.Array:
        """Applied to the concatenation of the inputs. Batch axes broadcast; an axis of size 1 is computed once."""
        ends = list(accumulate(part.shape[-1] for part in inputs))
        weights = jnp.split(self.weight, ends[:-1])
        outputs = reduce(jnp.add, (part @ weight for part, weight in zip(inputs, weights, strict=True)))
        return outputs + self.bias.reshape((1,) * (outputs.ndim - 1) + (-1,))


def elu(inputs: jax.Array) -> jax.Array:
    """The exponential linear unit, to an absolute error of 2e-7; on a CPU in about half the time of `jax.nn.elu`."""
    positive = inputs > 0
    return jnp.where(positive, inputs, jnp.exp(jnp.where(positive, 0.0, inputs)) - 1.0)


class Tower(eqx.Module):
    """Linear layers, each followed by an ELU."""

    layers: tuple[Dense, ...]

    def __init__(self, inputs: int, widths: Sequence[int], *, key: Key) -> None:
        keys = jax.random.split(key, len(widths))
        sizes = [inputs, *widths]
        self.layers = tuple(Dense(i, o, key=k) for i, o, k in zip(sizes, widths, keys, strict=False))

    def __call__(self, *inputs: jax.Array) -> jax.Array:
        """Applied to the concatenation of the inputs; see `Dense`."""
        first, *others = self.layers
        outputs = elu(first(*inputs))
        for layer in others:
            outputs = elu(layer(outputs))
        return outputs


class BagOfWords(eqx.Module):
    """A sum of word embeddings: equal to a linear layer on a multi-hot vector.

    rows: one row per word; the last row, for absent words, is always zero.
    """

    rows: Float[jax.Array, "vocabulary+1 width"]
    bias: Float[jax.Array, "width"]

    def __init__(self, vocabulary: int, hidden_size: int, *, words: int, key: Key) -> None:
        rows = jax.random.normal(key, (vocabulary + 1, hidden_size)) / words**0.5
        self.rows = rows.at[-1].set(0.0)
        self.bias = jnp.zeros(hidden_size)

    def __call__(self, words: Int[jax.Array, "*batch words"]) -> Float[jax.Array, "*batch width"]:
        words = words.astype(jnp.int32)
        words = jnp.where(words < 0, len(self.rows) - 1, words)
        flat = words.reshape(-1, words.shape[-1])
        return (sum_of_rows(self.rows, flat) + self.bias[None]).reshape(*words.shape[:-1], -1)


@jax.custom_vjp
def sum_of_rows(rows: Float[jax.Array, "rows width"], words: Int[jax.Array, "N K"]) -> Float[jax.Array, "N width"]:
    """The sum of the rows of each bag of K words."""
    return jax.lax.platform_dependent(rows, words, cpu=sum_by_position, default=sum_at_once)


def sum_at_once(rows: Float[jax.Array, "rows width"], words: Int[jax.Array, "N K"]) -> Float[jax.Array, "N width"]:
    """`sum_of_rows` in a single call, as is best on an accelerator.

    As a sum of K arrays, since a reduction over an axis of K takes eight times as long. The words are stored before:
    the call would otherwise compute each of them once for every column.
    """
    words = jax.lax.optimization_barrier(words)
    return reduce(jnp.add, (rows[words[:, place]] for place in range(words.shape[1])))


def sum_by_position(rows: Float[jax.Array, "rows width"], words: Int[jax.Array, "N K"]) -> Float[jax.Array, "N width"]:
    """The same, one position in the bag after the other.

    On a CPU this is several times as fast, because each gather (and each scatter of the gradient) moves whole rows.
    """
    nothing = jnp.zeros((len(words), rows.shape[1]), rows.dtype)
    return jax.lax.scan(lambda summed, word: (summed + rows[word], None), nothing, words.T, unroll=UNROLLED)[0]


UNROLLED = 8
"""Unroll factor of the loop over positions: larger values compile more slowly and run faster."""


def _sum_forwards(rows: jax.Array, words: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
    return sum_of_rows(rows, words), (rows, words)


def _sum_backwards(saved: tuple[jax.Array, jax.Array], slope: jax.Array) -> tuple[jax.Array, None]:
    """The gradient: for each row, the sum of the slopes of the bags that contain its word."""
    rows, words = saved
    # Absent words get no gradient: their row is out of bounds, and a scatter drops it.
    places = jnp.where(words == len(rows) - 1, OUT_OF_BOUNDS, words)
    by_position, at_once = (partial(each, rows=len(rows)) for each in (slopes_by_position, slopes_at_once))
    return jax.lax.platform_dependent(places, slope, cpu=by_position, default=at_once), None


OUT_OF_BOUNDS = 2**30


def slopes_at_once(
    places: Int[jax.Array, "N K"], slope: Float[jax.Array, "N width"], *, rows: int, partial_sums: int = 16
) -> Float[jax.Array, "{rows} width"]:
    """The gradient in a single call.

    partial_sums: additions to one row are serialised, and some words are in almost every bag: so they are added up in
        several parts. Many more parts gain little and do not fit into fast memory.
    """
    part = jnp.arange(len(places)) % partial_sums * rows
    nothing = jnp.zeros((partial_sums * rows, slope.shape[1]), slope.dtype)
    summed = nothing.at[places + part[:, None]].add(slope[:, None], mode="drop")
    return summed.reshape(partial_sums, rows, -1).sum(axis=0)


def slopes_by_position(
    places: Int[jax.Array, "N K"], slope: Float[jax.Array, "N width"], *, rows: int
) -> Float[jax.Array, "{rows} width"]:
    """The same, one position in the bag after the other."""

    def add(summed: jax.Array, place: jax.Array) -> tuple[jax.Array, None]:
        return summed.at[place].add(slope, mode="drop"), None

    return jax.lax.scan(add, jnp.zeros((rows, slope.shape[1]), slope.dtype), places.T, unroll=UNROLLED)[0]


sum_of_rows.defvjp(_sum_forwards, _sum_backwards)
