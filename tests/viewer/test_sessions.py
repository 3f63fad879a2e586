"""What a tab of the browser asks for, and what it is told."""

import json
from typing import Any

import pytest

from attribute_planner.agent import Agent
from attribute_planner.storage.run_directory import RunDirectory
from attribute_planner.viewer.messages import MessageError, read_message
from attribute_planner.viewer.origin import origin_of
from attribute_planner.viewer.runs import Runs
from attribute_planner.viewer.sessions import Session
from tests.viewer.conftest import HOSTILE, append


class Tab:
    """A tab that reads every answer as JSON."""

    def __init__(self, runs: Runs) -> None:
        self.session = Session(runs)
        self.opened: dict[str, Any] = {}

    def ask(self, what: str, **message: Any) -> dict[str, Any]:
        return json.loads(json.dumps(self.session.answer({"do": what, **message}), allow_nan=False))


@pytest.fixture
def tab(runs: Runs) -> Tab:
    tab = Tab(runs)
    tab.opened = tab.ask("open", run="line", seed=0)
    return tab


def test_a_run_is_shown_with_its_attributes_and_its_start(tab: Tab):
    opened = tab.opened
    assert (opened["sets"], opened["edges"], opened["environment"]) == (6, 8, "graph")
    assert [(each["name"], each["kind"], each["size"]) for each in opened["attributes"]] == [("n", "integer", 7)]
    assert opened["frame"]["believed"] == opened["frame"]["truth"] == [0]
    assert [node["values"] for node in opened["frame"]["graph"]["nodes"]] == [[0], [1], [2]]
    examples = opened["examples"] + tab.ask("examples", seed=0)["examples"]
    assert all(tab.ask("goal", goal=each["text"])["plan"]["reachable"] for each in examples)
    assert tab.ask("runs")["runs"][0] == {"id": "line", "name": "line"}


def test_goals_of_tasks_are_sampled_only_at_the_start_that_is_shown(tab: Tab):
    assert tab.ask("examples", seed=0)["examples"]
    assert tab.ask("examples", seed=1) == {"examples": []}
    tab.ask("begin", goal="n=3")
    assert tab.ask("examples", seed=0) == {"examples": []}


def test_a_goal_is_answered_with_its_plan_and_evidence(tab: Tab):
    known = tab.ask("goal", goal={"n": ">=3"})
    assert (known["text"], known["satisfying"], known["known"]) == ("n>=3", 3, 6)
    assert known["command"] == "attribute-planner reach line --goal 'n>=3' --seed 0"
    assert known["python"] == "agent.reach({'n': '>=3'}, seed=0)"
    assert known["plan"]["sets"] == [[0], [1], [2], [3]]
    assert known["plan"]["edges"][0] | {"probability": None} == {
        "probability": None,
        "practised": 0.9,
        "attempts": 1000.0,
        "successes": 900.0,
        "visits": 1,
        "tried": True,
    }
    assert known["nearest"] is None


@pytest.mark.parametrize(
    ("value", "reason"), [("5", "no chain of transitions"), ("6", "no attribute set that was ever")]
)
def test_a_goal_without_a_plan_says_why_and_what_is_nearest(tab: Tab, value: str, reason: str):
    known = tab.ask("goal", goal={"n": value})
    assert not known["plan"]["reachable"]
    assert known["plan"]["reason"].startswith(reason)
    assert known["nearest"]["text"] == "n=4"


def test_the_nearest_goal_has_a_plan(runs: Runs):
    tab = Tab(runs)
    first = tab.ask("open", run=HOSTILE, seed=0)["attributes"][0]
    known = tab.ask("goal", goal={first["name"]: first["values"][0], flag_of(runs): "true"})
    assert not known["plan"]["reachable"]
    assert known["nearest"]["values"] == [1, 1]


def flag_of(runs: Runs) -> str:
    return runs.agent(HOSTILE).env.attributes.names[1]


def test_an_episode_is_the_one_that_reach_runs_with_this_seed(tab: Tab, line_agent: Agent):
    episode = line_agent.reach({"n": 3}, seed=0)
    assert tab.ask("begin", goal="n=3")["frame"]["plan"]["sets"] == [[0], [1], [2], [3]]
    frames: list[dict[str, Any]] = []
    result = None
    while result is None:
        answer = tab.ask("step", count=2)
        frames, result = frames + answer["frames"], answer["result"]
    assert [frame["believed"] for frame in frames] == [[1], [2], [3]]
    assert [frame["event"]["kind"] for frame in frames] == ["arrived"] * 3
    assert frames[0]["plan"]["sets"] == [[1], [2], [3]]
    assert result == {"success": True, "reason": "", "steps": episode.steps, "transitions": 3, "replans": 0}


