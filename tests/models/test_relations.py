import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.environments.spaces import FlatSpec, Part
from attribute_planner.models.observation_scaling import FlatInput, related_numbers, with_observations
from attribute_planner.models.relations import MOST_COMPARED, SCALES, num_relations, pairs_of, relations

KEY = jax.random.key(0)


def spec_of(*parts: tuple[int, bool]) -> FlatSpec:
    """Parts with a number of values each, integers or not."""
    return FlatSpec(
        tuple(Part(str(n), (size,), "numbers", 0, 32, integers=whole) for n, (size, whole) in enumerate(parts)),
        "float32",
    )


def test_a_pair_is_compared_at_each_scale():
    found = relations(jnp.array([[1.0, 3.0]]), jnp.zeros(2), jnp.full(2, 2.0))
    np.testing.assert_allclose(found, [[2 / (2 + 2 * scale) for scale in SCALES]], rtol=1e-6)
    back = relations(jnp.array([[3.0, 1.0]]), jnp.zeros(2), jnp.full(2, 2.0))
    np.testing.assert_allclose(back, -found, rtol=1e-6)


@pytest.mark.parametrize(
    ("mean", "deviation", "overlap"),
    [
        ((0.0, 0.0), (1.0, 1.0), 1.0),
        ((0.0, 0.0), (1.0, 4.0), np.sqrt(8 / 17)),
        ((0.0, 4.0), (1.0, 1.0), np.exp(-2.0)),
        ((0.0, 0.0), (1.0, 0.0), 0.0),
        ((0.0, 0.0), (0.0, 0.0), 0.0),
    ],
)
def test_numbers_compare_as_far_as_their_distributions_overlap(mean, deviation, overlap):
    values = jnp.array([0.0, 1e6])  # so far apart that every scale gives 1
    found = relations(values, jnp.array(mean), jnp.array(deviation))
    np.testing.assert_allclose(found, [overlap] * len(SCALES), rtol=1e-4, atol=1e-6)


def test_the_number_of_pairs_is_bounded():
    assert len(pairs_of(MOST_COMPARED)[0]) == MOST_COMPARED * (MOST_COMPARED - 1) // 2
    assert num_relations(MOST_COMPARED + 1) == num_relations(1) == num_relations(0) == 0


def test_only_numbers_that_are_not_integers_are_compared():
    assert related_numbers(spec_of((2, False), (3, True), (1, False))).tolist() == [0, 1, 5]
    assert FlatInput(spec_of((3, True)), 4, key=KEY).related is None
    assert FlatInput(spec_of((1, False)), 4, key=KEY).related is None


def test_a_number_that_only_took_whole_values_is_not_compared():
    legs = np.array([[1.0, 0.5, -0.25, 1.0], [0.0, 0.1, 0.3, 0.0]])
    layer = with_observations(FlatInput(spec_of((4, False)), 4, key=KEY), legs)
    found = np.abs(layer.relations(jnp.asarray(legs, jnp.float32)).reshape(2, len(SCALES), -1))
    pairs = [*zip(*pairs_of(4), strict=True)]
    assert (found[:, :, pairs.index((1, 2))] > 0.1).all()
    assert found.sum() == pytest.approx(found[:, :, pairs.index((1, 2))].sum())


def test_small_differences_between_large_numbers_reach_the_network():
    rng = np.random.default_rng(0)
    layer = with_observations(FlatInput(spec_of((2, False)), 4, key=KEY), rng.uniform(-1, 1, (500, 2)))
    near = layer(jnp.array([[0.5, 0.52], [0.5, 0.48]]))
    assert layer.numbers is not None
    without = layer.numbers(layer.normalised(jnp.array([[0.5, 0.52], [0.5, 0.48]])))
    assert float(jnp.abs(near[0] - near[1]).max()) > 3 * float(jnp.abs(without[0] - without[1]).max())


def test_a_number_that_never_changed_is_not_compared():
    layer = FlatInput(spec_of((2, False)), 4, key=KEY)
    for _ in range(20):
        layer = with_observations(layer, np.full((100, 2), 0.1))
    assert (layer.relations(jnp.array([0.1, 0.1001])) == 0).all()


@pytest.mark.parametrize("scale", [1e-15, 1e10, 1e20, 1e30])
def test_numbers_of_any_size_are_compared_without_overflow(scale: float):
    seen = np.random.default_rng(0).uniform(-1, 1, (500, 2)) * scale
    layer = with_observations(FlatInput(spec_of((2, False)), 4, key=KEY), seen)
    assert np.isfinite(layer(jnp.asarray(seen, jnp.float32))).all()
    far = jnp.array([3e38, -3e38])
    assert np.isfinite(layer(far)).all()
    gradient = jax.grad(lambda values: layer(values).sum())(far)
    assert np.isfinite(gradient).all()
