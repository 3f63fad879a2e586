"""The trained agents that ship with the package."""

from pathlib import Path

from attribute_planner.errors import RunDirectoryError

SHIPPED = Path(__file__).parent.parent / "agents"


def shipped_agents() -> dict[str, Path]:
    """Name and directory of every agent that ships with the package."""
    return {path.parent.name: path.parent for path in sorted(SHIPPED.glob("*/config.json"))}


def find_run(run: str | Path) -> Path:
    """The run directory at a path, or that of the shipped agent of this name."""
    if Path(run).exists():
        return Path(run)
    if str(run) in shipped_agents():
        return shipped_agents()[str(run)]
    names = ", ".join(shipped_agents()) or "none"
    raise RunDirectoryError(
        f"There is no run directory {str(run)!r}, and no shipped agent of that name (shipped: {names})."
    )
