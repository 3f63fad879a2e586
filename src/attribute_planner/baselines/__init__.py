"""The paper's baselines: reactive policies, trained on tasks or on random steps. None of them plans.

All have the network of the planner's policy, see what it sees, and are measured on the same tasks.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from attribute_planner.baselines import actor_critic, inverse, option_critic, reinforce
from attribute_planner.baselines.reactive_policy import Player
from attribute_planner.baselines.training_distribution import REGIMES


@dataclass(frozen=True)
class Baseline:
    """A way to train a player.

    train: `train(env, regime, config, *, key, detector=None, watch=nobody)` gives the player.
    config: the dataclass of its settings.
    regimes: what it can be trained on.
    """

    train: Callable[..., Player]
    config: type[Any]
    regimes: tuple[str, ...]


BASELINES: dict[str, Baseline] = {
    "reinforce": Baseline(reinforce.train, reinforce.ReinforceBaselineConfig, REGIMES),
    "actor-critic": Baseline(actor_critic.train, actor_critic.ActorCriticConfig, REGIMES),
    "option-critic": Baseline(option_critic.train, option_critic.OptionCriticConfig, REGIMES),
    "inverse": Baseline(inverse.train, inverse.InverseBaselineConfig, inverse.INVERSE_REGIMES),
}
