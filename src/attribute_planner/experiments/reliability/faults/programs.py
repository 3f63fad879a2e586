"""Faults in judging, environments, ranges and signals."""

from attribute_planner.experiments.reliability.faults.fault import Fault

FAULTS = (
    Fault(
        "a claim is a success",
        "evaluation/judge.py",
        "if episode.claimed and satisfied[-1]:",
        "if episode.claimed:",
        "evaluation/test_judge.py",
    ),
    Fault(
        "strings are taken for flags",
        "environments/gymnasium_bridge/returned.py",
        "    if isinstance(value, bool | np.bool_):\n",
        "    if True:\n",
        "experiments/reliability/test_bad_environments.py",
    ),
    Fault(
        "environments that hang are not ended",
        "environments/watchdog.py",
        "            raise HungError\n",
        "            return\n",
        "environments/test_watchdog.py",
    ),
    Fault("NaN is in every range", "ranges.py", "if not math.isfinite(value):", "if False:", "test_ranges.py"),
    Fault(
        "signals interrupt what is saved together",
        "interruption.py",
        "signal.signal(number, lambda received, _: waiting.append(received))",
        "pass",
        "test_interruption.py",
        is_serious=True,
    ),
    Fault(
        "nothing is saved before the process is ended",
        "interruption.py",
        "            save()\n",
        "            pass\n",
        "test_interruption.py",
        is_serious=True,
    ),
)
