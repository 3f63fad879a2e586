"""Functions of one's own that were named to make environments. Only these are run when a run directory names them.

A run directory may come from anywhere. The functions that this user has trained with are remembered outside of it, in
the user's state folder, each with the file of its module.
"""

import importlib.machinery
import json
import os
import sys
from pathlib import Path

from attribute_planner.errors import AttributePlannerError
from attribute_planner.files.reading import MAX_TEXT_BYTES, read_file
from attribute_planner.files.strict_json import parse_json
from attribute_planner.files.writing import write_bytes

_HERE: dict[str, str] = {}
"""What was named in this process, also if the state folder cannot be written to."""


def trust(source: str) -> None:
    """Remember a function `module:function` that has made an environment in this process."""
    origin = _origin(source)
    if origin is None or _known().get(source) == origin:
        return
    _HERE[source] = origin
    if (path := _file()) is not None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(path, json.dumps(_known(), indent=2).encode())
        except (OSError, AttributePlannerError):
            pass  # it is then trusted in this process only


def is_trusted(source: str) -> bool:
    """Whether this user has named the function before, and its module is still the same file. Nothing is imported."""
    origin = _origin(source)
    return origin is not None and _known().get(source) == origin


def _known() -> dict[str, str]:
    path = _file()
    if path is None or not path.is_file():
        return dict(_HERE)
    try:
        return parse_json(read_file(path, MAX_TEXT_BYTES), path) | _HERE
    except AttributePlannerError:
        return dict(_HERE)


def _file() -> Path | None:
    try:
        folder = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    except RuntimeError:  # no home directory
        return None
    return folder / "attribute-planner" / "trusted.json"


def _origin(source: str) -> str | None:
    """The file of the top module of a function; of a folder without `__init__`, the folder. `None` if there is none."""
    top = source.partition(":")[0].removesuffix(".py").replace("/", ".").partition(".")[0]
    try:
        spec = sys.modules[top].__spec__ if top in sys.modules else _found(top)
    except (ValueError, OSError, ImportError):
        return None
    if spec is None:
        return None
    where = spec.origin if spec.has_location else next(iter(spec.submodule_search_locations or ()), None)
    return None if where is None else str(Path(where).resolve())


def _found(top: str) -> importlib.machinery.ModuleSpec | None:
    # As in `environments.registry`, modules in the current directory are found, too.
    return importlib.machinery.PathFinder.find_spec(top, [os.getcwd(), *sys.path])
