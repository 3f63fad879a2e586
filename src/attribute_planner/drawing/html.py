"""What a notebook shows of plans, episodes, evaluations, agents and diagnoses: short HTML.

Plans and episodes have the components of the viewer, in a frame of their own; the rest has no scripts.
"""

import base64
import io
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from attribute_planner.agent import Agent
from attribute_planner.attributes import value_text
from attribute_planner.diagnosis.finding import Diagnosis
from attribute_planner.drawing.episode_picture import draw_episode
from attribute_planner.drawing.graph_picture import draw_graph
from attribute_planner.drawing.picture import FAILED, REACHED, colour_of
from attribute_planner.drawing.small_graph import MAX_SETS
from attribute_planner.drawing.words import goal_words
from attribute_planner.evaluation.evaluate import Evaluation
from attribute_planner.planning.episode import ON_THE_WAY, Episode
from attribute_planner.planning.plan import Plan
from attribute_planner.viewer.episode_page import episode_page, in_notebook, plan_page

PLAN_COLUMNS = ("", "change", "c_π", "evidence")
MAX_ROWS = 30
"""Rows of a table that are shown."""


def plan_html(plan: Plan) -> str:
    """The steps of a plan with a bar for each probability, and the graph around it."""
    goal = f"<b>Plan for {escape(goal_words(plan.goal, plan.space))}</b>"
    if not plan.reachable:
        return f"<p>{goal}: <span style='color:{FAILED}'>none, {escape(plan.reason)}</span></p>"
    rows = [
        (str(number), escape(_change(change)), bar(probability), escape(str(evidence)))
        for number, (change, probability, evidence) in enumerate(
            zip(plan.changes, plan.edges, plan.evidence, strict=True), start=1
        )
    ]
    head = f"<p>{goal}: {plan.summary}</p>"
    return head + in_notebook(plan_page(plan), 410) + folded("As a table", table_html(PLAN_COLUMNS, rows))


def episode_html(episode: Episode) -> str:
    """The verdict, the episode to scrub through, its picture, and where attempts ended."""
    verdict, colour = ("reached", REACHED) if episode.success else ("not reached", FAILED)
    replans = f"{episode.replans} replan{'' if episode.replans == 1 else 's'}"
    words = f"{verdict} in {episode.steps} steps, {replans}"
    reason = "" if episode.success else f": {escape(episode.reason)}"
    goal = escape(goal_words(episode.goal, episode.space))
    head = f"<p><b>{goal}</b> <span style='color:{colour}'>{words}{reason}</span></p>"
    rows = [
        (str(step.step + 1), escape(_difference(step.observed, step.target)), escape(step.outcome))
        for step in episode.trace
        if step.outcome != ON_THE_WAY
    ]
    film = in_notebook(episode_page(episode), 890) if episode.trace else ""
    drawn = picture_html(draw_episode(None, episode)) if episode.trace else ""
    return head + film + folded("As a picture and a table", drawn + table_html(("step", "attempt", "outcome"), rows))


def evaluation_html(result: Evaluation) -> str:
    """The success rate with its interval, and the reasons of failures."""
    low, high = result.interval.low, result.interval.high
    head = (
        f"<p><b>{escape(result.environment)}, {escape(result.task)}</b>: {result.success:.1%} of {result.episodes:,} "
        f"episodes succeed (95 % interval {low:.1%} to {high:.1%}; {result.planned:.1%} planned)</p>"
    )
    rows = [(escape(reason), f"{count:,}") for reason, count in result.failures.items()]
    return head + bar(result.success, 240) + table_html(("failed, because", "episodes"), rows)


def agent_html(agent: Agent) -> str:
    """The environment, the attributes and the tasks of an agent, and its graph if that is small."""
    source = "a detector" if agent.detector else "the environment"
    head = (
        f"<p><b>Agent for {escape(agent.env.name)}</b>: {agent.table.num_nodes:,} attribute sets, "
        f"{agent.table.num_edges:,} transitions; attributes from {source}</p>"
    )
    attributes = [(escape(each.name), escape(_values(each.values))) for each in agent.env.attributes]
    tasks = [(escape(each.name), escape(each.description), f"{each.max_steps:,}") for each in agent.env.tasks.values()]
    drawn = picture_html(draw_graph(None, agent.table)) if 0 < agent.table.num_nodes <= MAX_SETS else ""
    return head + table_html(("attribute", "values"), attributes) + table_html(("task", "goal", "steps"), tasks) + drawn


def diagnosis_html(diagnosis: Diagnosis) -> str:
    """The findings in order, and how the tasks went."""
    tasks = [
        (escape(each.task), f"{each.successes} of {each.episodes}", f"{each.planned:.0%}")
        for each in diagnosis.measured
    ]
    found = "".join(
        f"<li><b>{escape(each.kind)}</b> ({each.importance:.0%} of the goals): {escape(each.message)}</li>"
        for each in diagnosis.findings
    )
    summary = f"<p>{escape(diagnosis.summary)}</p>" if diagnosis.summary else ""
    return table_html(("task", "reached", "planned"), tasks) + summary + (f"<ol>{found}</ol>" if found else "")


def table_html(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; nothing without rows. Cells are HTML already."""
    rows = list(rows)
    if not rows:
        return ""
    left = "style='text-align:left'"
    head = "".join(f"<th {left}>{escape(each)}</th>" for each in columns)
    body = "".join("<tr>" + "".join(f"<td {left}>{cell}</td>" for cell in row) + "</tr>" for row in rows[:MAX_ROWS])
    more = f"<p>… {len(rows) - MAX_ROWS:,} more</p>" if len(rows) > MAX_ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def folded(title: str, content: str) -> str:
    """Content that is shown on a click, and where frames are not shown; nothing without content."""
    return f"<details><summary>{escape(title)}</summary>{content}</details>" if content else ""


def bar(probability: float, width: int = 120) -> str:
    """A probability as a bar."""
    red, green, blue = (round(255 * part) for part in colour_of(probability))
    inside = f"width:{width * probability:.0f}px;height:10px;background:rgb({red},{green},{blue})"
    return (
        f"<div title='{probability:.1%}' style='width:{width}px;background:#e8ebf1'><div style='{inside}'></div></div>"
    )


def picture_html(image: Any) -> str:
    """An image inside the page."""
    drawn = io.BytesIO()
    image.save(drawn, format="PNG")
    return f"<img alt='' style='max-width:100%' src='data:image/png;base64,{_base64(drawn.getvalue())}'>"


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _change(change: dict[str, Any]) -> str:
    return ", ".join(f"{name} → {value_text(value)}" for name, value in change.items())


def _difference(before: dict[str, Any], after: dict[str, Any] | None) -> str:
    if after is None:
        return "no plan"
    return _change({name: value for name, value in after.items() if before[name] != value})


def _values(values: Sequence[Any]) -> str:
    shown = [str(each) for each in values]
    return ", ".join(shown) if len(shown) <= 12 else f"{', '.join(shown[:4])} … {shown[-1]} ({len(shown)})"
