from typing import Any

import numpy as np
import pytest
from scipy import stats

from attribute_planner.aliasing.evidence import Evidence, evidence_for


def test_one_stratum_is_close_to_fishers_exact_test():
    counts = np.array([[[30, 10], [12, 28]]])
    exact: Any = stats.fisher_exact(counts[0], alternative="greater")
    assert exact.pvalue < Evidence(counts).p_value < 2 * exact.pvalue


def test_what_differs_between_strata_only_is_no_evidence():
    """Every attempt of the first stratum fails, every one of the second arrives, and sides go with the strata."""
    evidence = Evidence(np.array([[[90, 0], [10, 0]], [[0, 10], [0, 90]]]))
    assert evidence.p_value == 1.0
    assert evidence.rates[0] == pytest.approx(evidence.rates[1])


def test_strata_without_a_comparison_are_left_out():
    holds, reached = np.array([True, True, False, True]), np.array([True, False, False, True])
    evidence = evidence_for(holds, reached, np.array([0, 0, 1, 1]))
    assert evidence.attempts == (1, 1) and evidence.successes == (0, 1)


def test_the_auc_of_a_binary_classifier():
    evidence = Evidence(np.array([[[40, 10], [10, 40]]]))
    auc, low, high = evidence.auc
    assert auc == pytest.approx(0.8) and 0.7 < low < 0.8 < high < 0.9
