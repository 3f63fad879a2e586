import pytest

from attribute_planner.baselines import BASELINES
from attribute_planner.configuration import default_config
from attribute_planner.environments.registry import ENVIRONMENTS
from attribute_planner.experiments.baseline_configs import fair_config


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_baselines_have_the_planners_network_and_experience(environment: str):
    planner = default_config(environment)
    for name in ("reinforce", "actor-critic", "option-critic"):
        config = fair_config(name, environment)
        assert isinstance(config, BASELINES[name].config)
        assert config.school.hidden_size == planner.practise.hidden_size
        assert config.school.steps == planner.steps
        assert config.school.step_reward == planner.practise.step_reward


@pytest.mark.parametrize("environment", ["blocks", "blocks-continuous"])
def test_the_inverse_baseline_is_fitted_as_the_planners_policy_is(environment: str):
    planner, config = default_config(environment), fair_config("inverse", environment)
    assert config.learning == planner.inverse
    assert (config.examples, config.num_envs, config.hidden_size) == (
        planner.explore.steps,
        planner.explore.num_envs,
        planner.practise.hidden_size,
    )


def test_what_can_be_equal_is_equal():
    reinforce, actor, option = (fair_config(name, "blocks") for name in ("reinforce", "actor-critic", "option-critic"))
    assert (actor.descent, actor.school) == (option.descent, option.school)
    for name in ("learning_rate", "discount", "gradient_norm", "cool_down"):
        assert getattr(reinforce.learning, name) == getattr(actor.descent, name)


def test_other_environments_have_the_defaults():
    assert fair_config("reinforce", "taxi") == BASELINES["reinforce"].config()
