"""The agents that ship with the package do what their results say."""

import json
from pathlib import Path

import pytest

import attribute_planner as ap
from attribute_planner.experiments.planner_run import curves_of
from attribute_planner.storage.agents import shipped_agents
from attribute_planner.storage.run_directory import CONFIG, RunDirectory

RECORDS = Path(__file__).parent.parent / "reproduction" / "records"
WITHOUT_METRICS = {"blocks"}
"""Agents of which no metrics were kept."""

# By name: a task, how many of them, and which share must be solved. Physics and pictures take time.
TRIED = {
    "switches": ("multi-step", 20, 0.95),
    "crafting": ("craft", 20, 0.95),
    "blocks": ("multi-step", 10, 0.9),
    "blocks-continuous": ("1-step", 6, 0.6),
    "starcraft-small": ("build", 12, 0.9),
    "starcraft-large": ("build", 8, 0.75),
}


LONG = ("blocks-continuous", "starcraft-small", "starcraft-large")


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in LONG)) for name in TRIED])
def test_an_agent_that_ships_solves_its_tasks(name: str):
    task, episodes, least = TRIED[name]
    result = ap.evaluate(ap.load(name), task, episodes=episodes, seed=11)
    assert result.environment == name
    assert result.success >= least


def test_every_agent_that_ships_is_tried():
    assert set(shipped_agents()) == set(TRIED)


def test_agents_ship_with_the_metrics_of_their_training():
    assert {name for name, path in shipped_agents().items() if not RunDirectory(path).metrics()} == WITHOUT_METRICS


@pytest.mark.parametrize("name", sorted(TRIED.keys() - WITHOUT_METRICS))
def test_the_metrics_of_an_agent_are_those_of_the_record_of_its_training(name: str):
    run = RunDirectory(shipped_agents()[name])
    record = json.loads((RECORDS / f"paper-{name}-default-0.json").read_text(encoding="utf-8"))
    saved = json.loads((run.path / CONFIG).read_text(encoding="utf-8"))
    assert curves_of(run.metrics()) == record["curves"]
    assert record["configuration"] == {"environment": saved["environment"], "config": saved["config"]}
    assert record["seed"] == saved["seed"]
    origin = ("commit", "python", "jax", "device", "machine", "cores")
    assert {each: record["trained"][each] for each in origin} == {each: run.provenance[each] for each in origin}
    edges = record["scalars"].get("edges with model-generated ones", record["scalars"]["edges"])
    assert run.table().num_edges == edges


@pytest.mark.parametrize("name", LONG)
def test_an_agent_that_takes_long_to_evaluate_loads_and_plans(name: str):
    agent = ap.load(name)
    assert agent.table.num_edges > 0
    edge = int(agent.table.visits.argmax())
    values, space = agent.table.values, agent.env.attributes
    start, goal = (space.decode(values[ends[edge]]) for ends in (agent.table.source, agent.table.target))
    assert agent.plan(start, goal).probability > 0
