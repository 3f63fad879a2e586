"""JSON from files that may be damaged or hostile: what is not plain data is an error."""

import json
from pathlib import Path
from typing import Any, NoReturn

from attribute_planner.errors import DamagedFileError

MALFORMED = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""The exceptions that wrong data raise where right data are expected."""


def parse_json(content: bytes, source: Path | str) -> dict[str, Any]:
    """The object in a JSON text. Duplicate names, NaN, infinity and invalid characters are errors.

    source: the file, for the message.
    """
    try:
        parsed = json.loads(content.decode(), object_pairs_hook=_object, parse_constant=_refuse)
        json.dumps(parsed, ensure_ascii=False, allow_nan=False).encode()  # 1e999, and halves of surrogate pairs
    except MALFORMED as error:
        raise DamagedFileError(f"{source} is not valid JSON: {error}") from error
    if not isinstance(parsed, dict):
        raise DamagedFileError(f"{source} must hold a JSON object, not a {type(parsed).__name__}.")
    return parsed


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is used twice in an object")
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number")
