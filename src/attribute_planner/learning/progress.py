"""How a phase reports its progress."""

from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class Watch(Protocol):
    """A callback, called at the end of each epoch of a phase."""

    def __call__(self, phase: str, done: float, metrics: dict[str, Any], so_far: Any, /) -> None:
        """Name of the phase, fraction of its budget that is spent, metrics, and the phase's product so far.

        The metrics hold either `steps`, environment steps, or `updates`, gradient updates, of the phase.
        """


def no_callback(phase: str, done: float, metrics: dict[str, Any], so_far: Any) -> None:
    """A callback that does nothing."""
