"""Faults in detecting, exploring and practising."""

from attribute_planner.experiments.reliability.faults.fault import Fault

FAULTS = (
    Fault(
        "hindsight crosses the end of episodes",
        "phases/attempt_batch.py",
        "outcome.ended | trajectories.over",
        "outcome.ended",
        "phases/test_attempts.py::test_a_reset_is_never_seen_through_in_hindsight",
    ),
    Fault(
        "attempts that are cut off do not count",
        "phases/attempt_counts.py",
        "counted = (outcome.ended | trajectories.truncated) & known",
        "counted = outcome.ended & known",
        "phases/test_attempts.py::test_attempts_are_counted_for_the_edge_that_was_pursued",
    ),
    Fault(
        "attempts that began too late count",
        "phases/attempt_counts.py",
        "known &= steps_left[:, None] + 1 + info.age >= horizon",
        "known &= steps_left[:, None] + 1 + info.age >= 0 * horizon",
        "phases/test_attempts.py::test_attempts_that_begin_too_close_to_the_end_do_not_count",
    ),
    Fault(
        "a new attempt keeps the age of the last",
        "phases/attempts.py",
        "age=jnp.where(begins, 0, memory.age)",
        "age=memory.age",
        "phases/test_attempts.py::test_a_new_attempt_has_no_age_and_one_that_goes_on_keeps_its_own",
    ),
    Fault(
        "to arrive with a fatal end is a success",
        "phases/attempts.py",
        "reached = arrived & ~(timestep.terminated &",
        "reached = arrived & ~(False & timestep.terminated &",
        "phases/test_attempts.py::test_the_end_of_an_episode_fails_the_attempt_and_its_time_limit_interrupts_it",
    ),
    Fault(
        "the detector is tested on labels that it has learned",
        "phases/detect.py",
        "kept, tested = order[held:], order[:held]",
        "kept, tested = order[held:], order[held:][:held]",
        "phases/test_detect.py::test_labels_are_either_learned_or_held_out",
    ),
    Fault(
        "steps spent never decay",
        "phases/practise.py",
        "else decay * before.spent + spent",
        "else before.spent + spent",
        "phases/test_practise_statistics.py::test_old_attempts_successes_and_steps_decay_alike",
    ),
    Fault(
        "attempts never decay",
        "phases/practise.py",
        "decay * before.attempts + attempts",
        "before.attempts + attempts",
        "phases/test_practise_statistics.py::test_old_attempts_successes_and_steps_decay_alike",
    ),
    Fault(
        "successes never decay",
        "phases/practise.py",
        "decay * before.successes + successes",
        "before.successes + successes",
        "phases/test_practise_statistics.py::test_old_attempts_successes_and_steps_decay_alike",
    ),
    Fault(
        "the bonus falls too fast",
        "phases/bonuses.py",
        "return counts**-0.5",
        "return counts**-1.0",
        "phases/test_explore.py::test_bonuses_by_hand",
    ),
    Fault(
        "untried transitions are not expected to succeed",
        "phases/goal_sampling.py",
        "success = (listing.successes + PRIOR_ATTEMPTS * seen) / (listing.attempts + PRIOR_ATTEMPTS)",
        "success = (listing.successes + 0.0 * seen) / (listing.attempts + PRIOR_ATTEMPTS)",
        "phases/test_goal_sampling.py::test_estimates_are_optimistic",
    ),
    Fault(
        "distant sets are kept without a way",
        "phases/goal_sampling.py",
        "keeps = (far != UNKNOWN) & (ways[jnp.maximum(far, 0), place] != UNKNOWN)",
        "keeps = far != UNKNOWN",
        "phases/test_goal_sampling.py::test_a_far_set_is_kept_while_a_way_leads_there_and_drawn_from_those_that_can_be_reached",
    ),
    Fault(
        "neighbours are drawn uniformly",
        "phases/device_graph.py",
        "coin < self.threshold[edge]",
        "coin < 2.0",
        "phases/test_device_graph.py::test_alias_tables_give_each_edge_its_share "
        "phases/test_device_graph.py::test_neighbours_are_drawn_by_their_visits_to_a_power",
    ),
    Fault(
        "sets on the way count the steps before them",
        "phases/passed_sets.py",
        "last + 1 - first - place)",
        "last + 1 - first)",
        "phases/test_passed_sets.py::test_each_set_on_the_way_is_a_source_once",
    ),
    Fault(
        "an interrupted epoch counts twice",
        "phases/explore.py",
        "self.counts, self.train_state, self.steps = explored.counts.copy(), explored",
        "self.counts, self.train_state, self.steps = explored.counts, explored",
        "phases/test_explore.py::test_what_was_counted_before_an_epoch_is_not_changed_by_it",
        is_serious=True,
    ),
)
