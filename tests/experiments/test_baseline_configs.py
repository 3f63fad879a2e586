import pytest

from attribute_planner.baselines import BASELINES
from attribute_planner.configuration import default_config, paper_config
from attribute_planner.environments.registry import ENVIRONMENTS
from attribute_planner.experiments.baseline_configs import baseline_preset


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_baselines_have_the_planners_network_and_experience(environment: str):
    planner = default_config(environment)
    for name in ("ppo", "actor-critic", "option-critic", "hindsight-dqn", "goal-cloning"):
        config = baseline_preset(name, environment)
        assert isinstance(config, BASELINES[name].config)
        assert config.training.hidden_size == planner.practise.hidden_size
        assert config.training.steps == planner.steps
        assert config.training.step_reward == planner.practise.step_reward


@pytest.mark.parametrize("environment", ["switches", "crafting", "starcraft-small", "starcraft-large"])
def test_reinforce_has_what_the_planner_as_published_has(environment: str):
    published, config = paper_config(environment), baseline_preset("reinforce", environment)
    assert config.learning == published.practise.reinforce
    assert (config.training.steps, config.training.num_envs) == (published.steps, published.practise.num_envs)
    assert config.training.hidden_size == published.practise.hidden_size


@pytest.mark.parametrize("environment", ["blocks", "blocks-continuous"])
def test_the_inverse_baseline_is_fitted_as_the_planners_policy_is(environment: str):
    planner, config = default_config(environment), baseline_preset("inverse", environment)
    assert config.learning == planner.practise.inverse
    assert (config.examples, config.num_envs, config.hidden_size) == (
        planner.explore.steps,
        planner.explore.num_envs,
        planner.practise.hidden_size,
    )


def test_what_can_be_equal_is_equal():
    ppo, actor, option = (baseline_preset(name, "blocks") for name in ("ppo", "actor-critic", "option-critic"))
    assert (actor.descent, actor.training) == (option.descent, option.training)
    for name in ("learning_rate", "discount", "max_grad_norm", "anneal"):
        assert getattr(ppo.learning, name) == getattr(actor.descent, name)


def test_other_environments_have_the_defaults():
    assert baseline_preset("reinforce", "taxi") == BASELINES["reinforce"].config()
