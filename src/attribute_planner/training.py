"""`train` and `load`: training into a run directory, and resuming."""

import sys
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
from attribute_planner.brought_along import explored_in, given_policy, with_given_policy, with_policy
from attribute_planner.budget import budget
from attribute_planner.configuration import TrainConfig, config_for
from attribute_planner.data.attempt_log import AttemptLog
from attribute_planner.data.dataset import Dataset
from attribute_planner.data.hosts import is_first, require_divisible, same_everywhere, wait_for_all
from attribute_planner.environments.interface import Environment, require_environment
from attribute_planner.environments.recorded import RecordedEnvironment
from attribute_planner.environments.registry import make
from attribute_planner.environments.workers.choice import choose_num_workers
from attribute_planner.environments.workers.running import STEP_TIMEOUT, cluster_workers, worker_processes
from attribute_planner.errors import ConfigurationError, RunDirectoryError
from attribute_planner.evaluation.goal_meter import GoalMeter
from attribute_planner.files.lock import locked
from attribute_planner.interruption import saved_by
from attribute_planner.models.given_policy import Predicts
from attribute_planner.ranges import check_seed, require_positive
from attribute_planner.recorder import Display, Recorder, UserDisplay
from attribute_planner.storage.agents import find_run
from attribute_planner.storage.description import describe_run
from attribute_planner.storage.run_directory import RunDirectory
from attribute_planner.storage.threads import fix_threads

if TYPE_CHECKING:
    from attribute_planner.environments.workers.pool import WorkerPool


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
    num_hosts: int | None = None,
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
    num_hosts: number of processes that train together, each on another machine of the cluster, with all its GPUs; for
        an environment written in JAX, which is divided over their devices. The result is that of one process.
    """
    if isinstance(env, Dataset):
        env, dataset, steps = RecordedEnvironment(env.spec), env, 0
    check_seed(seed)
    if num_hosts is not None and (policy is not None or dataset is not None or num_workers is not None):
        raise ConfigurationError("num_hosts cannot be combined with policy, dataset or num_workers.")
    if steps is not None and dataset is None:
        require_positive("steps", steps)
    if resume and run_dir is None:
        raise ConfigurationError("resume=True needs the directory of the run: run_dir=….")
    if resume and config is not None:
        raise ConfigurationError("A resumed run keeps its own settings: config cannot be given with resume.")
    if resume and refine:
        raise ConfigurationError("A resumed run keeps its own settings: refine cannot be given with resume.")
    fix_threads(recorded_threads(run_dir, resume=resume))
    env = make(env) if isinstance(env, str) else env
    require_environment(env, "train")
    if logger is not None and not callable(logger):
        raise ConfigurationError(
            f"logger must be a function of a dictionary of metrics, not a {type(logger).__name__}."
        )
    if tensorboard and run_dir is None:
        raise ConfigurationError("TensorBoard events are written into the run directory: say which, with run_dir=….")
    if num_hosts is not None:
        from attribute_planner.several_hosts import HostTraining, train_on_hosts

        path = None if run_dir is None else Path(run_dir).absolute()
        training = HostTraining(seed, steps, path, config, resume, refine, tensorboard)
        return train_on_hosts(env, num_hosts, cluster, training, progress=progress, logger=logger)
    with run_lock(run_dir, resume=resume), ExitStack() as stack:
        workers = partial(start_workers, stack, num_workers, step_timeout, cluster)
        display = UserDisplay(progress, logger)
        return _train(
            env, seed, steps, run_dir, config, resume, refine, progress, tensorboard, display, policy, dataset, workers
        )


def train_on_this_host(
    env: Environment,
    *,
    seed: int,
    steps: int | None,
    run_dir: Path | None,
    config: TrainConfig | None,
    resume: bool,
    refine: bool,
    tensorboard: bool,
    display: Display,
) -> Agent:
    """`train` in one of several processes or threads that train together.

    Of several processes, only the first one writes the run directory.
    """
    with run_lock(run_dir if is_first() else None, resume=resume):
        return _train(
            env, seed, steps, run_dir, config, resume, refine, False, tensorboard, display, None, None, no_workers
        )


def no_workers(env: Environment, config: TrainConfig) -> None:
    """In place of worker processes, the devices of all hosts: an error if they cannot divide the environments."""
    del env
    for phase, settings in (("explore", config.explore), ("practise", config.practise)):
        require_divisible(f"{phase}.num_envs", settings.num_envs)


def recorded_threads(run_dir: str | Path | None, *, resume: bool) -> int | None:
    """The number of threads with which a run that is resumed began."""
    return RunDirectory(run_dir).threads if resume and run_dir is not None else None


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
    display: Display,
    policy: Predicts | None,
    dataset: Dataset | None,
    workers_for: Callable[[Environment, TrainConfig], Any],
) -> Agent:
    """`train`, with checked arguments and the lock of the run directory."""
    if resume:
        assert run_dir is not None
        run = RunDirectory(run_dir)
        if is_first():
            run.recover()
        wait_for_all("to read the run directory")
        env, described = run.environment(env), run.description
        config, seed, begun = described.config, described.seed, run.progress(env)
        wait_for_all("to change the run directory")
    else:
        config, begun, run = config or config_for(env), Progress(), None
    if not is_first():
        run_dir = run = None
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
    recorder = Recorder(run, begun, env.spec, display=display, tensorboard=tensorboard, meter=meter, workers=workers)
    if dataset is not None and begun.explored is None:
        begun = replace(begun, explored=explored_in(dataset, env, config, begun, key=training_key(seed)))
    with saved_by(recorder.save):
        try:
            if offline:
                return algorithm.train_offline(env, config, key=training_key(seed), begun=begun, watch=recorder)
            watch = same_everywhere(recorder)
            agent = algorithm.train(env, config, key=training_key(seed), begun=begun, given=given, watch=watch)
        finally:
            recorder.close()
    if progress:
        announce(str(agent.report))
    return agent


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


def announce(line: str) -> None:
    """A line on standard error, where the progress bars are."""
    print(line, file=sys.stderr)
