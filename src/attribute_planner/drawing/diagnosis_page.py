"""A diagnosis as one HTML page: no scripts, no other files; pictures are drawn into it."""

import base64
import tempfile
from html import escape
from pathlib import Path

from attribute_planner.diagnosis.finding import KINDS, Diagnosis, Finding, Measured
from attribute_planner.drawing.graph_picture import draw_graph
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
svg, img { max-width: 100%; height: auto; } img { background: #fff; border-radius: 10px; }
svg text { font: 13px system-ui, sans-serif; fill: var(--ink); }
.planned { fill: var(--planned); } .reached { fill: var(--reached); } .weak { fill: var(--weak); }
.ground { fill: var(--line); }
"""

WIDTH, ROW, EVIDENCE = 800, 30, 250
"""Width of drawings, height of a row in them, and width of the words at its right, in pixels."""


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
    """A bar for each task: planned above, reached below."""
    rows, left, full = [], 200, WIDTH - 200 - EVIDENCE
    for number, each in enumerate(measured):
        top, reached = number * (2 * ROW), each.successes / each.episodes
        rows += [
            _text(0, top + 25, each.task),
            _rectangle(left, top + 6, full * each.planned, 12, "planned"),
            _text(left + full * each.planned + 6, top + 17, f"{percent(each.planned)} planned"),
            _rectangle(left, top + 22, full * reached, 12, "reached"),
            _text(left + full * reached + 6, top + 33, f"{each.successes} of {each.episodes} reached"),
        ]
    return _svg(len(measured) * 2 * ROW, rows)


def _plan(plan: Plan) -> str:
    goal = f"<h3>{escape(plan.goal.text(plan.space))}</h3>"
    if not plan.reachable:
        return f"{goal}<p>No plan: {escape(plan.reason)}</p>\n"
    return f"{goal}<p>{percent(plan.probability)} planned</p>{plan_drawing(plan)}\n"


def plan_drawing(plan: Plan) -> str:
    """A row for each transition: what it changes, a bar of its probability, and the evidence."""
    rows, left, full = [], 280, WIDTH - 280 - EVIDENCE
    for number, (change, evidence) in enumerate(zip(plan.changes, plan.evidence, strict=True)):
        middle, length = number * ROW + 19, full * evidence.probability
        words = ", ".join(f"{name} → {value}" for name, value in change.items())
        rows += [
            _text(0, middle, f"{number + 1}. {words if len(words) <= 38 else words[:37] + '…'}"),
            _rectangle(left, middle - 11, full, 14, "ground"),
            _rectangle(left, middle - 11, length, 14, "reached" if evidence.probability >= 0.5 else "weak"),
            _text(left + full + 8, middle, str(evidence)),
        ]
    return _svg(len(plan.evidence) * ROW, rows)


def graph_image(table: TransitionTable, plans: list[Plan]) -> str:
    """The graph with the least probable plan that exists; empty if it is too large."""
    if not 0 < table.num_nodes <= MAX_DRAWN:
        return ""
    plan = min((each for each in plans if each.reachable), key=lambda each: each.probability, default=None)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.png"
        draw_graph(path, table, plan)
        image = base64.b64encode(path.read_bytes()).decode()
    return f'<img alt="The attribute graph" src="data:image/png;base64,{image}">'


def _svg(height: int, rows: list[str]) -> str:
    inside = "".join(rows)
    return f'<svg viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">{inside}</svg>'


def _text(x: float, y: float, text: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}">{escape(text)}</text>'


def _rectangle(x: float, y: float, width: float, height: float, kind: str) -> str:
    return f'<rect x="{x:.0f}" y="{y:.0f}" width="{width:.1f}" height="{height:.0f}" rx="3" class="{kind}"/>'
