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

from attribute_planner.environments.interface import Environment
from attribute_planner.learning.examples import Examples, looked_at, renamed_counts
from attribute_planner.learning.fitting import FitConfig, fit
from attribute_planner.learning.progress import Watch
from attribute_planner.parts.beliefs import certain
from attribute_planner.parts.counting import TransitionCounts
from attribute_planner.parts.outlook import Outlook, actions_to_try, expect_all
from attribute_planner.parts.table import TransitionTable, table_of_counts

Key = jax.Array


@dataclass(frozen=True)
class ForeseeConfig:
    """How the outlook is learned, in worlds where a transition is a single step."""

    learn: bool = False
    """Whether to learn one."""
    imagine: bool = True
    """Whether to add to the table what the outlook expects from the states that were seen."""
    imagined_states: int = 20_000
    """From how many of the states that were seen to imagine."""
    curious: float = 0.0
    """Share of the examples that are not random, but sought where an outlook expects rare outcomes."""
    fit: FitConfig = field(default_factory=FitConfig)
    """How it is fitted to the examples."""
    symmetric: bool = True
    """Whether to learn from every example under all symmetries of the environment, if it names any."""
    held_out: float = 0.01
    """Which share of the examples is kept to measure how often it is wrong."""
    width: int = 128
    """Units of the network."""
    keypoints: int = 0
    """How many places in a picture the network may point at, beside the paper's convolutions."""


class Foreseen(NamedTuple):
    """An outlook, and the share of held-out steps whose outcome it got wrong."""

    outlook: Outlook
    error: float


def foresee(env: Environment, examples: Examples, config: ForeseeConfig, *, key: Key, watch: Watch) -> Foreseen:
    """Fit an outlook to examples."""
    network_key, fit_key = jax.random.split(key)
    held = max(int(examples.size * config.held_out), 1)
    tested, learned = examples.take(slice(0, held)), examples.take(slice(held, None))
    error = 1.0

    def show(steps: Examples, key: Key) -> Examples:
        return looked_at(env, steps, symmetric=config.symmetric, key=key)

    def report(updates: int, outlook: Outlook, loss: float) -> None:
        nonlocal error
        error = outlook_error(env, outlook, tested)
        so_far = Foreseen(outlook, error) if updates >= config.fit.updates else None
        watch("foresee", updates / config.fit.updates, {"updates": updates, "loss": loss, "error": error}, so_far)

    outlook = Outlook(env, config.width, config.keypoints, key=network_key)
    outlook = fit(outlook, show, outlook_loss, learned, config.fit, key=fit_key, report=report)
    return Foreseen(outlook, error)


def outlook_loss(outlook: Outlook, steps: Examples) -> jax.Array:
    """Mean cross-entropy per step, summed over attributes, where observations stand for the states."""
    values, after = (jnp.asarray(each, jnp.int32) for each in (steps.values, steps.values_after))
    logits = outlook.logits(outlook.features(steps.before), values, steps.action)
    return jnp.mean(jnp.sum(optax.softmax_cross_entropy_with_integer_labels(logits, after), axis=-1))


def outlook_error(env: Environment, outlook: Outlook, examples: Examples, batch: int = 2048) -> float:
    """Share of steps after which any attribute is not what the outlook expected."""
    parts = [examples.take(slice(start, start + batch)) for start in range(0, examples.size, batch)]
    wrong = [(np.asarray(_expected(env, outlook, part)) != part.values_after).any(axis=-1) for part in parts]
    return float(np.concatenate(wrong).mean())


@eqx.filter_jit
def _expected(env: Environment, outlook: Outlook, steps: Examples) -> jax.Array:
    values = jnp.asarray(steps.values, jnp.int32)
    return outlook.expect(outlook.features(env.look(steps.before)), values, steps.action)[0]


IMAGINED_ATTEMPTS = 4.0
"""How many real attempts the imagined share of states from which a transition is possible is worth."""
ACTIONS_TRIED = 64
"""How many random actions are imagined in a state where they cannot be listed."""
SURE = float(np.log(0.5))
"""An outcome counts if the outlook gives it at least this log probability."""


def imagine(
    env: Environment, outlook: Outlook, examples: Examples, table: TransitionTable, config: ForeseeConfig, *, key: Key
) -> TransitionTable:
    """The table with the transitions that the outlook expects, each worth a few attempts."""
    states, possible = imagined_transitions(env, outlook, examples, config, key=key)
    counts = TransitionCounts(env.attributes.num_words)
    counts.add(table.words[table.source], table.words[table.target], table.visits.astype(np.int64))
    words = possible.sets.rows
    source, target = possible.pairs.rows.T
    counts.add(words[source], words[target], np.zeros(len(source), np.int64))
    larger = table_of_counts(env.attributes, counts, table.estimator)
    attempts, successes = np.zeros((2, larger.num_edges))
    places = table.edges_in(larger)
    attempts[places], successes[places] = table.attempts, table.successes
    imagined = table_of_counts(env.attributes, possible)
    of_set = np.array([states.get(words.tobytes(), 0) for words in imagined.words])
    share = np.minimum(imagined.visits / np.maximum(of_set[imagined.source], 1), 1.0)
    places = imagined.edges_in(larger)
    attempts[places] += IMAGINED_ATTEMPTS
    successes[places] += IMAGINED_ATTEMPTS * share
    return replace(larger, attempts=attempts, successes=successes)


def imagined_transitions(
    env: Environment, outlook: Outlook, examples: Examples, config: ForeseeConfig, *, key: Key, batch: int = 512
) -> tuple[dict[bytes, int], TransitionCounts]:
    """How many states of each packed set were looked at, and from how many of them each transition is expected."""
    space, counts, states = env.attributes, TransitionCounts(env.attributes.num_words), {}
    # Evenly spread: what was seen first comes from the first steps of episodes.
    chosen = examples.take(slice(0, None, max(examples.size // config.imagined_states, 1)))
    chosen = chosen.take(slice(0, config.imagined_states))
    for number, start in enumerate(range(0, chosen.size, batch)):
        part = chosen.take(slice(start, start + batch))
        expected, sure = _all_expected(env, outlook, part, jax.random.fold_in(key, number))
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
def _all_expected(env: Environment, outlook: Outlook, steps: Examples, key: Key) -> tuple[jax.Array, jax.Array]:
    """`[B, K, A]` what each of K actions is expected to lead to, and `[B, K]` whether the outlook is sure of it."""
    action = actions_to_try(env.actions, steps.size, ACTIONS_TRIED, key=key)
    features, values = outlook.features(env.look(steps.before)), jnp.asarray(steps.values, jnp.int32)
    expected, log_prob = expect_all(outlook, features, certain(values), action)
    return expected, jnp.sum(log_prob, axis=-1) > SURE
