"""`Session`: what one tab of the browser does. It answers messages; `server` carries them."""

import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any

import jax

from attribute_planner.agent import Agent
from attribute_planner.drawing.diagnosis_page import diagnosis_page
from attribute_planner.errors import AttributePlannerError
from attribute_planner.planning.executor import EXECUTORS
from attribute_planner.viewer.data import space_json
from attribute_planner.viewer.frames import FrameWriter
from attribute_planner.viewer.goals import asked_json, farthest, goal_json, partial_examples
from attribute_planner.viewer.messages import MAX_SEED, MAX_STEPS_AT_ONCE, goal_of, integer_of, text_of
from attribute_planner.viewer.neighbourhood import neighbourhood
from attribute_planner.viewer.runs import Runs
from attribute_planner.viewer.stage import Stage

LOG = logging.getLogger(__name__)

Message = Mapping[str, Any]
Answer = dict[str, Any]


class Session:
    """One tab: the run that it shows, and its environment. Messages about the environment are answered one by one."""

    def __init__(self, runs: Runs) -> None:
        self._runs, self._key = runs, ""
        self._lock = threading.Lock()
        self._stage: Stage | None = None

    def answer(self, message: Message) -> Answer:
        """The answer to a message: data, or an entry `error`."""
        try:
            what = text_of(message, "do")
            if what not in ANSWERS:
                raise AttributePlannerError(f"There is no message {what!r}.")
            return ANSWERS[what](self, message)
        except (AttributePlannerError, OSError) as mistake:
            return {"error": str(mistake)}
        except Exception:
            LOG.exception("The viewer could not answer a message")
            return {"error": "The viewer could not answer; the terminal in which it runs says why."}

    def close(self) -> None:
        """Release the environment."""
        with self._lock:
            if self._stage is not None:
                self._stage.close()
                self._stage = None

    def runs(self, message: Message) -> Answer:
        """The runs and the execution modes to choose from; the default comes first."""
        del message
        modes = sorted(EXECUTORS, key=lambda name: name != "default")
        return {"runs": self._runs.listed(), "modes": modes}

    def open(self, message: Message) -> Answer:
        """Show a run: its attributes, its first scene and examples of goals."""
        key, seed = text_of(message, "run"), integer_of(message, "seed", 0, MAX_SEED)
        agent = self._runs.agent(key)
        with self._lock:
            if self._stage is not None:
                self._stage.close()
            self._stage, self._key = Stage(agent, seed), key
            return {**_agent_json(agent), **_start_json(self._stage)}

    def start(self, message: Message) -> Answer:
        """Another start."""
        with self._lock:
            stage = self._on_stage()
            stage.reset(integer_of(message, "seed", 0, MAX_SEED))
            return _start_json(stage)

    def examples(self, message: Message) -> Answer:
        """Goals of tasks as further examples; none if an episode has begun, or another start was asked for.

        The first time, sampling a goal is compiled for every task. Other messages are answered in between.
        """
        seed, goals = integer_of(message, "seed", 0, MAX_SEED), []
        with self._lock:
            stage = self._on_stage()
            agent, start = stage.agent, stage.values
        keys = jax.random.split(jax.random.key(seed), len(agent.env.tasks))
        for task, key in zip(agent.env.tasks.values(), keys, strict=True):
            with self._lock:
                if self._stage is not stage or stage.seed != seed or stage.has_begun:
                    return {"examples": []}
                goals.append(stage.envs.sample_goals(task, key)[0])
        far = farthest(agent.planner, start, goals)
        return {"examples": [goal_json(goal, agent.env.attributes) for goal in far]}

    def goal(self, message: Message) -> Answer:
        """What is known of a goal, from the start."""
        with self._lock:
            stage = self._on_stage()
            goal, planner = stage.agent.goal(goal_of(message)), stage.agent.planner
            name = self._runs.entry(self._key).name
            asked = asked_json(name, planner, stage.values, goal, stage.seed)
            return {**asked, "frame": {**stage.scene(), **FrameWriter(planner, goal).frame(0, stage.values, None)}}

    def begin(self, message: Message) -> Answer:
        """Begin an episode with a goal at the start."""
        with self._lock:
            stage = self._on_stage()
            goal = stage.agent.goal(goal_of(message))
            return {"frame": stage.begin(goal, text_of(message, "mode", "default"))}

    def step(self, message: Message) -> Answer:
        """The next steps of the episode."""
        count = integer_of(message, "count", 1, MAX_STEPS_AT_ONCE)
        with self._lock:
            stage = self._on_stage()
            if not stage.has_begun:
                raise AttributePlannerError("There is no episode yet: begin one with a goal.")
            frames, result = stage.step(count)
            return {"frames": frames, "result": result}

    def prepare(self, message: Message) -> Answer:
        """Compile what a step needs, before it is asked for."""
        self._runs.prepare(text_of(message, "run"))
        return {}

    def training(self, message: Message) -> Answer:
        """The metrics of a run, which may still be in training."""
        return self._runs.training(text_of(message, "run"), integer_of(message, "since", 0, 2**31))

    def origin(self, message: Message) -> Answer:
        """How an agent was trained."""
        return {"origin": self._runs.origin(text_of(message, "run"))}

    def weakest(self, message: Message) -> Answer:
        """The weakest transitions of an agent."""
        key = text_of(message, "run")
        return {"attributes": space_json(self._runs.agent(key).table), "edges": self._runs.weakest(key)}

    def diagnose(self, message: Message) -> Answer:
        """The diagnosis of an agent, also as a page of one file."""
        key = text_of(message, "run")
        diagnosis, agent = self._runs.diagnosis(key), self._runs.agent(key)
        page = diagnosis_page(diagnosis, agent.table, self._runs.entry(key).name)
        found = [{"kind": f.kind, "message": f.message, "importance": f.importance} for f in diagnosis.findings]
        return {"findings": found, "tasks": [vars(each) for each in diagnosis.measured], "page": page}

    def _on_stage(self) -> Stage:
        if self._stage is None:
            raise AttributePlannerError("No run is open.")
        return self._stage


def _start_json(stage: Stage) -> Answer:
    planner, space = stage.agent.planner, stage.agent.env.attributes
    around = neighbourhood(planner, None, [stage.values])
    return {
        "seed": stage.seed,
        "frame": {**stage.scene(), "graph": around.to_json(planner.listing)},
        "examples": [goal_json(goal, space) for goal in partial_examples(planner, stage.values, stage.seed)],
    }


def _agent_json(agent: Agent) -> Answer:
    return {
        "environment": agent.env.name,
        "attributes": space_json(agent.table),
        "sets": agent.table.num_nodes,
        "edges": agent.table.num_edges,
        "max_steps": agent.max_steps,
        "detects": agent.detector is not None,
        "tasks": [{"name": task.name, "description": task.description} for task in agent.env.tasks.values()],
    }


ANSWERS: dict[str, Callable[[Session, Message], Answer]] = {
    "runs": Session.runs,
    "open": Session.open,
    "start": Session.start,
    "examples": Session.examples,
    "goal": Session.goal,
    "begin": Session.begin,
    "step": Session.step,
    "prepare": Session.prepare,
    "training": Session.training,
    "origin": Session.origin,
    "weakest": Session.weakest,
    "diagnose": Session.diagnose,
}
"""What a message can ask for."""
