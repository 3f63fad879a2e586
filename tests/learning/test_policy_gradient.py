from dataclasses import replace
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.environments.spaces import Discrete, VectorSpec
from attribute_planner.learning import policy_gradient, ppo, reinforce
from attribute_planner.learning.policy_gradient import (
    Batch,
    Gain,
    TrainState,
    gradient_step,
    loss,
    new_train_state,
    weighted_mean,
)
from attribute_planner.learning.policy_gradient import returns_of as returns
from attribute_planner.learning.ppo import PPOConfig
from attribute_planner.learning.reinforce import ReinforceConfig
from attribute_planner.models.policy import GoalPolicy
from tests.probes import Still, numbers, with_drawn_weights

PLAIN = ReinforceConfig(discount=0.5, entropy_coef=0.0, value_coef=0.0)
CLIPPED = PPOConfig(discount=0.5, gae_lambda=1.0, entropy_coef=0.0, value_coef=0.0, anneal=False)


def steps(reward: list[float], **given: Any) -> Batch:
    """Steps of one copy, `[T, 1]`; whatever is not given is nothing."""
    count = len(reward)
    nothing, never = [0.0] * count, [False] * count
    fields: dict[str, Any] = {
        "observation": [[0.0]] * count,
        "values": [[0]] * count,
        "goal": [[0]] * count,
        "action": [0] * count,
        "log_prob": nothing,
        "value": nothing,
        "reward": reward,
        "ended": never,
        "cut": never,
        "weight": [1.0] * count,
        "imitate": never,
    } | given
    return Batch(**{name: jnp.array(column)[:, None] for name, column in fields.items()})


def returns_of(batch: Batch, gae_lambda: float = 1.0) -> list[float]:
    return np.asarray(returns(batch, 0.5, gae_lambda))[:, 0].round(5).tolist()


def test_returns_are_discounted_sums_up_to_the_end():
    # The fourth step belongs to what comes after; being the last of the batch, it is worth its baseline.
    batch = steps([1.0, 2.0, 4.0, 8.0], ended=[False, False, True, False], value=[9.0, 9.0, 9.0, 7.0])
    assert returns_of(batch) == [1 + 0.5 * (2 + 0.5 * 4), 2 + 0.5 * 4, 4.0, 7.0]


def test_a_step_whose_sequel_was_cut_away_is_worth_what_the_baseline_thought():
    batch = steps([1.0, 2.0, 4.0], cut=[False, True, False], ended=[False, False, True], value=[0.0, 3.0, 0.0])
    assert returns_of(batch) == [1 + 0.5 * 3, 3.0, 4.0]


def test_an_end_counts_more_than_a_cut():
    batch = steps([1.0, 2.0], cut=[False, True], ended=[False, True], value=[0.0, 100.0])
    assert returns_of(batch) == [2.0, 2.0]


def test_a_short_trace_trusts_the_baseline_of_the_next_step():
    batch = steps([1.0, 2.0, 4.0], ended=[False, False, True], value=[0.0, 10.0, 20.0])
    assert returns_of(batch, 0.0) == [1 + 0.5 * 10, 2 + 0.5 * 20, 4.0]
    # λ = 0.75: the second is worth 2 + 0.5 (0.75 · 4 + 0.25 · 20) = 6, the first 1 + 0.5 (0.75 · 6 + 0.25 · 10) = 4.5.
    assert returns_of(batch, 0.75) == [4.5, 6.0, 4.0]


def test_imitated_steps_are_plain_sums():
    batch = steps([1.0, 2.0, 4.0], ended=[False, False, True], value=[0.0, 10.0, 20.0], imitate=[True] * 3)
    assert returns_of(batch, 0.0) == [1 + 0.5 * (2 + 0.5 * 4), 2 + 0.5 * 4, 4.0]


def test_environments_do_not_influence_each_other():
    one, other = steps([1.0, 2.0], ended=[False, True]), steps([5.0, 6.0], ended=[True, True])
    both = jax.tree.map(lambda a, b: jnp.concatenate([a, b], axis=1), one, other)
    assert np.asarray(returns(both, 0.5)).tolist() == [[2.0, 5.0], [2.0, 6.0]]


def undecided() -> GoalPolicy:
    """A policy whose weights are all zero: its biases alone are the logits of two actions, and the baseline."""
    env = Still(VectorSpec(1), numbers(2), Discrete(("left", "right")))
    return jax.tree.map(jnp.zeros_like, with_drawn_weights(lambda key: GoalPolicy(env.spec, 2, key=key)))


class Slope(NamedTuple):
    """The gradient of the loss: `[2]` for the logits, and for the baseline."""

    logits: np.ndarray
    baseline: float


def slope_of(batch: Batch, returns: list[float], value_coef: float = 0.0, gain: Gain = reinforce._gain) -> Slope:
    steps = jax.tree.map(lambda leaf: leaf[:, 0], batch)

    @eqx.filter_jit
    @eqx.filter_jit
    @eqx.filter_grad
    def slope(policy: GoalPolicy, returns: jax.Array) -> jax.Array:
        return loss(policy, steps, returns, gain, value_coef, jnp.float32(0.0))[0]

    found = slope(undecided(), jnp.array(returns))
    return Slope(np.asarray(found.action_head.bias), float(found.baseline_head.bias[0]))


HALF = float(np.log(0.5))


