from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.data.attempt_log import AttemptLog
from attribute_planner.data.replay import Replay, remember
from attribute_planner.models.distributions import Categorical
from attribute_planner.models.policy import GoalPolicy, PolicyOutput
from attribute_planner.phases.success_of_attempts import BATCH, success_of_attempts
from attribute_planner.planning.state_success import SuccessModel, adjusted, log_odds
from tests.data.test_replay import trajectories_of
from tests.probes import RING, numbers, table_of, with_drawn_weights

TARGETS = (1, 2)
COUNT = BATCH + 500
"""More attempts than fit into one batch."""
LISTING = table_of(numbers(5), [((0,), (target,), 0.5) for target in TARGETS]).listing()


class Seer(GoalPolicy):
    """From every second environment the first target can be reached, from the others the second; it knows that."""

    def __init__(self) -> None:
        drawn = with_drawn_weights(lambda key: GoalPolicy(RING.spec, 2, key=key))
        self.encoder, self.action_head, self.baseline_head = drawn.encoder, drawn.action_head, drawn.baseline_head
        self.action_space, self.temperature = drawn.action_space, drawn.temperature

    def __call__(self, observation: Any, values: jax.Array, goal: jax.Array) -> PolicyOutput:
        env = jnp.asarray(observation)[..., 0].astype(jnp.int32) // 100
        possible = goal[..., 0] == jnp.where(env % 2 == 0, *TARGETS)
        return PolicyOutput(Categorical(jnp.zeros((*possible.shape, 2))), jnp.where(possible, 0.9, 0.1))


def attempts(reached_of: Any) -> tuple[AttemptLog, Replay]:
    """One attempt of one step in each environment, from set 0, at a random target."""
    env, target = np.arange(COUNT), np.random.default_rng(0).choice(TARGETS, COUNT)
    replay, log = Replay(10 * COUNT), AttemptLog()
    remember(replay, numbers(5), trajectories_of([[(0, 0, "")]] * COUNT), target[None, :, None].astype(np.int32))
    log.add(np.zeros(COUNT, int), env, np.zeros(COUNT, int), reached_of(env, target).astype(int))
    return log, replay


def is_possible(env: np.ndarray, target: np.ndarray) -> np.ndarray:
    return target == np.where(env % 2 == 0, *TARGETS)


def chances(model: SuccessModel | None) -> np.ndarray:
    """The probability of a transition with c = ½ where its value is high, and where it is low."""
    assert model is not None
    return adjusted(np.full(2, 0.5), model.weight, log_odds(np.array([0.9, 0.1])) - model.usual.number[0])


def test_values_count_where_they_foretell_what_arrives():
    model = success_of_attempts(*attempts(is_possible), Seer(), LISTING)
    assert model is not None and len(model.usual.number) == len(TARGETS)
    likely, unlikely = chances(model)
    assert likely > 0.95 and unlikely < 0.05


def test_values_do_not_count_where_outcomes_are_chance():
    chance = lambda env, target: np.random.default_rng(1).random(COUNT) < 0.5  # noqa: E731
    model = success_of_attempts(*attempts(chance), Seer(), LISTING)
    assert model is None or chances(model) == pytest.approx([0.5, 0.5], abs=0.05)


def test_attempts_at_transitions_that_the_table_does_not_list_are_left_out():
    log, replay = attempts(is_possible)
    elsewhere = table_of(numbers(5), [((3,), (4,), 0.5)]).listing()
    assert success_of_attempts(log, replay, Seer(), elsewhere) is None


def test_without_attempts_nothing_is_known():
    _, replay = attempts(is_possible)
    assert success_of_attempts(AttemptLog(), replay, Seer(), LISTING) is None
