"""How a phase tells what it is doing."""

from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class Watch(Protocol):
    """Called at the end of each epoch of a phase."""

    def __call__(self, phase: str, done: float, metrics: dict[str, Any], so_far: Any, /) -> None:
        """Phase name, fraction of its budget that is spent, what to show people, and what it has come to so far."""


def nobody(phase: str, done: float, metrics: dict[str, Any], so_far: Any) -> None:
    """A watch that does not look."""
