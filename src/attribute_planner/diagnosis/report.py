"""The report at the end of training: a plan for each task, and the success of a few episodes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax

from attribute_planner.agent import Agent
from attribute_planner.diagnosis.diagnose import diagnosis_of_agent
from attribute_planner.diagnosis.finding import Diagnosis, Finding
from attribute_planner.diagnosis.tasks import Asked, ask
from attribute_planner.diagnosis.wording import percent
from attribute_planner.planning.plan import Plan

EPISODES = 10
"""Episodes of each task."""

MIN_IMPORTANCE, MAX_WARNINGS = 0.05, 3
"""Which findings are warnings of the report; `Agent.diagnose` lists all."""


@dataclass(frozen=True)
class TaskReport:
    """The result of an agent on a task.

    plan: for one of its goals, that of median probability.
    planned: mean probability of the plans of all goals.
    """

    task: str
    plan: Plan
    planned: float
    episodes: int
    successes: int

    def __str__(self) -> str:
        goal, plan = self.plan.goal.text(self.plan.space), str(self.plan).replace("\n", "\n  ")
        rate = f"{self.successes} of {self.episodes} episodes succeed, {percent(self.planned)} planned"
        return f"{self.task}: {rate}\n  {goal}: {plan}"


@dataclass(frozen=True)
class Report:
    """The report of a training run.

    tasks: one entry for each task of the environment.
    warnings: the most important findings of a diagnosis.
    """

    tasks: list[TaskReport]
    warnings: list[Finding]

    def __str__(self) -> str:
        return "\n".join([*map(str, self.tasks), *(f"warning: {each.message}" for each in self.warnings)])

    def to_json(self) -> dict[str, Any]:
        """The report as data for a JSON file."""
        names = ("task", "planned", "episodes", "successes")
        tasks = [{**{name: getattr(each, name) for name in names}, "plan": each.plan.to_json()} for each in self.tasks]
        return {"tasks": tasks, "warnings": [each.message for each in self.warnings]}


def report_on(agent: Agent) -> Report:
    """Plans and episodes of all tasks of the agent's environment."""
    ask_key, steps_key = jax.random.split(jax.random.key(0))
    asked = ask(agent, EPISODES, run=True, key=ask_key)
    return report_of(asked, diagnosis_of_agent(agent, asked, key=steps_key))


def report_of(asked: Sequence[Asked], diagnosis: Diagnosis) -> Report:
    """The report on goals that were pursued."""
    tasks = []
    for each in diagnosis.measured:
        plans = sorted((one.plan for one in asked if one.task.name == each.task), key=lambda plan: plan.probability)
        tasks.append(TaskReport(each.task, plans[len(plans) // 2], each.planned, each.episodes, each.successes))
    important = [each for each in diagnosis.findings if each.importance >= MIN_IMPORTANCE]
    return Report(tasks, important[:MAX_WARNINGS])
