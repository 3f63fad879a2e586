import json
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from attribute_planner.data.random_actions import any_action
from attribute_planner.environments import registry
from attribute_planner.environments.blocks import continuous, discrete
from attribute_planner.environments.blocks.drawing import draw_poses
from attribute_planner.environments.interface import PureEnvironment
from attribute_planner.environments.registry import ENVIRONMENTS, make
from attribute_planner.errors import ConfigurationError, UnknownNameError
from attribute_planner.evaluation.check_environment import check_environment
from attribute_planner.storage.description import parameters_of

LIGHTER: dict[str, dict[str, Any]] = {"blocks": {"image_size": 32}, "blocks-continuous": {"image_size": 32}}
"""Parameters with which environments are checked sooner: the pictures' size changes nothing else."""

LARGER = ("blocks-continuous", "starcraft-large")
"""Environments that share most of their code with another one."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in LARGER else []) for name in sorted(ENVIRONMENTS)]
)
def test_every_environment_passes_the_check(name: str, monkeypatch: pytest.MonkeyPatch):
    for module in (discrete, continuous):
        monkeypatch.setattr(module, "draw_poses", partial(draw_poses, size=16))
    report = check_environment(make(name, **LIGHTER.get(name, {})), steps=40)
    assert report.environment == name
    assert report.image is not None


@pytest.mark.parametrize("name", sorted(ENVIRONMENTS))
def test_the_steps_of_a_pure_environment_compile_once(name: str):
    env = make(name)
    if not isinstance(env, PureEnvironment):
        pytest.skip("runs on the host")
    traces = []

    @jax.jit
    def step(state: Any, action: Any, key: jax.Array) -> Any:
        traces.append(None)
        return env.step(state, action, key)

    state = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), jax.eval_shape(env.reset, jax.random.key(0)))
    for number in range(3):
        action = jax.tree.map(lambda leaf: leaf[0], any_action(env, 1, key=jax.random.key(number)))
        state = step(state, action, jax.random.key(number))
    assert len(traces) == 1


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_an_environment_is_built_again_from_its_saved_parameters(name: str):
    env = make(name, episode_steps=17)
    saved = json.loads(json.dumps(parameters_of(env)))
    assert make(name, **saved) == env != make(name)
    assert env.name == name


def test_environments_are_equal_if_their_parameters_are():
    assert make("switches", size=[5, 8]) == make("switches", size=(5, 8)) != make("switches")
    assert hash(make("switches", size=[5, 8])) == hash(make("switches", size=(5, 8)))


def test_an_unknown_name_lists_what_exists_and_guesses():
    with pytest.raises(UnknownNameError, match=r"no environment 'swiches'. Did you mean 'switches'\? There are: "):
        make("swiches")


def test_an_unknown_parameter_lists_those_that_exist():
    with pytest.raises(UnknownNameError, match=r"switches has no parameter 'blocked'.*max_blocked"):
        make("switches", blocked=0.1)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"size": 3}, r"size of switches is 3; it must be like its default, \(5, 10\)"),
        ({"size": ("a", "b")}, "size of switches is"),
        ({"size": (5, 6, 7)}, "size of switches is"),
        ({"max_blocked": "much"}, "max_blocked of switches is 'much'"),
        ({"show_corners": 1}, "show_corners of switches is 1"),
        ({"episode_steps": 2.5}, "episode_steps of switches is 2.5"),
        ({"episode_steps": 0}, "it must be at least 1"),
        ({"size": (1, 2)}, "need more cells"),
    ],
)
def test_a_wrong_parameter_is_one_clear_line(parameters, message):
    with pytest.raises(ConfigurationError, match=message) as caught:
        make("switches", **parameters)
    assert "\n" not in str(caught.value)


def test_a_whole_number_will_do_where_a_fraction_is_asked_for():
    assert make("switches", max_blocked=0).observation.shape == (12,)


def test_an_environment_whose_simulator_is_missing_says_so(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(registry.ENVIRONMENTS, "far", "no_such_simulator.worlds:Far")
    with pytest.raises(ConfigurationError, match="'far' needs the package 'no_such_simulator'"):
        make("far")
