"""Many small arrays as few: a compiled loop stores each array of its results by a call of its own."""

from typing import Any, Self

import equinox as eqx
import jax
import jax.numpy as jnp


class Bundle(eqx.Module):
    """The arrays of a tree; those of the same shape and type are stacked along a new first axis.

    A loop that returns bundles stacks them again: the axis is then the second.

    places: for each array of the tree, the number of its stack, and its position there.
    """

    stacks: tuple[jax.Array, ...]
    places: tuple[tuple[int, int], ...] = eqx.field(static=True)
    structure: Any = eqx.field(static=True)

    @classmethod
    def of(cls, tree: Any) -> Self:
        """The bundle of a tree of arrays."""
        leaves, structure = jax.tree.flatten(jax.tree.map(jnp.asarray, tree))
        groups: dict[Any, list[jax.Array]] = {}
        for leaf in leaves:
            groups.setdefault((leaf.shape, leaf.dtype), []).append(leaf)
        numbers, taken, places = {form: number for number, form in enumerate(groups)}, [0] * len(groups), []
        for leaf in leaves:
            number = numbers[leaf.shape, leaf.dtype]
            places.append((number, taken[number]))
            taken[number] += 1
        return cls(tuple(jnp.stack(group) for group in groups.values()), tuple(places), structure)

    def tree(self, axis: int = 0) -> Any:
        """The tree, with arrays stacked along `axis`."""
        leaves = [jnp.take(self.stacks[number], place, axis) for number, place in self.places]
        return jax.tree.unflatten(self.structure, leaves)
