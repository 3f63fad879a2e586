"""Faults in goals, plans and what an episode is believed to be."""

from attribute_planner.experiments.reliability.faults.fault import Fault

GOALS = "attributes/test_goal.py"
PLANS = "planning/test_plan.py planning/test_search.py"

FAULTS = (
    Fault(
        "at least is read as strictly more",
        "attributes/goal.py",
        "met = met | (self.at_least & (self.values < values))",
        "met = (met & ~self.at_least) | (self.at_least & (self.values < values))",
        GOALS,
    ),
    Fault(
        "goals are cached without at-least",
        "attributes/goal.py",
        "_bits(wanted), _bits(or_more)",
        "_bits(wanted), 0",
        GOALS,
    ),
    Fault("values that are not wanted count", "attributes/goal.py", "(met | ~self.wanted).all", "met.all", GOALS),
    Fault(
        "two bounds are not joined", "attributes/goal.py", "return high, high_or_more", "return low, low_or_more", GOALS
    ),
    Fault("no tie-breaking between paths", "planning/search.py", "TIE_BREAKER = 1e-9", "TIE_BREAKER = 0.0", PLANS),
    Fault("no preference for fewer transitions", "planning/search.py", "NEAR_EQUAL = 0.02", "NEAR_EQUAL = 0.0", PLANS),
    Fault(
        "the value ignores the steps that are left",
        "planning/search.py",
        "steps / np.maximum(left, 1e-9)",
        "steps / self.graph.horizon",
        PLANS,
    ),
    Fault(
        "edges are searched in the wrong direction",
        "planning/search.py",
        "shape=(size, size)).tocsr()",
        "shape=(size, size)).T.tocsr()",
        PLANS,
    ),
    Fault(
        "durations do not cost", "planning/episode_model.py", "cost += np.maximum(steps, 1.0) / horizon", "pass", PLANS
    ),
    Fault(
        "a satisfied goal needs a known set", "planning/plan.py", "if goal.satisfied_by(values):", "if False:", PLANS
    ),
    Fault(
        "a failure is no evidence",
        "planning/episode_model.py",
        "posterior = prior * by_chance / (prior * by_chance + (1.0 - prior))",
        "posterior = prior + 0 * by_chance",
        "planning/test_episode_model.py",
    ),
    Fault(
        "failed attempts are made again with the same probability",
        "planning/episode_model.py",
        "weight *= by_chance",
        "weight *= 1.0",
        "planning/test_success_within.py",
    ),
    Fault(
        "the calibration has the wrong sign",
        "planning/episode_model.py",
        "np.log(c / (1 - c)) - self.log_odds",
        "np.log(c / (1 - c)) + self.log_odds",
        "planning/test_success_within.py planning/test_episode_model.py",
    ),
    Fault(
        "sets that were left keep their value: costs that were raised fall again",
        "planning/posterior.py",
        "np.where(departures > 0,",
        "np.where(departures < 0,",
        "planning/test_posterior.py",
    ),
    Fault(
        "only the last failure counts",
        "planning/posterior.py",
        "count += share * (targets == target).all(axis=-1)",
        "count = share * (targets == target).all(axis=-1)",
        "planning/test_posterior.py",
    ),
)
