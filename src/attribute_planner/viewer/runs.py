"""The runs that the viewer shows, by id. Nothing else on the disk is read."""

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from attribute_planner.agent import Agent
from attribute_planner.diagnosis.finding import Diagnosis
from attribute_planner.environments.interface import Environment
from attribute_planner.errors import AttributePlannerError, RunDirectoryError, unknown_name
from attribute_planner.storage.agents import find_run, shipped_agents
from attribute_planner.storage.metrics import METRICS
from attribute_planner.storage.run_directory import AGENT, RunDirectory
from attribute_planner.viewer.data import evidence_json, set_json
from attribute_planner.viewer.goals import partial_example
from attribute_planner.viewer.origin import origin_of
from attribute_planner.viewer.stage import Stage

MAX_LINES = 4_000
"""Lines of metrics that are sent at once; of more, every second, third … is sent."""
WEAKEST = 12
"""Transitions in the list of the weakest."""
DIAGNOSIS_EPISODES = 20


@dataclass(frozen=True)
class Entry:
    """A run that is shown.

    name: how it was named; `reach` finds it by this name.
    env: the environment, if another one than the run's own was named.
    """

    name: str
    path: Path
    env: Environment | None = None


def entries_of(run: str | None, env: Environment | None = None) -> dict[str, Entry]:
    """The named run, if any, and the shipped agents, by id."""
    shipped = {name: Entry(name, path) for name, path in shipped_agents().items()}
    if run is None:
        return shipped
    named = Entry(run, RunDirectory(find_run(run)).path, env)
    others = {name: entry for name, entry in shipped.items() if entry.path != named.path}
    return {f"run:{named.path.name}": named, **others}


def loaded(entry: Entry) -> Agent:
    """The agent of a run."""
    run = RunDirectory(entry.path)
    if not run.has_checkpoint:
        raise RunDirectoryError(f"{entry.name} has no agent yet: its training has not saved a checkpoint.")
    return run.agent(entry.env)


class Runs:
    """Runs with the agents that are loaded. An agent is loaded again when a newer checkpoint was written."""

    def __init__(self, entries: dict[str, Entry], load: Callable[[Entry], Agent] = loaded) -> None:
        self._entries, self._load = entries, load
        self._loading, self._working = ({key: threading.Lock() for key in entries} for _ in range(2))
        self._agents: dict[str, tuple[float, Agent]] = {}
        self._prepared: set[str] = set()
        self._diagnoses: dict[str, tuple[float, Diagnosis]] = {}

    def entry(self, key: str) -> Entry:
        """The run with this id."""
        if key not in self._entries:
            raise unknown_name("run", key, self._entries)
        return self._entries[key]

    def listed(self) -> list[dict[str, str]]:
        """Ids and names."""
        return [{"id": key, "name": entry.name} for key, entry in self._entries.items()]

    def agent(self, key: str) -> Agent:
        """The agent of the last checkpoint."""
        entry, written = self.entry(key), self.checkpoint(key)
        with self._loading[key]:
            if key not in self._agents or self._agents[key][0] < written:
                self._agents[key] = written, self._load(entry)
            return self._agents[key][1]

    def prepare(self, key: str) -> None:
        """Take a step once, so that what it needs is compiled."""
        agent = self.agent(key)
        with self._working[key]:
            if key in self._prepared:
                return
            self._prepared.add(key)
            stage = Stage(agent)
            try:
                example = partial_example(agent.planner, stage.values, 1, np.random.default_rng(0))
                if example is not None:
                    stage.begin(example, "default")
                    stage.step(1)
            finally:
                stage.close()

    def checkpoint(self, key: str) -> float:
        """When the last checkpoint was written; 0 if there is none."""
        path = self.entry(key).path / AGENT
        return path.stat().st_mtime if path.exists() else 0.0

    def training(self, key: str, since: int) -> dict[str, Any]:
        """The metrics of a run after the first `since` lines, and whether it is still being trained."""
        run = RunDirectory(self.entry(key).path)
        lines, path = run.metrics(), run.path / METRICS
        # A run that was resumed has fewer lines than before: all of them are sent.
        since = since if since <= len(lines) else 0
        every = max(1, math.ceil((len(lines) - since) / MAX_LINES))
        return {
            "since": since,
            "total": len(lines),
            "lines": [_plain(line) for line in lines[since::every]],
            "seconds_ago": time.time() - path.stat().st_mtime if path.exists() else None,
            "finished": _is_finished(run),
            "checkpoint": self.checkpoint(key),
        }

    def origin(self, key: str) -> list[list[str]]:
        """How the agent of a run was trained, as pairs of a name and what is known of it."""
        run = RunDirectory(self.entry(key).path)
        return origin_of(run.description, run.provenance)

    def weakest(self, key: str) -> list[dict[str, Any]]:
        """The transitions that were attempted and have the lowest probability."""
        listing = self.agent(key).table.listing()
        tried = np.flatnonzero(listing.attempts >= 1)
        order = tried[np.lexsort((-listing.attempts[tried], listing.probability[tried]))][:WEAKEST]
        return [
            {
                "source": set_json(listing.values[listing.source[edge]]),
                "target": set_json(listing.values[listing.target[edge]]),
                **evidence_json(listing.evidence(edge)),
            }
            for edge in order.tolist()
        ]

    def diagnosis(self, key: str) -> Diagnosis:
        """The diagnosis of the agent of the last checkpoint."""
        agent, written = self.agent(key), self.checkpoint(key)
        with self._working[key]:
            if key not in self._diagnoses or self._diagnoses[key][0] < written:
                self._diagnoses[key] = written, agent.diagnose(episodes=DIAGNOSIS_EPISODES)
            return self._diagnoses[key][1]


def _is_finished(run: RunDirectory) -> bool:
    try:
        return run.is_finished()
    except (AttributePlannerError, OSError):  # the checkpoint is being replaced
        return False


def _plain(line: dict[str, Any]) -> dict[str, Any]:
    """Metrics that JSON can hold: a number that is not finite is nothing."""
    return {name: None if isinstance(v, float) and not math.isfinite(v) else v for name, v in line.items()}
