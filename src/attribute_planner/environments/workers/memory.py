"""Memory that this process shares with worker processes."""

import mmap
import os
import tempfile


class SharedMemory:
    """Memory without a name: it is freed when the last process that has it ends, in whatever way."""

    def __init__(self, nbytes: int) -> None:
        self.fd = anonymous_file()
        os.ftruncate(self.fd, nbytes)
        self.buffer = mmap.mmap(self.fd, nbytes)

    def close(self) -> None:
        """Close the file; the buffer lives as long as the arrays in it."""
        os.close(self.fd)


def anonymous_file() -> int:
    """The number of an open file that has no name."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("attribute-planner")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
