"""Faults in tables and counts of transitions."""

from attribute_planner.experiments.reliability.faults.fault import Fault

FAULTS = (
    Fault(
        "another weight of the prior",
        "transitions/estimators.py",
        "mean = (successes + weight * prior) / (attempts + weight)",
        "mean = (successes + 3.0 * prior) / (attempts + 3.0)",
        "transitions/test_estimators.py::test_the_posterior_mean_starts_from_the_success_rate_of_the_others",
    ),
    Fault(
        "the weight of the prior ignores what was counted",
        "transitions/estimators.py",
        "return float(penalty - (betaln",
        "return float(penalty - 0 * (betaln",
        "transitions/test_estimators.py::test_differences_that_chance_explains_vanish",
    ),
    Fault(
        "edges that were never tried succeed",
        "transitions/estimators.py",
        "zero = np.zeros(len(observed.attempts))",
        "zero = np.ones(len(observed.attempts))",
        "transitions/test_estimators.py::test_the_ratio_is_successes_over_attempts_and_zero_without_attempts",
    ),
    Fault(
        "two sets with the same hash are one",
        "transitions/counting.py",
        "different |= mine[numbers] != column",
        "different |= False",
        "transitions/test_counting.py::test_rows_that_all_want_the_same_slot_are_told_apart",
    ),
    Fault(
        "a copy of counts shares them",
        "transitions/counting.py",
        "copied._visits, copied.total = self._visits.copy(), self.total",
        "copied._visits, copied.total = self._visits, self.total",
        "transitions/test_counting.py::test_a_copy_is_independent",
    ),
    Fault(
        "merged counts lose visits",
        "transitions/counting.py",
        "total.add(source, target, counts.visits)",
        "total.add(source, target, np.minimum(counts.visits, 1))",
        "transitions/test_counting.py::test_merged_counts_are_sums_and_leave_the_others_alone",
    ),
    Fault(
        "steps spent are lost when tables are joined",
        "transitions/model.py",
        "return self.with_practice(attempts, successes, spent)",
        "return self.with_practice(attempts, successes, None)",
        "transitions/test_table.py::test_practice_is_found_again_in_a_graph_that_has_grown "
        "transitions/test_table.py::test_edges_are_found_again_in_a_graph_that_has_grown",
    ),
)
