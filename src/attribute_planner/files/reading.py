"""Reading of files that may be damaged or hostile: only regular files, and never more than is expected."""

import os
import stat
from pathlib import Path

from attribute_planner.errors import DamagedFileError

MAX_TEXT_BYTES = 2**24
"""No description is larger."""


def read_file(path: Path, max_bytes: int) -> bytes:
    """The contents of a regular file. Its kind and size are checked before anything is read.

    A named pipe, a device, a loop of links or a file larger than `max_bytes` is an error.
    """
    try:
        _require_regular(path, os.stat(path))
        # Not blocking: the file may have been replaced by a pipe in the meantime.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
        with open(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            _require_regular(path, found)
            if found.st_size > max_bytes:
                raise DamagedFileError(f"{path} has {found.st_size:,} bytes; at most {max_bytes:,} are expected.")
            return file.read(found.st_size)
    except FileNotFoundError as error:
        raise DamagedFileError(f"{path} is missing.") from error
    except (OSError, ValueError) as error:
        raise DamagedFileError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from error


def _require_regular(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise DamagedFileError(f"{path} is not a regular file.")


def memory_bytes() -> int:
    """The physical memory of this machine: a file that is larger cannot be loaded."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 2**40
