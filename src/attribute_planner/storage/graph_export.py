"""Export of the attribute graph: GraphML, JSON or DOT."""

import json
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from attribute_planner.attributes import value_text
from attribute_planner.errors import unknown_name
from attribute_planner.files.writing import write_bytes
from attribute_planner.transitions.table import TransitionTable

EDGE_FIELDS = ("probability", "attempts", "successes", "visits")


def export_graph(path: Path, table: TransitionTable) -> None:
    """Write a table to a file in the format of its suffix."""
    if path.suffix not in FORMATS:
        raise unknown_name("graph format", path.suffix or str(path), [*FORMATS, ".png", ".svg"])
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, FORMATS[path.suffix](table).encode())


def to_json(table: TransitionTable) -> str:
    """`{"nodes": [{"id", "attributes"}], "edges": [{"source", "target", "probability", …}]}`."""
    nodes = [{"id": i, "attributes": table.space.decode(values)} for i, values in enumerate(table.values)]
    fields = {name: getattr(table, name).tolist() for name in EDGE_FIELDS}
    edges = [
        {"source": int(source), "target": int(target), **{name: column[i] for name, column in fields.items()}}
        for i, (source, target) in enumerate(zip(table.source, table.target, strict=True))
    ]
    return json.dumps({"directed": True, "nodes": nodes, "edges": edges})


def to_graphml(table: TransitionTable) -> str:
    """GraphML, with one key per attribute and per statistic."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
    lines += [_key(f"a{i}", "node", name, "string") for i, name in enumerate(table.space.names)]
    lines += [_key(name, "edge", name, "double") for name in EDGE_FIELDS]
    lines.append('<graph edgedefault="directed">')
    for number, values in enumerate(table.values):
        data = (_data(f"a{i}", value) for i, value in enumerate(table.space.decode(values).values()))
        lines.append(f'<node id="n{number}">{"".join(data)}</node>')
    fields = [(name, getattr(table, name)) for name in EDGE_FIELDS]
    for i, (source, target) in enumerate(zip(table.source, table.target, strict=True)):
        data = "".join(_data(name, float(column[i])) for name, column in fields)
        lines.append(f'<edge source="n{source}" target="n{target}">{data}</edge>')
    return "\n".join([*lines, "</graph>", "</graphml>", ""])


def to_dot(table: TransitionTable) -> str:
    """Graphviz DOT; edges are labelled with their probability."""
    lines = ["digraph attributes {"]
    for number, values in enumerate(table.values):
        label = "\\n".join(
            _escaped(f"{name}={value_text(value)}") for name, value in table.space.decode(values).items()
        )
        lines.append(f'  n{number} [label="{label}"];')
    for source, target, probability in zip(table.source, table.target, table.probability, strict=True):
        lines.append(f'  n{source} -> n{target} [label="{probability:.3f}"];')
    return "\n".join([*lines, "}", ""])


FORMATS: dict[str, Callable[[TransitionTable], str]] = {".graphml": to_graphml, ".json": to_json, ".dot": to_dot}


def _escaped(text: str) -> str:
    """Text inside the quotes of a DOT label."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _key(key: str, domain: str, name: str, kind: str) -> str:
    return f'<key id="{key}" for="{domain}" attr.name={quoteattr(name)} attr.type="{kind}"/>'


def _data(key: str, value: object) -> str:
    return f'<data key="{key}">{escape(str(value))}</data>'
