"""Environments of one's own on the command line: named as `module:function`, in training and afterwards."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import attribute_planner as ap
from attribute_planner import training
from attribute_planner.command_line.main import main
from attribute_planner.files.manifest import commit
from attribute_planner.planning.episode_model import Odds
from attribute_planner.storage.run_directory import CONFIG, RunDirectory, save_agent
from tests.probes import TINY, ring_agent

Printed = pytest.CaptureFixture[str]
RING = "tests.probes:new_ring"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An agent that was trained on an environment of one's own, named by its function."""
    path = tmp_path_factory.mktemp("runs") / "ring"
    save_agent(path, replace(ring_agent(), env=ap.make(RING)), TINY, seed=0)
    return path


@pytest.fixture
def moved_run(run: Path, tmp_path: Path) -> Path:
    """The same, where its function cannot be imported."""
    path = tmp_path / "ring"
    path.mkdir()
    for file in run.iterdir():
        (path / file.name).write_bytes(file.read_bytes())
    described = json.loads((path / CONFIG).read_text())
    described["environment"]["source"] = "nowhere.envs:make_ring"
    commit(path, {CONFIG: json.dumps(described).encode()})
    return path


def test_a_run_says_which_function_made_its_environment(run: Path):
    assert RunDirectory(run).description.source == RING
    assert ap.load(run).env == ap.make(RING)


@pytest.mark.parametrize(
    "arguments",
    [
        ["reach", "--goal", "n=3", "--seed", "1"],
        ["evaluate", "--episodes", "5"],
        ["diagnose", "--episodes", "2"],
        ["graph", "--goal", "n=3"],
    ],
)
def test_commands_take_such_a_run(arguments: list[str], run: Path, capsys: Printed):
    command, *options = arguments
    assert main([command, str(run), *options, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)


def test_a_graph_needs_no_environment(moved_run: Path, capsys: Printed):
    assert main(["graph", str(moved_run), "--goal", "n=3", "--start", "n=1", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["sets"], printed["edges"]) == (5, 10)
    assert [step["n"] for step in printed["plan"]["steps"]] == [1, 2, 3]


def test_a_graph_plans_with_the_probability_that_the_agent_gives(tmp_path: Path, capsys: Printed):
    agent = replace(ring_agent(), env=ap.make(RING), odds=Odds(-1.0, 0.5))
    save_agent(tmp_path / "ring", agent, TINY, seed=0)
    plan = agent.plan({"n": 1}, "n=3")
    assert 0 < plan.probability < 1 and plan.horizon == agent.max_steps
    assert main(["graph", str(tmp_path / "ring"), "--goal", "n=3", "--start", "n=1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["plan"]["probability"] == pytest.approx(plan.probability, rel=1e-6)
    assert main(["graph", str(tmp_path / "ring"), "--goal", "n=3", "--start", "n=1"]) == 0
    assert f"Plan from n=1: {plan}" in capsys.readouterr().out


def test_a_run_that_does_not_say_how_long_episodes_are_is_planned_without_a_limit(run: Path, tmp_path: Path):
    path = tmp_path / "older"
    shutil.copytree(run, path)
    described = json.loads((path / CONFIG).read_text())
    del described["environment"]["max_steps"]
    commit(path, {CONFIG: json.dumps(described).encode()})
    assert RunDirectory(run).planner().graph.horizon == ap.make(RING).max_steps
    assert RunDirectory(path).planner().graph.horizon == float("inf")


def test_another_function_can_be_named(moved_run: Path, capsys: Printed):
    assert main(["evaluate", str(moved_run), "--episodes", "3"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "was trained on nowhere.envs:make_ring, which you have not used here before" in line and "--env" in line
    assert main(["evaluate", str(moved_run), "--episodes", "3", "--env", RING, "--json"]) == 0


def test_an_environment_is_checked(capsys: Printed):
    assert main(["check", RING, "--steps", "5", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["environment"], report["steps"]) == (ap.make(RING).name, 5 * 8 * 4)
    assert main(["check", RING, "--steps", "5"]) == 0
    assert capsys.readouterr().out == f"{ap.check_environment(ap.make(RING), steps=5)}\n"


def test_a_fault_that_a_check_finds_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Printed):
    module = tmp_path / "my_faulty_rooms.py"
    module.write_text(
        "import attribute_planner as ap\n"
        "import gymnasium\n"
        "def make():\n"
        "    return ap.from_gymnasium(lambda: gymnasium.make('CartPole-v1'), attributes=[ap.Attribute('far')],\n"
        "        describe=lambda observation, info, env: {'near': True})\n"
    )
    monkeypatch.chdir(tmp_path)
    assert main(["check", "my_faulty_rooms:make"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "describe" in line and "'near'" in line and "There are: far" in line


def test_commands_name_the_files_that_they_write(run: Path, tmp_path: Path, capsys: Printed):
    for command, options in (("graph", "--export"), ("diagnose", "--report")):
        path = tmp_path / ("graph.dot" if command == "graph" else "diagnosis.html")
        episodes = [] if command == "graph" else ["--episodes", "0"]
        assert main([command, str(run), options, str(path), *episodes]) == 0
        assert path.exists() and capsys.readouterr().err == f"Wrote {path}.\n"


def test_training_takes_a_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Printed):
    (tmp_path / "my_rooms.py").write_text("from tests.probes import new_ring as make_ring\n")
    monkeypatch.chdir(tmp_path)
    asked: dict[str, Any] = {}

    def train(env: ap.Environment, **options: Any) -> ap.Agent:
        asked.update(options, env=env)
        return replace(ring_agent(), env=env)

    monkeypatch.setattr(ap, "train", train)
    assert main(["train", "my_rooms:make_ring", "--seed", "4", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["environment"] == "graph"
    assert (asked["env"].name, asked["run_dir"]) == ("graph", Path("runs/graph-4"))
    assert asked["config"].practise.method == "dqn"
    assert main(["train", "my_rooms:make_ring", "--preset", "paper", "--json"]) == 0
    assert asked["config"].practise.method == "reinforce"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere:make", "there is no module 'nowhere'"),
        ("my_faults:mke", "Module my_faults has no function 'mke'. Did you mean 'make'"),
        ("my_faults:make", "my_faults:make returned a dict, which is not an environment of attribute_planner"),
        ("my_faults:fail", "my_faults:fail failed: ZeroDivisionError: integer division or modulo by zero"),
        ("my_faults:number", "my_faults:number is a int, not a function"),
        ("my_broken:make", "my_broken cannot be imported: SyntaxError"),
    ],
)
def test_a_wrong_function_is_one_clear_line(
    name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Printed
):
    (tmp_path / "my_faults.py").write_text("number = 3\ndef make():\n    return {}\ndef fail():\n    return 1 // 0\n")
    (tmp_path / "my_broken.py").write_text("def make(:\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert main(["train", name]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


def test_an_interrupted_training_says_how_to_continue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Printed):
    def interrupted(*args: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(training.algorithm, "train", interrupted)
    monkeypatch.chdir(tmp_path)
    assert main(["train", RING, "--out", "mine"]) == 130
    *_, line = capsys.readouterr().err.splitlines()
    assert line == (
        "attribute-planner: interrupted; nothing was learned yet; continue with: "
        f"attribute-planner train {RING} --out mine --resume"
    )
    assert (tmp_path / "mine" / CONFIG).exists()
