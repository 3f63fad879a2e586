import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.environments.spaces import Box, Discrete, Mixed, MixedAction
from attribute_planner.models.distributions import (
    PARTS,
    Categorical,
    ChoiceAndPoint,
    Mixture,
    Normal,
    SquashedNormal,
    distribution_of,
    head_size,
    sharpened,
)

MANY = 20_000
LOOK = jax.jit(
    lambda distribution, action: (distribution.log_prob(action), distribution.entropy(), distribution.mode())
)
"""Log probabilities of actions, entropies and modes, in one compiled call."""
DRAW = jax.jit(lambda distribution, key: distribution.sample(key=key))
HALF_LOG_2PI = 0.5 * np.log(2 * np.pi)


def test_log_probabilities_and_entropy_of_choices_by_hand():
    # Not normalised on purpose: weights 1, 1, 2 of 4.
    choices = Categorical(jnp.log(jnp.array([[1.0, 1.0, 2.0], [1.0, 0.0, 0.0]]) + 1e-30))
    log_prob, entropy, mode = LOOK(choices, jnp.array([2, 0]))
    np.testing.assert_allclose(log_prob, [np.log(0.5), 0.0], atol=1e-6)
    np.testing.assert_allclose(entropy, [1.5 * np.log(2), 0.0], atol=1e-6)
    assert mode.tolist() == [2, 0]


def test_choices_are_drawn_as_often_as_they_are_likely():
    probabilities = jnp.array([0.1, 0.0, 0.6, 0.3])
    logits = jnp.broadcast_to(jnp.log(probabilities + 1e-30), (MANY, 4))
    drawn = np.asarray(DRAW(Categorical(logits), jax.random.key(0)))
    np.testing.assert_allclose(np.bincount(drawn, minlength=4) / MANY, probabilities, atol=0.015)
    assert 1 not in drawn


def test_sharpening_multiplies_log_probabilities():
    choices = Categorical(jnp.log(jnp.array([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2]])))
    sharper = sharpened(choices, jnp.array([1.0, 2.0]))
    assert isinstance(sharper, Categorical)
    expected = np.array([[0.5, 0.3, 0.2], [0.25 / 0.38, 0.09 / 0.38, 0.04 / 0.38]])
    np.testing.assert_allclose(jax.nn.softmax(sharper.logits), expected, rtol=1e-5)
    same = sharpened(choices, jnp.asarray(2.0))
    assert isinstance(same, Categorical) and (same.logits[0] == sharper.logits[1]).all()
    points = SquashedNormal(jnp.zeros((1, 1)), jnp.zeros((1, 1)), jnp.zeros((1, 1)), jnp.ones((1, 1)))
    narrow = sharpened(points, jnp.array([16.0]))
    assert isinstance(narrow, SquashedNormal)
    np.testing.assert_allclose(jnp.exp(narrow.log_std), [[0.25]], rtol=1e-6)


def test_densities_and_entropy_of_points_by_hand():
    points = Normal(jnp.array([[1.0, 0.0]]), jnp.log(jnp.array([[2.0, 0.5]])))
    # One standard deviation off in the first dimension, two in the second.
    expected = (-0.5 - np.log(2) - HALF_LOG_2PI) + (-2.0 - np.log(0.5) - HALF_LOG_2PI)
    log_prob, entropy, mode = LOOK(points, jnp.array([[3.0, 1.0]]))
    np.testing.assert_allclose(log_prob, [expected], rtol=1e-5)
    np.testing.assert_allclose(entropy, [2 * (0.5 + HALF_LOG_2PI)], rtol=1e-5)
    assert mode.tolist() == [[1.0, 0.0]]


def test_points_are_drawn_with_their_mean_and_spread():
    points = Normal(jnp.full((MANY, 1), 3.0), jnp.full((MANY, 1), jnp.log(0.5)))
    drawn = np.asarray(DRAW(points, jax.random.key(0)))
    assert drawn.mean() == pytest.approx(3.0, abs=0.02)
    assert drawn.std() == pytest.approx(0.5, abs=0.02)


def test_zero_outputs_for_a_box_give_its_middle_and_half_its_half_width():
    points = distribution_of(Box((0.0, -1.0), (4.0, 1.0)), jnp.zeros((1, 4)))
    assert isinstance(points, SquashedNormal)
    np.testing.assert_allclose(points.mode(), [[2.0, 0.0]])
    np.testing.assert_allclose(jnp.exp(points.log_std), [[0.5, 0.5]], rtol=1e-6)


def test_points_in_a_box_never_leave_it_and_their_density_sums_to_one():
    points = distribution_of(Box((0.0,), (4.0,)), jnp.array([[1.5, 1.0]]))
    drawn = np.asarray(jax.vmap(lambda key: points.sample(key=key))(jax.random.split(jax.random.key(0), 1000)))
    assert (drawn >= 0).all() and (drawn <= 4).all()
    grid = jnp.linspace(1e-4, 4 - 1e-4, 20_001)
    density = jnp.exp(jax.vmap(lambda point: points.log_prob(point.reshape(1, 1)))(grid))[:, 0]
    assert float(jnp.trapezoid(density, grid)) == pytest.approx(1.0, abs=1e-2)
    below = float(jnp.trapezoid(jnp.where(grid < 3.5, density, 0.0), grid))
    assert float((drawn < 3.5).mean()) == pytest.approx(below, abs=0.05)


def test_samples_come_with_their_density():
    points = distribution_of(Box((0.0, -1.0), (4.0, 1.0)), jnp.array([[0.5, -0.3, 0.2, 0.1]]))
    assert isinstance(points, SquashedNormal)
    drawn, log_prob = points.sample_and_log_prob(key=jax.random.key(0))
    assert (drawn == points.sample(key=jax.random.key(0))).all()
    np.testing.assert_allclose(log_prob, points.log_prob(drawn), rtol=1e-4)


