import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.data.examples import Examples, random_examples
from attribute_planner.environments.spaces import Discrete, VectorSpec
from attribute_planner.learning.fitting import FitConfig
from attribute_planner.learning.inverse import InverseConfig, fit_inverse, inverse_loss
from attribute_planner.learning.progress import no_callback
from attribute_planner.models.policy import GoalPolicy
from tests.probes import RING, Still, numbers, with_drawn_weights


def test_the_loss_is_the_surprise_at_the_actions_taken():
    env = Still(VectorSpec(1), numbers(2), Discrete(("left", "right")))
    policy = jax.tree.map(jnp.zeros_like, with_drawn_weights(lambda key: GoalPolicy(env.spec, 2, key=key)))
    # The hidden layers' biases are as wide; they do not reach the heads, whose weights are zero.
    policy = jax.tree.map(lambda leaf: jnp.log(jnp.array([1.0, 3.0])) if leaf.shape == (2,) else leaf, policy)
    steps = Examples(jnp.zeros((2, 1)), jnp.array([0, 1]), jnp.array([[0], [1]]), jnp.array([[1], [0]]))
    loss = inverse_loss(policy, steps)
    np.testing.assert_allclose(loss, -(np.log(1 / 4) + np.log(3 / 4)) / 2, rtol=1e-5)


def test_the_action_between_two_sets_is_learned_from_random_ones():
    examples = random_examples(RING, None, 256, num_envs=64, episode_steps=1, key=jax.random.key(0))
    config = InverseConfig(fit=FitConfig(updates=100, batch=32, learning_rate=0.02))
    policy = with_drawn_weights(lambda key: GoalPolicy(RING.spec, 16, key=key))
    policy = fit_inverse(RING, policy, examples, config, key=jax.random.key(1), watch=no_callback)
    output = policy(
        RING.observe_batch(examples.before), jnp.asarray(examples.values), jnp.asarray(examples.values_after)
    )
    assert (np.asarray(output.mode()) == examples.action).all()
