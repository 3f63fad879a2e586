"""The run directory: everything about one training run.

config.json         environment, attributes, settings, seed, provenance
agent.safetensors   detector, policy, table, and what training needs to go on
metrics.jsonl       one line per epoch
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attribute_planner.agent import Agent
from attribute_planner.algorithm import Progress, agent_of
from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.configuration import TrainConfig
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.registry import ENVIRONMENTS, make
from attribute_planner.errors import ConfigurationError, RunDirectoryError
from attribute_planner.storage.arrays import Arrays, arrays_of, fill, read_arrays, write_arrays, write_bytes
from attribute_planner.storage.checkpoint import (
    AGENT_ALONE,
    TABLE,
    load_detected,
    load_detector,
    load_explored,
    load_forward_model,
    load_practised,
    load_table,
    policy_template,
    saved_parts,
    shipped_table_arrays,
)
from attribute_planner.storage.provenance import provenance
from attribute_planner.storage.settings import settings_from_json, settings_to_json

FORMAT = 1
CONFIG, AGENT, METRICS = "config.json", "agent.safetensors", "metrics.jsonl"


@dataclass(frozen=True)
class Description:
    """What config.json says.

    environment: name and parameters; parameters are `None` for an environment that is not built in.
    """

    name: str
    parameters: dict[str, Any] | None
    attributes: AttributeSpace
    config: TrainConfig
    seed: int


def describe_run(env: Environment, config: TrainConfig, seed: int) -> Description:
    """The description of a new run."""
    return Description(env.name, parameters_of(env), env.attributes, config, seed)


def parameters_of(env: Environment) -> dict[str, Any] | None:
    """The parameters with which `make` builds the same environment; `None` if it is not built in."""
    return settings_to_json(env) if env.name in ENVIRONMENTS else None


class RunDirectory:
    """A run directory that exists."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        if not (self.path / CONFIG).is_file():
            missing = "does not exist" if not self.path.exists() else f"holds no {CONFIG}"
            raise RunDirectoryError(
                f"{self.path} is not a run directory: it {missing}. Train one with --out {self.path}."
            )

    @staticmethod
    def create(path: Path | str, description: Description) -> "RunDirectory":
        """A new run directory; an error if there is something at `path` already."""
        path = Path(path)
        if path.is_file() or (path.is_dir() and any(path.iterdir())):
            raise RunDirectoryError(
                f"{path} is in use already; go on with --resume (resume=True), or choose another one."
            )
        try:
            path.mkdir(parents=True, exist_ok=True)
            _write_description(path, description)
        except OSError as error:
            raise RunDirectoryError(f"{path} cannot be made a run directory: {error}.") from error
        return RunDirectory(path)

    def describe(self, description: Description) -> None:
        """Describe the run anew: it was given another budget."""
        _write_description(self.path, description)

    @property
    def description(self) -> Description:
        """What the run is about."""
        try:
            saved = json.loads((self.path / CONFIG).read_text())
            return _description_from_json(saved)
        except (ValueError, LookupError, TypeError, AttributeError, ConfigurationError) as error:
            raise RunDirectoryError(f"{self.path / CONFIG} is not a run's description: {error!r}") from error

    def environment(self, env: Environment | None = None) -> Environment:
        """The run's environment: built anew, or the given one if its attributes are those of the run."""
        described = self.description
        if env is None:
            if described.parameters is None:
                raise RunDirectoryError(
                    f"{self.path} was trained on {described.name!r}, an environment of one's own, which cannot be "
                    f"built from a file: load it in Python with ap.load({str(self.path)!r}, env=…)."
                )
            return make(described.name, **described.parameters)
        if env.attributes != described.attributes:
            raise RunDirectoryError(
                f"{self.path} was trained with the attributes {', '.join(described.attributes.names)}; the given "
                f"environment has {', '.join(env.attributes.names)}, or other values of them."
            )
        return env

    def save(self, progress: Progress) -> None:
        """Keep how far training has come."""
        arrays: Arrays = {}
        notes: dict[str, Any] = {"format": FORMAT}
        for part, (saved, note) in saved_parts(progress).items():
            arrays |= saved
            notes[part] = note
        write_arrays(self.path / AGENT, arrays, notes)

    def progress(self, env: Environment) -> Progress:
        """How far training had come; nothing yet, if it was stopped before the first save."""
        if not (self.path / AGENT).exists():
            return Progress()
        arrays, notes = read_arrays(self.path / AGENT)
        config = self.description.config
        return Progress(
            load_detected(env, config, arrays, notes),
            load_explored(env, config, arrays, notes),
            load_forward_model(env, config, arrays, notes),
            load_practised(env, config, arrays, notes),
        )

    def is_finished(self) -> bool:
        """Whether training has come to its end, as that of an agent that ships has."""
        if not (self.path / AGENT).exists():
            return False
        notes, config = read_arrays(self.path / AGENT)[1], self.description.config
        practised = notes.get("practised", {"steps": -1})
        if AGENT_ALONE in practised:
            return True
        return practised["steps"] >= config.practise.steps and ("model_edges" in notes or not config.adds_model_edges)

    def agent(self, env: Environment | None = None, *, model_edges: bool = True) -> Agent:
        """The agent as far as it has been trained; without transitions that were only imagined, if so wanted."""
        env, config = self.environment(env), self.description.config
        if not (self.path / AGENT).exists():
            raise RunDirectoryError(
                f"{self.path} holds no agent yet: training stopped before its first save; --resume it."
            )
        arrays, notes = read_arrays(self.path / AGENT)
        if not model_edges and "explored" in notes:
            arrays = {name: array for name, array in arrays.items() if not name.startswith(TABLE)}
        if "practised" not in notes:
            raise RunDirectoryError(f"{self.path}: training has not begun to practise yet; go on with --resume.")
        if not model_edges and AGENT_ALONE in notes["practised"] and config.adds_model_edges:
            raise RunDirectoryError(
                f"{self.path} holds the agent alone, in whose table what was seen and what was imagined are one; "
                "ask the run in which it was trained."
            )
        detector = load_detector(env, config, arrays) if "detected" in notes else None
        policy = fill("practised.policy", policy_template(env, config.practise.hidden_size), arrays)
        fitted_model = load_forward_model(env, config, arrays, notes)
        return agent_of(env, config, detector, policy, load_table(env, config, arrays), fitted_model)

    def write_metrics(self, line: Mapping[str, Any]) -> None:
        """Append one line of metrics."""
        with open(self.path / METRICS, "a") as file:
            file.write(json.dumps(line) + "\n")

    def notes(self) -> dict[str, Any]:
        """The few numbers beside the arrays of each phase: errors, epochs, steps."""
        return read_arrays(self.path / AGENT)[1]

    def metrics(self) -> list[dict[str, Any]]:
        """All lines of metrics."""
        path = self.path / METRICS
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def save_agent(path: Path | str, agent: Agent, config: TrainConfig, seed: int) -> None:
    """A run directory with the agent alone, without what training would need to go on: small enough to ship."""
    run = RunDirectory.create(path, describe_run(agent.env, config, seed))
    arrays = arrays_of("practised.policy", agent.policy) | shipped_table_arrays(agent.env, config, agent.table)
    notes: dict[str, Any] = {"format": FORMAT, "practised": {AGENT_ALONE: True}}
    if agent.detector is not None:
        arrays |= arrays_of("detected.detector", agent.detector)
        notes["detected"] = {}
    if agent.forward_model is not None:
        arrays |= arrays_of("forward_model", agent.forward_model)
        notes["forward_model"] = {"error": agent.model_error}
    write_arrays(run.path / AGENT, arrays, notes)


