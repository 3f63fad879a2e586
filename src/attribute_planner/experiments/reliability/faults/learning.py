"""Faults in losses, updates and fits."""

from attribute_planner.experiments.reliability.faults.fault import Fault

GRADIENTS = "learning/test_policy_gradient.py"

FAULTS = (
    Fault(
        "the sign of the entropy is flipped",
        "learning/policy_gradient.py",
        '- entropy_coef * metrics["entropy"]',
        '+ entropy_coef * metrics["entropy"]',
        GRADIENTS,
    ),
    Fault(
        "the entropy bonus is not annealed",
        "learning/policy_gradient.py",
        "config.entropy_coef * scale)",
        "config.entropy_coef + 0 * scale)",
        GRADIENTS,
    ),
    Fault(
        "the last step is not final",
        "learning/policy_gradient.py",
        "batch.cut.at[-1].set(True)",
        "batch.cut",
        GRADIENTS,
    ),
    Fault(
        "returns cross the end of episodes",
        "learning/policy_gradient.py",
        "jnp.where(ended, 0.0, sequel)",
        "sequel",
        GRADIENTS,
    ),
    Fault(
        "returns that are cut off do not bootstrap",
        "learning/policy_gradient.py",
        "total = jnp.where(cut & ~ended, value, total)",
        "total = jnp.where(cut & ~ended, reward, total)",
        GRADIENTS,
    ),
    Fault(
        "hindsight is learned from where it is worse than expected",
        "learning/policy_gradient.py",
        "jnp.maximum(advantages, 0.0)",
        "advantages + 0.0",
        GRADIENTS,
    ),
    Fault(
        "steps without weight are learned from",
        "learning/policy_gradient.py",
        "return jnp.sum(quantity * weight) / jnp.maximum(jnp.sum(weight), 1.0)",
        "return jnp.mean(quantity) + 0 * jnp.sum(weight)",
        GRADIENTS,
    ),
    Fault(
        "the step size is not annealed",
        "learning/policy_gradient.py",
        "lambda change: scale * change",
        "lambda change: 1.0 * change",
        GRADIENTS,
    ),
    Fault(
        "probability ratios are not clipped",
        "learning/ppo.py",
        "jnp.minimum(ratio * advantages, clipped * advantages)",
        "ratio * advantages + 0 * clipped",
        GRADIENTS,
    ),
    Fault(
        "actions are chosen by the target network",
        "learning/dqn.py",
        "best = jnp.argmax(policy.action_values(*place), axis=-1)",
        "best = jnp.argmax(target.action_values(*place), axis=-1)",
        "learning/test_dqn.py",
    ),
    Fault(
        "values are not discounted",
        "learning/dqn.py",
        "batch.discount * jnp.where(batch.reached, 1.0, sequel)",
        "jnp.where(batch.reached, 1.0, sequel)",
        "learning/test_dqn.py",
    ),
    Fault(
        "the target network does not follow",
        "learning/dqn.py",
        "(1 - rate) * old + rate * new if",
        "1.0 * old if",
        "learning/test_dqn.py",
    ),
    Fault(
        "the step size of fits does not fall",
        "learning/fitting.py",
        "jnp.cos(jnp.pi * jnp.minimum(",
        "jnp.cos(0.0 * jnp.minimum(",
        "learning/test_fitting.py",
    ),
    Fault(
        "numbers that are not finite are accepted in training",
        "learning/finite.py",
        "if not math.isfinite(value):",
        "if False:",
        "learning/test_finite.py",
    ),
)
