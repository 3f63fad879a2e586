"""Which actions the forward model is asked about."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.environments.spaces import Action, ActionSpace, Box, Discrete, Observation
from attribute_planner.models.beliefs import certain
from attribute_planner.models.distributions import distribution_of, head_size
from attribute_planner.models.forward_model import ForwardModel
from attribute_planner.models.policy import GoalPolicy, PolicyOutput
from attribute_planner.planning import proposals as module
from attribute_planner.planning.proposals import SEARCH, beside, propose

BATCH = 16
SQUARE = Box((0.0, 0.0), (1.0, 1.0))
SPOTS = np.array([[0.21, 0.77], [0.88, 0.34]])
"""An action at the first point sets the first attribute; one at the second point, the second."""
SIZE = 0.01
TWO = AttributeSpace((Attribute("first", range(2)), Attribute("second", range(2))))
NOTHING = np.zeros((BATCH, 2), np.int32)


class Spots(ForwardModel):
    """Predicts that an action very near a spot sets its attribute, with less probability the farther away it is."""

    def __init__(self, space: ActionSpace) -> None:
        self.encoder, self.products, self.tower, self.heads = (None,) * 4  # pyright: ignore[reportAttributeAccessIssue]
        self.stays, self.space, self.actions, self.observation_rank = jnp.zeros(()), TWO, space, 1

    def logits(self, features: jax.Array, values: jax.Array, action: Action) -> jax.Array:
        del features, values
        assert isinstance(action, jax.Array)
        far = jnp.linalg.norm(action[..., None, :] - SPOTS[None, None], axis=-1) / SIZE
        return jnp.stack([jnp.zeros_like(far), 3 * (1 - far)], axis=-1)


class Uniform(GoalPolicy):
    """Samples actions from anywhere in the box, and records the goals."""

    told: list[np.ndarray]

    def __init__(self) -> None:
        self.encoder, self.action_head, self.baseline_head = (None,) * 3  # pyright: ignore[reportAttributeAccessIssue]
        self.action_space, self.temperature, self.told = SQUARE, None, []

    def __call__(self, observation: Observation, values: jax.Array, goal: jax.Array) -> PolicyOutput:
        self.told.append(np.asarray(goal))
        anywhere = distribution_of(SQUARE, jnp.zeros((*values.shape[:-1], head_size(SQUARE))))
        return PolicyOutput(anywhere, jnp.zeros(values.shape[:-1]))


def search(space: ActionSpace, *wanted: list[int], policy: GoalPolicy | None = None) -> np.ndarray:
    values = tuple(jnp.asarray(np.tile(np.array(each, np.int32), (BATCH, 1))) for each in wanted)
    observation = jnp.zeros((BATCH, 1))
    found = propose(
        Spots(space), policy or Uniform(), observation, observation, certain(NOTHING), values, key=jax.random.key(0)
    )
    return np.asarray(found)


def nearest(actions: np.ndarray, spot: np.ndarray) -> np.ndarray:
    """`[B]` distance of the nearest action from a spot."""
    return np.linalg.norm(actions - spot, axis=-1).min(axis=1)


def test_all_actions_are_proposed_where_they_can_be_listed():
    actions = search(Discrete(("left", "right", "stay")), [1, 0], [0, 1])
    assert (actions == [0, 1, 2]).all()


def test_a_spot_is_found_that_random_actions_miss(monkeypatch: pytest.MonkeyPatch):
    assert (nearest(search(SQUARE, [1, -1]), SPOTS[0]) < SIZE).all()
    monkeypatch.setattr(module, "SEARCH", replace(SEARCH, spreads=()))
    assert (nearest(search(SQUARE, [1, -1]), SPOTS[0]) > SIZE).mean() > 0.8


def test_actions_are_searched_for_each_thing_that_is_wanted():
    actions = search(SQUARE, [1, -1], [-1, 1])
    assert all((nearest(actions, spot) < SIZE).all() for spot in SPOTS)


def test_the_policy_is_told_to_keep_attributes_that_do_not_matter():
    policy = Uniform()
    search(SQUARE, [1, -1], policy=policy)
    assert [told.tolist() for told in policy.told] == [[[1, 0]] * BATCH]


def test_trees_are_joined_along_their_second_axis():
    joined = beside((jnp.zeros((2, 1)), jnp.zeros((2, 1, 3))), (jnp.ones((2, 4)), jnp.ones((2, 4, 3))))
    assert [leaf.shape for leaf in joined] == [(2, 5), (2, 5, 3)]
    assert joined[0][0].tolist() == [0, 1, 1, 1, 1]
