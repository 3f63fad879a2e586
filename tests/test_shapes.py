"""A call with a wrong shape raises in the test session, in every package that works on arrays."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import TypeCheckError

from attribute_planner.aliasing.split_search import gain
from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.attributes.space import key_of_words
from attribute_planner.data.attempt_log import AttemptLog
from attribute_planner.data.examples import compact
from attribute_planner.environments.blocks.attributes import covered_blocks
from attribute_planner.environments.spaces import Box
from attribute_planner.learning.policy_gradient import weighted_mean
from attribute_planner.learning.sac import in_units
from attribute_planner.models.beliefs import certain
from attribute_planner.models.distributions import distribution_of
from attribute_planner.models.encoders import still_to_change
from attribute_planner.models.layers import BagOfWords, sum_of_rows
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.phases.attempt_counts import count_attempts
from attribute_planner.phases.attempts import goal_values
from attribute_planner.phases.device_graph import alias_tables, device_graph
from attribute_planner.planning.search import Graph
from tests.phases.test_attempts import WALK
from tests.probes import RING, numbers, table_of, with_drawn_weights

SPACE = AttributeSpace((Attribute("lit"), Attribute("floor", range(3))))
POLICY = with_drawn_weights(lambda key: GoalPolicy(RING.spec, 4, key=key))
VALUES = jnp.zeros((2, len(RING.attributes)), jnp.int32)
TABLE = table_of(numbers(3), [((0,), (1,), 1.0), ((1,), (2,), 1.0)])
GRAPH = device_graph(TABLE)
TWO, THREE = np.zeros(2, int), np.zeros(3, int)
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
    "data: columns of different lengths": lambda: AttemptLog().add(TWO, TWO, THREE, TWO),
    "data: rows of another width": lambda: AttemptLog(np.zeros((2, 3), np.int64)),
    "data: values that are floats": lambda: compact(np.zeros((2, 3))),
    "learning: weights of another batch": lambda: weighted_mean(jnp.zeros((2, 3)), jnp.zeros(3)),
    "learning: an action without a batch": lambda: in_units(Box((0.0,), (1.0,)), jnp.zeros(1)),
    "phases: counts without steps": lambda: count_attempts(jnp.zeros((2, 3), jnp.int32), WALK),
    "phases: edges that are floats": lambda: goal_values(GRAPH, jnp.zeros(2)),
    "phases: a single packed set": lambda: GRAPH.locate(jnp.zeros(1, jnp.uint32)),
    "phases: weights of other edges": lambda: alias_tables(TWO, np.ones(3), 1),
    "transitions: sets that are not packed": lambda: TABLE.successors(np.zeros((2, 1), np.int64)),
    "transitions: a single packed set": lambda: TABLE.successors(np.zeros(1, np.uint32)),
    "planning: sets that are not numbers": lambda: Graph(TABLE).to_sets(np.zeros(2)),
    "planning: pairs of different lengths": lambda: Graph(TABLE).attempt_steps(TWO, THREE),
    "aliasing: a mask that is no mask": lambda: gain(TWO, None),  # pyright: ignore[reportArgumentType]
}

PACKAGES = {"aliasing", "attributes", "data", "environments", "learning", "models", "phases", "planning", "transitions"}
"""The packages that work on arrays."""


def test_every_package_that_works_on_arrays_is_tried():
    assert {name.partition(":")[0] for name in WRONG} == PACKAGES


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG.keys())
def test_a_wrong_shape_raises(call: Callable[[], Any]):
    with pytest.raises(TypeCheckError):
        call()
