"""The forward model: how it is fitted, and the edges that it adds to the table.

From each of a number of recorded states, the model predicts where each action leads. The average over the states of an
attribute set estimates the probability that each transition out of that set is possible, also for transitions that were
never observed.
"""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Float

from attribute_planner.data.examples import Examples, observed, symmetric_counts
from attribute_planner.environments.interface import Environment
from attribute_planner.learning.fitting import FitConfig, fit
from attribute_planner.learning.progress import Watch
from attribute_planner.models.beliefs import certain
from attribute_planner.models.forward_model import ForwardModel, actions_to_try, expect_all
from attribute_planner.models.observation_scaling import statistics_of, with_observations
from attribute_planner.ranges import BELOW_ONE, COUNT, WIDTH, WIDTH_OR_ZERO, check_settings
from attribute_planner.transitions.counting import TransitionCounts
from attribute_planner.transitions.table import TransitionTable, table_of_counts

Key = jax.Array


@dataclass(frozen=True)
class ForwardModelConfig:
    """How the forward model is fitted to the steps that exploration recorded."""

    learn: bool = False
    """Whether to fit one."""
    model_edges: bool = True
    """Whether to add the predicted transitions to the table."""
    model_edge_states: int = 20_000
    """Number of recorded states from which transitions are predicted."""
    fit: FitConfig = field(default_factory=FitConfig)
    """How the network is fitted."""
    symmetric: bool = True
    """Whether each step is also used under the symmetries of the environment, if it defines any."""
    val_fraction: float = 0.01
    """Fraction of the steps that is held out to measure the error."""
    hidden_size: int = 128
    """Units in each hidden layer."""
    keypoints: int = 0
    """Number of keypoints that the network locates in an image, in addition to the paper's convolutions; 0 for none."""

    def __post_init__(self) -> None:
        check_settings(
            self, model_edge_states=COUNT, val_fraction=BELOW_ONE, hidden_size=WIDTH, keypoints=WIDTH_OR_ZERO
        )


class FittedForwardModel(NamedTuple):
    """A forward model.

    error: the fraction of held-out steps whose outcome it predicted wrongly.
    fitted_on: the number of recorded steps.
    """

    forward_model: ForwardModel
    error: float
    fitted_on: int = 0


def fit_forward_model(
    env: Environment, examples: Examples, config: ForwardModelConfig, *, key: Key, watch: Watch
) -> FittedForwardModel:
    """Fit a forward model to recorded steps."""
    network_key, fit_key = jax.random.split(key)
    held = max(int(examples.size * config.val_fraction), 1)
    tested, learned = examples.take(slice(0, held)), examples.take(slice(held, None))
    error = 1.0

    def show(steps: Examples, key: Key) -> Examples:
        return observed(env, steps, symmetric=config.symmetric, key=key)

    def report(updates: int, forward_model: ForwardModel, loss: float) -> None:
        nonlocal error
        error = forward_model_error(env, forward_model, tested)
        so_far = FittedForwardModel(forward_model, error, examples.size) if updates >= config.fit.updates else None
        watch("forward_model", updates / config.fit.updates, {"updates": updates, "loss": loss, "error": error}, so_far)

    forward_model = ForwardModel(env.spec, config.hidden_size, config.keypoints, key=network_key)
    if statistics_of(forward_model) is not None:
        forward_model = with_observations(forward_model, env.observe_batch(examples.before))
    forward_model = fit(forward_model, show, forward_model_loss, learned, config.fit, key=fit_key, report=report)
    return FittedForwardModel(forward_model, error, examples.size)


def forward_model_loss(forward_model: ForwardModel, steps: Examples) -> Float[jax.Array, ""]:
    """Mean cross-entropy per step, summed over attributes; `before` holds observations."""
    values, after = (jnp.asarray(each, jnp.int32) for each in (steps.values, steps.values_after))
    logits = forward_model.logits(forward_model.features(steps.before), values, steps.action)
    return jnp.mean(jnp.sum(optax.softmax_cross_entropy_with_integer_labels(logits, after), axis=-1))


def forward_model_error(env: Environment, forward_model: ForwardModel, examples: Examples, batch: int = 2048) -> float:
    """The fraction of steps after which any attribute differs from the prediction."""
    parts = [examples.take(slice(start, start + batch)) for start in range(0, examples.size, batch)]
    wrong = [(np.asarray(_expected(env, forward_model, part)) != part.values_after).any(axis=-1) for part in parts]
    return float(np.concatenate(wrong).mean())


@eqx.filter_jit
def _expected(env: Environment, forward_model: ForwardModel, steps: Examples) -> jax.Array:
    values = jnp.asarray(steps.values, jnp.int32)
    return forward_model.expect(forward_model.features(env.observe_batch(steps.before)), values, steps.action)[0]


