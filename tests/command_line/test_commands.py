"""Every command as a person or a program would call it: what it prints, and its exit status."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import networkx
import pytest
from PIL import Image

import attribute_planner as ap
from attribute_planner.command_line.commands import COMMANDS
from attribute_planner.command_line.main import main
from attribute_planner.diagnosis.finding import Finding
from attribute_planner.diagnosis.report import Report
from attribute_planner.environments.gridworld.switches import COLORS
from attribute_planner.environments.registry import ENVIRONMENTS
from attribute_planner.planning.executor import EXECUTORS
from attribute_planner.storage.run_directory import RunDirectory
from tests.probes import ring_agent

Printed = pytest.CaptureFixture[str]

SHIPPED = "switches"
"""A shipped agent, where the goal must be reached: the agent of `run` is trained too briefly to be reliable."""


def run_json(capsys: Printed, *arguments: str) -> tuple[int, Any]:
    """Exit status of a command, and the one JSON value that it printed."""
    status = main([*arguments, "--json"])
    return status, json.loads(capsys.readouterr().out)


def assert_one_clear_line(capsys: Printed, arguments: list[str], message: str) -> None:
    """The command fails with exit status 1, says why in one line on standard error, and nothing else there."""
    assert main(arguments) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("attribute-planner: ")
    assert re.search(message, lines[0]), lines[0]


@pytest.mark.parametrize("command", [None, *COMMANDS])
def test_every_command_explains_itself(command: str | None, capsys: Printed):
    with pytest.raises(SystemExit) as done:
        main([command, "--help"] if command else ["--help"])
    assert done.value.code == 0
    printed = capsys.readouterr().out
    assert "attribute-planner" in printed
    if command is None:
        assert all(name in printed for name in COMMANDS)


def test_the_help_of_evaluate_lists_all_modes():
    assert set(re.findall("`([a-z-]+)`", str(COMMANDS["evaluate"].__doc__).split("Default:")[1])) >= set(EXECUTORS)


@pytest.mark.parametrize(
    "arguments", [["fly"], ["train"], ["reach", "somewhere"], ["train", "switches", "--steps", "many"]]
)
def test_a_command_that_cannot_be_understood_is_a_usage_error(arguments: list[str]):
    with pytest.raises(SystemExit) as done:
        main(arguments)
    assert done.value.code == 2


def test_envs_lists_what_is_built_in(capsys: Printed):
    status, listed = run_json(capsys, "envs")
    assert status == 0
    assert [each["name"] for each in listed] == list(ENVIRONMENTS)
    switches = listed[0]
    assert switches["attributes"][0] == {"name": "switch_0", "kind": "categorical", "values": list(COLORS)}
    assert [task["name"] for task in switches["tasks"]] == ["multi-step", "1-step"]
    assert main(["envs"]) == 0
    assert "switch_3" in capsys.readouterr().out


def test_agents_lists_what_is_shipped(run: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("attribute_planner.storage.agents.SHIPPED", run.parent)
    status, listed = run_json(capsys, "agents")
    assert status == 0
    assert listed == [{"name": "switches", "environment": "switches", "seed": 5, "steps": 38400}]
    monkeypatch.setattr("attribute_planner.storage.agents.SHIPPED", run / "none")
    assert main(["agents"]) == 0
    assert "No agents" in capsys.readouterr().out


def test_train_keeps_a_run_with_its_settings(run: Path):
    described = RunDirectory(run).description
    assert (described.name, described.seed) == ("switches", 5)
    assert described.config.explore.policy == "random"
    assert described.config.practise.hidden_size == 16
    assert {line["phase"] for line in RunDirectory(run).metrics()} == {"explore", "practise"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["swiches"], "no environment 'swiches'. Did you mean 'switches'"),
        (["switches", "--steps", "0"], "steps must be greater than zero; it is 0"),
        (["switches", "--steps", "-4"], "steps must be greater than zero; it is -4"),
        (["switches", "--set", "practise.num_envs=0"], r"PractiseConfig\.num_envs must be greater than zero"),
        (
            ["switches", "--set", "practise.num_envs=2.9"],
            "practise.num_envs cannot be '2.9'; it takes a value of type int",
        ),
        (["switches", "--set", "practise.num_envs=inf"], "practise.num_envs cannot be 'inf'"),
        (
            ["switches", "--set", "practise.num_envs=many"],
            "practise.num_envs cannot be 'many'; it takes a value of type int, such as 256",
        ),
        (["switches", "--set", "detect.learn=perhaps"], "detect.learn cannot be 'perhaps'"),
        (["switches", "--set", "practise.copy=3"], r"no setting 'practise.copy'.*There are: .*num_envs"),
        (["switches", "--set", "practise=3"], r"no setting 'practise'.*There are: practise\.steps"),
        (["switches", "--set", "estimator.kind=3"], "no setting 'estimator.kind'"),
        (["switches", "--set", "practise"], "A setting has the form NAME=VALUE"),
        (["switches", "--set", "explore.bonus=large"], "no bonus 'large'"),
        (["switches", "--seed", "0", "--seeds", "0", "1"], "--seeds cannot be combined with --seed"),
        (["switches", "--seeds", "1", "1"], "seeds must differ; 1 is repeated"),
        (["switches", "--seeds"], "seeds must have at least one seed"),
    ],
)
def test_mistakes_in_training_are_one_clear_line(arguments: list[str], message: str, tmp_path: Path, capsys: Printed):
    assert_one_clear_line(capsys, ["train", "--out", str(tmp_path / "run"), *arguments], message)
    assert not (tmp_path / "run").exists()


def test_a_run_is_neither_overwritten_nor_made_of_a_file(run: Path, capsys: Printed):
    assert_one_clear_line(
        capsys, ["train", "switches", "--out", str(run)], "already exists; continue that run with --resume"
    )
    in_a_file = str(run / "config.json" / "run")
    assert_one_clear_line(capsys, ["train", "switches", "--out", in_a_file], "The run directory .* cannot be created")


def test_a_run_that_is_not_there_cannot_be_resumed(tmp_path: Path, capsys: Printed):
    missing = ["train", "switches", "--out", str(tmp_path / "run"), "--resume"]
    assert_one_clear_line(capsys, missing, "is not a run directory: it does not exist")


@pytest.mark.parametrize(
    "option", [["--set", "practise.num_envs=512"], ["--preset", "paper"], ["--preset", "default"], ["--refine"]]
)
def test_settings_cannot_be_changed_with_resume(run: Path, option: list[str], capsys: Printed):
    before = (run / "config.json").read_bytes()
    arguments = ["train", "switches", "--out", str(run), "--resume", *option]
    said = "--resume continues with the settings of the run: --set, --preset and --refine cannot"
    assert_one_clear_line(capsys, arguments, said)
    assert (run / "config.json").read_bytes() == before


@pytest.mark.slow
def test_several_seeds_train_into_directories_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Printed
):
    given: dict[str, Any] = {}

    def train_seeds(env: ap.Environment, **arguments: Any) -> list[ap.Agent]:
        given.update(arguments)
        return [ring_agent()] * len(arguments["seeds"])

    monkeypatch.setattr(ap, "train_seeds", train_seeds, raising=False)
    arguments = ("train", "switches", "--seeds", "0", "2", "--steps", "1000", "--out", str(tmp_path))
    status, said = run_json(capsys, *arguments)
    assert (status, [each["run"] for each in said]) == (0, [str(tmp_path / "seed-0"), str(tmp_path / "seed-2")])
    assert (given["seeds"], given["steps"], given["run_dir"]) == ((0, 2), 1000, tmp_path)


def test_resuming_a_finished_run_says_what_it_holds(run: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ap.Agent, "report", Report([], [Finding("noise", "A lamp flickers.", 1.0, {})]))
    status = main(["train", "switches", "--out", str(run), "--resume", "--json"])
    printed = capsys.readouterr()
    said = json.loads(printed.out)
    assert "warning: A lamp flickers." in printed.err.splitlines()
    assert (status, said["run"], said["environment"]) == (0, str(run), "switches")
    assert 200 < said["sets"] <= 256
    assert 200 < said["edges"] <= 1024


def test_reach_tells_programs_how_it_went(start: dict[str, str], capsys: Printed):
    goal = "switch_1=" + COLORS[(COLORS.index(start["switch_1"]) + 1) % 4]
    status, said = run_json(capsys, "reach", SHIPPED, "--goal", goal)
    assert status == 0
    assert said["success"] is True
    assert said["steps"] == len(said["trace"])
    assert said["plan"]["reachable"] is True
    assert said["plan"]["steps"][0] == start
    assert len(said["plan"]["edges"]) == len(said["plan"]["steps"]) - 1
    assert said["trace"][0]["observed"] == start
    assert isinstance(said["replans"], int)


def test_reach_tells_people_how_it_went(start: dict[str, str], capsys: Printed):
    goal = "switch_1=" + COLORS[(COLORS.index(start["switch_1"]) + 1) % 4]
    assert main(["reach", SHIPPED, "--goal", goal]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("Plan: ")
    assert re.search(r"Reached in \d+ steps, with \d+ replans\.", printed.out)
    assert printed.err == ""


def test_a_goal_that_is_satisfied_already_is_no_failure(run: Path, start: dict[str, str], capsys: Printed):
    goal = f"switch_0={start['switch_0']}"
    assert main(["reach", str(run), "--goal", goal]) == 0
    assert "already satisfied at the start" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--goal", "switch_9=red"], r"no attribute 'switch_9'.*There are: switch_0, switch_1, switch_2, switch_3"),
        (["--goal", "switch_0=pink"], r"Attribute 'switch_0' has no value 'pink'.*There are: red, green, blue, yellow"),
        (["--goal", "switch_0=red switch_0=blue"], "contradicts itself: switch_0 cannot be red and blue at once"),
        (["--goal", ""], "The goal is empty"),
        (["--goal", "switch_0"], "'switch_0' needs a value"),
        (["--goal", "switch_0=red", "--max-steps", "0"], "max_steps must be greater than zero"),
        (["--goal", "switch_0=red", "--max-steps", "-1"], "max_steps must be greater than zero"),
    ],
)
def test_goals_that_cannot_be_asked_for_are_one_clear_line(
    run: Path, arguments: list[str], message: str, capsys: Printed
):
    assert_one_clear_line(capsys, ["reach", str(run), *arguments], message)


def test_a_goal_out_of_reach_is_a_failure_with_its_reason(ignorant_run: Path, start: dict[str, str], capsys: Printed):
    never_seen = "switch_3=" + COLORS[1 if start["switch_3"] != COLORS[1] else 2]
    arguments = ["reach", str(ignorant_run), "--goal", never_seen]
    assert_one_clear_line(capsys, arguments, "not reached: no attribute set that was ever seen satisfies the goal")
    status, said = run_json(capsys, *arguments)
    assert (status, said["success"], said["plan"]["reachable"]) == (1, False, False)


def test_reach_writes_an_animation(run: Path, start: dict[str, str], tmp_path: Path, capsys: Printed):
    goal = "switch_1=" + COLORS[(COLORS.index(start["switch_1"]) + 1) % 4]
    gif = tmp_path / "new" / "episode.gif"
    status, said = run_json(capsys, "reach", str(run), "--goal", goal, "--max-steps", "4", "--gif", str(gif))
    assert status == (0 if said["success"] else 1)
    with Image.open(gif) as opened:
        assert opened.format == "GIF"
    wrong = ["reach", str(run), "--goal", goal, "--max-steps", "4", "--gif", str(tmp_path / "episode.mp4")]
    assert_one_clear_line(capsys, wrong, "Animations are written as GIF; .*episode.mp4 does not end in .gif")


def test_evaluate_tells_programs_success_and_interval(run: Path, capsys: Printed):
    arguments = ("evaluate", str(run), "--task", "1-step", "--episodes", "20", "--mode", "paper")
    status, said = run_json(capsys, *arguments)
    assert status == 0
    expected = {"environment": "switches", "task": "1-step", "mode": "paper", "episodes": 20}
    assert {name: said[name] for name in expected} == expected
    low, high = said["interval"]
    assert 0 <= low <= said["success"] <= high <= 1
    assert said["success"] * 20 == pytest.approx(round(said["success"] * 20))
    assert sum(said["failures"].values()) == round(20 * (1 - said["success"])) > 0
    assert main([*arguments, "--true-attributes"]) == 0
    printed = capsys.readouterr().out
    assert "1-step" in printed
    for reason, count in said["failures"].items():
        assert f"{count} failed: {reason}" in " ".join(printed.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--task", "2-step"], r"switches has no task '2-step'. Did you mean '1-step'\? There are: multi-step, 1-step"),
        (["--episodes", "0"], "episodes must be greater than zero"),
        (["--episodes", "-3"], "episodes must be greater than zero"),
    ],
)
def test_mistakes_in_evaluating_are_one_clear_line(run: Path, arguments: list[str], message: str, capsys: Printed):
    assert_one_clear_line(capsys, ["evaluate", str(run), *arguments], message)


@pytest.mark.parametrize("command", [["reach", "--goal", "switch_0=red"], ["evaluate"], ["graph"], ["diagnose"]])
def test_a_missing_run_is_one_clear_line(command: list[str], tmp_path: Path, capsys: Printed):
    assert_one_clear_line(capsys, [command[0], str(tmp_path / "none"), *command[1:]], "There is no run directory")
    (tmp_path / "foreign").mkdir()
    foreign = [command[0], str(tmp_path / "foreign"), *command[1:]]
    assert_one_clear_line(capsys, foreign, "is not a run directory: it holds no config.json")


def test_diagnose_names_what_holds_an_agent_back(ignorant_run: Path, tmp_path: Path, capsys: Printed):
    page = tmp_path / "page.html"
    status, said = run_json(capsys, "diagnose", str(ignorant_run), "--episodes", "0", "--report", str(page))
    assert status == 0 and page.read_text().startswith("<!doctype html>")
    assert said["findings"][0]["kind"] in ("unseen-value", "no-way") and said["findings"][0]["importance"] > 0.5
    assert main(["diagnose", str(ignorant_run), "--episodes", "0"]) == 0
    assert f"1. {said['findings'][0]['kind']}: " in capsys.readouterr().out
    assert_one_clear_line(capsys, ["diagnose", str(ignorant_run), "--episodes", "-1"], "must be at least zero")


def test_graph_shows_size_best_and_worst(run: Path, capsys: Printed):
    status, said = run_json(capsys, "graph", str(run), "--edges", "3")
    assert status == 0
    best, worst = ([edge["probability"] for edge in said[name]] for name in ("best", "worst"))
    assert len(best) == len(worst) == 3
    assert best == sorted(best, reverse=True)
    assert worst == sorted(worst)
    assert worst[0] <= said["mean_probability"] <= best[0]
    assert main(["graph", str(run)]) == 0
    assert f"{said['sets']} attribute sets, {said['edges']} transitions" in capsys.readouterr().out


def test_a_small_graph_is_listed_once(capsys):
    assert main(["graph", "crafting", "--edges", "20"]) == 0
    said = capsys.readouterr().out
    assert "Best first" in said and "Worst" not in said
    assert main(["graph", "crafting", "--edges", "3"]) == 0
    assert "Worst" in capsys.readouterr().out


def test_graph_exports_what_others_read(run: Path, tmp_path: Path, capsys: Printed):
    sizes = set()
    for suffix in (".graphml", ".json", ".dot", ".png"):
        path = tmp_path / "out" / f"graph{suffix}"
        status, said = run_json(capsys, "graph", str(run), "--export", str(path))
        assert status == 0
        assert path.stat().st_size > 0
        sizes.add((said["sets"], said["edges"]))
    graph = networkx.read_graphml(tmp_path / "out" / "graph.graphml")
    assert sizes == {(graph.number_of_nodes(), graph.number_of_edges())}
    assert len(json.loads((tmp_path / "out" / "graph.json").read_text())["edges"]) == graph.number_of_edges()
    assert (tmp_path / "out" / "graph.dot").read_text().count(" -> ") == graph.number_of_edges()
    with Image.open(tmp_path / "out" / "graph.png") as picture:
        assert picture.width > 500


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--export", "graph.xlsx"], r"no graph format '\.xlsx'.*There are: \.graphml, \.json, \.dot, \.png, \.svg"),
        (["--export", "graph"], "no graph format 'graph'"),
        (["--edges", "0"], "edges must be greater than zero"),
    ],
)
def test_mistakes_in_exporting_are_one_clear_line(run: Path, arguments: list[str], message: str, capsys: Printed):
    assert_one_clear_line(capsys, ["graph", str(run), *arguments], message)


def test_a_file_in_the_way_of_an_export_is_one_clear_line(run: Path, tmp_path: Path, capsys: Printed):
    (tmp_path / "file").write_text("something else")
    for name in ("graph.json", "graph.png"):
        export = ["graph", str(run), "--export", str(tmp_path / "file" / name)]
        assert_one_clear_line(capsys, export, "file")


def test_an_unknown_benchmark_lists_those_that_exist(capsys: Printed):
    assert_one_clear_line(capsys, ["benchmark", "speed"], r"no benchmark 'speed'.*There are: .*plan, starcraft")


def test_benchmarks_tell_programs_both_sides(capsys: Printed, monkeypatch: pytest.MonkeyPatch):
    from attribute_planner.benchmarks import plan
    from attribute_planner.benchmarks.measuring import times

    monkeypatch.setattr(plan, "measure", lambda: [times("new goal", 2.0, 3.0, "ms", "somebody")])
    status, said = run_json(capsys, "benchmark", "plan")
    assert status == 0
    line = {"benchmark": "plan", "name": "new goal", "ours": 2.0, "peer": 3.0, "ratio": 1.5, "unit": "ms"}
    assert said == [line | {"against": "somebody"}]
    assert main(["benchmark", "plan"]) == 0
    assert "somebody" in capsys.readouterr().out


def test_stopping_a_command_is_no_traceback(capsys: Printed, monkeypatch: pytest.MonkeyPatch):
    def stopped() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("attribute_planner.environments.registry.make", lambda name: stopped())
    assert main(["envs"]) == 130
    assert capsys.readouterr().err.startswith("attribute-planner: interrupted")


def test_reproduce_lists_the_runs_of_a_table(capsys: Printed, tmp_path: Path):
    records = str(tmp_path)
    status, runs = run_json(capsys, "reproduce", "grid-worlds", "--dry-run", "--seeds", "2", "--records", records)
    assert status == 0
    assert {(each["environment"], each["model"]) for each in runs} == {
        (environment, model)
        for environment in ("switches", "crafting")
        for model in ("planner", "reinforce", "ppo", "hindsight-dqn", "goal-cloning")
    }
    assert {each["seed"] for each in runs} == {0, 1}
    assert all(each["seconds"] > 0 and not each["recorded"] and "grid-worlds" in each["tables"] for each in runs)
    assert main(["reproduce", "grid-worlds", "--dry-run", "--seeds", "2", "--records", records]) == 0
    assert f"{len(runs)} of {len(runs)} runs are missing" in capsys.readouterr().out


def test_reproduce_does_nothing_again_and_writes_the_report(capsys: Printed, tmp_path: Path):
    committed = Path(__file__).parents[2] / "reproduction" / "records"
    (tmp_path / "records").mkdir()
    for record in committed.glob("paper-switches-*.json"):
        shutil.copy(record, tmp_path / "records")
    page, cell = tmp_path / "page.md", "paper-switches-default-0"
    page.write_text("<!-- results: summary -->\n<!-- results: summary -->\n")
    where = ["--records", str(tmp_path / "records"), "--work", str(tmp_path / "work")]
    status = main(["reproduce", "--runs", cell, *where, "--report", str(tmp_path / "report.md"), "--docs", str(page)])
    assert status == 0
    assert "1 of 1 runs are recorded" in " ".join(capsys.readouterr().out.split())
    assert (tmp_path / "report.md").read_text(encoding="utf-8").startswith("# Reproduction")
    assert "| switches, multi-step | 83.1 |" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["weather"], "no table 'weather'"),
        (["--runs", "paper-nobody"], "no run 'paper-nobody'"),
        (["--seeds", "0"], "seeds must be greater than zero"),
        (["--cores", "2"], "--cores needs --cluster"),
        (["--together", "--processes", "2"], "--together cannot be combined with --processes"),
        (["--cluster", "local", "--memory", "0"], "memory must be greater than zero"),
        (["--cluster", "local", "--processes", "2"], "--processes cannot be combined with --cluster"),
        (["--cluster", "local", "--only-train"], "--only-train with --cluster needs --work"),
    ],
)
def test_reproduce_says_what_does_not_exist(arguments: list[str], message: str, capsys: Printed):
    assert_one_clear_line(capsys, ["reproduce", *arguments, "--dry-run"], message)
