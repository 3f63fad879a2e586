"""A fault to plant: a small change of the source, and the tests that should notice it."""

from typing import NamedTuple


class Fault(NamedTuple):
    """A change of one file of the package.

    what: the fault in words.
    file: the file, below the package.
    old, new: the text that is replaced, which occurs once, and its replacement.
    tests: files below `tests`, or single tests in them (`FILE::TEST`), separated by spaces.
    is_serious: whether it loses data or runs code that a file names; all such faults must be caught.
    """

    what: str
    file: str
    old: str
    new: str
    tests: str
    is_serious: bool = False
