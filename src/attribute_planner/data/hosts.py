"""Several processes that train together (`jax.distributed`), usually one on each machine.

All run the same program with the same seed. Environments are divided over the devices of all of them
(`data/devices.py`), and XLA exchanges what is needed. Python in each process decides by the same numbers, so that all
start the same compiled functions in the same order. What is not the same in all of them, such as the time, must not
decide. With one process, everything here does nothing.
"""

import jax
from jax.experimental import multihost_utils


def is_first() -> bool:
    """Whether this is the process that writes the run directory."""
    return jax.process_index() == 0


def wait_for_all(reason: str) -> None:
    """Wait until all processes are here; `reason` must be the same in all."""
    if jax.process_count() > 1:
        multihost_utils.sync_global_devices(reason)
