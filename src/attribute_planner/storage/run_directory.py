"""The run directory: all files of one training run.

config.json         environment, attributes, settings, seed, provenance
agent.safetensors   the agent, and what is needed to continue training
metrics.jsonl       one JSON object per epoch
experience/         the recorded steps of a policy that replays them: see `data/dataset.py`
manifest.json       size and SHA-256 of these files, checked when they are read
.lock               the process that is training
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from attribute_planner.agent import Agent
from attribute_planner.algorithm import Progress, agent_of, new_replay
from attribute_planner.aliasing.records import AttemptRecord
from attribute_planner.configuration import TrainConfig
from attribute_planner.data.dataset import EXPERIENCE
from attribute_planner.environments.hidden_attributes import with_hidden_attributes, without_hidden_attributes
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.recorded import known_by_attributes
from attribute_planner.environments.registry import make
from attribute_planner.errors import AttributePlannerError, ConfigurationError, DamagedFileError, RunDirectoryError
from attribute_planner.files.array_file import Arrays, array_bytes, parse_arrays
from attribute_planner.files.lock import LOCK
from attribute_planner.files.manifest import (
    MANIFEST,
    Entry,
    commit,
    has_manifest,
    read_manifest,
    read_verified,
    recover,
    temporary_files,
)
from attribute_planner.files.strict_json import MALFORMED, parse_json
from attribute_planner.models.given_policy import GivenPolicy, Predicts
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.planning.episode_model import AttemptModel
from attribute_planner.planning.executor import EXECUTORS, plan_model
from attribute_planner.planning.plan import Planner
from attribute_planner.storage.checkpoint import (
    AGENT_ONLY,
    ATTEMPT_LOG,
    agent_arrays,
    load_detector,
    load_detector_error,
    load_forward_model,
    load_odds,
    load_policy,
    load_progress,
    load_table,
    progress_arrays,
)
from attribute_planner.storage.conduct import load_conduct
from attribute_planner.storage.description import (
    FORMAT,
    Description,
    describe_run,
    description_bytes,
    description_from_json,
    require_components,
)
from attribute_planner.storage.experience import NewExperience, load_replay
from attribute_planner.storage.metrics import METRICS, MetricsWriter, read_beginning, read_metrics
from attribute_planner.storage.notes import Notes, check_attempt_log, check_names, check_notes
from attribute_planner.storage.threads import ALLOWED
from attribute_planner.storage.trusted_sources import is_trusted, trust
from attribute_planner.transitions.table import TransitionTable

CONFIG, AGENT = "config.json", "agent.safetensors"


class RunDirectory:
    """An existing run directory."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        if has_manifest(self.path):
            return
        if (self.path / CONFIG).is_file():
            raise RunDirectoryError(
                f"{self.path} has no {MANIFEST}, which lists its files: it is incomplete, or was saved by an older "
                f"version. If its files are as you saved them: python -m attribute_planner.storage.write_manifest "
                f"{self.path}"
            )
        missing = "does not exist" if not self.path.exists() else f"holds no {CONFIG}"
        raise RunDirectoryError(
            f"{self.path} is not a run directory: it {missing}. Train an agent with --out {self.path}."
        )

    @staticmethod
    def create(path: Path | str, description: Description, **files: bytes) -> "RunDirectory":
        """A new run directory; an error if `path` is a file or a folder in which there is something.

        What a process left that was killed before it had saved anything does not count.
        """
        path = Path(path)
        if path.is_file() or (path.is_dir() and not is_free(path)):
            raise RunDirectoryError(
                f"{path} already exists; continue that run with --resume (resume=True), or choose another directory."
            )
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunDirectoryError(f"The run directory {path} cannot be created: {error}.") from error
        recover(path)
        if description.source:
            trust(description.source)
        commit(path, {CONFIG: description_bytes(description), **files})
        return RunDirectory(path)

    @staticmethod
    def exists(path: Path | str) -> bool:
        """Whether there is a run that can be loaded or resumed."""
        return has_manifest(Path(path)) or (Path(path) / CONFIG).is_file()

    def recover(self) -> None:
        """Finish a change that was interrupted, and remove temporary files. Only for the process that has the lock."""
        recover(self.path)

    def describe(self, description: Description) -> None:
        """Replace the description, after the number of steps was changed."""
        commit(self.path, {CONFIG: description_bytes(description)})

    @property
    def description(self) -> Description:
        """The contents of config.json."""
        path = self.path / CONFIG
        saved = parse_json(read_verified(self.path, CONFIG), path)
        try:
            self._check_format(saved["format"])
            return description_from_json(saved)
        except DamagedFileError as error:
            raise DamagedFileError(f"{path} does not describe a run: {error}") from error
        except (*MALFORMED, ConfigurationError) as error:
            raise RunDirectoryError(f"{path} does not describe a run: {error!r}") from error

    @property
    def provenance(self) -> dict[str, Any]:
        """Versions and hardware with which the run began; empty if they were not recorded."""
        saved = parse_json(read_verified(self.path, CONFIG), self.path / CONFIG).get("provenance")
        return saved if isinstance(saved, dict) else {}

    @property
    def threads(self) -> int | None:
        """The number of threads with which the run began; `None` if it was not recorded."""
        number = self.provenance.get("threads")
        return number if isinstance(number, int) and ALLOWED.fault(number) is None else None

    def _check_format(self, saved: Any) -> None:
        if saved == 1:
            raise RunDirectoryError(f"{self.path} was written by attribute_planner 0.1; train the agent again.")
        if saved != FORMAT:
            raise RunDirectoryError(f"{self.path} has format {saved}; this version reads format {FORMAT}.")

    def environment(self, env: Environment | None = None) -> Environment:
        """The run's environment: a new one, or `env` if its attributes are those of the run; with hidden attributes."""
        described = self.description
        env = self._made(described) if env is None else env
        env = without_hidden_attributes(env).seen_from({each.part: each for each in described.markers})
        require_components(described.hidden, env)
        env = with_hidden_attributes(env, described.hidden)
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
        if not is_trusted(described.source):
            raise RunDirectoryError(
                f"{self.path} was trained on {described.source}, which you have not used here before: code that a file "
                f"names is not run. If you trust it, name it with --env {described.source} (env=…)."
            )
        try:
            return make(described.source)
        except AttributePlannerError as error:
            raise RunDirectoryError(
                f"{self.path} was trained on {error} Another function can be named with --env module:function (env=…)."
            ) from error

    def save(
        self,
        progress: Progress,
        *,
        description: Description | None = None,
        experience: NewExperience | None = None,
        metrics: Entry | None = None,
    ) -> None:
        """Write a checkpoint: all its files change at once.

        description: a new description.
        experience: the recorded steps that belong to it, and have not been saved yet.
        metrics: the lines of metrics.jsonl that belong to it.
        """
        arrays, notes = progress_arrays(progress)
        added, files, removed = ({}, {}, ()) if experience is None else experience
        notes |= {} if experience is None else {"experience": added}
        files = {**files, AGENT: array_bytes(arrays, {"format": FORMAT, **notes})}
        if description is not None:
            files[CONFIG] = description_bytes(description)
        commit(self.path, files, removed=removed, beginnings=None if metrics is None else {METRICS: metrics})

    def progress(self, env: Environment) -> Progress:
        """The last checkpoint; empty progress if training stopped before the first one."""
        if not self.has_checkpoint:
            return Progress()
        config, (arrays, notes) = self.description.config, self._checkpoint(len(env.attributes))
        progress, empty = load_progress(env, config, arrays, notes), new_replay(config)
        if empty is None or "experience" not in notes:
            return progress
        replay = load_replay(self.path, notes["experience"], empty.capacity, env)
        if progress.log is not None and not progress.log.fits(replay):
            raise DamagedFileError(f"{self.path / AGENT} holds attempts at steps that were not recorded.")
        return replace(progress, replay=replay)

    @property
    def has_checkpoint(self) -> bool:
        """Whether anything that was learned is saved."""
        return AGENT in read_manifest(self.path)

    def _checkpoint(self, num_attributes: int) -> tuple[Arrays, Notes]:
        """The arrays and notes of agent.safetensors."""
        path = self.path / AGENT
        arrays, notes = parse_arrays(read_verified(self.path, AGENT), path)
        check_names(arrays, str(path))
        check_notes(notes, num_attributes, str(path))
        check_attempt_log(arrays, ATTEMPT_LOG, str(path))
        return arrays, notes

    def is_finished(self) -> bool:
        """Whether training has finished. A shipped agent counts as finished."""
        if not self.has_checkpoint:
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
        arrays, notes = self._agent_arrays(len(env.attributes))
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
        conduct = load_conduct(arrays, notes, env.attributes.num_words)
        agent = agent_of(env, config, detector, learned, table, fitted_model, error, conduct)
        agent = replace(agent, odds=load_odds(notes))
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

    def _agent_arrays(self, num_attributes: int) -> tuple[Arrays, Notes]:
        """The arrays and notes of a checkpoint that holds an agent."""
        if not self.has_checkpoint:
            raise RunDirectoryError(
                f"{self.path} contains no agent: training stopped before its first checkpoint; continue with --resume."
            )
        arrays, notes = self._checkpoint(num_attributes)
        if "practice" not in notes and AGENT_ONLY not in notes:
            raise RunDirectoryError(f"{self.path}: training has not reached practice yet; continue with --resume.")
        return arrays, notes

    def table(self) -> TransitionTable:
        """c_π of the last checkpoint. An environment that is not built in is not needed."""
        described = self.description
        if described.parameters is not None:
            return self.agent().table
        arrays, _ = self._agent_arrays(len(described.attributes))
        env = known_by_attributes(described.name, described.attributes)
        return load_table(env, described.config, arrays)

    def planner(self) -> Planner:
        """Plans as the agent of the last checkpoint does. An environment that is not built in is not needed.

        An older run does not say for how many steps plans are made; they are then made without a limit.
        """
        described = self.description
        if described.parameters is not None:
            return self.agent().planner
        practise, (arrays, notes) = described.config.practise, self._agent_arrays(len(described.attributes))
        env = known_by_attributes(described.name, described.attributes)
        model = plan_model(
            EXECUTORS["default"],
            load_conduct(arrays, notes, env.attributes.num_words),
            deterministic=practise.deterministic,
            looks_ahead="forward_model" in notes,
        )
        attempts = AttemptModel(model, practise.max_attempt_steps, load_odds(notes))
        table = load_table(env, described.config, arrays)
        return Planner(table, described.max_steps or np.inf, attempts=attempts)

    def metrics_writer(self) -> MetricsWriter:
        """Appends to metrics.jsonl, after the lines of the last checkpoint."""
        return MetricsWriter(self.path, read_manifest(self.path).get(METRICS))

    def metrics(self) -> list[dict[str, Any]]:
        """All complete lines of metrics."""
        return read_metrics(self.path)

    def notes(self) -> Notes:
        """The scalars of each part: errors, epochs, steps."""
        return self._checkpoint(len(self.description.attributes))[1]


