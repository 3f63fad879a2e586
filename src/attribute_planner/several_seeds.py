"""`train_seeds`: several seeds of one setting that train together in one process (`data/seeds.py`)."""

import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from attribute_planner.agent import Agent
from attribute_planner.budget import budget
from attribute_planner.configuration import TrainConfig, config_for
from attribute_planner.data.seeds import Together, end_if_stopped
from attribute_planner.environments.interface import Environment, PureEnvironment, require_environment
from attribute_planner.environments.registry import make
from attribute_planner.errors import AttributePlannerError, ConfigurationError, RunDirectoryError
from attribute_planner.ranges import check_seeds, require_positive
from attribute_planner.recorder import Display, UserDisplay
from attribute_planner.storage.run_directory import RunDirectory, is_free
from attribute_planner.storage.threads import fix_threads
from attribute_planner.training import announce, recorded_threads, train_on_this_host

Logger = Callable[[dict[str, float]], Any]


def train_seeds(
    env: Environment | str,
    *,
    seeds: Sequence[int],
    steps: int | None = None,
    run_dir: str | Path | None = None,
    config: TrainConfig | None = None,
    resume: bool = False,
    refine: bool = False,
    progress: bool = False,
    tensorboard: bool = False,
    logger: Logger | None = None,
) -> list[Agent]:
    """Train an agent for each of several seeds, together in one process.

    The compiled calls of all seeds are one call, where the memory of the device allows it. Each agent is that of
    `train` with its seed, up to rounding.

    env: the environment, or its name; it must be written in JAX (`PureEnvironment`).
    seeds: the random seeds.
    steps: number of environment steps of each seed; by default that of the settings.
    run_dir: directory of the runs, which are in `seed-0`, `seed-1`, …; without one, nothing is saved.
    config: settings of all seeds; by default `config_for(env)`.
    resume: continue the runs of all seeds in `run_dir`, with their settings; only `steps` can change.
    refine: search for missing attributes after half of the rounds (`TrainConfig.refine`).
    progress: show progress bars, those of the seed that is furthest behind.
    tensorboard: also write TensorBoard events into the directory of each run.
    logger: called with the metrics of every epoch of every seed, named `seed-0/phase/metric`.
    """
    check_seeds(seeds)
    if steps is not None:
        require_positive("steps", steps)
    if run_dir is None and (resume or tensorboard):
        raise ConfigurationError("resume and tensorboard need the directory of the runs: run_dir=….")
    if resume and (config is not None or refine):
        raise ConfigurationError("Resumed runs keep their own settings: config and refine cannot be given with resume.")
    paths = {seed: None if run_dir is None else Path(run_dir) / seed_folder(seed) for seed in seeds}
    for path in filter(None, paths.values()):
        _require_usable(path, resume=resume)
    fix_threads(recorded_threads(paths[seeds[0]], resume=resume))
    env = make(env) if isinstance(env, str) else env
    require_environment(env, "train_seeds")
    if not isinstance(env, PureEnvironment):
        raise ConfigurationError(
            f"{env.name} is not written in JAX, so its seeds cannot train together: start one run for each seed."
        )
    if progress and not resume:
        settings = config or config_for(env)
        announce(f"{len(seeds)} seeds, each: {budget(env, settings if steps is None else settings.with_steps(steps))}")
    displays = SeedDisplays(seeds, UserDisplay(progress, None), logger)
    trainings = [
        partial(
            train_on_this_host,
            env,
            seed=seed,
            steps=steps,
            run_dir=path,
            config=config,
            resume=resume,
            refine=refine,
            tensorboard=tensorboard,
            display=displays.of(seed),
        )
        for seed, path in paths.items()
    ]
    try:
        outcomes = Together(announce).run(trainings)
    finally:
        displays.close()
    agents = _agents(seeds, outcomes)
    if progress:
        for seed, agent in zip(seeds, agents, strict=True):
            announce(f"Seed {seed}: {agent.report}")
    return agents


def seed_folder(seed: int) -> str:
    """The name of the run directory of a seed."""
    return f"seed-{seed}"


def _require_usable(path: Path, *, resume: bool) -> None:
    """An error if no run can begin, or continue, in this directory: no seed begins then."""
    if resume:
        RunDirectory(path)
    elif path.exists() and not (path.is_dir() and is_free(path)):
        raise RunDirectoryError(
            f"{path} already exists; continue its run with --resume (resume=True), or choose another directory."
        )


def _agents(seeds: Sequence[int], outcomes: Sequence[Agent | BaseException]) -> list[Agent]:
    """The agents; if a training has failed, its error with its seed."""
    failed = [(seed, each) for seed, each in zip(seeds, outcomes, strict=True) if isinstance(each, BaseException)]
    if not failed:
        return [each for each in outcomes if isinstance(each, Agent)]
    seed, error = failed[0]
    concerns_all = len(failed) == len(seeds) and len({str(each) for _, each in failed}) == 1
    if concerns_all or not isinstance(error, AttributePlannerError):
        raise error
    raise AttributePlannerError(f"Seed {seed}: {error}") from error


class SeedDisplays:
    """The displays of seeds that train together: one set of bars, for the seed that is furthest behind."""

    def __init__(self, seeds: Sequence[int], bars: Display, logger: Logger | None) -> None:
        self._bars, self._logger = bars, logger
        self._done: dict[int, dict[str, float]] = {seed: {} for seed in seeds}
        self._showing = threading.RLock()

    def of(self, seed: int) -> Display:
        """The display of one seed."""
        return _SeedDisplay(self, seed)

    def show(self, seed: int, phase: str, done: float, metrics: dict[str, Any]) -> None:
        """Log the metrics of a seed, and show them if all seeds are as far."""
        with self._showing:
            self._done[seed][phase] = done
            if all(each.get(phase, -1.0) >= done for each in self._done.values()):
                self._bars.show(phase, done, metrics)
            UserDisplay(False, self._logger and partial(self._log, seed)).show(phase, done, metrics)

    def _log(self, seed: int, numbers: dict[str, float]) -> None:
        assert self._logger is not None
        self._logger({f"{seed_folder(seed)}/{name}": value for name, value in numbers.items()})

    def end(self, seed: int) -> None:
        """Wait for this seed no longer."""
        with self._showing:
            self._done.pop(seed, None)

    def close(self) -> None:
        self._bars.close()


class _SeedDisplay:
    """Shows the metrics of one seed."""

    def __init__(self, displays: SeedDisplays, seed: int) -> None:
        self._displays, self._seed = displays, seed

    def show(self, phase: str, done: float, metrics: dict[str, Any]) -> None:
        end_if_stopped()
        self._displays.show(self._seed, phase, done, metrics)

    def close(self) -> None:
        self._displays.end(self._seed)
