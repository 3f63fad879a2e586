"""The statistics of practice from one epoch to the next: they decay, and the new ones are added."""

from dataclasses import replace
from typing import Any

import jax
import numpy as np
import pytest

from attribute_planner.learning.policy_gradient import TrainState
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.phases import practise
from attribute_planner.phases.device_graph import device_graph
from attribute_planner.phases.practise import Practised, practise_epoch
from attribute_planner.phases.practise_config import PractiseConfig
from tests.probes import RING, numbers, table_of, with_drawn_weights

TABLE = table_of(numbers(5), [((0,), (1,), 0.5), ((1,), (2,), 0.25)])


def after_an_epoch(monkeypatch: pytest.MonkeyPatch, counts: list[list[int]], decay: float, **changes: Any) -> Any:
    """The table after an epoch with these attempts, successes and steps of each edge."""

    def epoch(env: Any, detector: Any, graph: Any, far: Any, config: Any, state: Any, *rest: Any) -> tuple:
        return state, np.array(counts), {"loss": 0.0}

    monkeypatch.setattr(practise, "pure_epoch", epoch)
    policy = with_drawn_weights(lambda key: GoalPolicy(RING.spec, 2, key=key))
    practised = Practised(TrainState(policy, ()), replace(TABLE, **changes), epoch=0, steps=0)
    config = PractiseConfig(decay=decay, num_envs=4, rollout_length=5)
    graph = device_graph(TABLE)
    return practise_epoch(RING, None, graph, None, config, practised, key=jax.random.key(0))[0].table


def test_old_attempts_successes_and_steps_decay_alike(monkeypatch: pytest.MonkeyPatch):
    spent = np.array([3000.0, 5000.0])
    table = after_an_epoch(monkeypatch, [[8, 0], [2, 0], [24, 0]], 0.5, spent=spent)
    assert table.attempts.tolist() == [508.0, 500.0]
    assert table.successes.tolist() == [252.0, 125.0]
    assert table.spent.tolist() == [1524.0, 2500.0]


def test_without_decay_statistics_are_sums_and_steps_that_were_not_counted_stay_so(monkeypatch: pytest.MonkeyPatch):
    table = after_an_epoch(monkeypatch, [[8, 1], [2, 1], [24, 3]], 1.0)
    assert table.attempts.tolist() == [1008.0, 1001.0]
    assert table.successes.tolist() == [502.0, 251.0]
    assert table.spent is None


def test_decaying_statistics_stand_for_the_last_epochs():
    """Ten epochs of 500 steps: 1 + γ + γ² + … = 10."""
    config = PractiseConfig(decay=0.9, rollouts_per_epoch=25, rollout_length=20)
    assert config.remembered_steps == pytest.approx(5000.0)
    assert replace(config, decay=1.0).remembered_steps == np.inf
