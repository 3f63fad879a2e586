"""A diagnosis as one HTML page: no scripts, no other files; pictures are drawn into it."""

import base64
import tempfile
from html import escape
from pathlib import Path

from attribute_planner.diagnosis.finding import KINDS, Diagnosis, Finding, Measured
from attribute_planner.drawing.graph_picture import draw_graph
from attribute_planner.drawing.words import change_words, goal_words
from attribute_planner.planning.plan import Plan
from attribute_planner.transitions.evidence import percent
from attribute_planner.transitions.table import TransitionTable

MAX_DRAWN = 2_000
"""Larger graphs are not drawn."""

STYLE = """
:root { color-scheme: light dark; --page: #f5f6f9; --card: #fff; --ink: #1b2333; --soft: #5c677d; --line: #dfe3eb;
  --planned: #a9c7e2; --reached: #1a6cb2; --weak: #be460f; }
@media (prefers-color-scheme: dark) { :root { --page: #10141c; --card: #181e29; --ink: #e8ecf4; --soft: #9aa6bd;
  --line: #2c3546; --planned: #3f5d78; --reached: #62b2f0; --weak: #f07a42; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); max-width: 60rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: 0; } h2 { font-size: 1.1rem; margin-top: 0; }
h3 { font-size: 1rem; margin-bottom: 0; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 14px;
  padding: 1.1rem 1.3rem; margin-top: 1rem; }
ol { padding-left: 1.3rem; margin: 0; } li { margin-bottom: .8rem; } p { margin: .3rem 0; overflow-wrap: anywhere; }
.kind { font-weight: 600; } .share { color: var(--soft); }
.wide { overflow-x: auto; } .wide img { width: 100%; min-width: 46rem; background: #fff; border-radius: 10px; }
h3, .bars .name { overflow-wrap: anywhere; }
.bars { display: grid; grid-template-columns: 17rem minmax(0, 1fr) 13rem; gap: .3rem 1rem; align-items: center;
  font-size: .88rem; margin: .5rem 0 1.2rem; }
.bar { height: .8rem; border-radius: 3px; background: var(--line); overflow: hidden; }
.bar > i { display: block; height: 100%; background: var(--reached); }
.bar > .planned { background: var(--planned); } .bar > .weak { background: var(--weak); }
@media (max-width: 44rem) { .bars { grid-template-columns: minmax(0, 1fr) 9.5rem; gap: .2rem .8rem; }
  .bars .name { grid-column: 1 / -1; margin-top: .4rem; } .bars .name:empty { display: none; } }
"""


def write_diagnosis_page(path: Path, diagnosis: Diagnosis, table: TransitionTable, title: str) -> None:
    """Write the page; the title is the name of the run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(diagnosis_page(diagnosis, table, title), encoding="utf-8")


def diagnosis_page(diagnosis: Diagnosis, table: TransitionTable, title: str) -> str:
    """The page as text."""
    findings = f"<ol>{''.join(map(_finding, diagnosis.findings))}</ol>" if diagnosis.findings else ""
    summary = f"<p>{escape(diagnosis.summary)}</p>" if diagnosis.summary else ""
    sections = [
        f"<h1>Diagnosis of {escape(title)}</h1>",
        f"<p>{table.num_nodes:,} attribute sets, {table.num_edges:,} transitions.</p>",
        _section("What to change, in order", summary + findings),
        _section("Planned and reached", success_bars(diagnosis.measured) if diagnosis.measured else ""),
        _section("The least probable plan of each task", "".join(map(_plan, diagnosis.plans))),
        _section("The graph", graph_image(table, diagnosis.plans)),
    ]
    view = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    head = f'<meta charset="utf-8">{view}<title>{escape(title)}</title><style>{STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>\n' + "\n".join(sections) + "\n</body></html>\n"


def _section(title: str, content: str) -> str:
    return f"<section><h2>{escape(title)}</h2>\n{content}</section>" if content else ""


def _finding(finding: Finding) -> str:
    kind = f'<span class="kind" title="{escape(KINDS[finding.kind])}">{escape(finding.kind)}</span>'
    share = f'<span class="share">{percent(finding.importance)} of the goals</span>'
    return f"<li>{kind} ({share}): {escape(finding.message)}</li>\n"


def success_bars(measured: list[Measured]) -> str:
    """Two bars for each task: planned above, reached below."""
    rows = []
    for each in measured:
        planned, reached = f"{percent(each.planned)} planned", f"{each.successes} of {each.episodes} reached"
        rows += [
            _row(each.task, each.planned, "planned", planned),
            _row("", each.successes / each.episodes, "reached", reached),
        ]
    return _bars(rows)


def _plan(plan: Plan) -> str:
    goal = f'<h3 title="{escape(plan.goal.text(plan.space))}">{escape(goal_words(plan.goal, plan.space))}</h3>'
    if not plan.reachable:
        return f"{goal}<p>No plan: {escape(plan.reason)}</p>\n"
    return f"{goal}<p>{percent(plan.probability)} planned</p>{plan_drawing(plan)}\n"


def plan_drawing(plan: Plan) -> str:
    """A row for each transition: what it changes, a bar of its probability, and the evidence."""
    rows = []
    for number, (change, evidence) in enumerate(zip(plan.changes, plan.evidence, strict=True), start=1):
        kind = "reached" if evidence.probability >= 0.5 else "weak"
        rows.append(_row(f"{number}. {change_words(change)}", evidence.probability, kind, str(evidence)))
    return _bars(rows)


def _bars(rows: list[str]) -> str:
    return f'<div class="bars">{"".join(rows)}</div>'


def _row(name: str, share: float, kind: str, words: str) -> str:
    """A name, a bar and words beside it."""
    bar = f'<span class="bar"><i class="{kind}" style="width:{100 * share:.1f}%"></i></span>'
    return f'<span class="name">{escape(name)}</span>{bar}<span>{escape(words)}</span>'


def graph_image(table: TransitionTable, plans: list[Plan]) -> str:
    """The graph with the least probable plan that exists; empty if it is too large."""
    if not 0 < table.num_nodes <= MAX_DRAWN:
        return ""
    plan = min((each for each in plans if each.reachable), key=lambda each: each.probability, default=None)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.png"
        draw_graph(path, table, plan)
        image = base64.b64encode(path.read_bytes()).decode()
    return f'<div class="wide"><img alt="The attribute graph" src="data:image/png;base64,{image}"></div>'
