"""Supervised learning, for whatever has right answers: detector, inverse model, outlook.

What is learned from is kept as states, and looked at anew each time it is used: a million pictures are 50 GB, what they
show is a few dozen megabytes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

Key = jax.Array
Network = TypeVar("Network", bound=eqx.Module)
Loss = Callable[[Any, Any, Key], jax.Array]
"""Network, a batch of the data, key → a number to make small. Every function that is passed is compiled anew."""
Report = Callable[[int, Any, float], None]
"""Updates made so far, the network as it is now, its mean loss since the last report."""


@dataclass(frozen=True)
class FitConfig:
    """How a network is fitted to examples."""

    updates: int = 8_000
    """Batches to learn from, however many examples there are."""
    batch: int = 256
    """Examples per update."""
    learning_rate: float = 2e-3
    """Step size of Adam at the start; it falls to zero along a cosine."""
    weight_decay: float = 0.0
    """How strongly weights are drawn towards zero (as a share of the step size)."""


REPORTS = 20
"""How often a fit says how far it is."""


def fit(network: Network, loss: Loss, data: Any, config: FitConfig, *, key: Key, report: Report) -> Network:
    """The network after `config.updates` updates on random batches of the data `[N, ...]`."""
    optimiser = optimiser_for(config)
    state = optimiser.init(eqx.filter(network, eqx.is_array))
    data = jax.tree.map(jnp.asarray, data)
    share = -(-config.updates // REPORTS)
    for number, share_key in enumerate(jax.random.split(key, -(-config.updates // share))):
        network, state, value = _several_updates(network, state, loss, data, config, share, share_key)
        report(min((number + 1) * share, config.updates), network, float(value))
    return network


def optimiser_for(config: FitConfig) -> optax.GradientTransformation:
    """Adam, with weights drawn towards zero if so configured."""
    rate = falling_rate(config.learning_rate, config.updates)
    if config.weight_decay:
        return optax.adamw(rate, weight_decay=config.weight_decay)
    return optax.adam(rate)


def falling_rate(highest: float, updates: int) -> Callable[[Any], Any]:
    """A step size by the number of updates made: it falls to zero along a cosine."""
    # Optax has one too, which counts on types that promote.
    return lambda count: highest * 0.5 * (1 + jnp.cos(jnp.pi * jnp.minimum(count.astype(jnp.float32) / updates, 1.0)))


@eqx.filter_jit
def _several_updates(
    network: Any, state: optax.OptState, loss: Loss, data: Any, config: FitConfig, updates: int, key: Key
) -> tuple[Any, optax.OptState, jax.Array]:
    optimiser = optimiser_for(config)
    dynamic, static = eqx.partition(network, eqx.is_array)
    count = len(jax.tree.leaves(data)[0])

    def learn(carry: tuple[Any, optax.OptState], batch_key: Key) -> tuple[tuple[Any, optax.OptState], jax.Array]:
        dynamic, state = carry
        choice_key, loss_key = jax.random.split(batch_key)
        chosen = jax.random.randint(choice_key, (config.batch,), 0, count)
        batch = jax.tree.map(lambda leaf: leaf[chosen], data)
        value, gradient = eqx.filter_value_and_grad(loss)(eqx.combine(dynamic, static), batch, loss_key)
        changes, state = optimiser.update(gradient, state, dynamic)
        return (eqx.apply_updates(dynamic, changes), state), value

    (dynamic, state), values = jax.lax.scan(learn, (dynamic, state), jax.random.split(key, updates))
    return eqx.combine(dynamic, static), state, jnp.mean(values)