def test_an_attempt_that_fails_tells_its_evidence_and_what_is_believed_of_another(runs: Runs):
    tab = Tab(runs)
    tab.ask("open", run="weak", seed=0)
    tab.ask("begin", goal="n=3")
    frames = tab.ask("step", count=8)["frames"]
    failed = next(frame["event"] for frame in frames if frame.get("event") and frame["event"]["kind"] == "drifted")
    assert (failed["source"], failed["target"], failed["replanned"]) == ([1], [2], True)
    assert (failed["edge"]["successes"], failed["edge"]["attempts"]) == (900, 1000)
    assert failed["posterior"] < failed["probability"] == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ({"do": "fly"}, "There is no message 'fly'."),
        ({}, "'do' must be text."),
        ({"do": "open", "run": "../../etc", "seed": 0}, "There is no run '../../etc'."),
        ({"do": "open", "run": ["line"], "seed": 0}, "'run' must be text."),
        ({"do": "start", "seed": -1}, "'seed' must be an integer"),
        ({"do": "start", "seed": True}, "'seed' must be an integer"),
        ({"do": "step", "count": 10**9}, "'count' must be an integer"),
        ({"do": "step", "count": 1}, "There is no episode yet"),
        ({"do": "goal", "goal": {"m": "1"}}, "There is no attribute 'm'."),
        ({"do": "goal", "goal": {"n": 3}}, "'goal' must be text"),
        ({"do": "goal", "goal": ""}, "The goal is empty"),
        ({"do": "begin", "goal": "n=1", "mode": "fast"}, "There is no execution mode 'fast'."),
        ({"do": "training", "run": "/etc/passwd", "since": 0}, "There is no run '/etc/passwd'."),
    ],
)
def test_a_wrong_message_is_answered_with_one_clear_line(tab: Tab, message: dict[str, Any], error: str):
    answer = tab.session.answer(message)
    assert answer.keys() == {"error"}
    assert answer["error"].startswith(error)


@pytest.mark.parametrize("text", ["", "{", "[1]", "7", "[" * 100_000])
def test_what_is_no_object_is_no_message(text: str):
    with pytest.raises(MessageError):
        read_message(text)


def test_a_run_in_training_is_followed(runs: Runs, training_run: RunDirectory):
    tab = Tab(runs)
    assert "has no agent yet" in tab.ask("open", run="begun", seed=0)["error"]
    first = tab.ask("training", run="begun", since=0)
    assert (first["total"], first["finished"], first["lines"][2]["sets"], first["lines"][2]["loss"]) == (
        3,
        False,
        20,
        None,
    )
    append(training_run, {"phase": "explore", "seconds": 3, "sets": 33})
    later = tab.ask("training", run="begun", since=3)
    assert [line["sets"] for line in later["lines"]] == [33]
    assert tab.ask("training", run="begun", since=99)["since"] == 0


def test_the_origin_of_an_agent_is_told(runs: Runs):
    origin = dict(Tab(runs).ask("origin", run="begun")["origin"])
    assert (origin["environment"], origin["seed"]) == ("graph", "0")
    assert origin["practise"] == "300,000 steps, dqn" and origin["packages"].startswith("Python 3.")
    assert "detect" not in origin  # the environment tells the attributes


def test_what_is_not_recorded_of_an_origin_is_left_out(training_run: RunDirectory):
    recorded = {"commit": "", "jax": "0.11.2", "cores": 2, "machine": None}
    origin = dict(origin_of(training_run.description, recorded))
    assert "version" not in origin
    assert (origin["packages"], origin["hardware"]) == ("JAX 0.11.2", "2 cores")


def test_an_agent_is_prepared_and_diagnosed(tab: Tab, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("attribute_planner.viewer.runs.DIAGNOSIS_EPISODES", 2)
    assert tab.ask("prepare", run="line") == {}
    answer = tab.ask("diagnose", run="line")
    assert answer["tasks"] and all(task["episodes"] == 2 for task in answer["tasks"])
    assert answer["page"].startswith("<!doctype html>")


def test_the_weakest_transitions_are_listed(tab: Tab):
    answer = tab.ask("weakest", run="line")
    assert len(answer["edges"]) == 8
    assert answer["edges"][0]["practised"] == 0.9
