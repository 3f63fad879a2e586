"""The agents that ship with the package do what their results say."""

import pytest

import attribute_planner as ap
from attribute_planner.storage.agents import shipped_agents

# By name: a task, how many of them, and which share must be solved. Physics and pictures take time.
TRIED = {
    "switches": ("multi-step", 20, 0.95),
    "crafting": ("craft", 20, 0.95),
    "blocks": ("multi-step", 10, 0.9),
    "blocks-continuous": ("1-step", 6, 0.6),
    "starcraft-small": ("build", 12, 0.9),
    "starcraft-large": ("build", 8, 0.75),
}


@pytest.mark.parametrize("name", TRIED)
def test_an_agent_that_ships_solves_its_tasks(name: str):
    task, episodes, least = TRIED[name]
    result = ap.evaluate(ap.load(name), task, episodes=episodes, seed=11)
    assert result.environment == name
    assert result.success >= least


def test_every_agent_that_ships_is_tried():
    assert set(shipped_agents()) == set(TRIED)
