import json
from dataclasses import replace

import pytest

from attribute_planner.configuration import HOST, PRESETS, TrainConfig, default_config, paper_config
from attribute_planner.environments.registry import ENVIRONMENTS, make
from attribute_planner.errors import AttributePlannerError, RunDirectoryError
from attribute_planner.storage.description import parameters_of
from attribute_planner.storage.settings import settings_from_json, settings_to_json, with_setting
from tests.probes import TINY


@pytest.mark.parametrize(
    "config", [TINY, replace(TINY, estimator="visits"), *PRESETS.values(), paper_config("switches")]
)
def test_settings_survive_the_way_through_json(config: TrainConfig):
    assert settings_from_json(TrainConfig, json.loads(json.dumps(settings_to_json(config)))) == config


def test_what_a_file_does_not_mention_keeps_its_default():
    config = settings_from_json(TrainConfig, {"explore": {"steps": 7}})
    assert config.explore.steps == 7
    assert config.practise == TrainConfig().practise


def test_settings_that_do_not_exist_are_named():
    with pytest.raises(RunDirectoryError, match=r"saved TrainConfig\.explore has unknown settings: speed"):
        settings_from_json(TrainConfig, {"explore": {"speed": 7}})


def test_settings_out_of_range_are_refused():
    with pytest.raises(AttributePlannerError, match=r"PractiseConfig\.num_envs must be greater than zero; it is 0"):
        settings_from_json(TrainConfig, {"practise": {"num_envs": 0}})


def test_an_integer_may_be_written_as_a_power_of_ten_but_has_no_fraction():
    assert with_setting(TrainConfig(), "practise.steps=1e6").practise.steps == 1_000_000
    with pytest.raises(AttributePlannerError, match=r"practise\.steps cannot be '2\.9'"):
        with_setting(TrainConfig(), "practise.steps=2.9")


@pytest.mark.parametrize("name", sorted(ENVIRONMENTS))
def test_every_environment_is_built_again_from_what_is_kept_of_it(name: str):
    env = make(name)
    kept = json.loads(json.dumps(parameters_of(env)))
    assert make(name, **kept) == env


def test_parameters_that_are_not_the_default_are_kept_too():
    env = make("switches", size=(5, 6), max_blocked=0.0)
    again = make("switches", **json.loads(json.dumps(parameters_of(env))))
    assert again == env != make("switches")


def test_a_budget_is_split_as_it_was():
    config = default_config("switches")
    assert (config.explore.steps, config.steps) == (400_000, 12_400_000)
    larger = config.with_steps(24_800_000)
    assert (larger.explore.steps, larger.steps) == (800_000, 24_800_000)
    # A smaller budget keeps exploring for as long as before, as long as that is a fifth of it at most.
    assert [config.with_steps(steps).explore.steps for steps in (3_000_000, 3_100)] == [400_000, 620]
    assert config.with_steps(1).steps == 2
    for steps in (0, -5):
        with pytest.raises(AttributePlannerError, match="steps must be greater than zero"):
            config.with_steps(steps)


def test_in_a_round_every_environment_has_time_for_two_attempts_of_the_longest_kind():
    config = replace(HOST, practise=replace(HOST.practise, max_attempt_steps=30))
    assert [config.with_steps(steps).rounds for steps in (500_000, 6_000, 600)] == [20, 3, 1]
    assert replace(config, refine=True).with_steps(600).rounds == 2


@pytest.mark.parametrize("name", PRESETS)
def test_the_preset_paper_has_nothing_of_ours(name: str):
    config = paper_config(name)
    assert (config.estimator, config.practise.goal_sampling, config.practise.hindsight) == (
        "ratio",
        "neighbours",
        0.0,
    )
    assert (config.explore.action_repeat, config.detect.action_repeat) == (1.0, 1.0)
    assert not (
        config.forward_model.learn
        or config.detect.symmetric
        or config.practise.inverse.symmetric
        or config.explore.symmetric
    )
    assert config.explore.learner == "reinforce"
    assert config.practise.method in ("reinforce", "inverse")