MODEL_EDGE_ATTEMPTS = 4.0
"""The weight of a predicted probability, in attempts."""
ACTIONS_TRIED = 64
"""Number of random actions that are tried in a state if actions are continuous."""
SURE = float(np.log(0.5))
"""A predicted outcome counts if its log probability is at least this."""


def add_model_edges(
    env: Environment,
    forward_model: ForwardModel,
    examples: Examples,
    table: TransitionTable,
    config: ForwardModelConfig,
    *,
    key: Key,
) -> TransitionTable:
    """The table with the predicted transitions, each with the weight of a few attempts."""
    states, possible = model_transitions(env, forward_model, examples, config, key=key)
    counts = TransitionCounts(env.attributes.num_words)
    counts.add(table.words[table.source], table.words[table.target], table.visits.astype(np.int64))
    words = possible.sets.rows
    source, target = possible.pairs.rows.T
    counts.add(words[source], words[target], np.zeros(len(source), np.int64))
    larger = table_of_counts(env.attributes, counts, table.estimator)
    attempts, successes = np.zeros((2, larger.num_edges))
    places = table.edges_in(larger)
    attempts[places], successes[places] = table.attempts, table.successes
    model_edges = table_of_counts(env.attributes, possible)
    of_set = np.array([states.get(words.tobytes(), 0) for words in model_edges.words])
    share = np.minimum(model_edges.visits / np.maximum(of_set[model_edges.source], 1), 1.0)
    places = model_edges.edges_in(larger)
    attempts[places] += MODEL_EDGE_ATTEMPTS
    successes[places] += MODEL_EDGE_ATTEMPTS * share
    return replace(larger, attempts=attempts, successes=successes)


def model_transitions(
    env: Environment,
    forward_model: ForwardModel,
    examples: Examples,
    config: ForwardModelConfig,
    *,
    key: Key,
    batch: int = 512,
) -> tuple[dict[bytes, int], TransitionCounts]:
    """The number of states of each packed set, and from how many of them each transition is predicted."""
    space, counts, states = env.attributes, TransitionCounts(env.attributes.num_words), {}
    # Evenly spread: the first steps are those of early episodes.
    chosen = examples.take(slice(0, None, max(examples.size // config.model_edge_states, 1)))
    chosen = chosen.take(slice(0, config.model_edge_states))
    for number, start in enumerate(range(0, chosen.size, batch)):
        part = chosen.take(slice(start, start + batch))
        expected, sure = _all_expected(env, forward_model, part, jax.random.fold_in(key, number))
        source, target = (np.asarray(space.pack(np.asarray(each, np.int32))) for each in (part.values, expected))
        changed = np.asarray(sure) & (target != source[:, None]).any(axis=-1)
        once = _first_of_each(target, changed)
        state, action = np.nonzero(once)
        counts.record(source[state], target[state, action])
        for words in source:
            states[words.tobytes()] = states.get(words.tobytes(), 0) + 1
    if not config.symmetric or env.symmetries is None:
        return states, counts
    return _renamed_states(env, states), symmetric_counts(env, counts)


def _renamed_states(env: Environment, states: dict[bytes, int]) -> dict[bytes, int]:
    assert env.symmetries is not None
    space, every = env.attributes, {}
    words = np.frombuffer(b"".join(states), np.uint32).reshape(len(states), -1)
    values = np.asarray(space.unpack(words))
    for order in env.symmetries.counted:
        for row, count in zip(np.asarray(space.pack(values[:, order])), states.values(), strict=True):
            every[row.tobytes()] = every.get(row.tobytes(), 0) + count
    return every


def _first_of_each(target: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """`[B, K]` among the wanted targets `[B, K, W]` of each row, one of each kind."""
    same = (target[:, :, None] == target[:, None, :]).all(axis=-1) & wanted[:, None, :]
    return wanted & (same.argmax(axis=-1) == np.arange(target.shape[1]))


@eqx.filter_jit
def _all_expected(
    env: Environment, forward_model: ForwardModel, steps: Examples, key: Key
) -> tuple[jax.Array, jax.Array]:
    """`[B, K, A]` the predicted outcome of each of K actions, and `[B, K]` whether it counts."""
    action = actions_to_try(env.actions, steps.size, ACTIONS_TRIED, key=key)
    features, values = forward_model.features(env.observe_batch(steps.before)), jnp.asarray(steps.values, jnp.int32)
    expected, log_prob = expect_all(forward_model, features, certain(values), action)
    return expected, jnp.sum(log_prob, axis=-1) > SURE