def is_free(path: Path) -> bool:
    """Whether a folder holds nothing but what a killed process left before it saved anything."""
    left = {*temporary_files(path), path / LOCK, path / EXPERIENCE}
    return all(each in left for each in path.iterdir()) and not any(
        each not in left for each in path.glob(f"{EXPERIENCE}/*")
    )


def save_agent(path: Path | str, agent: Agent, config: TrainConfig, seed: int) -> None:
    """A run directory with only the agent, small enough to ship. Its training cannot be continued."""
    RunDirectory.create(path, describe_run(agent.env, config, seed), **agent_file(agent, config))


def agent_file(agent: Agent, config: TrainConfig) -> dict[str, bytes]:
    """agent.safetensors of an agent alone."""
    arrays, notes = agent_arrays(agent, config)
    return {AGENT: array_bytes(arrays, {"format": FORMAT, **notes})}


def ship(run: RunDirectory, path: Path | str, env: Environment | None = None) -> None:
    """Store only the agent of a finished run, with the description and the metrics of that run."""
    described, written = run.description, read_manifest(run.path).get(METRICS)
    save_agent(path, run.agent(env), described.config, described.seed)
    metrics = {} if written is None else {METRICS: read_beginning(run.path / METRICS, written)}
    commit(Path(path), {CONFIG: read_verified(run.path, CONFIG), **metrics})
