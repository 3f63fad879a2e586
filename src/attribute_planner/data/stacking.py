"""Calls of one function that become one call: their arguments are stacked along a new first axis."""

import abc
from collections.abc import Callable, Sequence
from typing import Any, Self

import equinox as eqx
import jax
import jax.numpy as jnp

Arguments = tuple[tuple, dict[str, Any]]
"""Positional and keyword arguments."""


class Growing(eqx.Module):
    """Arrays whose sizes follow from what was found, and that can be padded without a change of what they say."""

    @property
    @abc.abstractmethod
    def sizes(self) -> tuple[int, ...]:
        """The sizes that can be padded."""

    @abc.abstractmethod
    def padded_to(self, sizes: tuple[int, ...]) -> Self:
        """The same with these sizes, none of which is smaller; can be traced."""


def form_of(arguments: Arguments) -> Any:
    """What must be equal for calls to be stacked: static parts, types and shapes, but not the sizes that are padded."""
    leaves, structure = jax.tree.flatten(arguments, is_leaf=_is_growing)
    return structure, [_form_of_leaf(leaf) for leaf in leaves]


def _form_of_leaf(leaf: Any) -> Any:
    if _is_growing(leaf):
        return jax.tree.structure(leaf), [(part.ndim, part.dtype) for part in jax.tree.leaves(leaf)]
    return (leaf.shape, leaf.dtype) if eqx.is_array(leaf) else leaf


@eqx.filter_jit
def stacked_call(function: Callable[..., Any], calls: Sequence[Arguments]) -> list[Any]:
    """The result of each call of a function. All have the same form."""
    calls = _padded(calls)
    arrays = [eqx.filter(call, eqx.is_array) for call in calls]
    static = eqx.filter(calls[0], eqx.is_array, inverse=True)

    def call(arrays: Arguments) -> Any:
        args, kwargs = eqx.combine(arrays, static)
        return function(*args, **kwargs)

    results = eqx.filter_vmap(call)(jax.tree.map(lambda *leaves: jnp.stack(leaves), *arrays))
    return [_part(results, number) for number in range(len(calls))]


def _padded(calls: Sequence[Arguments]) -> list[Arguments]:
    """The calls with the same sizes, the largest among them."""

    def largest(*leaves: Any) -> tuple[int, ...]:
        return tuple(map(max, zip(*(leaf.sizes for leaf in leaves), strict=True)))

    def pad(*leaves: Any) -> list[Any]:
        return [leaf.padded_to(largest(*leaves)) for leaf in leaves] if _is_growing(leaves[0]) else list(leaves)

    structure = jax.tree.structure(calls[0], is_leaf=_is_growing)
    leaves = [jax.tree.leaves(call, is_leaf=_is_growing) for call in calls]
    columns = zip(*(pad(*column) for column in zip(*leaves, strict=True)), strict=True)
    return [jax.tree.unflatten(structure, column) for column in columns]


def _part(results: Any, number: int) -> Any:
    return jax.tree.map(lambda leaf: leaf[number] if eqx.is_array(leaf) else leaf, results)


def _is_growing(node: Any) -> bool:
    return isinstance(node, Growing)
