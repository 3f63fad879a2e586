"""The run directory: all files of one training run.

config.json         environment, attributes, settings, seed, provenance
agent.safetensors   the agent, and what is needed to continue training
metrics.jsonl       one JSON object per epoch
experience/         the recorded steps of a policy that replays them: see `data/dataset.py`
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from attribute_planner.agent import Agent
from attribute_planner.algorithm import Progress, agent_of, new_replay
from attribute_planner.aliasing.records import AttemptRecord
from attribute_planner.attributes import AttributeSpace
from attribute_planner.configuration import TrainConfig
from attribute_planner.data.dataset import EXPERIENCE
from attribute_planner.environments.hidden_attributes import (
    hidden_splits,
    with_hidden_attributes,
    without_hidden_attributes,
)
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.recorded import known_by_attributes
from attribute_planner.environments.registry import ENVIRONMENTS, make, source_of
from attribute_planner.environments.spec_json import attributes_from_json, attributes_to_json
from attribute_planner.environments.splits import Split, split_from_json
from attribute_planner.errors import AttributePlannerError, ConfigurationError, RunDirectoryError
from attribute_planner.models.given_policy import GivenPolicy, Predicts
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.storage.arrays import read_arrays, write_arrays, write_bytes
from attribute_planner.storage.checkpoint import (
    AGENT_ONLY,
    agent_arrays,
    load_detector,
    load_detector_error,
    load_forward_model,
    load_log_odds,
    load_policy,
    load_progress,
    load_repeatable,
    load_table,
    progress_arrays,
)
from attribute_planner.storage.experience import load_replay
from attribute_planner.storage.provenance import provenance
from attribute_planner.storage.settings import settings_from_json, settings_to_json
from attribute_planner.transitions.table import TransitionTable

FORMAT = 2
CONFIG, AGENT, METRICS = "config.json", "agent.safetensors", "metrics.jsonl"


@dataclass(frozen=True)
class Description:
    """The contents of config.json.

    name, parameters: what `make` builds the environment from; parameters are `None` if it is not a built-in one.
    source: the function `module:function` that makes an environment of one's own; empty if it was given as an object.
    attributes: those of the run, hidden ones included.
    hidden: the splits that define hidden attributes.
    """

    name: str
    parameters: dict[str, Any] | None
    attributes: AttributeSpace
    config: TrainConfig
    seed: int
    hidden: tuple[Split, ...] = ()
    source: str = ""


def describe_run(env: Environment, config: TrainConfig, seed: int) -> Description:
    """The description of a new run."""
    source = source_of(without_hidden_attributes(env))
    return Description(env.name, parameters_of(env), env.attributes, config, seed, hidden_splits(env), source)


def parameters_of(env: Environment) -> dict[str, Any] | None:
    """The parameters with which `make` builds the same environment; `None` if it is not built in."""
    return settings_to_json(without_hidden_attributes(env)) if env.name in ENVIRONMENTS else None


class RunDirectory:
    """An existing run directory."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        if not (self.path / CONFIG).is_file():
            missing = "does not exist" if not self.path.exists() else f"holds no {CONFIG}"
            raise RunDirectoryError(
                f"{self.path} is not a run directory: it {missing}. Train an agent with --out {self.path}."
            )

    @staticmethod
    def create(path: Path | str, description: Description) -> "RunDirectory":
        """A new run directory; an error if `path` is a file or a folder that is not empty."""
        path = Path(path)
        if path.is_file() or (path.is_dir() and any(path.iterdir())):
            raise RunDirectoryError(
                f"{path} already exists; continue that run with --resume (resume=True), or choose another directory."
            )
        try:
            path.mkdir(parents=True, exist_ok=True)
            _write_description(path, description)
        except OSError as error:
            raise RunDirectoryError(f"The run directory {path} cannot be created: {error}.") from error
        return RunDirectory(path)

    def describe(self, description: Description) -> None:
        """Replace the description, after the number of steps was changed."""
        _write_description(self.path, description)

    @property
    def description(self) -> Description:
        """The contents of config.json."""
        try:
            saved = json.loads((self.path / CONFIG).read_text())
            self._check_format(saved["format"])
            return _description_from_json(saved)
        except (ValueError, LookupError, TypeError, AttributeError, ConfigurationError) as error:
            raise RunDirectoryError(f"{self.path / CONFIG} does not describe a run: {error!r}") from error

    def _check_format(self, saved: Any) -> None:
        if saved == 1:
            raise RunDirectoryError(f"{self.path} was written by attribute_planner 0.1; train the agent again.")
        if saved != FORMAT:
            raise RunDirectoryError(f"{self.path} has format {saved}; this version reads format {FORMAT}.")

    def environment(self, env: Environment | None = None) -> Environment:
        """The run's environment: a new one, or `env` if its attributes are those of the run; with hidden attributes."""
        described = self.description
        env = self._made(described) if env is None else env
        env = with_hidden_attributes(without_hidden_attributes(env), described.hidden)
        if env.attributes != described.attributes:
            raise RunDirectoryError(
                f"{self.path} was trained with the attributes {', '.join(described.attributes.names)}; the given "
                f"environment has {', '.join(env.attributes.names)}, or other values of them."
            )
        return env

    def _made(self, described: Description) -> Environment:
        """The environment that the run's description names."""
        if described.parameters is not None:
            return make(described.name, **described.parameters)
        if not described.source:
            raise RunDirectoryError(
                f"{self.path} was trained on {described.name!r}, which is not a built-in environment: name a function "
                f"that makes it (--env module:function), or load it in Python with ap.load({str(self.path)!r}, env=…)."
            )
        try:
            return make(described.source)
        except AttributePlannerError as error:
            raise RunDirectoryError(
                f"{self.path} was trained on {error} Another function can be named with --env module:function (env=…)."
            ) from error

    def save(self, progress: Progress, **also: Any) -> None:
        """Write a checkpoint, with further notes."""
        arrays, notes = progress_arrays(progress)
        write_arrays(self.path / AGENT, arrays, {"format": FORMAT, **notes, **also})

    def progress(self, env: Environment) -> Progress:
        """The last checkpoint; empty progress if training stopped before the first one."""
        if not (self.path / AGENT).exists():
            return Progress()
        config, (arrays, notes) = self.description.config, read_arrays(self.path / AGENT)
        progress, empty = load_progress(env, config, arrays, notes), new_replay(config)
        if empty is None or "experience" not in notes:
            return progress
        return replace(progress, replay=load_replay(self.path / EXPERIENCE, notes["experience"], empty.capacity, env))

    def is_finished(self) -> bool:
        """Whether training has finished. A shipped agent counts as finished."""
        if not (self.path / AGENT).exists():
            return False
        notes, config = self.notes(), self.description.config
        if AGENT_ONLY in notes:
            return True
        practised = notes.get("practice", {"steps": -1})["steps"] >= config.practise.steps
        return practised and ("model_edges" in notes or not config.adds_model_edges)

    def agent(
        self, env: Environment | None = None, *, policy: Predicts | None = None, model_edges: bool = True
    ) -> Agent:
        """The agent of the last checkpoint; `model_edges=False` leaves out edges that the forward model added.

        policy: the one that was made elsewhere, if the run has practised such a policy.
        """
        env, config = self.environment(env), self.description.config
        arrays, notes = self._agent_arrays()
        if not model_edges and AGENT_ONLY in notes and config.adds_model_edges:
            raise RunDirectoryError(
                f"{self.path} contains only the agent, whose table does not distinguish observed edges from those of "
                "the forward model; use the run in which it was trained."
            )
        detector = load_detector(env, config, arrays) if "detector" in notes else None
        table = load_table(env, config, arrays, model_edges=model_edges)
        fitted_model = load_forward_model(env, config, arrays, notes)
        learned, error = load_policy(env, config, arrays), load_detector_error(notes)
        if config.practise.method == "given":
            learned = self._given_policy(env, learned, policy)
        agent = agent_of(env, config, detector, learned, table, fitted_model, error, load_repeatable(notes))
        agent = replace(agent, log_odds=load_log_odds(notes))
        return agent if "experience" not in notes else replace(agent, attempts=lambda: self.attempts(env))

    def attempts(self, env: Environment) -> AttemptRecord | None:
        """The last attempts of practice; `None` if they, or the recorded steps of which they consist, were not kept."""
        if not (self.path / EXPERIENCE).exists():
            return None
        begun = self.progress(env)
        if begun.replay is None or begun.log is None or not len(begun.log):
            return None
        return begun.log.record(begun.replay, env.attributes, env.observation)

    def _given_policy(self, env: Environment, saved: GoalPolicy, policy: Predicts | None) -> GoalPolicy:
        if policy is None:
            raise RunDirectoryError(
                f"{self.path} has practised a policy that was made elsewhere, which is not saved with it: "
                f"load it in Python with ap.load({str(self.path)!r}, policy=…)."
            )
        return GivenPolicy(env.spec, policy, like=saved)

    def _agent_arrays(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The arrays and notes of a checkpoint that holds an agent."""
        if not (self.path / AGENT).exists():
            raise RunDirectoryError(
                f"{self.path} contains no agent: training stopped before its first checkpoint; continue with --resume."
            )
        arrays, notes = read_arrays(self.path / AGENT)
        if "practice" not in notes and AGENT_ONLY not in notes:
            raise RunDirectoryError(f"{self.path}: training has not reached practice yet; continue with --resume.")
        return arrays, notes

    def table(self) -> TransitionTable:
        """c_π of the last checkpoint. An environment that is not built in is not needed."""
        described = self.description
        if described.parameters is not None:
            return self.agent().table
        arrays, _ = self._agent_arrays()
        env = known_by_attributes(described.name, described.attributes)
        return load_table(env, described.config, arrays)

    def write_metrics(self, line: Mapping[str, Any]) -> None:
        """Append one line of metrics, on a line of its own even if the last write was interrupted."""
        with open(self.path / METRICS, "ab+") as file:
            if file.seek(0, os.SEEK_END) > 0:
                file.seek(-1, os.SEEK_END)
                file.write(b"" if file.read() == b"\n" else b"\n")
            file.write(json.dumps(line).encode() + b"\n")

    def metrics(self) -> list[dict[str, Any]]:
        """All complete lines of metrics."""
        path = self.path / METRICS
        lines = path.read_text().splitlines() if path.exists() else []
        return [parsed for line in lines if (parsed := _complete(line)) is not None]

    def rewind_metrics(self) -> int:
        """Remove the metrics of epochs after the last checkpoint, which will be repeated; the number of lines left."""
        lines = self.metrics()
        notes = self.notes() if (self.path / AGENT).exists() else {"metrics": 0}
        kept = lines[: notes.get("metrics", len(lines))]
        if len(kept) < len(lines):
            write_bytes(self.path / METRICS, b"".join(json.dumps(line).encode() + b"\n" for line in kept))
        return len(kept)

    def notes(self) -> dict[str, Any]:
        """The scalars of each part: errors, epochs, steps."""
        return read_arrays(self.path / AGENT)[1]


def save_agent(path: Path | str, agent: Agent, config: TrainConfig, seed: int) -> None:
    """A run directory with only the agent, small enough to ship. Its training cannot be continued."""
    run = RunDirectory.create(path, describe_run(agent.env, config, seed))
    arrays, notes = agent_arrays(agent, config)
    write_arrays(run.path / AGENT, arrays, {"format": FORMAT, **notes})


def ship(run: RunDirectory, path: Path | str, env: Environment | None = None) -> None:
    """Store only the agent of a finished run, with the description of that run."""
    described = run.description
    save_agent(path, run.agent(env), described.config, described.seed)
    write_bytes(Path(path) / CONFIG, (run.path / CONFIG).read_bytes())


def _complete(line: str) -> dict[str, Any] | None:
    """The object on a line; `None` if the write of the line was interrupted."""
    try:
        return json.loads(line)
    except ValueError:
        return None


def _write_description(path: Path, description: Description) -> None:
    write_bytes(path / CONFIG, json.dumps(_description_to_json(description), indent=2).encode())


def _description_to_json(description: Description) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "environment": {
            "name": description.name,
            "parameters": description.parameters,
            **({"source": description.source} if description.source else {}),
        },
        "attributes": attributes_to_json(description.attributes),
        "hidden_attributes": [split.to_json() for split in description.hidden],
        "config": settings_to_json(description.config),
        "seed": description.seed,
        "provenance": provenance(),
    }


def _description_from_json(saved: dict[str, Any]) -> Description:
    return Description(
        saved["environment"]["name"],
        saved["environment"]["parameters"],
        attributes_from_json(saved["attributes"]),
        settings_from_json(TrainConfig, saved["config"]),
        saved["seed"],
        tuple(split_from_json(each) for each in saved.get("hidden_attributes", [])),
        saved["environment"].get("source", ""),
    )
