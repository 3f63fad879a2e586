"""Errors that are caused by users or files. The message is one line, which the command line prints."""

from collections.abc import Iterable
from difflib import get_close_matches


class AttributePlannerError(Exception):
    """Base class of errors that the user can correct. The message says what is wrong and what is expected."""


class UnknownNameError(AttributePlannerError):
    """A name that does not exist. The message lists the names that do."""


class GoalError(AttributePlannerError):
    """An invalid goal: malformed, contradictory or already satisfied."""


class EnvironmentFaultError(AttributePlannerError):
    """An environment that violates the interface: NaN, a wrong shape, an attribute out of range, an exception."""


class RunDirectoryError(AttributePlannerError):
    """A run directory that is missing, damaged, of another version, or already exists."""


class ConfigurationError(AttributePlannerError):
    """A setting outside its range."""


def unknown_name(kind: str, name: object, known: Iterable[object]) -> UnknownNameError:
    """The error for `name`, which is not a `kind`: lists those that exist, at most the first few, and suggests one."""
    names = [str(each) for each in known]
    guess = get_close_matches(str(name), names, n=1)
    hint = f" Did you mean {guess[0]!r}?" if guess else ""
    if len(names) > MOST_LISTED:
        names = [*names[:FIRST_OF_MANY], f"and {len(names) - FIRST_OF_MANY} more"]
    return UnknownNameError(f"There is no {kind} {str(name)!r}.{hint} There are: {', '.join(names) or '(none)'}.")


MOST_LISTED, FIRST_OF_MANY = 40, 10
"""Enough for the attributes of four blocks; the runs of all tables are more."""


def require_positive(name: str, value: float) -> None:
    """An error unless a setting is greater than zero."""
    if value <= 0:
        raise ConfigurationError(f"{name} must be greater than zero; it is {value}.")


def require_positive_settings(settings: object, *names: str) -> None:
    """An error unless these settings of a dataclass are greater than zero."""
    for name in names:
        require_positive(f"{type(settings).__name__}.{name}", getattr(settings, name))
