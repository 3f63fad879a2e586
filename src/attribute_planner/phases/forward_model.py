"""Learning the outlook; and what it is good for beside execution: edges that were never seen.

From every state that was seen, the outlook says where each action would lead. Counted over the states that share an
attribute set, that is how likely each transition out of the set is possible: a table with weights shared between its
edges.
"""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from attribute_planner.data.examples import Examples, looked_at, renamed_counts
from attribute_planner.environments.interface import Environment
from attribute_planner.learning.fitting import FitConfig, fit
from attribute_planner.learning.progress import Watch
from attribute_planner.models.beliefs import certain
from attribute_planner.models.forward_model import ForwardModel, actions_to_try, expect_all
from attribute_planner.transitions.counting import TransitionCounts
from attribute_planner.transitions.table import TransitionTable, table_of_counts

Key = jax.Array


@dataclass(frozen=True)
class ForwardModelConfig:
    """How the outlook is learned, in worlds where a transition is a single step."""

    learn: bool = False
    """Whether to learn one."""
    model_edges: bool = True
    """Whether to add to the table what the outlook expects from the states that were seen."""
    model_edge_states: int = 20_000
    """From how many of the states that were seen to imagine."""
    novelty_fraction: float = 0.0
    """Share of the examples that are not random, but sought where an outlook expects rare outcomes."""
    fit: FitConfig = field(default_factory=FitConfig)
    """How it is fitted to the examples."""
    symmetric: bool = True
    """Whether to learn from every example under all symmetries of the environment, if it names any."""
    val_fraction: float = 0.01
    """Which share of the examples is kept to measure how often it is wrong."""
    hidden_size: int = 128
    """Units of the network."""
    keypoints: int = 0
    """How many places in a picture the network may point at, beside the paper's convolutions."""


class FittedForwardModel(NamedTuple):
    """An outlook, and the share of held-out steps whose outcome it got wrong."""

    forward_model: ForwardModel
    error: float


def fit_forward_model(
    env: Environment, examples: Examples, config: ForwardModelConfig, *, key: Key, watch: Watch
) -> FittedForwardModel:
    """Fit an outlook to examples."""
    network_key, fit_key = jax.random.split(key)
    held = max(int(examples.size * config.val_fraction), 1)
    tested, learned = examples.take(slice(0, held)), examples.take(slice(held, None))
    error = 1.0

    def show(steps: Examples, key: Key) -> Examples:
        return looked_at(env, steps, symmetric=config.symmetric, key=key)

    def report(updates: int, forward_model: ForwardModel, loss: float) -> None:
        nonlocal error
        error = forward_model_error(env, forward_model, tested)
        so_far = FittedForwardModel(forward_model, error) if updates >= config.fit.updates else None
        watch("forward_model", updates / config.fit.updates, {"updates": updates, "loss": loss, "error": error}, so_far)

    forward_model = ForwardModel(env.spec, config.hidden_size, config.keypoints, key=network_key)
    forward_model = fit(forward_model, show, forward_model_loss, learned, config.fit, key=fit_key, report=report)
    return FittedForwardModel(forward_model, error)


def forward_model_loss(forward_model: ForwardModel, steps: Examples) -> jax.Array:
    """Mean cross-entropy per step, summed over attributes, where observations stand for the states."""
    values, after = (jnp.asarray(each, jnp.int32) for each in (steps.values, steps.values_after))
    logits = forward_model.logits(forward_model.features(steps.before), values, steps.action)
    return jnp.mean(jnp.sum(optax.softmax_cross_entropy_with_integer_labels(logits, after), axis=-1))


def forward_model_error(env: Environment, forward_model: ForwardModel, examples: Examples, batch: int = 2048) -> float:
    """Share of steps after which any attribute is not what the outlook expected."""
    parts = [examples.take(slice(start, start + batch)) for start in range(0, examples.size, batch)]
    wrong = [(np.asarray(_expected(env, forward_model, part)) != part.values_after).any(axis=-1) for part in parts]
    return float(np.concatenate(wrong).mean())


@eqx.filter_jit
def _expected(env: Environment, forward_model: ForwardModel, steps: Examples) -> jax.Array:
    values = jnp.asarray(steps.values, jnp.int32)
    return forward_model.expect(forward_model.features(env.observe_batch(steps.before)), values, steps.action)[0]


MODEL_EDGE_ATTEMPTS = 4.0
"""How many real attempts the imagined share of states from which a transition is possible is worth."""
ACTIONS_TRIED = 64
"""How many random actions are imagined in a state where they cannot be listed."""
SURE = float(np.log(0.5))
"""An outcome counts if the outlook gives it at least this log probability."""


def add_model_edges(
    env: Environment,
    forward_model: ForwardModel,
    examples: Examples,
    table: TransitionTable,
    config: ForwardModelConfig,
    *,
    key: Key,
) -> TransitionTable:
    """The table with the transitions that the outlook expects, each worth a few attempts."""
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
    """How many states of each packed set were looked at, and from how many of them each transition is expected."""
    space, counts, states = env.attributes, TransitionCounts(env.attributes.num_words), {}
    # Evenly spread: what was seen first comes from the first steps of episodes.
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
    return _renamed_states(env, states), renamed_counts(env, counts)


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
    """`[B, K, A]` what each of K actions is expected to lead to, and `[B, K]` whether the outlook is sure of it."""
    action = actions_to_try(env.actions, steps.size, ACTIONS_TRIED, key=key)
    features, values = forward_model.features(env.observe_batch(steps.before)), jnp.asarray(steps.values, jnp.int32)
    expected, log_prob = expect_all(forward_model, features, certain(values), action)
    return expected, jnp.sum(log_prob, axis=-1) > SURE
