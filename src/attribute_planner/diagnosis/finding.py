"""`Finding` and `Diagnosis`: reasons for failures, as data and as text."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from attribute_planner.planning.plan import Plan
from attribute_planner.transitions.evidence import percent

KINDS = {
    "unseen-value": "a declared value that training never saw",
    "no-way": "a goal to which no known transitions lead, or not within the step limit",
    "weak-edge": "a transition on plans that rarely succeeds or was rarely attempted",
    "aliasing": "a transition that succeeds in some states only, which the attributes do not distinguish",
    "noise": "an attribute that changes at random",
    "detector": "a detector that is often wrong, or was tested on few labels",
    "miscalibrated": "plans whose probability differs from the measured success",
}
"""The kinds of findings, and what each means."""


@dataclass(frozen=True)
class Finding:
    """One reason for failures.

    kind: a name in `KINDS`.
    message: the observation, its evidence, and what to change.
    importance: estimated share of the goals of the tasks that fail because of it, from 0 to 1.
    evidence: the numbers behind the message; plain values.
    """

    kind: str
    message: str
    importance: float
    evidence: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Measured:
    """Success on some episodes of a task.

    planned: mean probability of the plans at the start.
    """

    task: str
    episodes: int
    successes: int
    planned: float


BY_DETECTOR = "Success is what the detector sees: nothing else knows the attributes."


@dataclass(frozen=True)
class Diagnosis:
    """The reasons why an agent fails.

    findings: the most important first; empty if nothing was found.
    measured: one entry for each task; empty if no episodes were run.
    plans: the least probable plan of each task.
    by_detector: whether the detector judges success, because nothing else knows the attributes.
    """

    findings: list[Finding]
    measured: list[Measured] = field(default_factory=list)
    plans: list[Plan] = field(default_factory=list)
    by_detector: bool = False

    def __repr__(self) -> str:
        kinds = ", ".join(each.kind for each in self.findings)
        return f"Diagnosis({kinds or 'no cause of failures was found'})"

    def _repr_html_(self) -> str:
        from attribute_planner.drawing.html import diagnosis_html

        return diagnosis_html(self)

    def __str__(self) -> str:
        lines = [
            f"{each.task}: {each.successes} of {each.episodes} episodes succeed, {percent(each.planned)} planned"
            for each in self.measured
        ]
        found = [f"{number}. {each.kind}: {each.message}" for number, each in enumerate(self.findings, start=1)]
        return "\n".join([*lines, *([self.summary] if self.summary else []), *found])

    @property
    def summary(self) -> str:
        """What there is to say before the findings, if anything."""
        judged = [BY_DETECTOR] if self.by_detector and self.measured else []
        return " ".join(judged + self._about_findings())

    def _about_findings(self) -> list[str]:
        if not self.findings:
            return ["No cause of failures was found."]
        if self.measured and all(each.successes == each.episodes for each in self.measured):
            return ["No episode failed. What follows are weaknesses on the plans, which other episodes may show:"]
        return []

    def to_json(self) -> dict[str, Any]:
        """The diagnosis as data for a JSON file."""
        return {
            "findings": [{**vars(each), "evidence": dict(each.evidence)} for each in self.findings],
            "tasks": [vars(each) for each in self.measured],
            "plans": [{"goal": each.goal.text(each.space), **each.to_json()} for each in self.plans],
        }


def ordered(findings: list[Finding]) -> list[Finding]:
    """The most important first; those of equal importance stay in their order."""
    return sorted(findings, key=lambda finding: -finding.importance)
