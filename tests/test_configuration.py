from dataclasses import replace

import pytest

from attribute_planner.algorithm import new_replay
from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.configuration import HOST, PRESETS, config_for, default_config, host_config, paper_config
from attribute_planner.environments.spaces import (
    ActionSpace,
    Box,
    Discrete,
    FlatSpec,
    ImageSpec,
    Mixed,
    Part,
    VectorSpec,
)
from attribute_planner.environments.spec import EnvironmentSpec
from attribute_planner.errors import ConfigurationError, UnknownNameError
from attribute_planner.phases.practise_config import PractiseConfig
from tests.probes import RING, Levers

SPACE = AttributeSpace((Attribute("on"),))


def spec(actions: ActionSpace, *, episode_steps: int = 100, size: int = 4, num_units: int | None = None):
    return EnvironmentSpec("own", SPACE, VectorSpec(size), actions, num_units, episode_steps, True)


LISTED, POINT = Discrete(("a", "b")), Box((0.0,), (1.0,))


@pytest.mark.parametrize(
    ("actions", "num_units", "method"),
    [(LISTED, None, "dqn"), (POINT, None, "sac"), (Mixed(LISTED, POINT), None, "ppo"), (LISTED, 3, "ppo")],
)
def test_the_learner_follows_from_the_actions(actions, num_units, method):
    config = host_config(spec(actions, num_units=num_units))
    assert config.practise.method == method
    assert config.practise.reacher.replays == (method != "ppo")


@pytest.mark.parametrize(("episode_steps", "t_max"), [(30, 20), (100, 50), (1000, 100)])
def test_t_max_is_half_an_episode_within_bounds(episode_steps, t_max):
    config = host_config(spec(LISTED, episode_steps=episode_steps))
    assert config.practise.max_attempt_steps == config.explore.max_attempt_steps == t_max
    assert config.practise.value_discount == pytest.approx(1 - 1 / t_max)


@pytest.mark.parametrize(("actions", "method", "most"), [(LISTED, "dqn", 64), (POINT, "sac", 16)])
def test_small_observations_are_learned_from_more_often(actions: ActionSpace, method: str, most: int):
    specs = [spec(actions, size=size) for size in (4, 147, 3_000, 10**6)]
    specs.insert(2, replace(specs[0], observation=ImageSpec(32, 32)))
    specs.insert(2, replace(specs[0], observation=FlatSpec((Part("", (32, 32, 3), "image"),), "uint8")))
    ratios = [getattr(host_config(each).practise, method).replay_ratio for each in specs]
    assert ratios == sorted(ratios, reverse=True)
    assert ratios[0] == most and ratios[-1] == 2


def test_a_practice_takes_about_as_long_with_large_observations():
    ratio = host_config(spec(LISTED, size=147)).practise.dqn.replay_ratio
    assert 20 <= ratio <= 30, "that of MiniGrid, with which the others were chosen"


def test_an_environment_with_a_preset_has_its_preset():
    assert config_for(replace(RING)).practise.method == "dqn"
    assert config_for(Levers()).practise.method == "ppo"
    assert all(config.rounds == 1 for config in PRESETS.values()), "as in the paper"


def test_the_replay_buffer_has_the_capacity_of_its_method():
    practise = replace(HOST.practise, sac=replace(HOST.practise.sac, capacity=7))
    for method, capacity in (("dqn", HOST.practise.dqn.capacity), ("sac", 7)):
        replay = new_replay(replace(HOST, practise=replace(practise, method=method)))
        assert replay is not None and replay.capacity == capacity
    assert new_replay(PRESETS["switches"]) is None


def test_one_replay_buffer_needs_one_number_of_environments():
    with pytest.raises(ConfigurationError, match="must be equal"):
        replace(HOST, practise=replace(HOST.practise, num_envs=8))
    with pytest.raises(ConfigurationError, match="rounds"):
        replace(HOST, rounds=0)
    replace(HOST, practise=PractiseConfig(num_envs=8))


def test_there_is_no_default_for_a_name_that_is_not_built_in():
    with pytest.raises(UnknownNameError, match=r"no preset for an environment 'swiches'. Did you mean 'switches'"):
        default_config("swiches")


def test_the_published_algorithm_for_an_environment_of_ones_own():
    config = paper_config(RING)
    assert (config.practise.method, config.rounds, config.estimator) == ("reinforce", 1, "ratio")
    assert config.practise.max_attempt_steps == config_for(RING).practise.max_attempt_steps
