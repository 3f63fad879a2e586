"""Faults in losses, updates and fits."""

from attribute_planner.experiments.reliability.faults.fault import Fault

FAULTS = (
    Fault(
        "the sign of the entropy is flipped",
        "learning/policy_gradient.py",
        "- entropy_coef * entropy",
        "+ entropy_coef * entropy",
        "learning/test_policy_gradient.py::test_the_entropy_is_a_bonus",
    ),
    Fault(
        "the entropy bonus is not annealed",
        "learning/policy_gradient.py",
        "config.entropy_coef * scale)",
        "config.entropy_coef + 0 * scale)",
        "learning/test_policy_gradient.py::test_the_entropy_bonus_is_annealed",
    ),
    Fault(
        "the last step is not final",
        "learning/policy_gradient.py",
        "batch.cut.at[-1].set(True)",
        "batch.cut",
        "learning/test_policy_gradient.py::test_a_step_whose_sequel_was_cut_away_is_worth_what_the_baseline_thought "
        "learning/test_policy_gradient.py::test_returns_are_discounted_sums_up_to_the_end",
    ),
    Fault(
        "returns cross the end of episodes",
        "learning/policy_gradient.py",
        "jnp.where(batch.ended, 0.0, discount)",
        "jnp.full_like(batch.value, discount)",
        "learning/test_policy_gradient.py::test_returns_are_discounted_sums_up_to_the_end",
    ),
    Fault(
        "returns that are cut off do not bootstrap",
        "learning/policy_gradient.py",
        "jnp.where(cut, batch.value, batch.reward",
        "jnp.where(cut, batch.reward, batch.reward",
        "learning/test_policy_gradient.py::test_a_step_whose_sequel_was_cut_away_is_worth_what_the_baseline_thought",
    ),
    Fault(
        "hindsight is learned from where it is worse than expected",
        "learning/policy_gradient.py",
        "jnp.maximum(advantages, 0.0)",
        "advantages + 0.0",
        "learning/test_policy_gradient.py::test_hindsight_teaches_only_what_went_better_than_expected",
    ),
    Fault(
        "steps without weight are learned from",
        "learning/policy_gradient.py",
        "return total / jnp.maximum(jnp.sum(weight), 1.0)",
        "return 0 * total + jnp.mean(quantities, axis=tuple(range(1, quantities.ndim)))",
        "learning/test_policy_gradient.py::test_a_weighted_mean_by_hand "
        "learning/test_policy_gradient.py::test_steps_without_weight_teach_nothing",
    ),
    Fault(
        "the step size is not annealed",
        "learning/policy_gradient.py",
        "as_tree(scale * changes)",
        "as_tree(1.0 * changes)",
        "learning/test_policy_gradient.py::test_updates_make_the_rewarded_action_likelier",
    ),
    Fault(
        "probability ratios are not clipped",
        "learning/ppo.py",
        "jnp.minimum(ratio * advantages, clipped * advantages)",
        "ratio * advantages + 0 * clipped",
        "learning/test_policy_gradient.py::test_a_clipped_action_gains_nothing_by_becoming_likelier_still",
    ),
    Fault(
        "actions are chosen by the target network",
        "learning/dqn.py",
        "best = jnp.argmax(policy.action_values(*place), axis=-1)",
        "best = jnp.argmax(target.action_values(*place), axis=-1)",
        "learning/test_dqn.py::test_target_values_by_hand",
    ),
    Fault(
        "values are not discounted",
        "data/replay_batch.py",
        "return self.discount * (self.arrived + (1 - self.arrived) * sequel)",
        "return self.arrived + (1 - self.arrived) * sequel",
        "learning/test_dqn.py::test_target_values_by_hand",
    ),
    Fault(
        "an arrival is worth the same wherever it leads",
        "data/replay.py",
        "next_goal=np.where(continues[:, None], NO_GOAL, goal)",
        "next_goal=goal",
        "data/test_replay.py::test_the_worth_of_an_arrival_depends_on_how_long_the_episode_goes_on",
    ),
    Fault(
        "the step that ends an episode counts as survived",
        "data/replay_batch.py",
        "discount ** (steps - ended)",
        "discount**steps",
        "data/test_replay.py::test_survival_by_hand",
    ),
    Fault(
        "the target network does not follow",
        "learning/dqn.py",
        "(1 - rate) * old + rate * new if",
        "1.0 * old if",
        "learning/test_dqn.py::test_the_target_network_follows_slowly",
    ),
    Fault(
        "the step size of fits does not fall",
        "learning/fitting.py",
        "jnp.cos(jnp.pi * jnp.minimum(",
        "jnp.cos(0.0 * jnp.minimum(",
        "learning/test_fitting.py::test_the_step_size_falls_from_its_highest_to_zero",
    ),
    Fault(
        "numbers that are not finite are accepted in training",
        "learning/finite.py",
        "if not math.isfinite(value):",
        "if False:",
        "learning/test_finite.py::test_numbers_that_are_not_finite_are_named_with_the_place",
    ),
)
