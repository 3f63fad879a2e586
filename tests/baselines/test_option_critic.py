from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.baselines.actor_critic import DescentConfig
from attribute_planner.baselines.option_critic import (
    NO_OPTION,
    OptionActor,
    OptionCriticConfig,
    ending_loss,
    train,
    update,
)
from attribute_planner.baselines.options import OptionOutput, OptionPolicy
from attribute_planner.baselines.training_loop import batch_of, train_on_tasks
from attribute_planner.environments.graph_world import Edge, Place
from attribute_planner.environments.spaces import Box, Discrete, GoalObservation, Mixed, UnitObservation, VectorSpec
from attribute_planner.environments.vector_env import TimeStep
from attribute_planner.learning.policy_gradient import new_train_state
from attribute_planner.learning.progress import no_callback
from tests.baselines.probes import TRAINING, WithTasks, go_to
from tests.probes import RING, Levers, Still, numbers, with_drawn_weights

TWO = Discrete(("left", "right"))
CONFIG = OptionCriticConfig(deliberation_cost=0.25, epsilon=0.5)


def output_of(q_value: list[float], end: list[float]) -> OptionOutput:
    """The output for one observation."""
    outputs = jnp.array([[[5.0, 0.0], [0.0, 5.0]]])
    return OptionOutput(outputs, jnp.array([q_value]), jnp.array([end]), None, TWO)


def test_the_value_of_a_choice_by_hand():
    output = output_of([1.0, 3.0], [0.5, 0.5])
    # The better one with probability 0.75, the other with 0.25.
    np.testing.assert_allclose(output.value(0.5), [0.75 * 3 + 0.25 * 1], rtol=1e-6)
    np.testing.assert_allclose(output.value(0.0), [3.0], rtol=1e-6)
    assert np.asarray(output.under(jnp.array([1])).mode()) == [1]
    assert output.under(jnp.array([1])).baseline.tolist() == [3.0]


def test_an_option_ends_where_others_have_a_value_higher_by_the_deliberation_cost():
    def slope(held: int, q_value: list[float]) -> list[float]:
        def loss(end: jax.Array) -> jax.Array:
            output = OptionOutput(jnp.zeros((1, 2, 2)), jnp.array([q_value]), end, None, TWO)
            return ending_loss(output, jnp.array([held]), CONFIG)[0]

        return jax.grad(loss)(jnp.array([[0.5, 0.5]]))[0].tolist()

    # V = 2.5: the first is worth 1.5 less, which the cost of 0.25 does not outweigh; the second 0.5 more.
    assert slope(0, [1.0, 3.0]) == [1.0 - 2.5 + 0.25, 0.0]
    assert slope(1, [1.0, 3.0]) == [0.0, 3.0 - 2.5 + 0.25]
    # V = 1.075: a small difference is not worth a new choice.
    assert slope(0, [1.0, 1.1])[0] > 0


def seen(observation: Any, values: jax.Array) -> GoalObservation:
    """An observation with the present values as the goal."""
    return GoalObservation(observation, values, jnp.zeros(len(values), bool))


def test_an_option_is_followed_until_it_ends():
    # The second option has a higher value; the first one never ends, the second always.
    env = Still(VectorSpec(1), numbers(2), TWO)
    policy = jax.tree.map(jnp.zeros_like, with_drawn_weights(lambda key: OptionPolicy(env.spec, 4, 2, key=key)))
    policy = eqx.tree_at(lambda policy: policy.q_head.bias, policy, jnp.array([0.0, 1.0]))
    actor = OptionActor(eqx.tree_at(lambda policy: policy.end_head.bias, policy, jnp.array([-99.0, 99.0])))
    assert actor.begin(3, key=jax.random.key(0)).tolist() == [NO_OPTION] * 3
    values, held = jnp.zeros((3, 1), jnp.int32), jnp.array([NO_OPTION, 0, 1], jnp.int32)
    memory, _, choice = actor.act(held, seen(jnp.zeros((3, 1)), values), values, key=jax.random.key(0))
    assert memory.tolist() == choice.option.tolist() == [1, 0, 1]
    assert choice.held.tolist() == [NO_OPTION, 0, 1]
    assert choice.value.tolist() == [1.0, 0.0, 1.0]
    over = jnp.array([True, False, False])
    timestep = TimeStep(seen(jnp.zeros((3, 1)), values), values, over, jnp.roll(over, 1))
    assert actor.observe(memory, timestep)[0].tolist() == [NO_OPTION, NO_OPTION, 1]


