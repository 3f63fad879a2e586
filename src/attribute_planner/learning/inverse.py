"""The supervised inverse model: where a transition takes a single step, the action that was taken is the right answer.

Random actions are taken, and π learns to name the action, given where it began and which attributes came of it (end of
Section 2.1 of the paper). No reward and no return is involved.
"""

from dataclasses import dataclass, field

import jax
import jax.numpy as jnp

from attribute_planner.data.examples import Examples, looked_at, require_change
from attribute_planner.environments.interface import Environment
from attribute_planner.learning.fitting import FitConfig, fit
from attribute_planner.learning.progress import Watch
from attribute_planner.models.policy import GoalPolicy

Key = jax.Array


@dataclass(frozen=True)
class InverseConfig:
    """How the inverse model is learned (`practise.method=inverse`), from as many random steps as exploration takes."""

    steps_per_episode: int = 1
    """After how many random steps a world begins anew."""
    symmetric: bool = True
    """Whether to learn from every example under all symmetries of the environment, if it names any."""
    fit: FitConfig = field(default_factory=FitConfig)
    """How π is fitted to the examples."""


def fit_inverse(
    env: Environment, policy: GoalPolicy, examples: Examples, config: InverseConfig, *, key: Key, watch: Watch
) -> GoalPolicy:
    """π, fitted to the examples that changed an attribute."""

    def show(steps: Examples, key: Key) -> Examples:
        return looked_at(env, steps, symmetric=config.symmetric, key=key)

    def report(updates: int, policy: GoalPolicy, surprise: float) -> None:
        watch("inverse", updates / config.fit.updates, {"updates": updates, "surprise": surprise}, None)

    require_change(examples)
    return fit(policy, show, inverse_loss, examples.take(examples.changed), config.fit, key=key, report=report)


def inverse_loss(policy: GoalPolicy, steps: Examples) -> jax.Array:
    """The mean of −log π(action | before, attributes after), where observations stand for the states."""
    values, after = (jnp.asarray(each, jnp.int32) for each in (steps.values, steps.values_after))
    return -jnp.mean(policy(steps.before, values, after).log_prob(steps.action))
