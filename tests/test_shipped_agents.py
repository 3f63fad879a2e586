"""The agents that ship with the package do what their results say."""

import pytest

import attribute_planner as ap
from attribute_planner.storage.agents import shipped_agents

MAIN_TASKS = {"switches": "multi-step", "crafting": "craft", "blocks": "multi-step", "starcraft-small": "build"}


@pytest.mark.parametrize(("name", "task"), MAIN_TASKS.items())
def test_an_agent_that_ships_solves_its_main_task(name: str, task: str):
    result = ap.evaluate(ap.load(name), task, episodes=40, seed=11)
    assert result.environment == name
    assert result.success >= 0.95


def test_every_agent_that_ships_is_tried():
    assert set(shipped_agents()) == set(MAIN_TASKS)
