"""`train` and `load`: training into a run directory, progress bars, and resuming."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax

from attribute_planner import algorithm
from attribute_planner.agent import Agent
from attribute_planner.algorithm import Progress, new_replay
from attribute_planner.configuration import TrainConfig, config_for
from attribute_planner.data.attempt_log import AttemptLog
from attribute_planner.data.dataset import Dataset
from attribute_planner.data.random_actions import RandomActions
from attribute_planner.data.refill import refill
from attribute_planner.data.rollout import advance, start
from attribute_planner.environments.hidden_attributes import hidden_splits
from attribute_planner.environments.interface import Environment, PureEnvironment
from attribute_planner.environments.recorded import RecordedEnvironment
from attribute_planner.environments.registry import make
from attribute_planner.environments.spec import EnvironmentSpec
from attribute_planner.environments.workers.choice import choose_num_workers
from attribute_planner.environments.workers.running import STEP_TIMEOUT, cluster_workers, worker_processes
from attribute_planner.errors import ConfigurationError, RunDirectoryError
from attribute_planner.evaluation.goal_meter import GoalMeter, num_unseen_values
from attribute_planner.files.lock import locked
from attribute_planner.interruption import deferred, saved_by
from attribute_planner.learning.policy_gradient import TrainState, new_train_state
from attribute_planner.models.given_policy import GivenPolicy, Predicts
from attribute_planner.models.observation_scaling import statistics_of, with_observations
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.phases.explore import Explored
from attribute_planner.phases.refine import Refined
from attribute_planner.ranges import check_seed, require_positive
from attribute_planner.storage.agents import find_run
from attribute_planner.storage.description import Description, describe_run
from attribute_planner.storage.experience import ExperienceWriter
from attribute_planner.storage.run_directory import RunDirectory
from attribute_planner.storage.threads import fix_threads

if TYPE_CHECKING:
    from attribute_planner.environments.workers.pool import WorkerPool

SECONDS_BETWEEN_SAVES = 20.0


def train(
    env: Environment | Dataset | str,
    *,
    seed: int = 0,
    steps: int | None = None,
    run_dir: str | Path | None = None,
    config: TrainConfig | None = None,
    resume: bool = False,
    refine: bool = False,
    progress: bool = False,
    tensorboard: bool = False,
    logger: Callable[[dict[str, float]], Any] | None = None,
    policy: Predicts | None = None,
    dataset: Dataset | None = None,
    num_workers: int | None = None,
    step_timeout: float = STEP_TIMEOUT,
    cluster: str | None = None,
) -> Agent:
    """Train an agent: detect, explore, practise.

    env: the environment, the name of a built-in one, or the name `module:function` of a function that returns one.
    seed: random seed.
    steps: number of environment steps of all phases together; by default that of the settings.
    run_dir: directory of the run; without one, nothing is saved.
    config: settings; by default `config_for(env)`.
    resume: continue the run in `run_dir`, with its settings and seed; only `steps` can change.
    refine: search for missing attributes after half of the rounds, and add them as hidden attributes
        (`TrainConfig.refine`).
    progress: show progress bars.
    tensorboard: also write TensorBoard events into `run_dir`.
    logger: called with the metrics of every epoch, named `phase/metric`: `logger=wandb.log` for Weights & Biases.
    policy: an external policy, any object with `predict(observation, goal)`. It is not trained: exploration finds the
        possible transitions, and practice measures how often the policy succeeds at them.
    dataset: recorded steps to begin with. With `steps=0` there is no interaction: π learns from the dataset alone, and
        c_π is estimated from its values. The same holds for a dataset in place of `env`.
    num_workers: number of processes that run an environment of `from_gymnasium`; 0 for this process only. By default as
        many as there are cores, if steps of the environment take long enough. The result is the same.
    step_timeout: seconds that a step or a reset may take; a worker process that takes longer is replaced, and without
        worker processes it is an error.
    cluster: the address of a Ray cluster whose machines run the environment, `auto` for that in `RAY_ADDRESS`, or
        `local` to start one on this machine; `num_workers` is by default its number of cores.
    """
    if isinstance(env, Dataset):
        env, dataset, steps = RecordedEnvironment(env.spec), env, 0
    check_seed(seed)
    if steps is not None and dataset is None:
        require_positive("steps", steps)
    if resume and run_dir is None:
        raise ConfigurationError("resume=True needs the directory of the run: run_dir=….")
    if resume and config is not None:
        raise ConfigurationError("A resumed run keeps its own settings: config cannot be given with resume.")
    if resume and refine:
        raise ConfigurationError("A resumed run keeps its own settings: refine cannot be given with resume.")
    fix_threads(RunDirectory(run_dir).threads if resume and run_dir is not None else None)
    env = make(env) if isinstance(env, str) else env
    if not isinstance(env, Environment):
        raise ConfigurationError(
            f"train needs an environment (ap.make, ap.from_gymnasium), not a {type(env).__name__}."
        )
    if tensorboard and run_dir is None:
        raise ConfigurationError("TensorBoard events are written into the run directory: say which, with run_dir=….")
    with run_lock(run_dir, resume=resume), ExitStack() as stack:
        workers = partial(start_workers, stack, num_workers, step_timeout, cluster)
        return _train(
            env, seed, steps, run_dir, config, resume, refine, progress, tensorboard, logger, policy, dataset, workers
        )


def start_workers(
    stack: ExitStack,
    num_workers: int | None,
    step_timeout: float,
    cluster: str | None,
    env: Environment,
    config: TrainConfig,
) -> "WorkerPool | None":
    """The worker processes of a training, which end with `stack`; `None` if there are none."""
    num_envs = max(config.explore.num_envs, config.practise.num_envs)
    if cluster is not None:
        return stack.enter_context(
            cluster_workers(env, cluster, num_workers, num_envs, step_timeout=step_timeout, say=announce)
        )
    count = choose_num_workers(env, num_workers, num_envs=num_envs, steps=config.steps)
    return stack.enter_context(
        worker_processes(env, count, step_timeout=step_timeout, required=num_workers is not None, say=announce)
    )


@contextmanager
def run_lock(run_dir: str | Path | None, *, resume: bool) -> Iterator[None]:
    """Hold the run directory: one process at a time trains in it. A new directory is made; without one, nothing is."""
    if run_dir is None:
        yield
        return
    path = Path(run_dir)
    if resume:
        RunDirectory(path)
    elif not path.is_file():
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunDirectoryError(f"The run directory {path} cannot be created: {error}.") from error
    with locked(path) if path.is_dir() else nullcontext():
        yield


def _train(
    env: Environment,
    seed: int,
    steps: int | None,
    run_dir: str | Path | None,
    config: TrainConfig | None,
    resume: bool,
    refine: bool,
    progress: bool,
    tensorboard: bool,
    logger: Callable[[dict[str, float]], Any] | None,
    policy: Predicts | None,
    dataset: Dataset | None,
    workers_for: Callable[[Environment, TrainConfig], Any],
) -> Agent:
    """`train`, with checked arguments and the lock of the run directory."""
    if resume:
        assert run_dir is not None
        run = RunDirectory(run_dir)
        run.recover()
        env, described = run.environment(env), run.description
        config, seed, begun = described.config, described.seed, run.progress(env)
    else:
        config, begun, run = config or config_for(env), Progress(), None
    offline = dataset is not None and steps == 0
    config = config if steps is None or offline else config.with_steps(steps)
    config = replace(config, refine=True) if refine else config
    config = config if policy is None else with_given_policy(config)
    given = None if policy is None else given_policy(env.spec, config, policy)
    begun = begun if given is None else with_policy(begun, given)
    if given is None and config.practise.method == "given":
        raise ConfigurationError("The run practises a policy that was made elsewhere: give it with policy=….")
    workers = None if offline else workers_for(env, config)
    if run is not None and steps is not None and not offline:
        run.describe(replace(run.description, config=config))
    if run_dir is not None and run is None:
        run = RunDirectory.create(run_dir, describe_run(env, config, seed))
    if dataset is not None and not config.practise.reacher.replays:
        raise ConfigurationError(
            f"A dataset needs dqn or sac as practise.method, which learn from recorded steps; it is "
            f"{config.practise.method}."
        )
    if progress:
        announce(f"{env.name}: π learns from {dataset!r}." if offline else budget(env, config))
    begun = replace(begun, replay=begun.replay or new_replay(config), log=begun.log or AttemptLog())
    meter = None
    if (progress or run is not None) and not offline:
        meter = GoalMeter(env, config, key=jax.random.fold_in(jax.random.key(seed), MEASURING))
    recorder = Recorder(
        run, begun, env.spec, show=progress, tensorboard=tensorboard, logger=logger, meter=meter, workers=workers
    )
    if dataset is not None and begun.explored is None:
        begun = replace(begun, explored=explored_in(dataset, env, config, begun, key=training_key(seed)))
    with saved_by(recorder.save):
        try:
            if offline:
                return algorithm.train_offline(env, config, key=training_key(seed), begun=begun, watch=recorder)
            agent = algorithm.train(env, config, key=training_key(seed), begun=begun, given=given, watch=recorder)
        finally:
            recorder.close()
    if progress:
        announce(str(agent.report))
    return agent


def explored_in(
    dataset: Dataset, env: Environment, config: TrainConfig, begun: Progress, *, key: jax.Array
) -> Explored:
    """What recorded experience shows, as if exploration had seen it; its steps are added to the replay buffer."""
    assert begun.replay is not None
    counts = refill(begun.replay, dataset, config.practise.num_envs, env.spec)
    policy = GoalPolicy(env.spec, config.explore.hidden_size, key=key)
    rows = begun.replay.rows_since(0)
    if rows is not None and statistics_of(policy) is not None:
        policy = with_observations(policy, rows[1].observation)
    return Explored(counts, new_train_state(policy, config.explore.learning), epoch=0, steps=0)


def with_given_policy(config: TrainConfig) -> TrainConfig:
    """The settings for a policy that was made elsewhere."""
    return replace(config, practise=replace(config.practise, method="given", deterministic=True))


def given_policy(spec: EnvironmentSpec, config: TrainConfig, policy: Predicts) -> GoalPolicy:
    """A policy that was made elsewhere, as π."""
    like = config.practise.reacher.new_policy(spec, config.practise.hidden_size, key=jax.random.key(0))
    return GivenPolicy(spec, policy, like=like)


def with_policy(begun: Progress, policy: GoalPolicy) -> Progress:
    """The progress of a run with the policy that was made elsewhere, which is not saved."""
    if begun.practised is None:
        return begun
    train_state = TrainState(policy, begun.practised.train_state.optimiser)
    return replace(begun, practised=begun.practised._replace(train_state=train_state))


def budget(env: Environment, config: TrainConfig) -> str:
    """The budget of a training in one or two sentences; for a simulator on the host also the duration of its steps."""
    how, rounds = config.practise, f"{config.rounds} round{'s' if config.rounds > 1 else ''}"
    text = (
        f"{env.name}: {config.steps:,} steps in {rounds}, {config.explore.steps:,} of them to explore; "
        f"the policy learns by {how.method}; an attempt has at most {how.max_attempt_steps} steps."
    )
    if isinstance(env, PureEnvironment):
        return text
    seconds = config.steps * seconds_per_step(env, how.num_envs)
    return f"{text} The simulator takes about {duration_words(seconds)} of the training time."


def duration_words(seconds: float) -> str:
    """A duration in the unit that suits it: seconds, minutes, hours or days."""
    for unit, size, least in (("days", 86_400, 2), ("h", 3_600, 2), ("min", 60, 1.5)):
        if seconds >= least * size:
            number = seconds / size
            return f"{number:,.0f} {unit}" if number >= 10 or unit == "min" else f"{number:.1f} {unit}"
    return f"{max(round(seconds), 1)} s"


TIMED_STEPS = 20


def seconds_per_step(env: Environment, num_envs: int) -> float:
    """Seconds per step of one environment, measured on a few random steps."""
    envs, actor = env.vector_env(num_envs), RandomActions(env)
    start_key, steps_key = jax.random.split(jax.random.key(0))
    try:
        episodes = start(actor, envs, key=start_key)
        episodes, _ = advance(actor, envs, episodes, 1, space=env.attributes, key=steps_key, keep="nothing")
        began = time.perf_counter()
        advance(actor, envs, episodes, TIMED_STEPS, space=env.attributes, key=steps_key, keep="nothing")
        return (time.perf_counter() - began) / (TIMED_STEPS * num_envs)
    finally:
        envs.close()


TRAINING = 0x7472
"""Folded into the seed, so that training shares no random numbers with an evaluation with the same seed."""

MEASURING = 0x6D65
"""Folded into the seed for the episodes that measure how many goals are reached."""


def training_key(seed: int) -> jax.Array:
    """The random key of a training run."""
    return jax.random.fold_in(jax.random.key(seed), TRAINING)


def load(run: str | Path, env: Environment | None = None, *, policy: Predicts | None = None) -> Agent:
    """The agent in a run directory, or one that ships with the package.

    env: an environment of one's own that no function was named for.
    policy: the policy that was made elsewhere and given to `train`.
    """
    return RunDirectory(find_run(run)).agent(env, policy=policy)


class Recorder:
    """Callback of a training: saves progress every few seconds and at the end, writes metrics, shows progress bars."""

    def __init__(
        self,
        run: RunDirectory | None,
        begun: Progress,
        spec: EnvironmentSpec,
        *,
        show: bool,
        tensorboard: bool,
        logger: Callable[[dict[str, float]], Any] | None = None,
        meter: GoalMeter | None = None,
        workers: "WorkerPool | None" = None,
    ) -> None:
        self._run, self._progress, self._meter, self._workers = run, begun, meter, workers
        self._log = AttemptLog() if begun.log is None else begun.log
        self._lines = None if run is None else run.metrics_writer()
        self._lines_of_progress = None if self._lines is None else self._lines.written
        self._description: Description | None = None
        self._experience = None
        if run is not None and begun.replay is not None:
            self._experience = ExperienceWriter(run.path, spec, begun.replay)
        self._started = self._saved = time.monotonic()
        self._unsaved = False
        self._changing = threading.RLock()
        self._logger = logger
        self._tensorboard = _tensorboard(run) if tensorboard and run is not None else None
        self._bars = _bars() if show else None

    def __call__(self, phase: str, done: float, metrics: dict[str, Any], so_far: Any) -> None:
        progress = self._progress_with(phase, so_far)
        counted = {} if self._workers is None else self._workers.metrics()
        metrics = {**metrics, **self._measured(phase, so_far, progress), **counted}
        # What is saved together changes together.
        with deferred(), self._changing:
            if so_far is not None:
                self._keep(so_far, progress)
            if self._lines is not None:
                self._lines.write({"phase": phase, "seconds": round(time.monotonic() - self._started, 3), **metrics})
                if so_far is not None and phase not in REPEATED:
                    self._lines_of_progress = self._lines.written
        self._show(phase, done, metrics)
        if time.monotonic() - self._saved > SECONDS_BETWEEN_SAVES or isinstance(so_far, Refined):
            with deferred():
                self.save()

    def _progress_with(self, phase: str, so_far: Any) -> Progress:
        """The progress with a new product of a phase."""
        if so_far is None:
            return self._progress
        new = {PRODUCTS[phase]: so_far} if not isinstance(so_far, Refined) else _refined_products(so_far)
        return replace(self._progress, **new, log=self._log.copy())

    def _measured(self, phase: str, so_far: Any, progress: Progress) -> dict[str, Any]:
        """Further metrics for users: values not seen yet, and goals reached."""
        if isinstance(so_far, Explored) and self._meter is not None:
            unseen = num_unseen_values(self._meter.env.attributes, so_far.counts.sets.rows)
            return {"unseen_values": unseen}
        if phase == "practise" and so_far is not None and self._meter is not None:
            return self._meter.measure_if_due(progress)
        return {}

    def _keep(self, so_far: Any, progress: Progress) -> None:
        """Make this the progress that is saved, with the steps that were recorded up to now."""
        self._progress, self._unsaved = progress, True
        if self._experience is not None:
            self._experience.note()
        if isinstance(so_far, Refined):
            self._refine(so_far.env)

    def _refine(self, env: Environment) -> None:
        """Replace the description by one with the hidden attributes."""
        if self._meter is not None:
            self._meter.env = env
        if self._run is not None:
            self._description = replace(self._run.description, attributes=env.attributes, hidden=hidden_splits(env))

    def _show(self, phase: str, done: float, metrics: dict[str, Any]) -> None:
        """Show the metrics wherever they are wanted."""
        if self._bars is not None:
            self._bars.show(phase, done, metrics)
        if self._tensorboard is not None:
            self._tensorboard.write(phase, metrics)
        if self._logger is not None:
            numbers = {name: value for name, value in metrics.items() if isinstance(value, int | float)}
            self._logger({f"{phase}/{name}": value for name, value in numbers.items()})

    def close(self) -> None:
        """Save what is not saved yet, also after an exception."""
        try:
            with deferred():
                self.save()
        finally:
            for shown in (self._bars, self._tensorboard):
                if shown is not None:
                    shown.close()

    def save(self) -> None:
        """Save what is not saved yet. Another thread may do so, before the process is ended."""
        with self._changing:
            if self._run is not None and self._unsaved:
                self._save()

    def _save(self) -> None:
        assert self._run is not None and self._lines is not None
        self._lines.sync()
        also: dict[str, Any] = {"description": self._description, "metrics": self._lines_of_progress}
        if self._experience is not None:
            also["experience"] = self._experience.new()
        self._run.save(self._progress, **also)
        if self._experience is not None:
            self._experience.saved()
        self._saved, self._unsaved, self._description = time.monotonic(), False, None


PRODUCTS = {
    "detect": "detected",
    "explore": "explored",
    "forward_model": "fitted_model",
    "practise": "practised",
    "model_edges": "model_edges",
    "calibrate": "calibration",
}
"""The field of `Progress` that each phase produces."""

REPEATED = ("model_edges", "calibrate")
"""What comes after practice. A resumed run does it again, and reports it again."""


def _refined_products(refined: Refined) -> dict[str, Any]:
    """What the search for missing attributes replaces; the detector is learned again."""
    return {"explored": refined.explored, "practised": refined.practised, "detected": None}


def announce(line: str) -> None:
    """A line on standard error, where the progress bars are."""
    print(line, file=sys.stderr)


def _bars() -> Any:
    from attribute_planner.drawing.progress_bars import ProgressBars

    return ProgressBars()


def _tensorboard(run: RunDirectory) -> Any:
    from attribute_planner.storage.tensorboard import TensorBoardWriter

    return TensorBoardWriter(run.path)
