"""Trees of arrays as named arrays, each leaf under its path."""

from collections.abc import Mapping
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.errors import DamagedFileError, RunDirectoryError
from attribute_planner.files.array_file import Arrays

Tree = TypeVar("Tree")


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
        raise RunDirectoryError(
            f"The saved agent lacks the array {name!r}; it was saved by another version: train it again."
        )
    if arrays[name].shape != expected.shape:
        raise RunDirectoryError(
            f"The saved array {name!r} has shape {arrays[name].shape}; this environment needs {expected.shape}."
        )
    if arrays[name].dtype != expected.dtype:
        raise DamagedFileError(f"The saved array {name!r} is of type {arrays[name].dtype}, not {expected.dtype}.")
    require_finite(name, arrays[name])
    return jnp.asarray(arrays[name])


def require_finite(name: str, array: np.ndarray) -> None:
    """An error if an array holds NaN or infinity."""
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise DamagedFileError(f"The saved array {name!r} holds NaN or infinity.")
