"""The settings of each baseline on each built-in environment: the planner's experience, networks and learning."""

from dataclasses import dataclass, replace
from typing import Any

from attribute_planner.baselines.actor_critic import ActorCriticConfig
from attribute_planner.baselines.inverse import InverseBaselineConfig
from attribute_planner.baselines.option_critic import OptionCriticConfig
from attribute_planner.baselines.reinforce import ReinforceBaselineConfig
from attribute_planner.learning.fitting import FitConfig
from attribute_planner.learning.inverse import InverseConfig


@dataclass(frozen=True)
class Budget:
    """What an environment allows for.

    steps: of experience for a baseline that learns from trials.
    width: units in each hidden layer, the planner's.
    copies: how many copies of the environment run at once.
    """

    steps: int
    width: int = 100
    copies: int = 256


BUDGETS: dict[str, Budget] = {
    "switches": Budget(12_400_000),
    "crafting": Budget(19_000_000),
    "blocks": Budget(3_000_000, width=128),
    "blocks-continuous": Budget(520_000, width=128),
    "starcraft-small": Budget(56_000_000),
    "starcraft-large": Budget(56_000_000),
}
"""The planner's steps in all phases together. The paper gives A3C on the blocks about 10 M, and REINFORCE in StarCraft
30 M."""

IMAGES = FitConfig(updates=12_000, batch=1024, learning_rate=1e-3, weight_decay=1e-4)
"""How the planner's own inverse model of the blocks is fitted."""

CONFIGS: dict[str, Any] = {
    "reinforce": ReinforceBaselineConfig(),
    "actor-critic": ActorCriticConfig(),
    "option-critic": OptionCriticConfig(),
}
"""What the baselines that learn from trials have everywhere."""

INVERSE_CONFIGS: dict[str, InverseBaselineConfig] = {
    "blocks": InverseBaselineConfig(learning=InverseConfig(fit=IMAGES)),
    "blocks-continuous": InverseBaselineConfig(
        examples=500_000, learning=InverseConfig(steps_per_episode=20, fit=replace(IMAGES, updates=20_000))
    ),
}


def config_for(baseline: str, environment: str) -> Any:
    """The settings of a baseline, by name, for an environment, by name; the defaults for one that is not built in."""
    if baseline == "inverse":
        return INVERSE_CONFIGS.get(environment, InverseBaselineConfig())
    config = CONFIGS[baseline]
    if environment not in BUDGETS:
        return config
    budget = BUDGETS[environment]
    school = replace(config.school, steps=budget.steps, width=budget.width, copies=budget.copies)
    return replace(config, school=school)
