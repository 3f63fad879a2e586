"""`attribute-planner graph`."""

from pathlib import Path
from typing import Any

import numpy as np

from attribute_planner.command_line.arguments import OptionalPath, Run
from attribute_planner.command_line.printing import console, print_json, print_table


def graph(run: Run, export: OptionalPath = None, edges: int = 5, json: bool = False) -> int:
    """Show the attribute graph of an agent: its size, and its most and least reliable transitions.

    Args:
        run: Run directory, or name of a shipped agent.
        export: Write the graph to this file, as .graphml, .json or .dot, or an image of it, as .png or .svg.
        edges: Number of most reliable and of least reliable transitions to show.
        json: Print the result as JSON.
    """
    import attribute_planner as ap
    from attribute_planner.configuration import require_positive

    require_positive("edges", edges)
    agent = ap.load(run)
    if export is not None:
        _export(export, agent)
    described = describe_graph(agent.table, edges)
    if json:
        print_json(described)
        return 0
    console.print(
        f"{described['sets']} attribute sets, {described['edges']} transitions, "
        f"mean probability {described['mean_probability']:.3f}"
    )
    for title, rows in (("Best", described["best"]), ("Worst", described["worst"])):
        shown = [(row["from"], row["change"], f"{row['probability']:.3f}", round(row["attempts"], 1)) for row in rows]
        print_table(("from", "change", "c_π", "attempts"), shown, title)
    return 0


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
        "from": " ".join(f"{name}={value}" for name, value in before.items()),
        "change": " ".join(f"{name}={value}" for name, value in after.items() if before[name] != value),
        "probability": float(table.probability[edge]),
        "attempts": float(table.attempts[edge]),
        "visits": int(table.visits[edge]),
    }


def _export(path: Path, agent: Any) -> None:
    from attribute_planner.drawing.graph_picture import IMAGE_SUFFIXES, draw_graph
    from attribute_planner.storage.graph_export import export_graph

    if path.suffix in IMAGE_SUFFIXES:
        draw_graph(path, agent.table)
    else:
        export_graph(path, agent.table)
