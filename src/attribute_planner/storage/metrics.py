"""metrics.jsonl: one JSON object per epoch, appended while a run goes on."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attribute_planner.errors import DamagedFileError
from attribute_planner.files.manifest import Entry
from attribute_planner.files.reading import memory_bytes, read_file
from attribute_planner.files.writing import write_error

METRICS = "metrics.jsonl"


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """All complete lines; a line whose write was interrupted is left out."""
    path = folder / METRICS
    if not path.exists():
        return []
    lines = read_file(path, memory_bytes() // 2).split(b"\n")
    return [parsed for line in lines if (parsed := _complete(line)) is not None]


def _complete(line: bytes) -> dict[str, Any] | None:
    try:
        parsed = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None


class MetricsWriter:
    """Appends lines. What follows the last checkpoint is removed at the start: those epochs are repeated.

    beginning: the entry of the lines that belong to the checkpoint; `None` if there is none.
    """

    def __init__(self, folder: Path, beginning: Entry | None) -> None:
        self._path = folder / METRICS
        content = b"" if beginning is None else read_beginning(self._path, beginning)
        self._size, self._hash = len(content), hashlib.sha256(content)
        self.lines = content.count(b"\n")
        if self._path.exists():
            self._in_file(lambda: os.truncate(self._path, self._size), 0)

    @property
    def written(self) -> Entry:
        """The entry of all lines so far."""
        return Entry(self._size, self._hash.hexdigest())

    def write(self, line: Mapping[str, Any]) -> None:
        """Append one line."""
        content = json.dumps(line).encode() + b"\n"
        self._in_file(lambda: self._append(content), len(content))
        self._hash.update(content)
        self._size, self.lines = self._size + len(content), self.lines + 1

    def _append(self, content: bytes) -> None:
        with open(self._path, "ab") as file:
            file.write(content)

    def sync(self) -> None:
        """Wait until all lines are on the disk."""
        if self._path.exists():
            self._in_file(self._sync, 0)

    def _sync(self) -> None:
        with open(self._path, "ab") as file:
            os.fsync(file.fileno())

    def _in_file(self, action: Any, needed: int) -> None:
        try:
            action()
        except OSError as error:
            raise write_error(self._path, needed, error) from error


def read_beginning(path: Path, entry: Entry) -> bytes:
    """The lines that belong to a checkpoint."""
    content = read_file(path, memory_bytes() // 2)[: entry.size]
    if not entry.fits(content):
        raise DamagedFileError(f"{path} is not what was saved: its first {entry.size:,} bytes have another SHA-256.")
    return content
