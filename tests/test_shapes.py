"""A call with a wrong shape raises in the test session, in every package that works on arrays."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import TypeCheckError

from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.attributes.space import key_of_words
from attribute_planner.environments.blocks.attributes import covered_blocks
from attribute_planner.models.beliefs import certain
from attribute_planner.models.distributions import distribution_of
from attribute_planner.models.encoders import still_to_change
from attribute_planner.models.layers import BagOfWords, sum_of_rows
from attribute_planner.models.policy import GoalPolicy
from tests.probes import RING, with_drawn_weights

SPACE = AttributeSpace((Attribute("lit"), Attribute("floor", range(3))))
POLICY = with_drawn_weights(lambda key: GoalPolicy(RING.spec, 4, key=key))
VALUES = jnp.zeros((2, len(RING.attributes)), jnp.int32)
OBSERVATION = jnp.zeros((2, *RING.observation.shape), RING.observation.dtype)

WRONG: dict[str, Callable[[], Any]] = {
    "attributes: too many attributes to pack": lambda: SPACE.pack(np.zeros((4, 3), np.int32)),
    "attributes: too many words": lambda: SPACE.unpack(np.zeros((4, 2), np.uint32)),
    "attributes: a batch has no key": lambda: SPACE.key(np.zeros((4, 2), np.int32)),
    "attributes: words of another type": lambda: key_of_words(np.zeros(1, np.int64)),
    "models: values and goal of different batches": lambda: POLICY(OBSERVATION, VALUES, VALUES[:1]),
    "models: another number of attributes": lambda: POLICY(OBSERVATION, VALUES[:, :0], VALUES),
    "models: goal and values of different sizes": lambda: still_to_change(VALUES, VALUES[:, :0]),
    "models: head outputs that are integers": lambda: distribution_of(RING.actions, VALUES),
    "models: values without a batch": lambda: certain(np.zeros(2, np.int32)),
    "models: a single bag of words": lambda: sum_of_rows(jnp.zeros((4, 2)), jnp.zeros(3, jnp.int32)),
    "models: words that are floats": lambda: BagOfWords(4, 2, words=3, key=jax.random.key(0))(jnp.zeros((2, 3))),
    "environments: values of a batch": lambda: covered_blocks(jnp.zeros((2, 36), jnp.int32)),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG.keys())
def test_a_wrong_shape_raises(call: Callable[[], Any]):
    with pytest.raises(TypeCheckError):
        call()
