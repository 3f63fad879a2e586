"""Errors of an environment's own code, as one line that names the environment and the operation."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol, runtime_checkable

import numpy as np

from attribute_planner.errors import AttributePlannerError, EnvironmentFaultError

LONGEST_CAUSE = 300
"""Number of characters of an environment's own error that are shown."""


@runtime_checkable
class Named(Protocol):
    """Anything with a name."""

    @property
    def name(self) -> str: ...


@contextmanager
def blaming(env: Named, what: str) -> Iterator[None]:
    """Turn any error inside the block into a one-line `EnvironmentFaultError` that names the operation `what`.

    An error that names the environment already, with its own operation, stays as it is.
    """
    try:
        yield
    except (Exception, SystemExit) as error:
        if isinstance(error, EnvironmentFaultError) and str(error).startswith(f"{env.name}: "):
            raise
        raise fault_of(env, what, error) from error


def fault_of(env: Named, what: str, error: BaseException) -> EnvironmentFaultError:
    """The fault of an environment in an operation."""
    is_ours = isinstance(error, AttributePlannerError)
    cause = str(error) if is_ours else f"{type(error).__name__}: {first_line(str(error))}"
    return EnvironmentFaultError(f"{env.name}: {what}: {cause}")


def shown(value: object) -> str:
    """A value and its type, shortened."""
    return f"{first_line(repr(value))[:LONGEST_VALUE]} ({type(value).__name__})"


LONGEST_VALUE = 60


def first_line(text: str) -> str:
    """The first line of a text that is not empty, at most `LONGEST_CAUSE` characters of it."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "no message")[:LONGEST_CAUSE]


def check_image(image: Any) -> None:
    """Check the result of `render`."""
    if image.ndim != 3 or image.shape[-1] != 3 or image.dtype != np.uint8:
        raise EnvironmentFaultError(f"the image is {image.dtype}{list(image.shape)}; it must be uint8[H, W, 3].")
