"""The number of threads of compiled functions on a CPU. Sums depend on it in their last bits, and so does an agent.

It is fixed when JAX first uses the device, by the variable PJRT_NPROC, and recorded with a run. A run that is resumed
has the number that it began with, whatever the machine has.
"""

import os
import warnings

from attribute_planner.environments.workers.choice import num_cores
from attribute_planner.ranges import Range, check_number

VARIABLE = "PJRT_NPROC"
LEAST = 2
"""Also on one core, so that one core and two give the same agent."""
ALLOWED = Range(0, 4096, open_low=True)


def fix_threads(recorded: int | None = None) -> None:
    """Use as many threads as a run began with, by default one for each core; an environment variable takes precedence.

    A warning if JAX is already in use with another number than the one that is `recorded`.
    """
    if VARIABLE not in os.environ and not _is_in_use():
        os.environ[VARIABLE] = str(recorded or max(num_cores(), LEAST))
    if recorded is not None and recorded != num_threads():
        warnings.warn(
            f"The run began with {recorded} threads and continues with {num_threads()}: numbers may differ in the last "
            f"bits. Set {VARIABLE}={recorded} before JAX is used.",
            stacklevel=3,
        )


def num_threads() -> int:
    """The number of threads in this process."""
    text = os.environ.get(VARIABLE, "")
    number = int(text) if text.isdecimal() and text.isascii() else num_cores()
    check_number(VARIABLE, number, ALLOWED, whole=True)
    return number


def _is_in_use() -> bool:
    """Whether JAX has begun to use its devices, and with them a number of threads."""
    from jax._src import xla_bridge

    return xla_bridge.backends_are_initialized()
