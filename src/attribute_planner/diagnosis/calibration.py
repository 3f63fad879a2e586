"""Plans whose probability differs from the measured success."""

from collections.abc import Sequence

from attribute_planner.diagnosis.finding import Finding, Measured
from attribute_planner.diagnosis.tasks import Asked
from attribute_planner.diagnosis.wording import percent
from attribute_planner.evaluation.statistics import success_interval

TOLERANCE = 0.05
"""Planned success may be this far outside the interval of the measured one."""

BROKEN_PROMISE, MODESTY = 0.5, 0.1
"""Importance of the difference if the probability is too high, whose cause other findings may name, or too low."""


def measured_tasks(asked: Sequence[Asked]) -> list[Measured]:
    """Success by task; empty if no episodes were run."""
    measured = []
    for name in dict.fromkeys(each.task.name for each in asked if each.success is not None):
        own = [each for each in asked if each.task.name == name]
        planned = sum(each.plan.probability for each in own) / len(own)
        measured.append(Measured(name, len(own), sum(bool(each.success) for each in own), planned))
    return measured


def broken_promises(measured: Sequence[Measured]) -> float:
    """The share of the episodes that fail although their plans promise success."""
    gaps = [max(each.planned - each.successes / each.episodes, 0.0) for each in measured]
    return sum(gaps) / len(gaps) if gaps else 0.0


def miscalibrated(measured: Sequence[Measured]) -> list[Finding]:
    """Tasks for which planned and measured success differ by more than chance explains."""
    findings = []
    for each in measured:
        interval = success_interval(each.successes, each.episodes)
        more, less = each.planned - interval.high, interval.low - each.planned
        if max(more, less) <= TOLERANCE:
            continue
        weight = BROKEN_PROMISE if more > less else MODESTY
        advice = "Attempts in practice differ from episodes: train for more steps." if more > less else ""
        message = (
            f"Plans for task {each.task!r} have a mean probability of {percent(each.planned)}, but {each.successes} of "
            f"{each.episodes} episodes succeed. {advice}"
        ).strip()
        importance = weight * abs(each.planned - each.successes / each.episodes) / len(measured)
        findings.append(Finding("miscalibrated", message, importance, vars(each)))
    return findings
