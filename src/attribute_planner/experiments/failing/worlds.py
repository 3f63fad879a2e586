"""Worlds made to fail, each with the reason: twenty for the tests, five others, and ten further environments."""

from attribute_planner.experiments.failing.changing import clock, fine_dials, noisy_bit, noisy_weather, stiff_lock
from attribute_planner.experiments.failing.further_attributes import (
    charge_left_out,
    coarse_level,
    fine_map,
    soil_left_out,
    wind,
)
from attribute_planner.experiments.failing.further_limits import (
    few_examples,
    odd_lamps,
    odd_litres,
    short_limit,
    short_training,
)
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
from attribute_planner.experiments.failing.others import OTHERS as OTHERS
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

FURTHER = (
    soil_left_out,
    charge_left_out,
    coarse_level,
    wind,
    fine_map,
    odd_litres,
    odd_lamps,
    short_training,
    short_limit,
    few_examples,
)
"""Each makes an environment that was written after the findings, as a user writes one."""
