from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.environments.spaces import Discrete, ImageSpec, UnitObservation, VectorSpec, WordsSpec
from attribute_planner.models.detector import AttributeDetector, ItemsTrunk
from attribute_planner.models.encoders import (
    NO_VALUE,
    ImageEncoder,
    VectorEncoder,
    WordsEncoder,
    encoder_for,
    still_to_change,
)
from attribute_planner.models.policy import GoalPolicy, PolicyOutput
from tests.probes import Still, with_drawn_weights

SPACE = AttributeSpace((Attribute("colour", ("red", "green", "blue")), Attribute("lamp")))
CHOICE = Discrete(("left", "right", "stay"))
SPECS = [
    (WordsSpec(4, 20, (0, 0, 1, 1)), WordsEncoder),
    (VectorSpec(3), VectorEncoder),
    (ImageSpec(16, 20, 3), ImageEncoder),
]


def opinion_on(observation: Any, values: jax.Array, goal: jax.Array, actions: Any = CHOICE) -> PolicyOutput:
    """What some policy thinks."""
    env = Still(VectorSpec(3), SPACE, actions)
    policy = with_drawn_weights(lambda key: GoalPolicy(env.spec, 8, key=key))
    return eqx.filter_jit(policy)(observation, values, goal)


@pytest.mark.parametrize(("spec", "kind"), SPECS)
def test_a_body_sees_observation_attributes_and_goal(spec, kind):
    here, there, nothing = [0, 0], [1, 0], [NO_VALUE, NO_VALUE]
    values, goal = jnp.array([[here, here, nothing, here]]), jnp.array([[there, nothing, there, there]])
    seen = np.broadcast_to(np.random.default_rng(0).integers(0, 9, spec.shape), (1, 4, *spec.shape)).astype(spec.dtype)
    seen = jnp.asarray(seen).at[:, 3].add(jnp.ones((), spec.dtype))

    encoder = with_drawn_weights(lambda key: encoder_for(spec, SPACE, 8, key=key))
    assert isinstance(encoder, kind)
    found = np.asarray(eqx.filter_jit(encoder)(seen, values, goal))
    assert found.shape == (1, 4, 8)
    # No goal, no attributes, another observation: each makes a difference.
    assert (np.abs(found[0, 1:] - found[0, :1]).max(axis=1) > 1e-4).all()


def test_a_goal_is_shown_only_where_it_differs():
    assert still_to_change(jnp.array([1, 0]), jnp.array([1, 1])).tolist() == [NO_VALUE, 1]


def test_a_new_policy_is_nearly_undecided():
    env = Still(VectorSpec(3), SPACE, CHOICE)
    ask = eqx.filter_jit(lambda key, *situation: GoalPolicy(env.spec, 8, key=key)(*situation))
    nowhere = jnp.zeros((4, 2), jnp.int32)
    output = ask(jax.random.key(0), jnp.ones((4, 3)), nowhere, nowhere + 1)
    np.testing.assert_allclose(output.entropy(), np.log(3), atol=0.01)
    assert 0 < np.abs(output.baseline).max() < 0.5


@pytest.fixture(scope="module")
def crews() -> PolicyOutput:
    """What a policy thinks of three units: the last two are active in the first copy, the first one in the second."""
    active = jnp.array([[False, True, True], [True, False, False]])
    seen = UnitObservation(jnp.arange(18.0).reshape(2, 3, 3) / 9 - 1, active)
    return opinion_on(seen, jnp.zeros((2, 2), jnp.int32), jnp.ones((2, 2), jnp.int32))


ORDERS = jnp.array([[0, 1, 2], [0, 1, 2]])


def test_log_probabilities_and_entropies_are_summed_over_active_units(crews: PolicyOutput):
    each, entropy = np.asarray(crews.actions.log_prob(ORDERS)), np.asarray(crews.actions.entropy())
    np.testing.assert_allclose(crews.log_prob(ORDERS), [each[0, 1] + each[0, 2], each[1, 0]], rtol=1e-5)
    np.testing.assert_allclose(crews.entropy(), [entropy[0, 1] + entropy[0, 2], entropy[1, 0]], rtol=1e-5)


def test_what_inactive_units_do_changes_nothing(crews: PolicyOutput):
    other = np.array([[2, 1, 2], [0, 0, 0]])
    np.testing.assert_array_equal(crews.log_prob(jnp.asarray(other)), crews.log_prob(ORDERS))
    other[0, 1] = 0
    assert crews.log_prob(jnp.asarray(other))[0] != crews.log_prob(ORDERS)[0]


def test_what_inactive_units_see_changes_nothing():
    seen = jnp.array([[[1.0, 0, 0], [0.0, 0, 0]], [[1.0, 0, 0], [5.0, 5, 5]]])
    values = jnp.zeros((2, 2), jnp.int32)
    one_active = opinion_on(UnitObservation(seen, jnp.array([[True, False]] * 2)), values, values + 1)
    assert one_active.baseline[0] == one_active.baseline[1]
    nobody_active = opinion_on(UnitObservation(seen, jnp.zeros((2, 2), bool)), values, values + 1)
    assert nobody_active.baseline.tolist() == nobody_active.entropy().tolist() == [0.0, 0.0]


@pytest.mark.parametrize("spec", [spec for spec, _ in SPECS])
def test_a_detector_tells_the_likeliest_value_of_each_attribute(spec):
    env = Still(spec, SPACE, CHOICE)

    detector = with_drawn_weights(lambda key: AttributeDetector(env.spec, 8, key=key))
    seen = np.random.default_rng(0).integers(0, 9, (2, 5, *spec.shape)).astype(spec.dtype)
    logits, values = jax.jit(lambda seen: (detector.logits(seen), detector(seen)))(jnp.asarray(seen))
    assert logits.shape == (2, 5, 2, 3)
    assert (logits[..., 1, 2] < -1e8).all(), "a binary attribute has no third value"
    assert values.dtype == jnp.int32
    np.testing.assert_array_equal(values, np.argmax(logits, axis=-1))


def test_a_detector_reads_together_the_words_of_one_thing():
    spec = WordsSpec(5, 20, (0, 1, 0, 1, 2))
    words = jnp.array([[1, 2, 3, 4, -1], [2, 1, 4, 3, -1], [1, 2, 4, 3, -1]])
    trunk = with_drawn_weights(lambda key: ItemsTrunk(spec, 8, key=key))
    found = np.asarray(eqx.filter_jit(trunk)(words))
    assert trunk._words_by_item(words[0]).tolist() == [[1, 3], [2, 4], [-1, -1]]
    # Things may change places, but words that change things are another picture.
    np.testing.assert_allclose(found[0], found[1], rtol=1e-4)
    assert np.abs(found[0] - found[2]).max() > 1e-3