def test_entropy_falls_where_samples_are_rounded_to_the_border_of_the_box():
    def entropy(mean: jax.Array) -> jax.Array:
        points = distribution_of(Box((-1.0,), (1.0,)), jnp.stack([mean, jnp.zeros(())])[None])
        assert isinstance(points, SquashedNormal)
        return -points.sample_and_log_prob(key=jax.random.key(0))[1][0]

    assert float(entropy(jnp.float32(30.0))) == pytest.approx(-57, abs=2)
    # The density is 1 / (1 − tanh²), whose logarithm has a slope of 2.
    assert float(jax.grad(entropy)(jnp.float32(30.0))) == pytest.approx(-2.0)


def test_a_choice_with_a_point_by_hand():
    choice = Categorical(jnp.log(jnp.array([[0.25, 0.75]])))
    points = Normal(jnp.array([[[[0.0]], [[10.0]]]]), jnp.log(jnp.array([[[[1.0]], [[2.0]]]])))
    both = ChoiceAndPoint(choice, Mixture(Categorical(jnp.zeros((1, 2, 1))), points))
    # The second choice with a point one of its own standard deviations off.
    expected = np.log(0.75) - 0.5 - np.log(2) - HALF_LOG_2PI
    action = MixedAction(jnp.array([1]), jnp.array([[12.0]]))
    log_prob, entropy, mode = LOOK(both, action)
    np.testing.assert_allclose(log_prob, [expected], rtol=1e-5)
    of_choice = -(0.25 * np.log(0.25) + 0.75 * np.log(0.75))
    of_points = 0.25 * (0.5 + HALF_LOG_2PI) + 0.75 * (0.5 + HALF_LOG_2PI + np.log(2))
    np.testing.assert_allclose(entropy, [of_choice + of_points], rtol=1e-5)
    assert (mode.choice.tolist(), mode.point.tolist()) == ([1], [[10.0]])


def test_points_are_drawn_from_the_distribution_of_their_choice():
    space = Mixed(Discrete(("left", "right")), Box((-1.0,), (1.0,)))
    # Two logits, as many weights as there are parts, then centre and spread of each: far left or far right, and narrow.
    points = np.stack([np.tile([side, -9.0], PARTS) for side in (-9.0, 9.0)]).ravel()
    outputs = jnp.broadcast_to(
        jnp.concatenate([jnp.zeros(2 + 2 * PARTS), jnp.array(points, jnp.float32)]), (2000, 2 + 6 * PARTS)
    )
    drawn = jax.jit(lambda outputs, key: distribution_of(space, outputs).sample(key=key))(outputs, jax.random.key(0))
    assert isinstance(drawn, MixedAction)
    chosen, point = np.asarray(drawn.choice), np.asarray(drawn.point)[:, 0]
    assert 0.4 < chosen.mean() < 0.6
    np.testing.assert_allclose(point, np.where(chosen == 0, -1.0, 1.0), atol=0.15)


@pytest.mark.parametrize(
    ("space", "size"),
    [
        (Discrete(("a", "b", "c")), 3),
        (Box((0.0, 0.0), (1.0, 1.0)), 4),
        (Mixed(Discrete(("a", "b", "c")), Box((0.0, 0.0), (1.0, 1.0))), 3 + 3 * PARTS * 5),
    ],
)
def test_a_head_is_as_large_as_its_distribution_needs(space, size):
    assert head_size(space) == size

    def look(outputs: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        distribution = distribution_of(space, outputs)
        return distribution.log_prob(distribution.sample(key=key)), distribution.entropy()

    log_prob, entropy = jax.eval_shape(look, jnp.zeros((2, 5, size)), jax.random.key(0))
    assert log_prob.shape == entropy.shape == (2, 5)


def test_a_mixture_by_hand():
    parts = Normal(jnp.array([[[0.0], [10.0]]]), jnp.log(jnp.array([[[1.0], [0.5]]])))
    mixture = Mixture(Categorical(jnp.log(jnp.array([[0.6, 0.4]]))), parts)
    log_prob, entropy, mode = LOOK(mixture, jnp.array([[10.0]]))
    np.testing.assert_allclose(log_prob, [np.log(0.4) - np.log(0.5) - HALF_LOG_2PI], rtol=1e-5)
    of_parts = 0.6 * (0.5 + HALF_LOG_2PI) + 0.4 * (0.5 + HALF_LOG_2PI + np.log(0.5))
    np.testing.assert_allclose(entropy, [-0.6 * np.log(0.6) - 0.4 * np.log(0.4) + of_parts], rtol=1e-5)
    assert mode.tolist() == [[10.0]], "the second part has less weight, but is narrower and so higher"
    drawn = np.asarray(DRAW(jax.tree.map(lambda leaf: jnp.repeat(leaf, MANY, axis=0), mixture), jax.random.key(0)))
    assert (drawn > 5).mean() == pytest.approx(0.4, abs=0.02)


def test_the_parts_of_a_mixture_begin_apart():
    space = Mixed(Discrete(("a",)), Box((0.0, 0.0), (1.0, 1.0)))
    mixed = distribution_of(space, jnp.zeros((1, head_size(space))))
    assert isinstance(mixed, ChoiceAndPoint)
    centres = np.asarray(mixed.points.parts.mean)[0, 0]
    distances = np.linalg.norm(centres[:, None] - centres[None], axis=-1) + np.eye(PARTS)
    assert distances.min() > 0.1