@pytest.mark.parametrize("actions", [TWO, Box((0.0,), (1.0,)), Mixed(TWO, Box((0.0, 0.0), (1.0, 1.0)))])
def test_options_over_all_kinds_of_actions(actions: Any):
    env = Still(VectorSpec(3), numbers(2), actions)
    policy = with_drawn_weights(lambda key: OptionPolicy(env.spec, 8, 3, key=key))
    values = jnp.zeros((5, 1), jnp.int32)
    _, action, choice = eqx.filter_jit(OptionActor(policy, 0.1).act)(
        jnp.full(5, NO_OPTION, jnp.int32), seen(jnp.zeros((5, 3)), values), values, key=jax.random.key(0)
    )
    again = eqx.filter_jit(policy)(jnp.zeros((5, 3)), values, values).under(choice.option).log_prob(action)
    np.testing.assert_allclose(choice.log_prob, again, rtol=1e-5)


def test_units_follow_one_option_together():
    policy = with_drawn_weights(lambda key: OptionPolicy(Levers().spec, 8, 3, key=key))
    seen = UnitObservation(jnp.eye(3)[None], jnp.array([[True, True, False]]))
    values = jnp.zeros((1, 1), jnp.int32)
    output = eqx.filter_jit(policy)(seen, values, values)
    assert output.q_value.shape == output.end.shape == (1, 3)
    followed = output.under(jnp.array([2]))
    # What the third unit, which is not active, would do makes no difference.
    one, other = jnp.array([[0, 1, 0]]), jnp.array([[0, 1, 1]])
    assert followed.log_prob(one) == followed.log_prob(other)


CORRIDOR = WithTasks(
    numbers(5),
    tuple(Edge(Place((n,)), action, Place((n + 1,))) for n, action in enumerate((0, 0, 1, 1))),
    start=Place((0,)),
    given=(go_to(4),),
)
"""Action 0 leads on for two places, then action 1 does."""

QUICK = OptionCriticConfig(TRAINING, DescentConfig(learning_rate=0.01), options=2, deliberation_cost=0.0)


@pytest.mark.slow
def test_an_option_is_given_up_just_where_the_other_is_needed():
    policy = OptionPolicy(CORRIDOR.spec, 16, 2, key=jax.random.key(0))
    # Each option takes one action with a probability so close to 1 that it cannot learn another.
    stubborn = jnp.array([30.0, 0.0, 0.0, 30.0])
    policy = eqx.tree_at(lambda policy: policy.action_head.bias, policy, stubborn)

    def learn(train_state: Any, steps: Any, remaining: jax.Array, key: jax.Array) -> Any:
        return update(train_state, batch_of(steps, CORRIDOR.attributes, -0.2), steps.info, QUICK, remaining)

    train_state = train_on_tasks(
        CORRIDOR,
        "multi-step",
        QUICK.training,
        new_train_state(policy, QUICK.descent),
        lambda train_state: OptionActor(train_state.policy, QUICK.epsilon),
        learn,
        name="options",
        key=jax.random.key(1),
        watch=no_callback,
    )
    values = jnp.arange(4, dtype=jnp.int32)[:, None]
    output = train_state.policy(CORRIDOR.observe_batch(jnp.arange(4)), values, jnp.full_like(values, 4))
    assert jnp.argmax(output.q_value, axis=-1).tolist() == [0, 0, 1, 1]
    # The first option goes on at the second place and ends at the third; the second has no reason to end at the last.
    end = np.asarray(output.end)
    assert end[1, 0] < 0.3 < 0.7 < end[2, 0]
    assert end[3, 1] < 0.3


def mean_end(deliberation_cost: float) -> float:
    """How likely it is that an option ends, after learning one's way round the ring."""
    shown: list[float] = []

    def watch(phase: str, done: float, metrics: dict[str, Any], so_far: Any) -> None:
        shown.append(metrics["end"])

    config = replace(QUICK, deliberation_cost=deliberation_cost)
    train(RING, "multi-step", config, key=jax.random.key(0), watch=watch)
    return shown[-1]


@pytest.mark.slow
def test_the_deliberation_cost_makes_options_last_longer():
    free, costly = mean_end(0.0), mean_end(0.2)
    assert costly < 0.1
    assert free > 2 * costly