def test_the_gradient_of_the_loss_is_reinforce():
    batch = steps([0.0, 0.0], action=[0, 1], log_prob=[HALF] * 2, value=[0.0, 1.0])
    # Surprises 3 and −1, in units of their root mean square √5; slopes of log π: ±(½, −½); the loss is minus the mean.
    expected = -0.5 * (3 * 0.5 + (-1) * (-0.5)) / np.sqrt(5)
    np.testing.assert_allclose(slope_of(batch, [3.0, 0.0]).logits, [expected, -expected], rtol=1e-4)


def test_steps_without_weight_teach_nothing():
    batch = steps([0.0, 0.0], action=[0, 1], log_prob=[HALF] * 2, weight=[1.0, 0.0])
    alone = steps([0.0], log_prob=[HALF])
    both, one = slope_of(batch, [2.0, 50.0], 1.0), slope_of(alone, [2.0], 1.0)
    np.testing.assert_allclose(both.logits, one.logits, rtol=1e-5)
    np.testing.assert_allclose(both.baseline, one.baseline, rtol=1e-5)


def test_the_baseline_learns_the_mean_return():
    batch = steps([0.0, 0.0], log_prob=[HALF] * 2)
    # Half the weight of the mean of (b − 1)² and (b − 3)² at b = 0.
    np.testing.assert_allclose(slope_of(batch, [1.0, 3.0], 0.5).baseline, 0.5 * (-2 - 6) / 2, rtol=1e-5)


def test_a_clipped_action_gains_nothing_by_becoming_likelier_still():
    # It was half as likely when it was taken: the ratio of 2 is beyond 1.2 already.
    batch = steps([0.0], log_prob=[float(np.log(0.25))])
    clipped = ppo._clipped_gain(CLIPPED)
    np.testing.assert_allclose(slope_of(batch, [1.0], gain=clipped).logits, [0.0, 0.0])
    assert slope_of(batch, [-1.0], gain=clipped).logits[0] > 0.1
    assert slope_of(batch, [1.0]).logits[0] < 0, "REINFORCE does not clip"


def test_hindsight_teaches_only_what_went_better_than_expected():
    worse = steps([0.0], imitate=[True], log_prob=[HALF])
    np.testing.assert_allclose(slope_of(worse, [-1.0]).logits, [0.0, 0.0])
    assert slope_of(worse, [1.0]).logits[0] < 0


@pytest.mark.parametrize(
    ("update", "config"),
    [(reinforce.update, PLAIN), (ppo.update, replace(CLIPPED, update_epochs=2, num_minibatches=2))],
)
def test_updates_make_the_rewarded_action_likelier(update: Any, config: Any):
    config = replace(config, learning_rate=0.1, value_coef=0.5)
    random = np.random.default_rng(0)
    action = random.integers(0, 2, 40).tolist()
    batch = steps([float(a) for a in action], action=action, log_prob=[HALF] * 40, ended=[True] * 40)
    train_state, metrics = new_train_state(undecided(), config), {}
    for key in jax.random.split(jax.random.key(0), 4):
        train_state, metrics = update(train_state, batch, config, key=key)
    logits = train_state.policy.action_head.bias
    assert logits[1] - logits[0] > 0.5
    np.testing.assert_allclose(metrics["return"], np.mean(action[:-1]), atol=0.05)
    annealed, _ = update(
        train_state, batch, replace(config, anneal=True), remaining=jnp.float32(0.0), key=jax.random.key(9)
    )
    np.testing.assert_array_equal(annealed.policy.action_head.bias, logits)


def test_a_weighted_mean_by_hand():
    assert weighted_mean(jnp.array([1.0, 5.0, 100.0]), jnp.array([1.0, 1.0, 0.0])) == 3.0
    assert weighted_mean(jnp.array([1.0]), jnp.array([0.0])) == 0.0


def leaning() -> GoalPolicy:
    """A policy with the logits 1 and 0, whatever it observes."""
    return eqx.tree_at(lambda policy: policy.action_head.bias, undecided(), jnp.array([1.0, 0.0]))


LEANING_ENTROPY = 0.5822
"""−p log p − q log q, with p = 1 / (1 + e⁻¹) and q = 1 − p."""


def test_the_entropy_is_a_bonus():
    batch = jax.tree.map(lambda leaf: leaf[:, 0], steps([0.0]))

    @eqx.filter_jit
    @eqx.filter_grad
    def slope(policy: GoalPolicy) -> jax.Array:
        return loss(policy, batch, jnp.zeros(1), reinforce._gain, 0.0, jnp.float32(2.0))[0]

    # The entropy falls by p q = 0.19661 where the larger logit rises; the loss is minus twice the entropy.
    np.testing.assert_allclose(slope(leaning()).action_head.bias, [2 * 0.19661, -2 * 0.19661], rtol=1e-4)


def test_the_entropy_bonus_is_annealed(monkeypatch: pytest.MonkeyPatch):
    def value_only(state: Any, loss: Any, config: Any, scale: Any) -> tuple:
        return state, {"loss": loss(state.policy)[0]}

    monkeypatch.setattr(policy_gradient, "descend", value_only)
    batch, config = jax.tree.map(lambda leaf: leaf[:, 0], steps([0.0])), replace(PLAIN, entropy_coef=0.1)
    for scale in (1.0, 0.25):
        state = TrainState(leaning(), ())
        _, metrics = gradient_step(state, batch, jnp.zeros(1), reinforce._gain, config, jnp.float32(scale))
        np.testing.assert_allclose(metrics["loss"], -0.1 * scale * LEANING_ENTROPY, rtol=1e-3)
