from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.models.layers import (
    OUT_OF_BOUNDS,
    BagOfWords,
    Dense,
    Tower,
    elu,
    slopes_at_once,
    slopes_by_position,
    sum_at_once,
    sum_by_position,
    sum_of_rows,
)


def gathered_sum(rows: jax.Array, words: jax.Array) -> jax.Array:
    """The plain version: all rows at once."""
    return rows[words].sum(axis=1)


@pytest.fixture
def rows() -> jax.Array:
    return jnp.asarray(np.random.default_rng(0).normal(size=(12, 4)), jnp.float32)


@pytest.fixture
def words() -> jax.Array:
    """Bags with repeated words in them, more than are added at a time."""
    return jnp.asarray(np.random.default_rng(1).integers(0, 12, (7, 19)), jnp.int32)


@pytest.mark.parametrize("sum_of", [sum_of_rows, sum_by_position, sum_at_once])
def test_a_sum_of_rows_is_that_of_a_plain_gather(sum_of: Callable[..., jax.Array], rows: jax.Array, words: jax.Array):
    np.testing.assert_allclose(jax.jit(sum_of)(rows, words), gathered_sum(rows, words), rtol=1e-5, atol=1e-5)


def test_its_gradient_is_that_of_the_plain_version_but_for_absent_words(rows: jax.Array, words: jax.Array):
    def squares(sum_of):
        return lambda rows: (sum_of(rows, words) ** 3).sum()

    ours, plain = (jax.jit(jax.grad(squares(sum_of)))(rows) for sum_of in (sum_of_rows, gathered_sum))
    np.testing.assert_allclose(ours, plain.at[-1].set(0.0), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("partial_sums", [1, 2, 16])
def test_partial_sums_add_up_to_the_whole(words: jax.Array, partial_sums: int):
    slope = jnp.asarray(np.random.default_rng(2).normal(size=(len(words), 4)), jnp.float32)
    places = jnp.where(words == 11, OUT_OF_BOUNDS, words)
    at_once = slopes_at_once(places, slope, rows=12, partial_sums=partial_sums)
    np.testing.assert_allclose(at_once, slopes_by_position(places, slope, rows=12), atol=1e-5)
    assert not at_once[-1].any(), "absent words get no gradient"


def test_a_bag_of_words_by_hand():
    bag = BagOfWords(3, 2, words=1, key=jax.random.key(0))
    row = np.asarray(bag.rows)
    # Absent words, wherever they stand, add nothing.
    expected = np.stack([row[0] + row[2] + row[2], row[1], np.zeros(2)])
    found = eqx.filter_jit(bag)(jnp.array([[0, 2, 2], [-1, 1, -1], [-1, -1, -1]], jnp.int16))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def shape_of(layer: Callable[[jax.Array], Callable[[jax.Array], jax.Array]], *inputs: int) -> tuple[int, ...]:
    """The shape of what a layer, made with a key, makes of such inputs; nothing is computed."""
    whole = lambda key, values: layer(key)(values)  # noqa: E731
    return eqx.filter_eval_shape(whole, jax.random.key(0), jnp.zeros(inputs)).shape


def test_layers_take_any_number_of_leading_axes():
    assert shape_of(lambda key: Dense(3, 5, key=key), 2, 4, 3) == (2, 4, 5)
    assert shape_of(lambda key: Tower(3, (6, 5), key=key), 3) == (5,)
    bag = BagOfWords(9, 5, words=4, key=jax.random.key(0))
    assert bag(jnp.zeros((2, 3, 4), jnp.int16)).shape == (2, 3, 5)


def test_inputs_side_by_side_are_as_good_as_joined_ones():
    key = jax.random.key(0)
    tower = Tower(7, (5, 3), key=key)
    seen, done = jax.random.normal(key, (4, 1, 3)), jax.random.normal(jax.random.fold_in(key, 1), (4, 6, 4))
    joined = jnp.concatenate([jnp.broadcast_to(seen, (4, 6, 3)), done], axis=-1)
    np.testing.assert_allclose(tower(seen, done), tower(joined), atol=1e-5)


def test_the_fast_elu_has_the_values_and_slopes_of_the_exact_one():
    inputs = jnp.array([-1e4, -30.0, -2.0, -1e-3, -1e-9, 0.0, 1e-9, 0.5, 200.0, 1e30])
    np.testing.assert_allclose(elu(inputs), jax.nn.elu(inputs), rtol=0, atol=2e-7)
    slopes, exact = (jax.grad(lambda x, f=f: f(x).sum())(inputs) for f in (elu, jax.nn.elu))
    np.testing.assert_allclose(slopes, exact, rtol=1e-6, atol=1e-7)
