"""The paper's baselines, and modern peers of them: reactive policies, trained on tasks or on random steps. None plans.

All have the planner's policy network and inputs (with the true attributes), and are measured on the same tasks.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from attribute_planner.baselines import (
    actor_critic,
    goal_cloning,
    hindsight_dqn,
    inverse,
    option_critic,
    policy_gradient,
)
from attribute_planner.data.trajectories import Actor


@dataclass(frozen=True)
class Baseline:
    """A way to train a policy.

    train: `train(env, training_distribution, config, *, key, watch=no_callback)` returns the trained actor.
    config: the dataclass of its settings.
    """

    train: Callable[..., Actor]
    config: type[Any]


BASELINES: dict[str, Baseline] = {
    "reinforce": Baseline(policy_gradient.train, policy_gradient.ReinforceBaselineConfig),
    "ppo": Baseline(policy_gradient.train, policy_gradient.PPOBaselineConfig),
    "actor-critic": Baseline(actor_critic.train, actor_critic.ActorCriticConfig),
    "option-critic": Baseline(option_critic.train, option_critic.OptionCriticConfig),
    "inverse": Baseline(inverse.train, inverse.InverseBaselineConfig),
    "hindsight-dqn": Baseline(hindsight_dqn.train, hindsight_dqn.HindsightDQNConfig),
    "goal-cloning": Baseline(goal_cloning.train, goal_cloning.GoalCloningConfig),
}
