"""The settings of each baseline on each built-in environment: the planner's budget, network and learning settings.

REINFORCE has those of the planner as published, which learns by REINFORCE too; all others have those of ours. The paper
trains A3C on the blocks for about 10 M steps, and REINFORCE in StarCraft for 30 M. The baselines that are not in the
paper have the planner's budget and network, and otherwise their defaults, which `peer_search` compares with others.
"""

from dataclasses import replace
from typing import Any

from attribute_planner.baselines import BASELINES
from attribute_planner.configuration import PRESETS, paper_config


def baseline_preset(baseline: str, environment: str) -> Any:
    """The settings of a baseline on an environment, both by name; the defaults for an environment without a preset."""
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
            steps_per_episode=explore.steps_per_episode,
            learning=planner.practise.inverse,
        )
    training = replace(config.training, steps=planner.steps, hidden_size=planner.practise.hidden_size)
    if baseline == "reinforce":
        published = paper_config(environment)
        practise = published.practise
        return replace(
            config,
            training=replace(training, steps=published.steps, num_envs=practise.num_envs),
            learning=practise.reinforce,
        )
    return replace(config, training=training)
