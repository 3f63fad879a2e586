"""The origin of a result: versions, hardware, commit."""

import os
import platform
import subprocess
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

import jax

from attribute_planner.environments.workers.choice import num_cores
from attribute_planner.storage.threads import num_threads


@lru_cache
def provenance() -> dict[str, Any]:
    """What is needed to repeat a result, besides settings and seed."""
    return {
        "version": _version("attribute-planner"),
        "commit": _commit(),
        "python": platform.python_version(),
        "jax": jax.__version__,
        "device": jax.devices()[0].device_kind,
        "machine": platform.machine(),
        "cores": num_cores(),
        "threads": num_threads(),
    }


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "from source"


def _commit() -> str:
    """The commit of the source tree, with `+` if it has local changes; empty outside a checkout.

    For a source tree without its history, set `ATTRIBUTE_PLANNER_COMMIT`.
    """
    if commit := os.environ.get("ATTRIBUTE_PLANNER_COMMIT"):
        return commit
    try:
        described = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--abbrev=12", "--exclude=*"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            timeout=5,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return described.stdout.strip()
