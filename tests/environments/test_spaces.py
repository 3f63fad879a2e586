"""Actions near others."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.environments.spaces import Action, Box, Discrete, Mixed, MixedAction, nearby_actions

SPACE = Mixed(Discrete(("this", "that")), Box((0.0, -2.0), (1.0, 2.0)))


def drawn_near(action: MixedAction, seed: int) -> Action:
    return nearby_actions(SPACE, action, 0.01, key=jax.random.key(seed))


def test_nearby_actions_keep_their_choice_and_stay_in_the_box():
    action = MixedAction(jnp.array([[0, 1]]), jnp.array([[[0.5, 0.0], [1.0, 2.0]]]))
    draws = [draw for seed in range(200) if isinstance(draw := drawn_near(action, seed), MixedAction)]
    assert len(draws) == 200
    points = np.stack([np.asarray(draw.point)[0] for draw in draws])
    assert all(np.array_equal(draw.choice, action.choice) for draw in draws)
    assert np.allclose(points[:, 0].std(axis=0), [0.01, 0.04], rtol=0.3)
    assert points[:, 1].max() <= 2.0
    assert (points[..., 0] <= 1.0).all()
    assert not np.array_equal(points[0], points[1])


def test_points_without_a_choice_have_neighbours_too():
    box = Box((0.0,), (10.0,))
    near = np.asarray(nearby_actions(box, jnp.full((500, 1), 5.0), 0.02, key=jax.random.key(0)))
    assert near.std() == pytest.approx(0.2, rel=0.2)


def test_there_is_nothing_between_two_choices():
    with pytest.raises(AssertionError, match="discrete actions have no neighbourhood"):
        nearby_actions(Discrete(("this", "that")), jnp.zeros(1, jnp.int32), 0.1, key=jax.random.key(0))
