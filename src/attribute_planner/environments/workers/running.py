"""Worker processes for the duration of a training."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from attribute_planner.environments.hidden_attributes import without_hidden_attributes
from attribute_planner.environments.interface import Environment, PureEnvironment
from attribute_planner.environments.watchdog import STEP_TIMEOUT as STEP_TIMEOUT
from attribute_planner.environments.watchdog import WATCHDOG
from attribute_planner.errors import ConfigurationError
from attribute_planner.ranges import POSITIVE, check_number

if TYPE_CHECKING:
    from attribute_planner.environments.gymnasium_bridge import GymnasiumEnvironment
    from attribute_planner.environments.workers.pool import WorkerPool
    from attribute_planner.environments.workers.process import Worker


def bridged(env: Environment) -> GymnasiumEnvironment | None:
    """The environment of `from_gymnasium` behind an environment; `None` if it is another one."""
    base = without_hidden_attributes(env)
    if isinstance(base, PureEnvironment):
        return None
    from attribute_planner.environments.gymnasium_bridge import GymnasiumEnvironment

    return base if isinstance(base, GymnasiumEnvironment) else None


@contextmanager
def worker_processes(
    env: Environment,
    num_workers: int,
    *,
    step_timeout: float = STEP_TIMEOUT,
    required: bool = True,
    say: Callable[[str], Any] | None = None,
    new_worker: Callable[[], Worker] | None = None,
) -> Iterator[WorkerPool | None]:
    """Run an environment of `from_gymnasium` in `num_workers` processes, which are ended afterwards; 0 for none.

    step_timeout: seconds that a reset or a step may take; a worker that takes longer is replaced, and in this process
        it is an error.
    required: whether it is an error if the environment cannot be made in a worker process; otherwise it runs in this
        process, and a line says why.
    say: is given a line when a worker is lost.
    new_worker: starts a worker; by default a process on this machine.
    """
    check_number("step_timeout", step_timeout, POSITIVE)
    base = bridged(env) if num_workers else None
    pool = None if base is None else _started(base, num_workers, step_timeout, required, say, new_worker)
    if base is None or pool is None:
        with WATCHDOG.limited_to(step_timeout):
            yield None
        return
    previous, base.workers.running = base.workers.running, pool
    try:
        yield pool
    finally:
        base.workers.running = previous
        pool.close()


def _started(
    env: GymnasiumEnvironment,
    num_workers: int,
    step_timeout: float,
    required: bool,
    say: Callable[[str], Any] | None,
    new_worker: Callable[[], Worker] | None,
) -> WorkerPool | None:
    """The worker processes; `None` if they cannot be started and are not required."""
    from attribute_planner.environments.workers.pool import WorkerPool

    try:
        return WorkerPool(
            env.name,
            env.recipe,
            env.encoder.spec,
            num_workers,
            step_timeout=step_timeout,
            say=say,
            new_worker=new_worker,
        )
    except ConfigurationError as error:
        if required:
            raise
        if say is not None:
            say(f"{error} Training continues without worker processes; num_workers=0 avoids this attempt.")
        return None


@contextmanager
def cluster_workers(
    env: Environment,
    cluster: str,
    num_workers: int | None,
    num_envs: int,
    *,
    step_timeout: float = STEP_TIMEOUT,
    say: Callable[[str], Any] | None = None,
) -> Iterator[WorkerPool | None]:
    """The same on the machines of a Ray cluster: `local`, `auto` or an address; by default one worker for each core."""
    if bridged(env) is None:
        hint = " It is written in JAX: give num_hosts=…." if isinstance(env, PureEnvironment) else ""
        raise ConfigurationError(f"cluster={cluster!r}: {env.name} is not made by ap.from_gymnasium.{hint}")
    from attribute_planner.environments.workers.cluster import connected, num_cluster_workers, ray_workers

    with connected(cluster) as connection:
        count = num_cluster_workers(num_workers, connection.cores, num_envs)
        start = ray_workers(connection.head)
        with worker_processes(env, count, step_timeout=step_timeout, say=say, new_worker=start) as pool:
            yield pool
