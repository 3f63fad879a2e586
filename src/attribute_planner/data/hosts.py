"""Several processes that train together (`jax.distributed`), usually one on each machine.

All run the same program with the same seed. Environments are divided over the devices of all of them
(`data/devices.py`), and XLA exchanges what is needed. Python in each process decides by the same numbers, so that all
start the same compiled functions in the same order. What is not the same in all of them, such as the time, must not
decide. With one process, everything here does nothing.
"""

import zlib
from typing import Any

import jax
import numpy as np
from jax.experimental import multihost_utils

from attribute_planner.errors import AttributePlannerError, ConfigurationError
from attribute_planner.learning.progress import Watch


def is_first() -> bool:
    """Whether this is the process that writes the run directory."""
    return jax.process_index() == 0


def wait_for_all(reason: str) -> None:
    """Wait until all processes are here; `reason` must be the same in all."""
    if jax.process_count() > 1:
        multihost_utils.sync_global_devices(reason)


def require_divisible(name: str, num_envs: int) -> None:
    """An error if several processes cannot divide `num_envs` environments evenly; `name` is that of the setting."""
    if jax.process_count() > 1 and num_envs % jax.device_count():
        raise ConfigurationError(
            f"{name} is {num_envs}; it must be a multiple of {jax.device_count()}, the number of devices of all hosts."
        )


def same_everywhere(watch: Watch) -> Watch:
    """The callback, called only after all processes have reported the same metrics; otherwise an error."""
    if jax.process_count() == 1:
        return watch

    def agreed(phase: str, done: float, metrics: dict[str, Any], so_far: Any) -> None:
        found = zlib.crc32(repr((phase, done, metrics)).encode())
        if len(np.unique(multihost_utils.process_allgather(np.uint32(found)))) > 1:
            raise AttributePlannerError(
                f"{phase}: the hosts have computed different numbers. Their machines and devices must be of one kind, "
                "with the same versions of all packages."
            )
        watch(phase, done, metrics, so_far)

    return agreed
