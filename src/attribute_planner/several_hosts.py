"""A training in several processes, each on another machine of a Ray cluster, over the devices of all of them.

Every process runs the same training (`data/hosts.py`). The first one writes the run directory; without one, a temporary
one. The agent comes back as the files of a run directory.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from attribute_planner.agent import Agent
from attribute_planner.configuration import TrainConfig
from attribute_planner.data.hosts import is_first
from attribute_planner.environments.interface import Environment, PureEnvironment
from attribute_planner.environments.registry import make, source_of
from attribute_planner.environments.workers.hosts import (
    Files,
    Show,
    packed_environment,
    run_on_hosts,
    unpacked_environment,
)
from attribute_planner.errors import ConfigurationError, RunDirectoryError
from attribute_planner.files.writing import write_bytes
from attribute_planner.ranges import COUNT, check_number
from attribute_planner.recorder import Reports, UserDisplay
from attribute_planner.storage.run_directory import RunDirectory, is_free, ship
from attribute_planner.storage.threads import fix_threads
from attribute_planner.storage.trusted_sources import trust
from attribute_planner.training import announce, recorded_threads, train_on_this_host


@dataclass(frozen=True)
class HostTraining:
    """The arguments of `train` in all processes; called in each of them, it trains.

    env: the environment, or the function `module:function` that makes it, as bytes: it may hold arrays, which must not
        be loaded before JAX is connected.
    """

    seed: int
    steps: int | None
    run_dir: Path | None
    config: TrainConfig | None
    resume: bool
    refine: bool
    tensorboard: bool
    env: bytes = b""

    def __call__(self, show: Show) -> Files:
        """Train; the files of the agent in the first process, nothing in the others."""
        fix_threads(recorded_threads(self.run_dir, resume=self.resume))
        env = unpacked_environment(self.env)
        env = make(env) if isinstance(env, str) else env
        with TemporaryDirectory(prefix="attribute-planner-") as folder:
            run_dir = self.run_dir or Path(folder) / "run"
            train_on_this_host(
                env,
                seed=self.seed,
                steps=self.steps,
                run_dir=run_dir,
                config=self.config,
                resume=self.resume,
                refine=self.refine,
                tensorboard=self.tensorboard,
                display=Reports(show),
            )
            return _agent_files(run_dir, Path(folder) / "agent", env) if is_first() else {}


def _agent_files(run_dir: Path, folder: Path, env: Environment) -> Files:
    ship(RunDirectory(run_dir), folder, env)
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def train_on_hosts(
    env: Environment,
    num_hosts: int,
    cluster: str | None,
    training: HostTraining,
    *,
    progress: bool,
    logger: Callable[[dict[str, float]], Any] | None,
) -> Agent:
    """Train in `num_hosts` processes on a Ray cluster, and return the agent."""
    check_number("num_hosts", num_hosts, COUNT, whole=True)
    if cluster is None:
        raise ConfigurationError("num_hosts needs the Ray cluster whose machines train: cluster=….")
    if not isinstance(env, PureEnvironment):
        raise ConfigurationError(
            f"num_hosts={num_hosts}: {env.name} is not written in JAX. On a cluster, num_workers processes can run it."
        )
    run_dir = training.run_dir
    if run_dir is not None and not training.resume and run_dir.exists() and not (run_dir.is_dir() and is_free(run_dir)):
        raise RunDirectoryError(
            f"{run_dir} already exists; continue that run with --resume (resume=True), or choose another directory."
        )
    if progress:
        announce(f"{env.name}: trains in {num_hosts} processes on the Ray cluster {cluster}.")
    display = UserDisplay(progress, logger)
    try:
        task = replace(training, env=packed_environment(source_of(env) or env, env.name))
        files = run_on_hosts(cluster, num_hosts, task, show=display.show)
    finally:
        display.close()
    agent = _loaded(files, run_dir, env)
    if progress:
        announce(str(agent.report))
    return agent


def _loaded(files: Files, run_dir: Path | None, env: Environment) -> Agent:
    """The agent in the run directory. If that is on another machine only, this one gets the files of the agent."""
    with TemporaryDirectory(prefix="attribute-planner-") as folder:
        path = run_dir or Path(folder)
        if not RunDirectory.exists(path):
            path.mkdir(parents=True, exist_ok=True)
            for name, content in files.items():
                write_bytes(path / name, content)
        if source := source_of(env):
            trust(source)
        return RunDirectory(path).agent(env)
