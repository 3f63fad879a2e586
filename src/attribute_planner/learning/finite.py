"""NaN and infinity in a loss, a gradient or the weights stop a training."""

import math
from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Bool

from attribute_planner.errors import NumericalError


def require_finite(where: str, metrics: Mapping[str, Any], network: Any = None) -> None:
    """An error if a metric of an update is not finite, or a number of `network`, which holds the weights after it.

    where: the phase and the time, for the message.
    """
    for name, value in metrics.items():
        if not math.isfinite(value):
            raise NumericalError(f"{where}: {name} is {float(value)}. {ADVICE}")
    if network is not None and not _compiled_all_finite(eqx.filter(network, eqx.is_inexact_array)):
        raise NumericalError(f"{where}: a weight is not finite. {ADVICE}")


ADVICE = (
    "Training has stopped; what was learned before is kept. A lower learning_rate may help, or observations without "
    "extreme values (ap.check_environment)."
)


def all_finite(tree: Any) -> Bool[jax.Array, ""]:
    """Whether all numbers of a tree are finite; can be traced."""
    leaves = [jnp.all(jnp.isfinite(leaf)) for leaf in jax.tree.leaves(tree) if eqx.is_inexact_array(leaf)]
    return jnp.all(jnp.stack(leaves)) if leaves else jnp.array(True)


_compiled_all_finite = jax.jit(all_finite)
