"""The paper's baselines: reactive policies, trained on tasks or on random steps. None of them plans.

All have the network of the planner's policy, see what it sees, and are measured on the same tasks.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from attribute_planner.baselines import actor_critic, inverse, option_critic, reinforce
from attribute_planner.baselines.reactive_policy import ReactivePolicy
from attribute_planner.baselines.training_distribution import TRAINING_DISTRIBUTIONS


@dataclass(frozen=True)
class Baseline:
    """A way to train a policy.

    train: `train(env, training_distribution, config, *, key, detector=None, watch=nobody)` gives the policy.
    config: the dataclass of its settings.
    training_distributions: what it can be trained on.
    """

    train: Callable[..., ReactivePolicy]
    config: type[Any]
    training_distributions: tuple[str, ...]


BASELINES: dict[str, Baseline] = {
    "reinforce": Baseline(reinforce.train, reinforce.ReinforceBaselineConfig, TRAINING_DISTRIBUTIONS),
    "ppo": Baseline(reinforce.train, reinforce.PPOBaselineConfig, TRAINING_DISTRIBUTIONS),
    "actor-critic": Baseline(actor_critic.train, actor_critic.ActorCriticConfig, TRAINING_DISTRIBUTIONS),
    "option-critic": Baseline(option_critic.train, option_critic.OptionCriticConfig, TRAINING_DISTRIBUTIONS),
    "inverse": Baseline(inverse.train, inverse.InverseBaselineConfig, inverse.INVERSE_DISTRIBUTIONS),
}
