"""`attribute-planner graph`."""

from pathlib import Path
from typing import Any

import numpy as np

from attribute_planner.command_line.arguments import OptionalGoal, OptionalPath, Run
from attribute_planner.command_line.printing import console, print_json, print_table, say_written


def graph(
    run: Run,
    export: OptionalPath = None,
    goal: OptionalGoal = None,
    start: OptionalGoal = None,
    edges: int = 5,
    json: bool = False,
) -> int:
    """Show the attribute graph of an agent: its size, and its most and least reliable transitions.

    The environment of the agent is not needed.

    Args:
        run: Run directory, or name of a shipped agent.
        export: Write the graph to this file, as .graphml, .json or .dot, or an image of it, as .png or .svg.
        goal: Also plan a path to this goal, for example "switch_0=red", and draw it into the image.
        start: Attribute set in which the plan begins; values that are not given are those of the set that exploration
            visited most often. Default: that set.
        edges: Number of most reliable and of least reliable transitions to show.
        json: Print the result as JSON.
    """
    from attribute_planner.ranges import require_positive
    from attribute_planner.storage.agents import find_run
    from attribute_planner.storage.run_directory import RunDirectory

    require_positive("edges", edges)
    directory = RunDirectory(find_run(run))
    table = directory.table()
    plan = None if goal is None else _plan(directory.planner(), table, goal, start)
    if export is not None:
        _export(export, table, plan)
        say_written(export)
    described = describe_graph(table, edges)
    if json:
        print_json(described if plan is None else {**described, "plan": plan.to_json()})
        return 0
    console.print(
        f"{described['sets']} attribute sets, {described['edges']} transitions, "
        f"mean probability {described['mean_probability']:.3f}"
    )
    if table.num_edges <= 2 * edges:
        listed = {"Best first": describe_graph(table, table.num_edges)["best"]}
    else:
        listed = {"Best": described["best"], "Worst": described["worst"]}
    for title, rows in listed.items():
        shown = [(row["from"], row["change"], f"{row['probability']:.3f}", round(row["attempts"], 1)) for row in rows]
        print_table(("from", "change", "c_π", "attempts"), shown, title)
    if plan is not None:
        console.print(f"Plan from {_words(plan.steps[0])}: {plan}", markup=False, soft_wrap=True)
    return 0


def _plan(planner: Any, table: Any, goal: str, start: str | None) -> Any:
    """The plan for a goal, from a set that is given or from the one that was visited most often."""
    from attribute_planner.attributes import parse_goal

    values = table.values[table.most_visited()].copy()
    if start is not None:
        given = parse_goal(table.space, start)
        values[given.wanted] = given.values[given.wanted]
    return planner.plan(values, parse_goal(table.space, goal))


def describe_graph(table: Any, count: int) -> dict[str, Any]:
    """Size, and the edges with the highest and the lowest probability."""
    order = np.argsort(-table.probability, kind="stable")
    return {
        "sets": table.num_nodes,
        "edges": table.num_edges,
        "visits": int(table.visits.sum()),
        "mean_probability": float(table.probability.mean()) if table.num_edges else 0.0,
        "best": [_describe_edge(table, edge) for edge in order[:count].tolist()],
        "worst": [_describe_edge(table, edge) for edge in order[::-1][:count].tolist()],
    }


def _describe_edge(table: Any, edge: int) -> dict[str, Any]:
    before, after = (table.space.decode(table.values[end[edge]]) for end in (table.source, table.target))
    return {
        "from": _words(before),
        "change": _words({name: value for name, value in after.items() if before[name] != value}),
        "probability": float(table.probability[edge]),
        "attempts": float(table.attempts[edge]),
        "visits": int(table.visits[edge]),
    }


def _words(values: dict[str, Any]) -> str:
    from attribute_planner.attributes import value_text

    return " ".join(f"{name}={value_text(value)}" for name, value in values.items())


def _export(path: Path, table: Any, plan: Any) -> None:
    from attribute_planner.drawing.graph_picture import draw_graph
    from attribute_planner.drawing.picture import IMAGE_SUFFIXES
    from attribute_planner.storage.graph_export import export_graph

    if path.suffix in IMAGE_SUFFIXES:
        draw_graph(path, table, plan)
    else:
        export_graph(path, table)
