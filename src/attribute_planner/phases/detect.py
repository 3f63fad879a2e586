"""Phase 1, detect: fit f̂ to labelled pairs of observations and attributes (step 1 of Algorithm 1)."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Float, Int

from attribute_planner.data.examples import random_examples
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.labels import Labels
from attribute_planner.environments.spaces import Observation, UnitObservation
from attribute_planner.errors import ConfigurationError
from attribute_planner.learning.fitting import FitConfig, fit
from attribute_planner.learning.progress import Watch
from attribute_planner.models.detector import AttributeDetector
from attribute_planner.models.observation_scaling import statistics_of, with_observations
from attribute_planner.ranges import BELOW_ONE, COUNT, REPEATS, WIDTH, WIDTH_OR_ZERO, check_settings

Key = jax.Array


@dataclass(frozen=True)
class DetectConfig:
    """How the attribute detector is learned, if f is not given or not used."""

    learn: bool = False
    """Whether to learn a detector although the environment gives f, which then only labels the examples."""
    num_labels: int = 100_000
    """Number of labelled states, where the environment's own f labels them."""
    label_every: int = 4
    """Only every n-th state of random play is labelled, since successive states are similar."""
    action_repeat: float = 1.0
    """Mean number of steps for which a random action is repeated."""
    val_fraction: float = 0.1
    """Fraction of the labels that is held out to measure the error."""
    symmetric: bool = True
    """Whether each label is also used under the symmetries of the environment, if it defines any."""
    fit: FitConfig = field(default_factory=FitConfig)
    """How it is fitted to the labels."""
    hidden_size: int = 100
    """Units in each hidden layer."""
    keypoints: int = 0
    """Number of keypoints that the network locates in an image, in addition to the paper's convolutions; 0 for none."""

    def __post_init__(self) -> None:
        check_settings(
            self,
            num_labels=COUNT,
            label_every=COUNT,
            action_repeat=REPEATS,
            val_fraction=BELOW_ONE,
            hidden_size=WIDTH,
            keypoints=WIDTH_OR_ZERO,
        )


class DetectorError(NamedTuple):
    """The error rate of a detector on held-out states.

    per_attribute: `[A]` fraction of the states in which that attribute is wrong.
    full_set: fraction of the states in which any attribute is wrong.
    states: number of states.
    """

    per_attribute: Float[np.ndarray, " A"]
    full_set: float
    states: int


class Detected(NamedTuple):
    """A detector and its error on held-out labels."""

    detector: AttributeDetector
    error: DetectorError


def detect(env: Environment, config: DetectConfig, *, key: Key, watch: Watch) -> Detected | None:
    """Step 1 of Algorithm 1; `None` if f is given and used."""
    if env.has_attribute_fn and not config.learn:
        return None
    label_key, fit_key = jax.random.split(key)
    labels = env_labels(env, config.num_labels, config.label_every, config.action_repeat, key=label_key)
    return fit_detector(env, labels, config, key=fit_key, watch=watch)


NUM_ENVS = 1024
"""Parallel environments for labelling."""


def env_labels(env: Environment, count: int, label_every: int = 4, action_repeat: float = 1.0, *, key: Key) -> Labels:
    """States of random play, labelled by the environment's own f; or the labels that the environment provides."""
    own = getattr(env, "labels", None)
    if own is not None:
        return own
    if not env.has_attribute_fn:
        raise ConfigurationError(f"{env.name} has no attribute function and no labels: pass describe=… or labelled=….")
    examples = random_examples(
        env, None, count, num_envs=NUM_ENVS, key=key, action_repeat=action_repeat, every=label_every
    )
    return Labels(examples.before, examples.values)


def fit_detector(env: Environment, labels: Labels, config: DetectConfig, *, key: Key, watch: Watch) -> Detected:
    """f̂ by supervised learning, with its error on held-out labels."""
    if isinstance(labels.states, UnitObservation) or env.num_units is not None:
        raise ConfigurationError(
            "A detector cannot be learned from the observations of single units; give the true attributes."
        )
    split_key, network_key, fit_key = jax.random.split(key, 3)
    kept, held = _split(labels, config.val_fraction, key=split_key)
    detector = AttributeDetector(env.spec, config.hidden_size, config.keypoints, key=network_key)
    if statistics_of(detector) is not None:
        detector = with_observations(detector, env.observe_batch(kept.states))
    error = detector_error(env, detector, held)

    def show(batch: Labels, key: Key) -> Labels:
        batch = _renamed(env, batch, key) if config.symmetric else batch
        return batch._replace(states=env.observe_batch(batch.states))

    def loss(detector: AttributeDetector, seen: Labels) -> jax.Array:
        return detection_loss(detector, seen.states, jnp.asarray(seen.values, jnp.int32))

    def report(updates: int, detector: AttributeDetector, loss: float) -> None:
        nonlocal error
        error = detector_error(env, detector, held)
        metrics = {"updates": updates, "loss": loss, "error_full_set": error.full_set}
        so_far = Detected(detector, error) if updates >= config.fit.updates else None
        watch("detect", updates / config.fit.updates, metrics, so_far)

    detector = fit(detector, show, loss, kept, config.fit, key=fit_key, report=report)
    return Detected(detector, error)


def detector_error(env: Environment, detector: AttributeDetector, labels: Labels, batch: int = 2048) -> DetectorError:
    """The error rate of a detector on labelled states."""
    parts = [
        jax.tree.map(lambda leaf, start=start: leaf[start : start + batch], labels.states)
        for start in range(0, len(labels.values), batch)
    ]
    wrong = np.concatenate([np.asarray(_detect(env, detector, part)) for part in parts]) != labels.values
    return DetectorError(wrong.mean(axis=0), float(wrong.any(axis=1).mean()), len(wrong))


@eqx.filter_jit
def _detect(env: Environment, detector: AttributeDetector, states: Any) -> jax.Array:
    return detector(env.observe_batch(states))


def detection_loss(
    detector: AttributeDetector, observation: Observation, values: Int[jax.Array, "B A"]
) -> Float[jax.Array, ""]:
    """Mean cross-entropy per state, summed over attributes."""
    logits = detector.logits(jnp.asarray(observation))
    return jnp.mean(jnp.sum(optax.softmax_cross_entropy_with_integer_labels(logits, values), axis=-1))


def _renamed(env: Environment, labels: Labels, key: Key) -> Labels:
    """Each label under a random symmetry of the environment."""
    symmetries = env.symmetries
    if symmetries is None:
        return labels
    which = jax.random.randint(key, (len(labels.values),), 0, symmetries.count)
    states = jax.vmap(symmetries.rename_state)(labels.states, which)
    return Labels(states, symmetries.rename_values(labels.values, which))


def _split(labels: Labels, val_fraction: float, *, key: Key) -> tuple[Labels, Labels]:
    order = np.asarray(jax.random.permutation(key, len(labels.values)))
    held = max(int(len(order) * val_fraction), 1)
    if held >= len(order):
        raise ConfigurationError(f"{len(order)} labelled states are too few to learn from and to test on.")
    kept, tested = order[held:], order[:held]
    return jax.tree.map(lambda leaf: leaf[kept], labels), jax.tree.map(lambda leaf: leaf[tested], labels)
