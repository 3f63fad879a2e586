from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.data.rollout import rollout
from attribute_planner.data.trajectories import Trajectories
from attribute_planner.environments.graph_world import GraphWorld, graph_world
from attribute_planner.environments.vector_env import PureVectorEnv
from attribute_planner.models.distributions import Categorical
from attribute_planner.models.policy import PolicyOutput
from attribute_planner.phases.frontier import CAREFUL, frontier_explorer, next_to_unseen, rarity, worth_exploring
from attribute_planner.transitions.numbering import UNKNOWN
from attribute_planner.transitions.table import TransitionTable
from tests.probes import Oracle, numbers, table_of

LENGTH = 6
CORRIDOR = graph_world(
    numbers(LENGTH),
    [((i,), 0, (i + 1,)) for i in range(LENGTH - 1)]
    + [((i,), action, (0,)) for i in range(1, LENGTH) for action in (1, 2, 3)],
    start=(0,),
    episode_steps=60,
)
"""Action 0 leads on from 0 to 5; every other one back to 0: random actions hardly ever get to the end."""
TABLE = table_of(
    numbers(LENGTH),
    [((i,), (i + 1,), 1.0) for i in range(LENGTH - 1)] + [((i,), (0,), 1.0) for i in range(1, LENGTH)],
)


def explored(table: TransitionTable | None, **options: Any) -> Trajectories:
    actor = frontier_explorer(CORRIDOR, Oracle(CORRIDOR), table, 3, key=jax.random.key(0))
    envs = PureVectorEnv(CORRIDOR, 16)
    return rollout(actor, envs, 120, space=CORRIDOR.attributes, key=jax.random.key(1), **options).on_host()


def with_visits(rare: float) -> TransitionTable:
    """The table, in which set 5 was visited `rare` times and every other set a million times."""
    visits = np.where((TABLE.target == 5) | (TABLE.source == 5), rare / 2, 1e6)
    return TransitionTable(
        TABLE.space, TABLE.words, TABLE.source, TABLE.target, visits, TABLE.attempts, TABLE.successes
    )


def test_rarity_by_hand():
    three = table_of(numbers(3), [((0,), (1,), 1.0), ((1,), (2,), 1.0)])
    visited = TransitionTable(
        three.space, three.words, three.source, three.target, np.array([3.0, 5.0]), three.attempts, three.successes
    )
    # Set 1 was entered three times and left five times.
    np.testing.assert_allclose(rarity(visited), [4**-0.5, 9**-0.5, 6**-0.5])


@pytest.fixture(scope="module")
def travels() -> Trajectories:
    return explored(with_visits(2))


def test_sets_next_to_a_declared_value_that_was_never_seen_are_worth_half_of_the_exploration():
    table = table_of(numbers(5), [((1,), (2,), 1.0), ((2,), (1,), 1.0), ((2,), (3,), 1.0)])
    assert table.values[:, 0].tolist() == [1, 2, 3]
    assert next_to_unseen(table).tolist() == [True, False, True], "0 and 4 were not seen"
    weight, rare = worth_exploring(table), rarity(table) / rarity(table).sum()
    assert weight.sum() == pytest.approx(1) and weight[1] == pytest.approx(rare[1] / 2)
    everything = table_of(numbers(2), [((0,), (1,), 1.0)])
    assert not next_to_unseen(everything).any()
    np.testing.assert_allclose(worth_exploring(everything), [0.5, 0.5])


def test_a_rare_set_is_travelled_to_by_known_transitions(travels):
    assert (travels.next_attributes[..., 0] == 5).mean() > 0.1
    pursues = np.asarray(travels.info.pursues)
    # While it travels, the oracle takes the way on; what is pursued is the next set.
    assert 0.3 < pursues.mean() < 0.95
    reached = np.asarray(travels.outcome.reached)
    assert reached[pursues].mean() > 0.8
    assert (np.asarray(travels.info.edge) != UNKNOWN)[pursues].all()


def test_there_all_actions_are_tried(travels):
    at_the_end = travels.attributes[..., 0] == 5
    assert not np.asarray(travels.info.pursues)[at_the_end].all()
    bursting = ~np.asarray(travels.info.pursues)
    assert set(np.asarray(travels.action)[bursting].tolist()) == {0, 1, 2, 3}
    assert (np.asarray(travels.info.edge)[bursting] == UNKNOWN).all()


def test_without_a_table_all_actions_are_random():
    steps = explored(None)
    assert not np.asarray(steps.info.pursues).any()
    assert not np.asarray(steps.outcome.reached).any()
    counts = np.bincount(np.asarray(steps.action).ravel(), minlength=4) / steps.size
    assert (counts > 0.1).all()
    assert (steps.next_attributes[..., 0] == 5).mean() < 0.1


def test_known_ways_lead_there_more_often_than_chance(travels):
    chance = (explored(None).next_attributes[..., 0] == 5).sum()
    assert (travels.next_attributes[..., 0] == 5).sum() > 3 * chance


class Fearful(Oracle):
    """Without a goal, it values action 3 at two fifths of what the best ones are worth."""

    def __init__(self, world: GraphWorld, temperature: float) -> None:
        super().__init__(world)
        self.temperature = temperature

    def __call__(self, observation: Any, values: jax.Array, goal: jax.Array) -> PolicyOutput:
        output = super().__call__(observation, values, goal)
        assert isinstance(output.actions, Categorical) and self.temperature is not None
        survival = jnp.log(jnp.array([0.5, 0.4, 0.5, 0.2])) / self.temperature
        return PolicyOutput(Categorical(jnp.where(goal[..., :1] < 0, survival, output.actions.logits)), output.baseline)


@pytest.mark.parametrize("temperature", [0.02, 0.5])
@pytest.mark.parametrize(("careful_share", "low", "high"), [(0.0, 0.2, 0.3), (0.5, 0.1, 0.2), (1.0, 0.0, 0.0)])
def test_random_actions_avoid_the_end_of_the_episode_for_a_share_of_the_time(careful_share, low, high, temperature):
    policy = Fearful(CORRIDOR, temperature)
    actor = frontier_explorer(CORRIDOR, policy, None, 3, fatal_share=careful_share / CAREFUL, key=jax.random.key(0))
    steps = rollout(actor, PureVectorEnv(CORRIDOR, 16), 120, space=CORRIDOR.attributes, key=jax.random.key(1))
    counts = np.bincount(np.asarray(steps.action).ravel(), minlength=4) / steps.size
    assert low <= counts[3] <= high
    # The others take its place; action 1 is worth four fifths of them, which is enough.
    np.testing.assert_allclose(counts[:3], (1 - counts[3]) / 3, atol=0.04)
