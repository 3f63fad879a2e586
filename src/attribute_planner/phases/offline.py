"""Practice without an environment: π learns from recorded steps alone, and c_π is estimated by its values."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.data.replay import Replay
from attribute_planner.data.replay_batch import GoalShares
from attribute_planner.environments.spec import EnvironmentSpec
from attribute_planner.learning.finite import require_finite
from attribute_planner.learning.progress import Watch
from attribute_planner.models.observation_scaling import ObservationStatistics, with_statistics
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.phases.practise import Practised
from attribute_planner.phases.practise_config import PractiseConfig
from attribute_planner.transitions.model import Listing, PractisedTransitions
from attribute_planner.transitions.numbering import UNKNOWN

Key = jax.Array

EPOCHS = 50
"""Reports of progress."""
MIN_UPDATES = 10_000
"""Updates of π, where the recorded steps, times the replay ratio, are worth fewer."""
STATES_PER_EDGE, DRAWN_STATES, AT_ONCE = 16, 20_000, 1_024
"""Recorded states by which an edge is judged, at most; how many are drawn for all edges; how many are evaluated at
once."""


def practise_offline(
    spec: EnvironmentSpec,
    possible: PractisedTransitions,
    config: PractiseConfig,
    replay: Replay,
    *,
    statistics: ObservationStatistics | None,
    key: Key,
    watch: Watch,
) -> Practised:
    """π learned from the replay buffer, and the table with attempts that π's values stand for."""
    policy_key, state_key, sample_key = jax.random.split(key, 3)
    random = np.random.default_rng(np.asarray(jax.random.key_data(sample_key)))
    reacher, settings = config.reacher, getattr(config, config.method)
    policy = with_statistics(reacher.new_policy(spec, config.hidden_size, key=policy_key), statistics)
    train_state = reacher.train_state(policy, spec, key=state_key)
    worth = max(replay.size, MIN_UPDATES * settings.batch_size / settings.replay_ratio)
    replay.pending, metrics = 0.0, {}
    for epoch in range(EPOCHS):
        replay.pending += worth / EPOCHS
        train_state, metrics = reacher.learn(
            train_state, replay, discount=config.value_discount, remaining=1 - epoch / EPOCHS, random=random
        )
        require_finite("practise", metrics, train_state)
        if epoch + 1 < EPOCHS:
            watch("practise", (epoch + 1) / EPOCHS, {"steps": 0, **_numbers(metrics)}, None)
    table = possible.with_practice(*judged_by_values(train_state.policy, possible.listing(), replay, random))
    practised = Practised(train_state, table, epoch=EPOCHS, steps=0)
    watch("practise", 1.0, {"steps": 0, **_numbers(metrics)}, practised)
    return practised


def judged_by_values(
    policy: GoalPolicy, listing: Listing, replay: Replay, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """`float64[E]` attempts and successes that stand for what π expects.

    With the discount 1 − 1/t_max, the value of a target is the probability to arrive before a random limit, t_max steps
    in the mean. Every recorded state of an edge's source counts as one attempt. A policy without such values (SAC)
    leaves the edges untried.
    """
    attempts, successes = np.zeros((2, listing.num_edges))
    if policy.temperature is None:
        return attempts, successes
    count = min(DRAWN_STATES, replay.size)
    drawn = replay.sample(count, GoalShares(1.0), discount=1.0, n_step=1, random=random)
    place = listing.numbers_of(np.asarray(listing.space.pack(np.asarray(drawn.values, np.int32))))
    order = np.argsort(place, kind="stable")
    first = np.searchsorted(place[order], np.arange(listing.num_nodes))
    last = np.searchsorted(place[order], np.arange(listing.num_nodes), side="right")
    edges = [
        (edge, state)
        for edge, source in enumerate(listing.source.tolist())
        for state in order[first[source] : min(last[source], first[source] + STATES_PER_EDGE)].tolist()
        if place[state] != UNKNOWN
    ]
    for start in range(0, len(edges), AT_ONCE):
        edge, state = np.array(edges[start : start + AT_ONCE]).T
        padded = np.resize(state, AT_ONCE)
        observation = jax.tree.map(lambda leaf, padded=padded: leaf[padded], drawn.observation)
        targets = np.resize(listing.values[listing.target[edge]], (AT_ONCE, listing.values.shape[1]))
        value = _value(policy, observation, np.asarray(drawn.values[padded], np.int32), targets)
        np.add.at(attempts, edge, 1.0)
        np.add.at(successes, edge, np.asarray(value, float)[: len(edge)])
    return attempts, successes


@eqx.filter_jit
def _value(policy: GoalPolicy, observation: Any, values: Any, goal: Any) -> jax.Array:
    """`float32[N]` the value of each goal."""
    return policy(jnp.asarray(observation), jnp.asarray(values), jnp.asarray(goal)).baseline


def _numbers(metrics: dict) -> dict[str, float]:
    return {name: float(value) for name, value in metrics.items()}
