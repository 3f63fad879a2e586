"""What a run reserves on a machine of a Ray cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from attribute_planner.errors import ConfigurationError
from attribute_planner.ranges import NOT_NEGATIVE, POSITIVE, check_number

SHARE_OF_A_GPU = 0.25
"""By default, if the cluster has GPUs: a run alone does not use all of a large one."""

MOST_LISTED = 8
"""Machines that an error lists."""

Amounts = Mapping[str, float]
"""Resources by Ray's names: `CPU`, `GPU`, and `memory` in bytes."""


@dataclass(frozen=True)
class ClusterConfig:
    """A Ray cluster, and what each run reserves there.

    address: as for `train`: an address, `auto` or `local`.
    cores: cores per run.
    gpus: share of a GPU per run; `None` for a quarter if the cluster has GPUs.
    memory: GiB of memory per run.
    work: folder of the run directories that all machines share; `None` for a temporary one on each machine.
    """

    address: str
    cores: float = 1.0
    gpus: float | None = None
    memory: float = 2.0
    work: Path | None = None

    def __post_init__(self) -> None:
        check_number("cores", self.cores, POSITIVE)
        check_number("memory", self.memory, POSITIVE)
        if self.gpus is not None:
            check_number("gpus", self.gpus, NOT_NEGATIVE)


def needed_by(config: ClusterConfig, available: Amounts) -> dict[str, float]:
    """What each run reserves.

    available: the resources of the whole cluster.
    """
    gpus = config.gpus if config.gpus is not None else SHARE_OF_A_GPU * bool(available.get("GPU"))
    return {"CPU": config.cores, "GPU": gpus, "memory": config.memory * 2**30}


def fits_one_of(needed: Amounts, machines: Sequence[Amounts]) -> bool:
    """Whether one of the machines has the resources, when nothing else runs on it."""
    return any(all(each.get(name, 0) >= amount for name, amount in needed.items()) for each in machines)


def require_machine(needed: Amounts, machines: Sequence[Amounts]) -> None:
    """An error unless one of the machines has the resources."""
    if fits_one_of(needed, machines):
        return
    there = "; ".join(in_words(each) for each in machines[:MOST_LISTED]) or "there is none"
    more = f"; and {len(machines) - MOST_LISTED} more" if len(machines) > MOST_LISTED else ""
    raise ConfigurationError(
        f"A run needs {in_words(needed)}, which no machine of the Ray cluster has: {there}{more}. "
        "--cores, --gpus and --memory set what a run needs."
    )


def in_words(amounts: Amounts) -> str:
    """Resources in words."""
    cores, gpus, memory = (amounts.get(name, 0) for name in ("CPU", "GPU", "memory"))
    return f"{cores:g} cores, {gpus:g} GPUs and {memory / 2**30:.1f} GiB"
