"""Parts of the forward model: how actions are told apart, and which of them likeliest lead somewhere."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.environments.registry import make
from attribute_planner.environments.spaces import MixedAction
from attribute_planner.models.beliefs import Beliefs, certain
from attribute_planner.models.forward_model import (
    ForwardModel,
    actions_to_try,
    expect_all,
    likeliest,
    log_prob_of,
    log_shares,
)
from tests.probes import with_drawn_weights


def a_forward_model(name: str) -> tuple[ForwardModel, jax.Array, jax.Array]:
    """An untrained forward model, and a state to look at."""
    env = make(name, image_size=16)
    forward_model = with_drawn_weights(lambda key: ForwardModel(env.spec, 8, key=key))
    # With loud heads it would be so sure of everything that actions tie.
    forward_model = eqx.tree_at(
        lambda forward_model: forward_model.heads.weight, forward_model, replace_fn=lambda weight: 0.01 * weight
    )
    picture = jax.random.randint(jax.random.key(1), (1, *env.observation.shape), 0, 255).astype(jnp.uint8)
    return forward_model, picture, jnp.zeros((1, len(env.attributes)), jnp.int32)


def test_only_points_are_multiplied_with_what_is_seen():
    assert a_forward_model("blocks")[0].products is None
    assert a_forward_model("blocks-continuous")[0].products is not None


@pytest.mark.slow
def test_the_likeliest_actions_are_those_that_lead_there():
    forward_model, picture, values = a_forward_model("blocks-continuous")
    points = jax.random.uniform(jax.random.key(2), (1, 40, 2))
    actions = MixedAction(jnp.arange(40).reshape(1, -1) % 4, points)
    features = forward_model.features(picture)
    expected, log_prob = expect_all(forward_model, features, certain(values), actions)
    aim = expected[:, 17]
    chances = log_prob_of(forward_model, features, certain(values), actions, aim)
    assert np.allclose(chances[0, 17], log_prob[0, 17], atol=1e-4)
    best = likeliest(forward_model, features, certain(values), actions, aim, 3)
    assert isinstance(best, MixedAction)
    order = np.argsort(-np.asarray(chances[0]).sum(axis=-1))[:3]
    assert np.array_equal(best.point[0], points[0][order])
    assert np.array_equal(best.choice[0], order % 4)


def test_what_is_not_wanted_does_not_count():
    forward_model, picture, values = a_forward_model("blocks-continuous")
    action = MixedAction(jnp.zeros((1, 1), jnp.int32), jnp.full((1, 1, 2), 0.5))

    @jax.jit
    def chance(outcome: jax.Array) -> jax.Array:
        return log_prob_of(forward_model, forward_model.features(picture), certain(values), action, outcome).sum()

    assert chance(jnp.full_like(values, -1)) == 0.0
    assert chance(values) < chance(values.at[:, 5:].set(-1)) < 0


def test_what_may_be_the_case_is_weighed():
    forward_model, picture, values = a_forward_model("blocks")
    actions, features = jnp.arange(5, dtype=jnp.int32).reshape(1, -1), forward_model.features(picture)
    other = values.at[:, 3].set(1)
    both = Beliefs(jnp.stack([values, other], axis=1), jnp.array([[0.75, 0.25]]))
    alone = [np.exp(log_shares(forward_model, features, certain(each), actions)) for each in (values, other)]
    assert not np.allclose(alone[0], alone[1], atol=1e-3)
    mixed = np.exp(log_shares(forward_model, features, both, actions))
    np.testing.assert_allclose(mixed, 0.75 * alone[0] + 0.25 * alone[1], atol=1e-5)


@pytest.mark.parametrize("name", ["blocks", "blocks-continuous"])
def test_several_actions_in_a_state_lead_where_each_alone_does(name: str):
    forward_model, picture, values = a_forward_model(name)
    features = forward_model.features(picture)
    actions = actions_to_try(forward_model.actions, 1, 5, key=jax.random.key(3))
    together = log_shares(forward_model, features, certain(values), actions)
    for place in range(together.shape[1]):
        action = jax.tree.map(lambda leaf, place=place: leaf[:, place], actions)
        alone = jax.nn.log_softmax(forward_model.logits(features, values, action))
        np.testing.assert_allclose(together[:, place], alone, atol=1e-5)
