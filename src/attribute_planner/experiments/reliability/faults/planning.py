"""Faults in goals, plans and what an episode is believed to be."""

from attribute_planner.experiments.reliability.faults.fault import Fault

FAULTS = (
    Fault(
        "at least is read as strictly more",
        "attributes/goal.py",
        "met = met | (self.at_least & (self.values < values))",
        "met = (met & ~self.at_least) | (self.at_least & (self.values < values))",
        "attributes/test_goal.py::test_a_number_can_be_asked_for_as_a_lower_bound",
    ),
    Fault(
        "goals are cached without at-least",
        "attributes/goal.py",
        "_bits(wanted), _bits(or_more)",
        "_bits(wanted), 0",
        "attributes/test_goal.py::test_a_bound_and_an_equality_have_different_keys",
    ),
    Fault(
        "values that are not wanted count",
        "attributes/goal.py",
        "(met | ~self.wanted).all",
        "met.all",
        "attributes/test_goal.py::test_a_partial_goal_minds_only_what_it_names",
    ),
    Fault(
        "two bounds are not joined",
        "attributes/goal.py",
        "return high, high_or_more",
        "return low, low_or_more",
        "attributes/test_goal.py::test_bounds_of_one_attribute_are_taken_together",
    ),
    Fault(
        "no tie-breaking between paths",
        "planning/search.py",
        "TIE_BREAKER = 1e-9",
        "TIE_BREAKER = 0.0",
        "planning/test_search.py::test_of_equally_probable_paths_the_shortest_is_taken "
        "planning/test_search.py::test_the_shortest_is_taken_also_if_a_longer_one_is_found_first",
    ),
    Fault(
        "the value ignores the steps that are left",
        "planning/search.py",
        "steps / np.maximum(left, 1e-9)",
        "steps / self.graph.horizon",
        "planning/test_search.py::test_value_by_hand "
        "planning/test_search.py::test_value_falls_with_the_steps_that_are_left",
    ),
    Fault(
        "edges are searched in the wrong direction",
        "planning/search.py",
        "shape=(size, size)).tocsr()",
        "shape=(size, size)).T.tocsr()",
        "planning/test_plan.py::test_a_plan_has_sets_changes_and_probabilities",
    ),
    Fault(
        "durations do not cost",
        "planning/episode_model.py",
        "cost += np.maximum(steps, 1.0) / horizon",
        "pass",
        "planning/test_search.py::test_a_longer_path_of_reliable_transitions_loses_when_time_is_short",
    ),
    Fault(
        "a satisfied goal needs a known set",
        "planning/plan.py",
        "if goal.satisfied_by(values):",
        "if False:",
        "planning/test_plan.py::test_a_goal_can_be_satisfied_in_an_unknown_set",
    ),
    Fault(
        "a failure is no evidence",
        "planning/episode_model.py",
        "posterior = prior * by_chance / (prior * by_chance + (1.0 - prior))",
        "posterior = prior + 0 * by_chance",
        "planning/test_episode_model.py::test_after_one_failure_a_transition_is_available_unless_the_failure_was_due_to_the_state",
    ),
    Fault(
        "failed attempts are made again with the same probability",
        "planning/episode_model.py",
        "again += by_chance * arrived[start - failure : start][: len(again)]",
        "again += arrived[start - failure : start][: len(again)]",
        "planning/test_success_within.py::test_a_failed_attempt_is_made_again_while_time_is_left "
        "planning/test_success_within.py::test_it_is_what_episodes_do",
    ),
    Fault(
        "the calibration has the wrong sign",
        "planning/episode_model.py",
        "np.log(c / (1 - c)) - self.log_odds",
        "np.log(c / (1 - c)) + self.log_odds",
        "planning/test_success_within.py::test_what_was_measured_shifts_the_log_odds",
    ),
    Fault(
        "sets that were left keep their value: costs that were raised fall again",
        "planning/posterior.py",
        "np.where(departures > 0,",
        "np.where(departures < 0,",
        "planning/test_posterior.py::test_departures_lower_the_value_of_a_set",
    ),
    Fault(
        "only the last failure counts",
        "planning/posterior.py",
        "count += share * (targets == target).all(axis=-1)",
        "count = share * (targets == target).all(axis=-1)",
        "planning/test_posterior.py::test_failures_are_counted_by_source_and_target",
    ),
    Fault(
        "values count by themselves, not relative to the usual ones",
        "planning/state_success.py",
        "log_odds(np.asarray(value)[:count]) - usual[edges]",
        "log_odds(np.asarray(value)[:count])",
        "planning/test_executor.py::test_values_count_relative_to_the_usual_ones",
    ),
    Fault(
        "steps without arrival tell nothing",
        "planning/attempt_limit.py",
        "return 0.5 * min(steps / self.median, 1.0) if self.median < self.longest else steps / self.longest",
        "return 0.0",
        "planning/test_attempt_limit.py::test_an_attempt_is_reconsidered_after_the_median_as_half_a_failure",
    ),
    Fault(
        "low values are good news",
        "planning/state_success.py",
        "expit(log_odds(c) + weight * surplus)",
        "expit(log_odds(c) - weight * surplus)",
        "planning/test_executor.py::test_values_of_the_present_state_spare_attempts_that_must_fail",
    ),
)
