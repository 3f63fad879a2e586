"""Lookahead: the forward model predicts the next step, the table gives the value of its outcome.

The table contains the success rate of a transition over all states of an attribute set. The forward model predicts,
from the observation, which set each action leads to from the current state. `consider` predicts the outcomes of many
actions; `best_option` weights each outcome by the value of the resulting set.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from attribute_planner.attributes import Goal
from attribute_planner.environments.spaces import Action, Observation
from attribute_planner.models.beliefs import Beliefs
from attribute_planner.models.forward_model import ForwardModel, expect_all, log_prob_of
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.planning.posterior import Posterior
from attribute_planner.planning.proposals import beside, propose
from attribute_planner.transitions.numbering import NumberedSets

Key = jax.Array


@dataclass(frozen=True)
class Options:
    """Actions that could be taken in a batch of B states, K each; the last one is the policy's own.

    actions: `[B, K]`.
    outcome: the most probable attribute set after each action; for the policy's action, its target.
    log_prob: log probability of each attribute's value in that outcome.
    number: the outcome's number in the table; −1 if the table does not hold it.
    """

    actions: Action
    outcome: Int[np.ndarray, "B K A"]
    log_prob: Float[np.ndarray, "B K A"]
    number: Int[np.ndarray, "B K"]


class Option(NamedTuple):
    """The best option of a state: its position, the action, its predicted outcome, the probability of that outcome, and
    the probability of reaching the goal with it."""

    place: int
    action: Any
    outcome: Int[np.ndarray, " A"]
    probability: float
    value: float


def consider(
    forward_model: ForwardModel,
    policy: GoalPolicy,
    sets: NumberedSets,
    observation: Observation,
    beliefs: Beliefs,
    targets: Int[np.ndarray, "B A"],
    goals: Int[np.ndarray, "B A"],
    *,
    key: Key,
) -> Options:
    """Predict the outcomes of many actions.

    targets: the goals of the policy. goals: the values of the episode's goal, −1 for unconstrained attributes; actions
    are proposed for both.
    """
    actions, outcome, log_prob = _predict(
        forward_model, policy, observation, beliefs, jnp.asarray(targets), jnp.asarray(goals), key
    )
    outcome = np.asarray(outcome)
    return Options(jax.tree.map(np.asarray, actions), outcome, np.asarray(log_prob), numbers_of(sets, outcome))


def numbers_of(sets: NumberedSets, outcome: Int[np.ndarray, "B K A"]) -> Int[np.ndarray, "B K"]:
    """The number of each set."""
    words = np.asarray(sets.space.pack(outcome))
    return sets.numbers_of(words.reshape(-1, words.shape[-1])).reshape(outcome.shape[:2])


@eqx.filter_jit
def _predict(
    forward_model: ForwardModel,
    policy: GoalPolicy,
    observation: Observation,
    beliefs: Beliefs,
    targets: jax.Array,
    goals: jax.Array,
    key: Key,
) -> tuple[Action, jax.Array, jax.Array]:
    features = forward_model.features(observation)
    actions = propose(forward_model, policy, observation, features, beliefs, (targets, goals), key=key)
    outcome, log_prob = expect_all(forward_model, features, beliefs, actions)
    own = jax.tree.map(lambda leaf: leaf[:, None], policy(observation, beliefs.values[:, 0], targets).mode())
    policy_option = own, jnp.maximum(targets, 0)[:, None], log_prob_of(forward_model, features, beliefs, own, targets)
    return beside((actions, outcome, log_prob), policy_option)


def best_option(
    posterior: Posterior,
    goal: Goal,
    values: Int[np.ndarray, " A"],
    options: Options,
    row: int,
    *,
    policy_success: float,
    model_error: float,
    left: int,
) -> Option:
    """The option with the highest probability of reaching the goal in time.

    policy_success: c_π of the policy's own action. model_error: the probability that the forward model is wrong; then
        only the policy's action has a known effect. left: number of remaining steps, including this one.
    """
    outcome, log_prob = options.outcome[row], options.log_prob[row]
    arrives = np.asarray(goal.satisfied_by(outcome))
    relevant = np.where(arrives[:, None], np.asarray(goal.wanted)[None], True)
    predicted = np.exp(np.where(relevant, log_prob, 0.0).sum(axis=-1))
    chance = (1 - model_error) * predicted
    chance[-1] += model_error * policy_success
    # An action that is predicted to change nothing has value zero.
    chance[(outcome == values).all(axis=-1) & ~arrives] = 0.0
    onward = np.where(arrives, 1.0, posterior.value(options.number[row], float(left - 1)))
    actions = jax.tree.map(lambda leaf: leaf[row], options.actions)
    failures = posterior.failures(values, outcome) + posterior.taken(values, actions)
    value = posterior.model.attempt(chance, failures) * onward
    best = int(np.argmax(value))
    action = jax.tree.map(lambda leaf: leaf[best], actions)
    return Option(best, action, outcome[best], float(chance[best]), float(value[best]))
