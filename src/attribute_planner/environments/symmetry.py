"""Symmetries of an environment: renamings of objects that leave its rules unchanged.

Blocks that differ only in colour can exchange colours: an example with red and green is then also one with blue and
yellow. With symmetries, the agent learns from each example once per renaming.
"""

import abc
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Int

from attribute_planner.environments.spaces import Action, Array


class Symmetries(abc.ABC):
    """A group of renamings, numbered from 0, the identity.

    attributes: `int[count, A]` attribute `i` under renaming `k` is attribute `attributes[k, i]` of the original state.
    """

    attributes: np.ndarray

    @property
    def count(self) -> int:
        return len(self.attributes)

    @property
    def counted(self) -> Int[np.ndarray, "n A"]:
        """The renamings under which transitions are counted for the table; by default all.

        Networks learn from all renamings. Each renaming in this list multiplies the size of the table.
        """
        return self.attributes

    def rename_values(self, values: Int[Array, "N A"], which: Int[Array, "N"]) -> Int[jax.Array, "N A"]:
        """Attribute values, each under its own renaming; can be traced."""
        return jnp.take_along_axis(jnp.asarray(values), jnp.asarray(self.attributes)[which], axis=-1)

    @abc.abstractmethod
    def rename_state(self, state: Any, which: jax.Array) -> Any:
        """A state under renaming `which`; can be traced."""

    @abc.abstractmethod
    def rename_action(self, action: Action, which: jax.Array) -> Action:
        """The action whose effect on the renamed state is that of `action` on the state."""
