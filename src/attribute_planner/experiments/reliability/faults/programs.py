"""Faults in judging, environments, ranges and signals."""

from attribute_planner.experiments.reliability.faults.fault import Fault

FAULTS = (
    Fault(
        "a claim is a success",
        "evaluation/judge.py",
        "if episode.claimed and satisfied[-1]:",
        "if episode.claimed:",
        "evaluation/test_judge.py::test_success_is_the_goal_claimed_where_it_is_true",
    ),
    Fault(
        "strings are taken for flags",
        "environments/gymnasium_bridge/returned.py",
        "    if isinstance(value, bool | np.bool_):\n",
        "    if True:\n",
        "experiments/reliability/test_bad_environments.py::test_faults_of_environments_are_named_with_their_place",
    ),
    Fault(
        "environments that hang are not ended",
        "environments/watchdog.py",
        "            raise HungError\n",
        "            return\n",
        "environments/test_watchdog.py::test_a_call_that_takes_too_long_is_interrupted",
    ),
    Fault(
        "NaN is in every range",
        "ranges.py",
        "if not math.isfinite(value):",
        "if False:",
        "test_ranges.py::test_a_range_says_what_a_number_must_be",
    ),
    Fault(
        "signals interrupt what is saved together",
        "interruption.py",
        "signal.signal(number, lambda received, _: waiting.append(received))",
        "pass",
        "test_interruption.py::test_signals_wait_for_what_is_changed_together",
        is_serious=True,
    ),
    Fault(
        "nothing is saved before the process is ended",
        "interruption.py",
        "            save()\n",
        "            pass\n",
        "test_interruption.py::test_a_program_that_does_not_end_is_saved_and_ended",
        is_serious=True,
    ),
)
