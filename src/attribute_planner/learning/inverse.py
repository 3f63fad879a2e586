"""The inverse model: if a transition takes a single step, the recorded action is its label.

π learns to predict the action of a recorded step, given the observation before it and the attributes after it (end of
Section 2.1 of the paper). No rewards and no returns are involved.
"""

from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
from jaxtyping import Float

from attribute_planner.data.examples import Examples, observed, require_change
from attribute_planner.environments.interface import Environment
from attribute_planner.learning.fitting import FitConfig, fit
from attribute_planner.learning.progress import Watch
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.ranges import check_settings

Key = jax.Array


@dataclass(frozen=True)
class InverseConfig:
    """How the inverse model is fitted to the steps that exploration recorded."""

    symmetric: bool = True
    """Whether each step is also used under the symmetries of the environment, if it defines any."""
    fit: FitConfig = field(default_factory=FitConfig)
    """How π is fitted."""

    def __post_init__(self) -> None:
        check_settings(self)


def fit_inverse(
    env: Environment, policy: GoalPolicy, examples: Examples, config: InverseConfig, *, key: Key, watch: Watch
) -> GoalPolicy:
    """π, fitted to the examples that changed an attribute."""

    def show(steps: Examples, key: Key) -> Examples:
        return observed(env, steps, symmetric=config.symmetric, key=key)

    def report(updates: int, policy: GoalPolicy, loss: float) -> None:
        watch("inverse", updates / config.fit.updates, {"updates": updates, "loss": loss}, None)

    require_change(examples)
    return fit(policy, show, inverse_loss, examples.take(examples.changed), config.fit, key=key, report=report)


def inverse_loss(policy: GoalPolicy, steps: Examples) -> Float[jax.Array, ""]:
    """The mean of −log π(action | before, attributes after), where `before` holds observations."""
    values, after = (jnp.asarray(each, jnp.int32) for each in (steps.values, steps.values_after))
    return -jnp.mean(policy(steps.before, values, after).log_prob(steps.action))
