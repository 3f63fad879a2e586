import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.environments.spaces import Discrete, FlatSpec, Part, VectorSpec, WordsSpec
from attribute_planner.learning.fitting import FitConfig, fit
from attribute_planner.models.encoders import encoder_for
from attribute_planner.models.observation_scaling import (
    FlatInput,
    initial_statistics,
    is_trained,
    number_components,
    statistics_of,
    updated,
    with_observations,
    with_statistics,
)
from attribute_planner.models.policy import GoalPolicy
from tests.probes import Still

SPACE = AttributeSpace((Attribute("lamp"),))
KEY = jax.random.key(0)
NUMBERS = FlatSpec((Part("", (3,), "numbers", -8, 32, integers=False),), "float32")
CODES = FlatSpec((Part("grid", (2,), "numbers", 0, 32), Part("way", (), "choice", 1, 4)), "uint8")
TOO_MANY = FlatSpec((Part("", (2,), "numbers", 0, 0, integers=False),), "float32")


def seen(spec: FlatSpec, observations: np.ndarray) -> FlatInput:
    """An input layer after these observations."""
    return with_observations(FlatInput(spec, 4, key=KEY), observations)


def test_statistics_in_parts_are_those_of_the_whole():
    values = np.random.default_rng(0).normal([1e4, -3.0, 0.0], [1.0, 0.01, 100.0], (1000, 3))
    statistics = initial_statistics(NUMBERS)
    for part in (values[:1], values[1:17], values[17:17], values[17:]):
        statistics = updated(statistics, NUMBERS, part.reshape(1, -1, 3))
    assert float(statistics.count) == 1000
    np.testing.assert_allclose(statistics.mean, values.mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(statistics.variance, values.var(axis=0), rtol=1e-3)


def test_numbers_are_normalised_and_clipped_and_constants_are_zero():
    layer = seen(NUMBERS, np.array([[1.5, 100.25, 0.1], [2.5, 100.75, 0.1]]))
    found = layer.normalised(jnp.array([[2.0, 100.75, 0.1], [2.5, 1e6, 7.0]]))
    np.testing.assert_allclose(found, [[0.0, 1.0, 0.0], [1.0, 10.0, 0.0]], atol=1e-5)
    assert (layer.rows(jnp.array([[2.0, 100.0, 0.0]])) == -1).all()


def test_whole_numbers_of_a_small_range_are_one_hot():
    layer = seen(CODES, np.array([[0, 10, 1], [3, 8, 2]], np.uint8))
    found = jnp.array([[0, 10, 1], [31, 32, 4], [5, 5, 0]], jnp.uint8)
    # Values that were not seen have rows of their own; those without a row add nothing.
    assert layer.rows(found).tolist() == [[0, 42, 64], [31, -1, 67], [5, 37, -1]]
    assert (layer.normalised(found) == 0).all()


def test_rows_are_the_same_after_more_was_seen():
    observation = jnp.array([[3, 4, 2]], jnp.uint8)
    before, after = (seen(CODES, np.array(values, np.uint8)) for values in ([[3, 4, 1]], [[3, 4, 1], [0, 9, 1]]))
    np.testing.assert_array_equal(before(observation), after(observation))


@pytest.mark.parametrize("other", [0.5, 24.0, -9.0])
def test_one_other_number_makes_a_component_a_number(other: float):
    layer = seen(NUMBERS, np.array([[1.0, 2.0, -8.0], [0.0, 4.0, 23.0]]))
    assert np.asarray(layer.statistics.coded).tolist() == [1, 1, 1]
    layer = with_observations(layer, np.array([[1.0, other, 3.0]]))
    assert np.asarray(layer.statistics.coded).tolist() == [1, 0, 1]
    layer = with_observations(layer, np.array([[1.0, 2.0, 3.0]]))
    assert np.asarray(layer.statistics.coded).tolist() == [1, 0, 1]
    assert layer.rows(jnp.array([[1.0, 2.0, 0.5]])).tolist() == [[9, -1, -1]]


def test_where_no_value_has_a_row_bits_are_unchanged():
    layer = seen(TOO_MANY, np.array([[0.0, 5.0], [1.0, 7.0]] + [[0.0, 6.0]] * 98))
    assert layer.bag is None
    np.testing.assert_allclose(layer.normalised(jnp.array([[1.0, 6.0]])), [[1.0, 0.0]], atol=1e-5)


def test_before_the_first_observation_the_space_decides():
    assert FlatInput(CODES, 4, key=KEY).rows(jnp.array([[7, 0, 1]], jnp.uint8)).tolist() == [[7, 32, 64]]
    assert FlatInput(NUMBERS, 4, key=KEY).normalised(jnp.array([[1.5, 0.0, -2.0]])).tolist() == [[1.5, 0.0, -2.0]]


def test_networks_without_raw_values_have_no_statistics():
    policy = GoalPolicy(Still(VectorSpec(3), SPACE, Discrete(("a", "b"))).spec, 4, key=KEY)
    assert statistics_of(policy) is None
    assert with_statistics(policy, initial_statistics(NUMBERS)) is policy
    assert with_observations(policy, np.zeros((2, 3))) is policy


def test_training_leaves_the_statistics_alone():
    values = np.random.default_rng(0).normal(5.0, 2.0, (64, 3)).astype(np.float32)
    policy = with_observations(GoalPolicy(Still(NUMBERS, SPACE, Discrete(("a", "b"))).spec, 4, key=KEY), values)

    def loss(policy: GoalPolicy, observation: jax.Array) -> jax.Array:
        nothing = jnp.zeros((len(observation), 1), jnp.int32)
        return jnp.mean((policy(observation, nothing, nothing).baseline - observation[:, 0]) ** 2)

    config = FitConfig(updates=20, batch=8, weight_decay=0.5, max_grad_norm=1.0)
    show = lambda batch, key: batch  # noqa: E731
    trained = fit(policy, show, loss, values, config, key=KEY, report=lambda *_: None)
    before, after = statistics_of(policy), statistics_of(trained)
    assert eqx.tree_equal(before, after)
    assert not eqx.tree_equal(policy.action_head, trained.action_head)
    state = optax.adamw(0.1, mask=is_trained).init(eqx.filter(policy, eqx.is_array))
    assert state is not None


def test_an_image_among_other_parts_is_encoded():
    spec = FlatSpec((Part("way", (), "choice", 0, 4), Part("view", (16, 20, 3), "image")), "uint8")
    encoder = eqx.filter_jit(encoder_for(spec, SPACE, 8, key=KEY))
    nothing = jnp.zeros((2, 3, 1), jnp.int32)
    observation = np.random.default_rng(0).integers(0, 4, (2, 3, *spec.shape)).astype(np.uint8)
    found = encoder(jnp.asarray(observation), nothing, nothing)
    assert found.shape == (2, 3, 8)
    for place in (0, 500):
        changed = observation.copy()
        changed[..., place] ^= 1
        assert np.abs(encoder(jnp.asarray(changed), nothing, nothing) - found).max() > 1e-5
    only_image = eqx.filter_jit(
        encoder_for(FlatSpec((Part("view", (16, 20, 3), "image"),), "uint8"), SPACE, 8, key=KEY)
    )
    assert only_image(jnp.asarray(observation[..., 1:]), nothing, nothing).shape == (2, 3, 8)


def test_pixels_choices_and_words_are_no_numbers():
    parts = (
        Part("speed", (2,), "numbers", integers=False),
        Part("camera", (4, 4, 3), "image", 0, 0),
        Part("state", (), "choice", 0, 64),
        Part("row", (), "numbers", 0, 19),
    )
    assert number_components(FlatSpec(parts, "float32")).tolist() == [0, 1, 51]
    assert number_components(VectorSpec(3)).tolist() == [0, 1, 2]
    assert number_components(WordsSpec(4, 9, items=(0,) * 4)).tolist() == []
