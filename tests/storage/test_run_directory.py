import json
from dataclasses import replace
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.agent import Agent
from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.environments.graph_world import graph_world
from attribute_planner.environments.hidden_attributes import with_hidden_attributes
from attribute_planner.environments.registry import make
from attribute_planner.environments.splits import Codes, Split, Threshold
from attribute_planner.errors import RunDirectoryError
from attribute_planner.files.manifest import commit, read_manifest
from attribute_planner.models.detector import AttributeDetector
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.storage.agents import find_run
from attribute_planner.storage.description import describe_run
from attribute_planner.storage.metrics import METRICS
from attribute_planner.storage.run_directory import RunDirectory, save_agent, ship
from attribute_planner.training import load
from tests.probes import RING, TINY, numbers, table_of, with_drawn_weights


@pytest.fixture
def agent() -> Agent:
    """An agent that was never trained, but has all its parts."""
    table = table_of(numbers(5), [((0,), (1,), 0.25), ((3,), (0,), 0.5)])
    return Agent(
        RING,
        with_drawn_weights(lambda key: AttributeDetector(RING.spec, TINY.detect.hidden_size, key=key)),
        with_drawn_weights(lambda key: GoalPolicy(RING.spec, TINY.practise.hidden_size, key=key)),
        replace(table, estimator=TINY.estimator),
        max_attempt_steps=TINY.practise.max_attempt_steps,
    )


def rewrite(run: Path, name: str, content: bytes) -> None:
    """Change a file of a run, and its entry in the manifest."""
    commit(run, {name: content})


@pytest.fixture
def run(agent: Agent, tmp_path: Path) -> Path:
    """A run directory with that agent."""
    save_agent(tmp_path / "run", agent, TINY, seed=7)
    return tmp_path / "run"


def test_an_agent_comes_back_as_it_was(agent: Agent, run: Path):
    loaded = load(run, RING)
    situation = jnp.eye(5), jnp.array([[0], [1], [2], [3], [4]]), jnp.array([[1], [2], [3], [4], [0]])
    before, after = agent.policy(*situation), loaded.policy(*situation)
    np.testing.assert_array_equal(before.actions.logits, after.actions.logits)  # pyright: ignore[reportAttributeAccessIssue]
    np.testing.assert_array_equal(before.baseline, after.baseline)
    assert agent.detector is not None
    assert loaded.detector is not None
    np.testing.assert_array_equal(agent.detector(jnp.eye(5)), loaded.detector(jnp.eye(5)))
    for name in ("words", "source", "target", "visits", "attempts", "successes", "probability"):
        np.testing.assert_array_equal(getattr(agent.table, name), getattr(loaded.table, name))
    assert loaded.max_attempt_steps == agent.max_attempt_steps


def test_what_ships_is_the_agent_described_as_its_run(run: Path, tmp_path: Path):
    described = json.loads((run / "config.json").read_text())
    described["provenance"]["device"] = "a machine far away"
    rewrite(run, "config.json", json.dumps(described).encode())
    ship(RunDirectory(run), tmp_path / "shipped", RING)
    assert json.loads((tmp_path / "shipped" / "config.json").read_text()) == described
    table, shipped = load(run, RING).table, load(tmp_path / "shipped", RING).table
    np.testing.assert_array_equal(shipped.probability, table.probability)
    assert RunDirectory(tmp_path / "shipped").metrics() == []


def test_an_agent_ships_with_the_metrics_of_its_last_checkpoint(run: Path, tmp_path: Path):
    writer = RunDirectory(run).metrics_writer()
    writer.write({"phase": "explore", "seconds": 1.0, "edges": 3})
    commit(run, {}, beginnings={METRICS: writer.written})
    writer.write({"phase": "explore", "seconds": 2.0, "edges": 4})  # after the checkpoint
    ship(RunDirectory(run), tmp_path / "shipped", RING)
    assert [line["edges"] for line in RunDirectory(tmp_path / "shipped").metrics()] == [3]
    assert METRICS in read_manifest(tmp_path / "shipped")


def test_a_run_directory_holds_json_and_safetensors_only(run: Path):
    assert sorted(path.name for path in run.iterdir()) == ["agent.safetensors", "config.json", "manifest.json"]
    described = json.loads((run / "config.json").read_text())
    assert described["seed"] == 7
    assert described["environment"] == {"name": "graph", "parameters": None, "max_steps": RING.max_steps}
    assert {"version", "commit", "python", "jax", "device"} <= set(described["provenance"])


def test_a_description_survives_the_way_through_its_file(tmp_path: Path):
    space = AttributeSpace((Attribute("colour", ("red", "green")), Attribute("lamp"), Attribute("n", range(-4, 5, 2))))
    world = graph_world(space, [((0, 0, 0), 0, (1, 1, 4))])
    described = describe_run(world, replace(TINY, estimator="ratio"), seed=3)
    assert RunDirectory.create(tmp_path / "run", described).description == described


