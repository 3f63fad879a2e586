"""Runs for the viewer: agents that are known by construction, and a run that is still in training."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from attribute_planner.agent import Agent
from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.configuration import config_for
from attribute_planner.environments.graph_world import GraphWorld, graph_world
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.storage.description import describe_run
from attribute_planner.storage.metrics import METRICS
from attribute_planner.storage.run_directory import RunDirectory
from attribute_planner.viewer.runs import Entry, Runs, loaded
from tests.probes import Oracle, numbers, table_of, with_drawn_weights

STEPS = [((i,), action, (i + (1, -1)[action],)) for i in range(5) for action in (0, 1) if 0 <= i + (1, -1)[action] < 5]
LINE = graph_world(numbers(7), STEPS, start=(0,), episode_steps=20)
"""Five places in a row; two further values exist, and no way leads there."""
SHORT = replace(LINE, episode_steps=15)
"""The same, with too few steps for a policy that is not trained."""

HOSTILE = '<img/src/onerror="alert(1)">'
NAMES = AttributeSpace(
    (
        Attribute("</script><script>alert(1)</script>", (HOSTILE, "<b>bold</b>")),
        Attribute(f"&{HOSTILE.replace('=', '')}"),
    )
)
HOSTILE_WORLD = graph_world(NAMES, [((0, 0), 0, (1, 0)), ((1, 0), 0, (1, 1))], start=(0, 0), episode_steps=10)
"""Two transitions between sets whose names and values look like HTML."""


def agent_of(world: GraphWorld, policy: GoalPolicy, probability: float = 0.9) -> Agent:
    edges = [(edge.source.values, edge.target.values, probability) for edge in world.edges]
    also = [(5,)] if world is LINE else []
    return Agent(world, None, policy, table_of(world.space, edges, also=also), max_attempt_steps=3, deterministic=True)


@pytest.fixture(scope="session")
def line_agent() -> Agent:
    return agent_of(LINE, Oracle(LINE))


@pytest.fixture(scope="session")
def weak_agent() -> Agent:
    """An agent on the line whose policy is not trained."""
    return agent_of(SHORT, with_drawn_weights(lambda key: GoalPolicy(SHORT.spec, 7, key=key)))


@pytest.fixture(scope="session")
def hostile_agent() -> Agent:
    return agent_of(HOSTILE_WORLD, with_drawn_weights(lambda key: GoalPolicy(HOSTILE_WORLD.spec, 2, key=key)))


def append(run: RunDirectory, line: dict[str, Any]) -> None:
    """Write a line of metrics, as a training does."""
    with open(run.path / METRICS, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def begun_run(folder: Path) -> RunDirectory:
    """A run that has begun to explore, and has written no checkpoint."""
    run = RunDirectory.create(folder / "begun", describe_run(LINE, config_for(LINE), seed=0))
    for epoch in range(3):
        append(run, {"phase": "explore", "seconds": epoch, "sets": 10 * epoch, "loss": float("nan")})
    return run


@pytest.fixture
def training_run(tmp_path: Path) -> RunDirectory:
    return begun_run(tmp_path)


@pytest.fixture
def runs(
    line_agent: Agent, hostile_agent: Agent, weak_agent: Agent, training_run: RunDirectory, tmp_path: Path
) -> Runs:
    known = {"line": line_agent, HOSTILE: hostile_agent, "weak": weak_agent}
    entries = {name: Entry(name, tmp_path) for name in known} | {"begun": Entry("begun", training_run.path, LINE)}

    def load(entry: Entry) -> Agent:
        return known[entry.name] if entry.name in known else loaded(entry)

    return Runs(entries, load)
