"""Phase 1, detect: fit f̂ to labelled pairs of observations and attributes (step 1 of Algorithm 1)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from attribute_planner.environments.interface import Environment
from attribute_planner.environments.labels import Labels
from attribute_planner.environments.spaces import Observation, UnitObservation
from attribute_planner.errors import ConfigurationError
from attribute_planner.parts.detector import AttributeDetector, detected_values
from attribute_planner.phases.collecting import collector_for
from attribute_planner.phases.explore import RandomActions
from attribute_planner.phases.progress import Watch

Key = jax.Array


@dataclass(frozen=True)
class DetectConfig:
    """How the attribute detector is learned, where f is not given or not to be used."""

    learn: bool = False
    """Learn a detector although the environment gives f (which then only labels the examples)."""
    labels: int = 100_000
    """How many labelled states to learn from, where the environment's own f labels them."""
    held_out: float = 0.1
    """Which share of the labels is kept to measure the error."""
    passes: int = 20
    """How often each label is seen."""
    batch: int = 256
    """Labels per update."""
    learning_rate: float = 2e-3
    """Step size of Adam at the start; it falls to zero along a cosine."""
    width: int = 100
    """Units in each hidden layer."""


class DetectorError(NamedTuple):
    """How often a detector is wrong on states it has not learned from.

    per_attribute: `[A]` share of the states in which that attribute is wrong.
    full_set: share of the states in which any attribute is wrong.
    states: how many states were tried.
    """

    per_attribute: np.ndarray
    full_set: float
    states: int


class Detected(NamedTuple):
    """A detector and its error on held-out labels."""

    detector: AttributeDetector
    error: DetectorError


def detect(
    env: Environment, config: DetectConfig, *, key: Key, labels: Labels | None = None, watch: Watch
) -> Detected | None:
    """Step 1 of Algorithm 1; `None` where f is given and is to be used."""
    if env.describes and not config.learn:
        return None
    label_key, fit_key = jax.random.split(key)
    if labels is None:
        labels = env_labels(env, config.labels, key=label_key)
    return fit_detector(env, labels, config, key=fit_key, watch=watch)


def env_labels(env: Environment, count: int, *, key: Key) -> Labels:
    """States met by random play, labelled by the environment's own f, or those that the environment brings along."""
    own = getattr(env, "labels", None)
    if own is not None:
        return own
    if not env.describes:
        raise ConfigurationError(f"{env.name} gives neither f nor labels: pass describe=… or labelled=….")
    begin_key, play_key = jax.random.split(key)
    copies, window = min(count, 256), 4
    collector = collector_for(env, None, copies, key=begin_key)
    observations, words, have = [], [], 0
    while have < count:
        play_key, window_key = jax.random.split(play_key)
        # Only the last state of a window is labelled: neighbours in time look alike.
        seen = collector.collect(RandomActions(env), window, key=window_key)
        observations.append(jax.tree.map(lambda leaf: np.asarray(leaf[-1]), seen.observation))
        words.append(np.asarray(seen.words[-1]))
        have += copies
    collector.close()
    observation = jax.tree.map(lambda *leaves: np.concatenate(leaves)[:count], *observations)
    return Labels(observation, np.asarray(env.attributes.unpack(np.concatenate(words)[:count])))


def fit_detector(env: Environment, labels: Labels, config: DetectConfig, *, key: Key, watch: Watch) -> Detected:
    """f̂ by supervised learning, with its error on the share of the labels that was held out."""
    if isinstance(labels.observation, UnitObservation):
        raise ConfigurationError("A detector cannot be learned from what single units see; give the true attributes.")
    split_key, network_key, shuffle_key = jax.random.split(key, 3)
    kept, held = _split(labels, config.held_out, key=split_key)
    updates = config.passes * max(len(kept.values) // config.batch, 1)
    optimiser = optax.adam(falling_rate(config.learning_rate, updates))
    detector = AttributeDetector(env, config.width, key=network_key)
    state = optimiser.init(eqx.filter(detector, eqx.is_array))
    detected = Detected(detector, detector_error(detector, held))
    for number, pass_key in enumerate(jax.random.split(shuffle_key, config.passes)):
        detector, state, loss = _one_pass(
            detector, state, kept, optimiser, min(config.batch, len(kept.values)), pass_key
        )
        detected = Detected(detector, detector_error(detector, held))
        done = (number + 1) / config.passes
        metrics = {"pass": number + 1, "loss": float(loss), "error_full_set": detected.error.full_set}
        watch("detect", done, metrics, detected if done == 1 else None)
    return detected


def falling_rate(highest: float, updates: int) -> Callable[[Any], Any]:
    """A step size by the number of updates made: it falls to zero along a cosine."""
    # Optax has one too, which counts on types that promote.
    return lambda count: highest * 0.5 * (1 + jnp.cos(jnp.pi * jnp.minimum(count.astype(jnp.float32) / updates, 1.0)))


def detector_error(detector: AttributeDetector, labels: Labels, batch: int = 4096) -> DetectorError:
    """How often a detector is wrong on labelled states."""
    starts = range(0, len(labels.values), batch)
    found = [np.asarray(detected_values(detector, labels.observation[i : i + batch])) for i in starts]
    wrong = np.concatenate(found) != labels.values
    return DetectorError(wrong.mean(axis=0), float(wrong.any(axis=1).mean()), len(wrong))


def detection_loss(detector: AttributeDetector, observation: Observation, values: jax.Array) -> jax.Array:
    """Mean cross-entropy per state, summed over attributes."""
    losses = [
        optax.softmax_cross_entropy_with_integer_labels(logits, values[..., i])
        for i, logits in enumerate(detector.logits(jnp.asarray(observation)))
    ]
    return jnp.mean(sum(losses[1:], losses[0]))


@eqx.filter_jit
def _one_pass(
    detector: AttributeDetector,
    state: optax.OptState,
    labels: Labels,
    optimiser: optax.GradientTransformation,
    batch: int,
    key: Key,
) -> tuple[AttributeDetector, optax.OptState, jax.Array]:
    """Every label once, in random order."""
    count = labels.values.shape[0] // batch
    order = jax.random.permutation(key, labels.values.shape[0])[: count * batch].reshape(count, batch)
    observation, values = jax.tree.map(jnp.asarray, labels)
    dynamic, static = eqx.partition(detector, eqx.is_array)

    def learn(carry, chosen):
        dynamic, state = carry
        loss, gradient = eqx.filter_value_and_grad(detection_loss)(
            eqx.combine(dynamic, static), observation[chosen], values[chosen]
        )
        changes, state = optimiser.update(gradient, state)
        return (eqx.apply_updates(dynamic, changes), state), loss

    (dynamic, state), losses = jax.lax.scan(learn, (dynamic, state), order)
    return eqx.combine(dynamic, static), state, jnp.mean(losses)


def _split(labels: Labels, held_out: float, *, key: Key) -> tuple[Labels, Labels]:
    order = np.asarray(jax.random.permutation(key, len(labels.values)))
    held = max(int(len(order) * held_out), 1)
    if held >= len(order):
        raise ConfigurationError(f"{len(order)} labelled states are too few to learn from and to test on.")
    kept, tested = order[held:], order[:held]
    return Labels(labels.observation[kept], labels.values[kept]), Labels(
        labels.observation[tested], labels.values[tested]
    )
