"""Named arrays and notes, a JSON object, in one safetensors file."""

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from attribute_planner.errors import DamagedFileError
from attribute_planner.files.reading import MAX_TEXT_BYTES, memory_bytes, read_file
from attribute_planner.files.strict_json import MALFORMED, parse_json
from attribute_planner.files.writing import write_bytes

Arrays = dict[str, np.ndarray]

NOTES = "notes"
_LENGTH = 8
"""Bytes of the number with which a file begins: the length of its header."""


def array_bytes(arrays: Mapping[str, np.ndarray], notes: Mapping[str, Any]) -> bytes:
    """The contents of a file with these arrays and notes."""
    # Not `ascontiguousarray`, which adds an axis to a scalar.
    contiguous = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    return save(contiguous, {NOTES: json.dumps(notes)})


def parse_arrays(content: bytes, path: Path) -> tuple[Arrays, dict[str, Any]]:
    """The arrays and notes of a file.

    path: the file, for messages.
    """
    try:
        described = _header(content, path).get("__metadata__", {})
        notes = described.get(NOTES, "{}")
        return load(content), parse_json(notes.encode(), path)
    except (SafetensorError, *MALFORMED) as error:
        raise DamagedFileError(f"{path} cannot be read as a saved agent: {error}") from error


def _header(content: bytes, path: Path) -> dict[str, Any]:
    """What a file says of its arrays: types, shapes, places."""
    if len(content) < _LENGTH:
        raise DamagedFileError(f"{path} cannot be read as a saved agent: it has only {len(content)} bytes.")
    (length,) = struct.unpack("<Q", content[:_LENGTH])
    if length > min(len(content) - _LENGTH, MAX_TEXT_BYTES):
        raise DamagedFileError(f"{path} cannot be read as a saved agent: its header is cut off.")
    return parse_json(content[_LENGTH : _LENGTH + length], f"{path} cannot be read as a saved agent: its header")


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray], notes: Mapping[str, Any]) -> None:
    """Write a file. An interruption leaves either the old or the new one."""
    write_bytes(path, array_bytes(arrays, notes))


def read_arrays(path: Path) -> tuple[Arrays, dict[str, Any]]:
    """The arrays and notes of a file that no manifest lists."""
    return parse_arrays(read_file(path, memory_bytes() // 2), path)
