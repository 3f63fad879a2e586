"""Supervised learning of the detector, the inverse model and the forward model.

The data are snapshots of states, which are observed each time they are used: a million images take 50 GB, their states
a few dozen megabytes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from attribute_planner.learning.finite import require_finite
from attribute_planner.models.observation_scaling import is_trained
from attribute_planner.ranges import COUNT, NOT_NEGATIVE, STEP_SIZE, check_settings

Key = jax.Array
Network = TypeVar("Network", bound=eqx.Module)
Show = Callable[[Any, Key], Any]
"""A batch of the data, key → the input of the loss. Each new function object is compiled again."""
Loss = Callable[[Any, Any], jax.Array]
"""Network, input → the number to minimise."""
Report = Callable[[int, Any, float], None]
"""Updates so far, the current network, its mean loss since the last report."""


@dataclass(frozen=True)
class FitConfig:
    """How a network is fitted to examples."""

    updates: int = 8_000
    """Number of updates, independent of the number of examples."""
    batch: int = 256
    """Examples per update."""
    learning_rate: float = 2e-3
    """Initial step size of Adam; it falls to zero along a cosine."""
    weight_decay: float = 0.0
    """Decoupled weight decay (AdamW), as a fraction of the step size."""
    max_grad_norm: float = 0.0
    """Gradients with a larger global norm are scaled down to it; 0 for no limit. A single batch in thousands can
    otherwise undo what was learned before."""

    def __post_init__(self) -> None:
        check_settings(
            self,
            updates=COUNT,
            batch=COUNT,
            learning_rate=STEP_SIZE,
            weight_decay=NOT_NEGATIVE,
            max_grad_norm=NOT_NEGATIVE,
        )


REPORTS = 20
"""How many times a fit reports its progress."""


def fit(network: Network, show: Show, loss: Loss, data: Any, config: FitConfig, *, key: Key, report: Report) -> Network:
    """The network after `config.updates` updates on random batches of the data `[N, ...]`.

    `NumericalError` if the loss, its gradient or the network is not finite.
    """
    optimiser = optimiser_for(config)
    state = optimiser.init(eqx.filter(network, eqx.is_array))
    data = jax.tree.map(jnp.asarray, data)
    share = -(-config.updates // REPORTS)
    for number, share_key in enumerate(jax.random.split(key, -(-config.updates // share))):
        network, state, value = _several_updates(network, state, show, loss, data, config, share, share_key)
        require_finite(f"fit, update {(number + 1) * share:,}", {"loss": value}, network)
        report(min((number + 1) * share, config.updates), network, float(value))
    return network


def optimiser_for(config: FitConfig) -> optax.GradientTransformation:
    """Adam, with weight decay and gradient clipping if configured."""
    rate = falling_rate(config.learning_rate, config.updates)
    adam = optax.adam(rate)
    if config.weight_decay:
        adam = optax.adamw(rate, weight_decay=config.weight_decay, mask=is_trained)
    if not config.max_grad_norm:
        return adam
    return optax.chain(optax.clip_by_global_norm(config.max_grad_norm), adam)


def falling_rate(highest: float, updates: int) -> Callable[[Any], Any]:
    """The step size by the number of updates made: it falls to zero along a cosine."""
    # The schedule of Optax relies on implicit dtype promotion.
    return lambda count: highest * 0.5 * (1 + jnp.cos(jnp.pi * jnp.minimum(count.astype(jnp.float32) / updates, 1.0)))


def _several_updates(
    network: Any, state: optax.OptState, show: Show, loss: Loss, data: Any, config: FitConfig, updates: int, key: Key
) -> tuple[Any, optax.OptState, jax.Array]:
    keys = jax.random.split(key, updates)
    if jax.default_backend() != "cpu":
        return _scanned_updates(network, state, show, loss, data, config, keys)
    # On a CPU, convolutions are several times as slow inside a compiled loop, and twice as slow if they are compiled
    # together with the rendering of the images.
    values = []
    for batch_key in keys:
        shown = _shown(show, data, config.batch, batch_key)
        network, state, value = _update(network, state, loss, shown, config)
        values.append(value)
        # The update before: to wait for this one would leave the device idle.
        if len(values) > 1:
            require_finite("fit", {"loss": values[-2]})
    return network, state, jnp.mean(jnp.stack(values))


@eqx.filter_jit
def _scanned_updates(
    network: Any, state: optax.OptState, show: Show, loss: Loss, data: Any, config: FitConfig, keys: Key
) -> tuple[Any, optax.OptState, jax.Array]:
    dynamic, static = eqx.partition(network, eqx.is_array)

    def learn(carry: tuple[Any, optax.OptState], batch_key: Key) -> tuple[tuple[Any, optax.OptState], jax.Array]:
        shown = _shown(show, data, config.batch, batch_key)
        network, state, value = _update(eqx.combine(carry[0], static), carry[1], loss, shown, config)
        return (eqx.filter(network, eqx.is_array), state), value

    (dynamic, state), values = jax.lax.scan(learn, (dynamic, state), keys)
    return eqx.combine(dynamic, static), state, jnp.mean(values)


@eqx.filter_jit
def _shown(show: Show, data: Any, batch: int, key: Key) -> Any:
    """The input of the loss for a random batch."""
    choice_key, show_key = jax.random.split(key)
    chosen = jax.random.randint(choice_key, (batch,), 0, len(jax.tree.leaves(data)[0]))
    return show(jax.tree.map(lambda leaf: leaf[chosen], data), show_key)


@eqx.filter_jit
def _update(
    network: Any, state: optax.OptState, loss: Loss, shown: Any, config: FitConfig
) -> tuple[Any, optax.OptState, jax.Array]:
    """The network after one update, and its loss before it; NaN if the gradient is not finite."""
    value, gradient = eqx.filter_value_and_grad(loss)(network, shown)
    changes, state = optimiser_for(config).update(gradient, state, eqx.filter(network, eqx.is_array))
    value = jnp.where(jnp.isfinite(optax.tree.norm(gradient)), value, jnp.nan)
    return eqx.apply_updates(network, changes), state, value
