"""Writing of files: they are replaced atomically, and reach the disk before anything relies on them."""

import errno
import os
import shutil
from contextlib import suppress
from pathlib import Path

from attribute_planner.errors import StorageError


def write_bytes(path: Path, content: bytes) -> None:
    """Replace a file. An interruption leaves either the old or the new one."""
    remove_abandoned(path)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        write_synced(beside, content)
        rename(beside, path)
        sync_folder(path.parent)
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def write_synced(path: Path, content: bytes) -> None:
    """Write a file, and wait until its contents are on the disk. A file that does not fit is removed again."""
    try:
        with open(path, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        with suppress(OSError):
            path.unlink(missing_ok=True)
        raise write_error(path, len(content), error) from error


def make_folder(folder: Path) -> None:
    """Make a folder in one that exists, unless it is there."""
    try:
        if not folder.is_dir():
            folder.mkdir()
    except OSError as error:
        raise write_error(folder, 0, error) from error


def rename(old: Path, new: Path) -> None:
    """Give a file its name; it replaces the file that had it."""
    try:
        os.replace(old, new)
    except OSError as error:
        raise write_error(new, 0, error) from error


def sync_folder(folder: Path) -> None:
    """Wait until the names of files in a folder are on the disk. Only POSIX systems can do so."""
    if os.name != "posix":
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise write_error(folder, 0, error) from error
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EBADF, errno.ENOTSUP):  # folders cannot be synced everywhere
            raise write_error(folder, 0, error) from error
    finally:
        os.close(descriptor)


def write_error(path: Path, needed: int, error: OSError) -> StorageError:
    """The error of a file that cannot be written, with what it needs and what is free."""
    free = _free_bytes(path.parent)
    reason = (error.strerror or str(error)).rstrip(".").lower()
    sizes = f"; it needs {size_words(needed)}" if needed else ""
    sizes += f", {size_words(free)} are free" if needed and free is not None else ""
    return StorageError(f"{path} cannot be written: {reason}{sizes}.", path=path, needed=needed, free=free)


def _free_bytes(folder: Path) -> int | None:
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None


def size_words(count: int) -> str:
    """`1.5 MB`."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


def remove_abandoned(path: Path) -> None:
    """Remove what processes that were killed while they wrote this file have left beside it."""
    for beside in path.parent.glob(f".{path.name}.*"):
        number = beside.name.rpartition(".")[2]
        if number.isdecimal() and not is_running(int(number)):
            with suppress(OSError):
                beside.unlink()


def is_running(process: int) -> bool:
    """Whether a process of this machine is running."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True