def ship(run: RunDirectory, path: Path | str, env: Environment | None = None) -> None:
    """The agent of a finished run alone, described as the run itself: how and where it was trained."""
    described = run.description
    save_agent(path, run.agent(env), described.config, described.seed)
    write_bytes(Path(path) / CONFIG, (run.path / CONFIG).read_bytes())


def _write_description(path: Path, description: Description) -> None:
    write_bytes(path / CONFIG, json.dumps(_description_to_json(description), indent=2).encode())


def _description_to_json(description: Description) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "environment": {"name": description.name, "parameters": description.parameters},
        "attributes": [
            {"name": each.name, "values": [str(value) for value in each.values], "kind": each.kind}
            for each in description.attributes.attributes
        ],
        "config": settings_to_json(description.config),
        "seed": description.seed,
        "provenance": provenance(),
    }


def _description_from_json(saved: dict[str, Any]) -> Description:
    if saved["format"] != FORMAT:
        raise RunDirectoryError(f"The run has format {saved['format']}; this version reads format {FORMAT}.")
    return Description(
        saved["environment"]["name"],
        saved["environment"]["parameters"],
        AttributeSpace(tuple(_attribute(each) for each in saved["attributes"])),
        settings_from_json(TrainConfig, saved["config"]),
        saved["seed"],
    )


def _attribute(saved: dict[str, Any]) -> Attribute:
    values = saved["values"]
    if saved["kind"] == "integer":
        return Attribute(saved["name"], range(int(values[0]), int(values[-1]) + 1, int(values[1]) - int(values[0])))
    return Attribute(saved["name"], tuple(values))
