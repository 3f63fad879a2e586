"""What goes wrong through no fault of the library: one clear line each, which the command line shows as it is."""

from collections.abc import Iterable
from difflib import get_close_matches


class AttributePlannerError(Exception):
    """A mistake that the user can mend; the message says what was wrong and what would be right."""


class UnknownNameError(AttributePlannerError):
    """A name that does not exist, with those that do."""


class GoalError(AttributePlannerError):
    """A goal that cannot be asked for: malformed, contradictory or already satisfied."""


class EnvironmentFaultError(AttributePlannerError):
    """An environment that breaks its own contract: NaN, a wrong shape, an attribute out of range, an exception."""


class RunDirectoryError(AttributePlannerError):
    """A run directory that is missing, foreign, damaged or in the way."""


class ConfigurationError(AttributePlannerError):
    """A setting outside its range."""


def unknown_name(kind: str, name: object, known: Iterable[object]) -> UnknownNameError:
    """The error for `name`, which is no `kind`: lists what exists, or the first of many, and guesses what was meant."""
    names = [str(each) for each in known]
    guess = get_close_matches(str(name), names, n=1)
    hint = f" Did you mean {guess[0]!r}?" if guess else ""
    if len(names) > MOST_LISTED:
        names = [*names[:FIRST_OF_MANY], f"and {len(names) - FIRST_OF_MANY} more"]
    return UnknownNameError(f"There is no {kind} {str(name)!r}.{hint} There are: {', '.join(names) or '(none)'}.")


MOST_LISTED, FIRST_OF_MANY = 40, 10
"""The attributes of four blocks are still listed, the runs of all tables are not."""


def require_positive(name: str, value: float) -> None:
    """An error unless a setting is greater than zero."""
    if value <= 0:
        raise ConfigurationError(f"{name} must be greater than zero; it is {value}.")


def require_positive_settings(settings: object, *names: str) -> None:
    """An error unless these settings of a dataclass are greater than zero."""
    for name in names:
        require_positive(f"{type(settings).__name__}.{name}", getattr(settings, name))
