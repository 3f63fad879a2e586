"""Gathering examples: at random first; then, with an outlook learned from those, where rare things are expected.

Random drops hardly ever build a tower. An outlook that has seen a block on another one expects what a third on top of
them would lead to, and that this was seen rarely, if ever. To try just that takes no reward and no exploring policy.
"""

from dataclasses import replace
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.environments.interface import Environment
from attribute_planner.environments.spaces import Action, Observation
from attribute_planner.environments.worlds import Moment
from attribute_planner.learning.examples import Choose, Examples, collect_examples, count_examples, joined
from attribute_planner.learning.inverse import InverseConfig
from attribute_planner.learning.progress import Watch, nobody
from attribute_planner.parts.detector import AttributeDetector
from attribute_planner.parts.outlook import Outlook, actions_to_try, expect_all
from attribute_planner.parts.table import UNKNOWN, TransitionTable, table_of_counts
from attribute_planner.phases.explore import ExploreConfig
from attribute_planner.phases.foresee import ForeseeConfig, foresee

Key = jax.Array

ROUNDS = 2
"""How often an outlook is learned, from all examples so far, and followed to new ones."""
SHORTER = 4
"""Such an outlook is learned in this fraction of the updates that the last one gets."""
ACTIONS_WEIGHED = 64
"""How many random actions are weighed against each other where they cannot be listed."""
BOLD = 0.75
"""Share of the steps that go where the outlook promises something rare; the others are random."""


def gather_examples(
    env: Environment,
    detector: AttributeDetector | None,
    explore: ExploreConfig,
    inverse: InverseConfig,
    config: ForeseeConfig,
    *,
    key: Key,
    watch: Watch,
) -> Examples:
    """`explore.steps` examples, of which the share `config.curious` is sought where rare things are expected."""
    sought = int(explore.steps * config.curious) // ROUNDS if config.learn else 0
    collect = partial(
        collect_examples, env, detector, copies=explore.copies, steps_per_episode=inverse.steps_per_episode
    )
    examples = collect(explore.steps - ROUNDS * sought, key=key, watch=watch)
    for number in range(ROUNDS if sought else 0):
        fit_key, collect_key = jax.random.split(jax.random.fold_in(key, number))
        choose = curious_choice(env, examples, config, key=fit_key)
        examples = joined(examples, collect(sought, key=collect_key, watch=nobody, choose=choose))
        watch("explore", examples.size / explore.steps, {"steps": examples.size}, None)
    return examples


def curious_choice(env: Environment, examples: Examples, config: ForeseeConfig, *, key: Key) -> Choose:
    """Picks the action that promises the rarest outcome, by an outlook and counts from the examples so far."""
    fit = replace(config.fit, updates=max(config.fit.updates // SHORTER, 1))
    outlook = foresee(env, examples, replace(config, fit=fit), key=key, watch=nobody).outlook
    seen = table_of_counts(env.attributes, count_examples(env, examples, symmetric=config.symmetric))
    visits = np.bincount(seen.target, weights=seen.visits, minlength=seen.num_nodes)

    def choose(moment: Moment, values: np.ndarray, key: Key) -> Action:
        try_key, lot_key, bold_key = jax.random.split(key, 3)
        actions = actions_to_try(env.actions, len(values), ACTIONS_WEIGHED, key=try_key)
        expected, sure = _expect(outlook, moment.observation, jnp.asarray(values, jnp.int32), actions)
        promise = promise_of(seen, visits, values, np.asarray(expected), np.asarray(sure))
        bold = np.asarray(jax.random.uniform(bold_key, (len(values),))) < BOLD
        lot = np.asarray(jax.random.randint(lot_key, (len(values),), 0, promise.shape[1]))
        chosen = np.where(bold, promise.argmax(axis=1), lot)
        return jax.tree.map(lambda leaf: leaf[np.arange(len(values)), chosen], actions)

    return choose


def promise_of(
    seen: TransitionTable, visits: np.ndarray, values: np.ndarray, expected: np.ndarray, sure: np.ndarray
) -> np.ndarray:
    """`[B, K]` the bonus (N + 1)^-0.5 of each expected outcome `[B, K, A]`, times how `sure` `[B, K]` it is.

    N is how often the outcome was arrived at, `visits` by the table's sets. To stay as one is promises nothing.
    """
    words = np.asarray(seen.space.pack(expected))
    numbers = seen.numbers_of(words.reshape(-1, words.shape[-1])).reshape(sure.shape)
    times = np.where(numbers == UNKNOWN, 0.0, visits[numbers])
    stays = (expected == values[:, None]).all(axis=-1)
    return np.where(stays, 0.0, sure * (times + 1) ** -0.5)


@eqx.filter_jit
def _expect(
    outlook: Outlook, observation: Observation, values: jax.Array, actions: Action
) -> tuple[jax.Array, jax.Array]:
    """`[B, K, A]` what each action is expected to lead to, and `[B, K]` how likely that is."""
    expected, log_prob = expect_all(outlook, observation, values, actions)
    return expected, jnp.exp(jnp.sum(log_prob, axis=-1))