def test_an_environment_of_ones_own_must_be_given(run: Path):
    with pytest.raises(RunDirectoryError, match=r"trained on 'graph', which is not a built-in environment.*env=…"):
        load(run)


def test_an_environment_with_other_attributes_is_refused(run: Path):
    other = graph_world(numbers(4), [((0,), 0, (1,))])
    with pytest.raises(
        RunDirectoryError, match="was trained with the attributes n; the given environment has n, or other"
    ):
        load(run, other)


def test_an_environment_with_other_observations_is_refused(run: Path):
    smaller = graph_world(numbers(5), [((0,), 0, (1,))])
    with pytest.raises(RunDirectoryError, match=r"has shape .*; this environment needs"):
        load(run, smaller)


def test_a_directory_in_use_is_not_overwritten(run: Path):
    before = (run / "config.json").read_bytes()
    with pytest.raises(RunDirectoryError, match=r"already exists; continue that run with --resume"):
        RunDirectory.create(run, describe_run(RING, TINY, 0))
    assert (run / "config.json").read_bytes() == before


def test_a_file_in_the_way_is_one_clear_line(tmp_path: Path):
    (tmp_path / "file").write_text("something else")
    for path in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(RunDirectoryError) as caught:
            RunDirectory.create(path, describe_run(RING, TINY, 0))
        assert "\n" not in str(caught.value)


def test_a_missing_run_says_what_there_is(tmp_path: Path):
    with pytest.raises(RunDirectoryError, match=r"There is no run directory '.*nowhere', and no shipped agent"):
        find_run(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("config.json", None, r"config\.json is missing"),
        ("manifest.json", None, r"has no manifest\.json, which lists its files: .*write_manifest"),
        ("config.json", "{", "is not valid JSON"),
        ("config.json", "[]", "must hold a JSON object"),
        ("config.json", "{}", "does not describe a run"),
        ("config.json", '{"format": 99}', "has format 99; this version reads format 2"),
        ("config.json", '{"format": 1}', r"was written by attribute_planner 0\.1; train the agent again\.$"),
        ("agent.safetensors", None, r"agent\.safetensors is missing"),
        ("agent.safetensors", "gibberish", "cannot be read as a saved agent"),
    ],
)
def test_a_foreign_or_damaged_run_is_one_clear_line(run: Path, name: str, content: str | None, message: str):
    if content is None:
        (run / name).unlink()
    else:
        rewrite(run, name, content.encode())
    with pytest.raises(RunDirectoryError, match=message) as caught:
        load(run, RING)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        {"config": []},
        {"config": 3},
        {"attributes": {}},
        {"attributes": [{"name": "n", "values": [], "kind": "integer"}]},
    ],
)
def test_a_description_that_makes_no_sense_is_one_clear_line(run: Path, change: dict):
    described = json.loads((run / "config.json").read_text())
    rewrite(run, "config.json", json.dumps(described | change).encode())
    with pytest.raises(RunDirectoryError) as caught:
        load(run, RING)
    assert "\n" not in str(caught.value)


def test_a_run_without_a_checkpoint_says_so(tmp_path: Path):
    run = RunDirectory.create(tmp_path / "run", describe_run(RING, TINY, 0))
    with pytest.raises(RunDirectoryError, match="contains no agent: training stopped before its first checkpoint"):
        load(run.path, RING)


@pytest.mark.parametrize("again", [True, False])
def test_a_truncated_agent_is_one_clear_line(run: Path, again: bool):
    """With a manifest that lists it as it is, and without."""
    half = (run / "agent.safetensors").read_bytes()[: (run / "agent.safetensors").stat().st_size // 2]
    rewrite(run, "agent.safetensors", half) if again else (run / "agent.safetensors").write_bytes(half)
    message = "cannot be read as a saved agent" if again else r"is not what was saved: it has [\d,]+ bytes, not [\d,]+"
    with pytest.raises(RunDirectoryError, match=message):
        load(run, RING)


def test_hidden_attributes_are_stored_and_made_again(tmp_path: Path):
    refined = with_hidden_attributes(RING, [Split((Codes(0, 5, (1, 3)),)), Split((Threshold(2, 0.5),))])
    agent = Agent(
        refined,
        None,
        with_drawn_weights(lambda key: GoalPolicy(refined.spec, TINY.practise.hidden_size, key=key)),
        replace(table_of(refined.attributes, [((0, 0, 0), (1, 1, 0), 0.25)]), estimator=TINY.estimator),
        max_attempt_steps=TINY.practise.max_attempt_steps,
    )
    save_agent(tmp_path / "run", agent, TINY, seed=7)
    for given in (RING, refined):
        loaded = load(tmp_path / "run", given)
        assert loaded.env == refined
        assert loaded.table.space == refined.attributes


def test_a_built_in_environment_with_hidden_attributes_is_made_again(tmp_path: Path):
    refined = with_hidden_attributes(make("switches"), [Split((Codes(0, 1, (1,)),))])
    run = RunDirectory.create(tmp_path / "run", describe_run(refined, TINY, seed=3))
    assert run.environment() == refined
