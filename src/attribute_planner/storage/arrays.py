"""Trees of arrays in one safetensors file, each leaf under its path. Files are replaced atomically."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from attribute_planner.errors import RunDirectoryError

Tree = TypeVar("Tree")
Arrays = dict[str, np.ndarray]


def arrays_of(prefix: str, tree: Any) -> Arrays:
    """The array leaves of a tree, each named by its path below `prefix`."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(eqx.filter(tree, eqx.is_array))
    return {prefix + jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves}


def fill(prefix: str, template: Tree, arrays: Mapping[str, np.ndarray]) -> Tree:
    """A tree with the structure of `template`, whose leaves may be shapes, and the leaves of `arrays`."""
    dynamic, static = eqx.partition(template, lambda leaf: isinstance(leaf, (jax.ShapeDtypeStruct, jax.Array)))
    paths, structure = jax.tree_util.tree_flatten_with_path(dynamic)
    leaves = [_leaf(prefix + jax.tree_util.keystr(path), leaf, arrays) for path, leaf in paths]
    return eqx.combine(jax.tree_util.tree_unflatten(structure, leaves), static)


def _leaf(name: str, expected: Any, arrays: Mapping[str, np.ndarray]) -> jax.Array:
    if name not in arrays:
        raise RunDirectoryError(f"The saved agent lacks the array {name!r}; it was saved by another version.")
    if arrays[name].shape != expected.shape:
        raise RunDirectoryError(
            f"The saved array {name!r} has shape {arrays[name].shape}; this environment needs {expected.shape}."
        )
    return jnp.asarray(arrays[name], expected.dtype)


def write_arrays(path: Path, arrays: Arrays, notes: Mapping[str, Any]) -> None:
    """Write arrays and notes, a JSON object. An interruption leaves either the old or the new file."""
    # Not `ascontiguousarray`, which adds an axis to a scalar.
    contiguous = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    write_bytes(path, save(contiguous, {"notes": json.dumps(notes)}))


def read_arrays(path: Path) -> tuple[Arrays, dict[str, Any]]:
    """The arrays and notes of a file."""
    try:
        with safe_open(path, framework="np") as file:
            notes = json.loads((file.metadata() or {}).get("notes", "{}"))
            return {name: file.get_tensor(name) for name in file.keys()}, notes  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as error:
        raise RunDirectoryError(f"{path} cannot be read as a saved agent: {error}") from error


def write_bytes(path: Path, content: bytes) -> None:
    """Replace a file atomically."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(beside, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
