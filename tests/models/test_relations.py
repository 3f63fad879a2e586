import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.environments.spaces import FlatSpec, Part
from attribute_planner.models.observation_scaling import FlatInput, related_numbers, with_observations
from attribute_planner.models.relations import MOST_NUMBERS, SCALES, num_relations, pairs_of, relations

KEY = jax.random.key(0)


def spec_of(*parts: tuple[int, bool]) -> FlatSpec:
    """Parts with a number of values each, integers or not."""
    return FlatSpec(
        tuple(Part(str(n), (size,), "numbers", 0, 32, integers=whole) for n, (size, whole) in enumerate(parts)),
        "float32",
    )


def test_a_pair_is_compared_at_each_scale():
    found = relations(jnp.array([[1.0, 3.0]]), jnp.zeros(2), jnp.full(2, 4.0), jnp.ones(2))
    np.testing.assert_allclose(found, [[2 / (2 + 2 * scale) for scale in SCALES]], rtol=1e-6)
    back = relations(jnp.array([[3.0, 1.0]]), jnp.zeros(2), jnp.full(2, 4.0), jnp.ones(2))
    np.testing.assert_allclose(back, -found, rtol=1e-6)


@pytest.mark.parametrize(
    ("mean", "variance", "overlap"),
    [
        ((0.0, 0.0), (1.0, 1.0), 1.0),
        ((0.0, 0.0), (1.0, 16.0), np.sqrt(8 / 17)),
        ((0.0, 4.0), (1.0, 1.0), np.exp(-2.0)),
        ((0.0, 0.0), (1.0, 0.0), 0.0),
        ((0.0, 0.0), (0.0, 0.0), 0.0),
    ],
)
def test_numbers_compare_as_far_as_their_distributions_overlap(mean, variance, overlap):
    values = jnp.array([0.0, 1e6])  # so far apart that every scale gives 1
    found = relations(values, jnp.array(mean), jnp.array(variance), jnp.ones(2))
    np.testing.assert_allclose(found, [overlap] * len(SCALES), rtol=1e-4, atol=1e-6)


def test_the_number_of_pairs_is_bounded():
    assert len(pairs_of(MOST_NUMBERS)[0]) == MOST_NUMBERS * (MOST_NUMBERS - 1) // 2
    assert num_relations(MOST_NUMBERS + 1) == num_relations(1) == num_relations(0) == 0


def test_only_numbers_that_are_not_integers_are_compared():
    assert related_numbers(spec_of((2, False), (3, True), (1, False))).tolist() == [0, 1, 5]
    assert FlatInput(spec_of((3, True)), 4, key=KEY).related is None
    assert FlatInput(spec_of((1, False)), 4, key=KEY).related is None


def test_a_number_that_only_took_whole_values_is_not_compared():
    legs = np.array([[0.5, -0.25, 1.0], [0.1, 0.3, 0.0]])
    layer = with_observations(FlatInput(spec_of((3, False)), 4, key=KEY), legs)
    found = layer.relations(jnp.asarray(legs, jnp.float32)).reshape(2, len(SCALES), 3)
    assert (np.abs(found[:, :, 0]) > 0.1).all(), "the first two"
    assert (found[:, :, 1:] == 0).all(), "the last one with each"


def test_small_differences_between_large_numbers_reach_the_network():
    rng = np.random.default_rng(0)
    layer = with_observations(FlatInput(spec_of((2, False)), 4, key=KEY), rng.uniform(-1, 1, (500, 2)))
    near = layer(jnp.array([[0.5, 0.52], [0.5, 0.48]]))
    assert layer.numbers is not None
    without = layer.numbers(layer.normalised(jnp.array([[0.5, 0.52], [0.5, 0.48]])))
    assert float(jnp.abs(near[0] - near[1]).max()) > 3 * float(jnp.abs(without[0] - without[1]).max())
