"""Errors that are caused by users or files. The message is one line, which the command line prints."""

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path


class AttributePlannerError(Exception):
    """Base class of errors that the user can correct. The message says what is wrong and what is expected."""

    def __str__(self) -> str:
        return one_line(super().__str__())


class UnknownNameError(AttributePlannerError):
    """A name that does not exist. The message lists the names that do."""


class GoalError(AttributePlannerError):
    """An invalid goal: malformed, contradictory or already satisfied."""


class EnvironmentFaultError(AttributePlannerError):
    """An environment that violates the interface: NaN, a wrong shape, an attribute out of range, an exception."""


class RunDirectoryError(AttributePlannerError):
    """A run directory that is missing, damaged, of another version, or already exists."""


class DamagedFileError(RunDirectoryError):
    """A file that is not what was saved: missing, cut off, changed, or with contents that are not possible."""


class RunInUseError(RunDirectoryError):
    """A run directory that another process is writing to."""


class StorageError(AttributePlannerError):
    """A file that cannot be written: no space, no permission, a limit on sizes. What was saved before is kept.

    path: the file.
    needed: its size in bytes; 0 where that is not the reason.
    free: free bytes on its file system; `None` if they are not known.
    """

    def __init__(self, message: str, *, path: Path, needed: int = 0, free: int | None = None) -> None:
        super().__init__(message)
        self.path, self.needed, self.free = path, needed, free


class ConfigurationError(AttributePlannerError):
    """A setting outside its range."""


class ClusterLostError(AttributePlannerError):
    """A Ray cluster whose head does not answer any more. What was saved before is kept."""


class HostLostError(AttributePlannerError):
    """A process of a training on several hosts that has died. What was saved before is kept."""


class NumericalError(AttributePlannerError):
    """A loss, a gradient or a weight that is not finite. The state before it is kept."""


MOST_CHARACTERS = 2_000
"""Longer messages are cut: a damaged file may hold a name of any length."""


def one_line(text: str) -> str:
    """The text on one line, in characters that can be printed."""
    text = "".join(each if each.isprintable() else " " for each in text)
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"


def unknown_name(kind: str, name: object, known: Iterable[object], *, of: str = "") -> UnknownNameError:
    """The error for `name`, which is not a `kind`: lists those that exist, at most the first few, and suggests one.

    known: the names that exist, as they are typed: in quotes where that is necessary.
    of: what would have it, as the subject of the sentence.
    """
    names = [str(each) for each in known]
    guess = get_close_matches(str(name), names, n=1)
    hint = f" Did you mean {_in_quotes(guess[0])}?" if guess else ""
    if len(names) > MOST_LISTED:
        names = [*names[:FIRST_OF_MANY], f"and {len(names) - FIRST_OF_MANY} more"]
    missing = f"{of} has" if of else "There is"
    return UnknownNameError(f"{missing} no {kind} {str(name)!r}.{hint} There are: {', '.join(names) or '(none)'}.")


def _in_quotes(word: str) -> str:
    """The word in quotes, unless it has some."""
    if word.startswith(tuple(QUOTES)):
        return word
    quote = '"' if "'" in word else "'"
    return f"{quote}{word}{quote}"


QUOTES = "\"'"
"""Characters around what would not be read as one word."""
MOST_LISTED, FIRST_OF_MANY = 40, 10
"""Enough for the attributes of four blocks; the runs of all tables are more."""
