"""Faults in detecting, exploring and practising."""

from attribute_planner.experiments.reliability.faults.fault import Fault

ATTEMPTS = "phases/test_attempts.py"

FAULTS = (
    Fault("hindsight crosses the end of episodes", "phases/attempt_batch.py", "later[0] & ~over", "later[0]", ATTEMPTS),
    Fault(
        "attempts that are cut off do not count",
        "phases/attempt_counts.py",
        "counted = (outcome.ended | trajectories.truncated) & known",
        "counted = outcome.ended & known",
        ATTEMPTS,
    ),
    Fault(
        "attempts that began too late count",
        "phases/attempt_counts.py",
        "known &= steps_left[:, None] + 1 + info.age >= horizon",
        "known &= steps_left[:, None] + 1 + info.age >= 0 * horizon",
        ATTEMPTS,
    ),
    Fault(
        "a new attempt keeps the age of the last",
        "phases/attempts.py",
        "age=jnp.where(begins, 0, memory.age)",
        "age=memory.age",
        ATTEMPTS,
    ),
    Fault(
        "to arrive with a fatal end is a success",
        "phases/attempts.py",
        "reached = arrived & ~(timestep.terminated &",
        "reached = arrived & ~(False & timestep.terminated &",
        ATTEMPTS,
    ),
    Fault(
        "the detector is tested on labels that it has learned",
        "phases/detect.py",
        "kept, tested = order[held:], order[:held]",
        "kept, tested = order[held:], order[held:][:held]",
        "phases/test_detect.py",
    ),
    Fault(
        "steps spent never decay",
        "phases/practise.py",
        "else decay * before.spent + spent",
        "else before.spent + spent",
        "phases/test_practise_statistics.py",
    ),
    Fault(
        "attempts never decay",
        "phases/practise.py",
        "decay * before.attempts + attempts",
        "before.attempts + attempts",
        "phases/test_practise_statistics.py",
    ),
    Fault(
        "successes never decay",
        "phases/practise.py",
        "decay * before.successes + successes",
        "before.successes + successes",
        "phases/test_practise_statistics.py",
    ),
    Fault(
        "the bonus falls too fast",
        "phases/bonuses.py",
        "return counts**-0.5",
        "return counts**-1.0",
        "phases/test_explore.py",
    ),
    Fault(
        "untried transitions are not expected to succeed",
        "phases/goal_sampling.py",
        "success = (listing.successes + PRIOR_ATTEMPTS) / (listing.attempts + PRIOR_ATTEMPTS)",
        "success = listing.successes / (listing.attempts + PRIOR_ATTEMPTS)",
        "phases/test_goal_sampling.py",
    ),
    Fault(
        "distant sets are kept without a way",
        "phases/goal_sampling.py",
        "keeps = (far != UNKNOWN) & (ways[jnp.maximum(far, 0), place] != UNKNOWN)",
        "keeps = far != UNKNOWN",
        "phases/test_goal_sampling.py",
    ),
    Fault(
        "neighbours are drawn uniformly",
        "phases/device_graph.py",
        "coin < self.threshold[edge]",
        "coin < 2.0",
        "phases/test_device_graph.py",
    ),
    Fault(
        "sets on the way count the steps before them",
        "phases/passed_sets.py",
        "last + 1 - first - place)",
        "last + 1 - first)",
        "phases/test_passed_sets.py",
    ),
    Fault(
        "an interrupted epoch counts twice",
        "phases/explore.py",
        "self.counts, self.train_state, self.steps = explored.counts.copy(), explored",
        "self.counts, self.train_state, self.steps = explored.counts, explored",
        "phases/test_explore.py",
        is_serious=True,
    ),
)
