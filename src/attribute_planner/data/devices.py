"""Environments divided over all devices, by JAX's sharding: those of all processes that train together.

XLA derives the rest from the layout of the states: each device steps its share of the environments, networks are
replicated, and gradients are summed over the devices. The numbers are those of one device, up to rounding.
"""

from functools import lru_cache
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

Tree = TypeVar("Tree")

AXIS = "envs"


def divided(tree: Tree, num_envs: int) -> Tree:
    """The arrays `[num_envs, ...]` of a tree divided over all devices, if that is even; everything else as it is."""
    mesh = _mesh()
    if mesh is None or num_envs % mesh.size:
        return tree

    def divide(leaf: Any) -> Any:
        if not isinstance(leaf, jax.Array) or leaf.ndim == 0 or leaf.shape[0] != num_envs:
            return leaf
        return jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, PartitionSpec(AXIS)))

    return jax.tree.map(divide, tree)


def replicated(tree: Tree) -> Tree:
    """The arrays of a tree, complete on each device."""
    mesh = _mesh()
    if mesh is None:
        return tree
    everywhere = NamedSharding(mesh, PartitionSpec())
    return jax.tree.map(lambda leaf: jax.lax.with_sharding_constraint(leaf, everywhere), tree)


def whole(tree: Tree) -> Tree:
    """The arrays of a tree, which may be divided over several processes, complete in each: NumPy can read them."""
    mesh = _mesh()
    if mesh is None or jax.process_count() == 1:
        return tree
    everywhere = NamedSharding(mesh, PartitionSpec())

    def complete(leaf: Any) -> Any:
        is_readable = not isinstance(leaf, jax.Array) or leaf.is_fully_addressable or leaf.is_fully_replicated
        return leaf if is_readable else jax.device_put(leaf, everywhere)

    return jax.tree.map(complete, tree)


def on_this_host(tree: Tree) -> Tree:
    """The arrays of a tree, complete and on a device of this process, which can compute with them alone."""
    if jax.process_count() == 1:
        return tree

    def local(leaf: Any) -> Any:
        return jnp.asarray(np.asarray(leaf)) if isinstance(leaf, jax.Array) else leaf

    return jax.tree.map(local, whole(tree))


@lru_cache
def _mesh() -> Mesh | None:
    """All devices of all processes in a row; `None` if there is only one."""
    devices = jax.devices()
    return Mesh(np.array(devices), (AXIS,)) if len(devices) > 1 else None
