"""The settings of each baseline on each built-in environment: the planner's experience, networks and learning.

The paper gives A3C on the blocks about 10 M steps, and REINFORCE in StarCraft 30 M.
"""

from dataclasses import replace
from typing import Any

from attribute_planner.baselines import BASELINES
from attribute_planner.configuration import PRESETS


def fair_config(baseline: str, environment: str) -> Any:
    """The settings of a baseline, by name, for an environment, by name; the defaults for one that is not built in."""
    config, planner = BASELINES[baseline].config(), PRESETS.get(environment)
    if planner is None:
        return config
    if baseline == "inverse":
        explore = planner.explore
        return replace(
            config,
            examples=explore.steps,
            num_envs=explore.num_envs,
            hidden_size=planner.practise.hidden_size,
            learning=planner.inverse,
        )
    return replace(config, school=replace(config.school, steps=planner.steps, hidden_size=planner.practise.hidden_size))
