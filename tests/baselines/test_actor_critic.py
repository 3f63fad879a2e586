import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.baselines.actor_critic import DescentConfig, loss, update
from attribute_planner.environments.spaces import Discrete, VectorSpec
from attribute_planner.learning.policy_gradient import Batch, new_train_state, returns_of
from attribute_planner.models.policy import GoalPolicy
from tests.probes import Still, numbers, with_drawn_weights

PLAIN = DescentConfig(discount=0.5, entropy_coef=0.0, value_coef=0.0, anneal=False)


def steps_of(reward: list[float], action: list[int], value: list[float], ended: list[bool]) -> Batch:
    """Steps of one environment, `[T, 1]`."""
    count = len(reward)
    columns = {
        "observation": [[0.0]] * count,
        "values": [[0]] * count,
        "goal": [[0]] * count,
        "action": action,
        "log_prob": [0.0] * count,
        "value": value,
        "reward": reward,
        "ended": ended,
        "cut": [False] * count,
        "weight": [1.0] * count,
        "imitate": [False] * count,
    }
    return Batch(**{name: jnp.array(column)[:, None] for name, column in columns.items()})


def undecided() -> GoalPolicy:
    """A policy whose weights are all zero: its biases alone are the logits of two actions, and the critic."""
    env = Still(VectorSpec(1), numbers(2), Discrete(("left", "right")))
    return jax.tree.map(jnp.zeros_like, with_drawn_weights(lambda key: GoalPolicy(env.spec, 2, key=key)))


def test_returns_bootstrap_at_the_end_of_a_rollout():
    batch = steps_of([1.0, 2.0, 4.0], [0] * 3, [9.0, 9.0, 7.0], [False, False, False])
    assert returns_of(batch, PLAIN.discount)[:, 0].tolist() == [1 + 0.5 * (2 + 0.5 * 7), 2 + 0.5 * 7, 7.0]


def test_nothing_follows_the_end_of_an_episode():
    batch = steps_of([1.0, 2.0, 4.0], [0] * 3, [9.0, 9.0, 7.0], [False, True, False])
    assert returns_of(batch, PLAIN.discount)[:, 0].tolist() == [2.0, 2.0, 7.0]


def test_the_gradient_of_the_loss_by_hand():
    batch = steps_of([0.0, 0.0], [0, 1], [0.0, 1.0], [True, True])
    returns = jnp.array([[3.0], [0.0]])
    config = DescentConfig(entropy_coef=0.0, value_coef=0.5)

    @eqx.filter_jit
    @eqx.filter_grad
    def slope(policy: GoalPolicy) -> jax.Array:
        output = policy(batch.observation, batch.values, batch.goal)
        return loss(output, batch, returns, config, jnp.float32(1.0))[0]

    found = slope(undecided())
    # Advantages 3 and −1; slopes of log π: ±(½, −½); the loss is minus the mean.
    expected = -0.5 * (3 * 0.5 + (-1) * (-0.5))
    np.testing.assert_allclose(found.action_head.bias, [expected, -expected], rtol=1e-5)
    # Half the weight of the mean of (c − 3)² and (c − 0)² at c = 0.
    np.testing.assert_allclose(found.baseline_head.bias, [0.5 * (-6 - 0) / 2], rtol=1e-5)


def test_what_remains_of_training_scales_the_step():
    batch = steps_of([1.0, 0.0], [0, 1], [0.0, 0.0], [True, True])
    train_state = new_train_state(undecided(), DescentConfig(learning_rate=0.1))
    moved = [
        update(train_state, batch, DescentConfig(learning_rate=0.1), jnp.float32(share))[0] for share in (0.5, 0.0)
    ]
    half, none = (np.asarray(each.policy.action_head.bias) for each in moved)
    np.testing.assert_allclose(half, [0.05, -0.05], rtol=1e-2)
    np.testing.assert_array_equal(none, [0.0, 0.0])
