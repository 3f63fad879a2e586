"""Twenty worlds made to fail, each with the reason."""

from attribute_planner.experiments.failing.changing import clock, fine_dials, noisy_bit, noisy_weather, stiff_lock
from attribute_planner.experiments.failing.impossible import (
    blind_detector,
    broken_door,
    few_labels,
    full_basket,
    interlock,
    one_way,
)
from attribute_planner.experiments.failing.left_out import (
    coarse_maze,
    coarse_zone,
    fuel_left_out,
    key_left_out,
    power_left_out,
)
from attribute_planner.experiments.failing.short import short_episode, short_exploration, short_practice, slow_machine

WORLDS = (
    key_left_out,
    power_left_out,
    fuel_left_out,
    coarse_zone,
    coarse_maze,
    noisy_bit,
    noisy_weather,
    clock,
    interlock,
    one_way,
    broken_door,
    full_basket,
    few_labels,
    blind_detector,
    short_exploration,
    short_practice,
    short_episode,
    slow_machine,
    fine_dials,
    stiff_lock,
)
"""Each makes a world."""
