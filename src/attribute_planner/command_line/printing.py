"""Output of the commands: tables or JSON on standard output, messages on standard error."""

import dataclasses
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

console = Console(highlight=False)
messages = Console(file=sys.stderr, highlight=False)


def print_json(answer: Any) -> None:
    """One JSON value on standard output."""
    print(json.dumps(answer, default=_plain, allow_nan=False))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str = "") -> None:
    """A table on standard output."""
    table = Table(*columns, title=title or None, title_justify="left")
    for row in rows:
        table.add_row(*(str(cell) for cell in row))
    console.print(table)


def say_written(*paths: Path | None) -> None:
    """Name the files that a command has written, on standard error."""
    for path in paths:
        if path is not None:
            print(f"Wrote {path}.", file=sys.stderr)


@contextmanager
def busy(what: str) -> Iterator[None]:
    """A spinner on standard error while a command works; nothing if that is not a terminal."""
    if not messages.is_terminal:
        yield
        return
    with messages.status(what):
        yield


def number_or_none(value: float) -> float | None:
    """The number, or `None` for NaN, which JSON does not have."""
    return None if np.isnan(value) else float(value)


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no JSON form")
