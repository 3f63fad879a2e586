"""Faults in tables and counts of transitions."""

from attribute_planner.experiments.reliability.faults.fault import Fault

FAULTS = (
    Fault(
        "another weight of the prior",
        "transitions/estimators.py",
        "mean /= observed.attempts + PRIOR_ATTEMPTS",
        "mean /= observed.attempts + 3.0",
        "transitions/test_estimators.py",
    ),
    Fault(
        "edges that were never tried succeed",
        "transitions/estimators.py",
        "zero = np.zeros(len(observed.attempts))",
        "zero = np.ones(len(observed.attempts))",
        "transitions/test_estimators.py",
    ),
    Fault(
        "two sets with the same hash are one",
        "transitions/counting.py",
        "different |= mine[numbers] != column",
        "different |= False",
        "transitions/test_counting.py",
    ),
    Fault(
        "a copy of counts shares them",
        "transitions/counting.py",
        "copied._visits, copied.total = self._visits.copy(), self.total",
        "copied._visits, copied.total = self._visits, self.total",
        "transitions/test_counting.py",
    ),
    Fault(
        "merged counts lose visits",
        "transitions/counting.py",
        "total.add(source, target, counts.visits)",
        "total.add(source, target, np.minimum(counts.visits, 1))",
        "transitions/test_counting.py",
    ),
    Fault(
        "transitions that were seen but not tried are dropped",
        "transitions/table.py",
        "keep = (self.visits > 0) | (self.attempts >= attempts)",
        "keep = self.attempts >= attempts",
        "transitions/test_table.py",
    ),
    Fault(
        "steps spent are lost when tables are joined",
        "transitions/model.py",
        "return self.with_practice(attempts, successes, spent)",
        "return self.with_practice(attempts, successes, None)",
        "transitions/test_model.py transitions/test_table.py",
    ),
)
