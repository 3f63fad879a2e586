"""The supervised inverse model: where a transition takes a single step, the action that was taken is the right answer.

Random actions are taken, and π learns to name the action, given where it began and which attributes came of it (end of
Section 2.1 of the paper). No reward and no return is involved.
"""

import equinox as eqx
import jax
import jax.numpy as jnp

from attribute_planner.attributes import AttributeSpace
from attribute_planner.parts.policy import GoalPolicy
from attribute_planner.phases.collecting import Experience
from attribute_planner.phases.reinforce import Learner, ReinforceConfig, optimiser_for, weighted_mean


@eqx.filter_jit
def inverse_update(
    learner: Learner,
    space: AttributeSpace,
    experience: Experience,
    config: ReinforceConfig,
    *,
    remaining: float | jax.Array = 1.0,
) -> tuple[Learner, dict]:
    """The learner after one batch of random single steps `[T, B, ...]`, and its metrics."""
    flat = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), experience)
    gradient, metrics = eqx.filter_grad(inverse_loss, has_aux=True)(learner.policy, space, flat)
    changes, state = optimiser_for(config).update(gradient, learner.optimiser)
    warmth = jnp.asarray(remaining if config.cool_down else 1.0, jnp.float32)
    changes = jax.tree.map(lambda change: warmth * change, changes)
    return Learner(eqx.apply_updates(learner.policy, changes), state), metrics


def inverse_loss(policy: GoalPolicy, space: AttributeSpace, steps: Experience) -> tuple[jax.Array, dict]:
    """−log π(action | before, attributes after), over the steps `[N]` that changed an attribute."""
    before, after = jnp.asarray(space.unpack(steps.words)), jnp.asarray(space.unpack(steps.arrival.words))
    changed = jnp.any(before != after, axis=-1).astype(jnp.float32)
    log_prob = policy(steps.observation, before, after).log_prob(steps.record.action)
    surprise = -weighted_mean(log_prob, changed)
    return surprise, {"surprise": surprise, "changed": jnp.mean(changed)}
