"""Symmetries of an environment: ways to rename things under which its rules stay as they are.

Four blocks that differ in colour alone may trade colours: what was seen of red and green then tells as much of blue and
yellow. An environment that knows such symmetries lets its agent learn from every example once for each of them.
"""

import abc
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.environments.spaces import Action, Array


class Symmetries(abc.ABC):
    """A group of renamings, numbered from 0, the identity.

    attributes: `int[count, A]` attribute `i` of the renamed state has the value of attribute `attributes[k, i]` before.
    """

    attributes: np.ndarray

    @property
    def count(self) -> int:
        return len(self.attributes)

    @property
    def counted(self) -> np.ndarray:
        """`int[n, A]` those under which transitions are counted for the table; by default all.

        Networks learn from all of them. A table has to list them, and a larger one takes longer to plan on.
        """
        return self.attributes

    def rename_values(self, values: Array, which: jax.Array) -> jax.Array:
        """Attribute values `[N, A]`, each under its own renaming `[N]`; can be traced."""
        return jnp.take_along_axis(jnp.asarray(values), jnp.asarray(self.attributes)[which], axis=-1)

    @abc.abstractmethod
    def rename_state(self, state: Any, which: jax.Array) -> Any:
        """A state under renaming number `which`; can be traced."""

    @abc.abstractmethod
    def rename_action(self, action: Action, which: jax.Array) -> Action:
        """The action that does to the renamed state what `action` does to the state."""
