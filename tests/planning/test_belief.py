"""What the agent believes of a batch of environments."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.attributes import Goal
from attribute_planner.models.detector import AttributeDetector
from attribute_planner.planning.belief import HYPOTHESES, Belief, perceive
from tests.probes import RING, with_drawn_weights

ATTRIBUTES = 5


def belief_of(chances: list[float]) -> Belief:
    """Environments in which each of five binary attributes is true with the same probability."""
    shares = np.tile(np.array(chances)[:, None], (1, ATTRIBUTES))
    log_shares = np.log(np.stack([1 - shares, shares], axis=-1)).astype(np.float32)
    return Belief(log_shares.argmax(axis=-1).astype(np.int32), log_shares)


def test_hypotheses_are_the_most_probable_sets_with_their_probabilities():
    believed = belief_of([0.9, 0.6, 0.2])
    values, weight = believed.hypotheses(np.array([2, 0]))
    assert values.shape == (2, HYPOTHESES, ATTRIBUTES)
    np.testing.assert_array_equal(values[:, 0], believed.values[[2, 0]])
    np.testing.assert_allclose(np.asarray(weight).sum(axis=1), 1.0, rtol=1e-6)
    # The others differ in one attribute: 1 : ¼ : ¼ : ¼ where the odds are 4 : 1.
    assert (np.abs(values[:, 1:] - values[:, :1]).sum(axis=-1) == 1).all()
    np.testing.assert_allclose(weight[0], np.array([4, 1, 1, 1]) / 7, rtol=1e-5)


def test_hypotheses_of_an_environment_do_not_depend_on_the_others():
    alone, among = belief_of([0.6]), belief_of([0.999, 0.6, 0.9])
    for one, same in zip(alone.hypotheses(np.array([0])), among.hypotheses(np.array([1])), strict=True):
        np.testing.assert_array_equal(one, same)


def test_with_true_attributes_nothing_is_uncertain():
    values = np.ones((2, ATTRIBUTES), np.int32)
    believed = Belief(values, None)
    goals = Goal(np.stack([values[0], 1 - values[1]]), np.ones((2, ATTRIBUTES), bool))
    assert believed.p_goal(goals).tolist() == [1.0, 0.0]
    assert believed.hypotheses(np.arange(2)).values.shape == (2, 1, ATTRIBUTES)


def test_the_probability_of_a_goal_is_the_product_over_its_attributes():
    goals = Goal(np.ones((2, ATTRIBUTES), np.int32), np.array([[True] * 2 + [False] * 3] * 2))
    assert belief_of([0.9, 0.2]).p_goal(goals) == pytest.approx([0.81, 0.04], rel=1e-5)


def test_without_a_detector_the_attributes_are_those_of_the_environment():
    attributes = np.array([[3], [1]], np.int32)
    believed = perceive(None, np.zeros((2, 5), np.float32), attributes)
    np.testing.assert_array_equal(believed.values, attributes)
    assert believed.log_shares is None


class Shifted(AttributeDetector):
    """Takes each place of the ring for the next one, with a probability of four fifths."""

    def __init__(self) -> None:
        drawn = with_drawn_weights(lambda key: AttributeDetector(RING.spec, 2, key=key))
        self.trunk, self.heads, self.space = drawn.trunk, drawn.heads, drawn.space

    def logits(self, observation: Any) -> jax.Array:
        shares = 0.75 * jax.nn.one_hot((jnp.argmax(observation, axis=-1) + 1) % 5, 5) + 0.05
        return jnp.log(shares)[..., None, :]


def test_with_a_detector_the_true_attributes_are_not_used():
    observation = np.eye(5, dtype=np.float32)[[3, 4]]
    believed = perceive(Shifted(), observation, np.array([[3], [4]], np.int32))
    assert believed.values.tolist() == [[4], [0]]
    goals = Goal(np.array([[4], [3]], np.int32), np.ones((2, 1), bool))
    assert believed.p_goal(goals) == pytest.approx([0.8, 0.05], rel=1e-5)
