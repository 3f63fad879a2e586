"""Each baseline on environments with known solutions: a low number elsewhere then means that the task is hard."""

from dataclasses import replace
from typing import Any

import jax
import numpy as np
import pytest

from attribute_planner.baselines import BASELINES
from attribute_planner.baselines.actor_critic import ActorCriticConfig, DescentConfig
from attribute_planner.baselines.goal_cloning import CloningConfig, GoalCloningConfig
from attribute_planner.baselines.hindsight import ReplayConfig
from attribute_planner.baselines.hindsight_dqn import HindsightDQNConfig, ValueConfig
from attribute_planner.baselines.inverse import InverseBaselineConfig
from attribute_planner.baselines.option_critic import OptionCriticConfig
from attribute_planner.baselines.policy_gradient import PPOBaselineConfig, ReinforceBaselineConfig
from attribute_planner.environments.interface import Environment
from attribute_planner.learning.fitting import FitConfig
from attribute_planner.learning.inverse import InverseConfig
from attribute_planner.learning.reinforce import ReinforceConfig
from tests.baselines.probes import STAR, TRAINING, actions_on_the_star
from tests.probes import EAGER, Hosted, Levers, Thirds

BRISK = DescentConfig(learning_rate=0.01, entropy_coef=0.01)
GREEDY = replace(TRAINING, deterministic=True)
OFTEN = ReplayConfig(capacity=8_000, batch_size=128, nearness=0.5)
CONFIGS: dict[str, Any] = {
    "reinforce": ReinforceBaselineConfig(replace(GREEDY, rollout_length=10), ReinforceConfig(learning_rate=0.01)),
    "ppo": PPOBaselineConfig(replace(GREEDY, rollout_length=10), replace(EAGER, learning_rate=0.01)),
    "actor-critic": ActorCriticConfig(GREEDY, BRISK),
    "option-critic": OptionCriticConfig(GREEDY, BRISK, options=3),
    "inverse": InverseBaselineConfig(
        2_000, 64, 2, hidden_size=16, deterministic=True, learning=InverseConfig(fit=FitConfig(150, 128, 0.02))
    ),
    "hindsight-dqn": HindsightDQNConfig(GREEDY, OFTEN, ValueConfig(learning_rate=0.01, discount=0.9)),
    "goal-cloning": GoalCloningConfig(GREEDY, OFTEN, CloningConfig(learning_rate=0.01)),
}


def test_every_baseline_is_tested():
    assert CONFIGS.keys() == BASELINES.keys()
    assert all(isinstance(CONFIGS[name], baseline.config) for name, baseline in BASELINES.items())


@pytest.mark.parametrize("name", BASELINES)
@pytest.mark.slow
def test_the_way_to_every_place_of_the_star_is_learned(name: str):
    policy = BASELINES[name].train(STAR, "multi-step", CONFIGS[name], key=jax.random.key(0))
    done, right = actions_on_the_star(policy)
    np.testing.assert_array_equal(done, right)


@pytest.mark.parametrize(
    ("name", "env"),
    [
        ("actor-critic", Thirds()),
        ("option-critic", Levers()),
        ("reinforce", Hosted(STAR)),
        ("hindsight-dqn", Hosted(STAR)),
        ("goal-cloning", Levers()),
    ],
    ids=["continuous actions", "several units", "on the host", "replayed on the host", "several units cloned"],
)
@pytest.mark.slow
def test_all_kinds_of_environments_can_be_learned(name: str, env: Environment):
    shown: list[dict[str, Any]] = []

    def watch(phase: str, done: float, metrics: dict[str, Any], so_far: Any) -> None:
        assert phase == name
        shown.append(metrics)

    BASELINES[name].train(env, "multi-step", CONFIGS[name], key=jax.random.key(0), watch=watch)
    assert shown[-1]["success"] > 0.95
    # A right step earns 0.9; from leaf to leaf of the star it takes another one.
    assert shown[-1].get("return", 1.0) > 0.8
