"""The table of the README: the paper's agent and ours on the main tasks."""

from attribute_planner.experiments.runs import PUBLISHED, ours_in
from attribute_planner.experiments.tables.layout import Column, Entry, Row, Table, entry


def _row(label: str, variant: str, task: str, published: float, suffix: str = "") -> Row:
    paper, ours = f"{variant}-paper{suffix}", f"{variant}-default{suffix}"
    return Row(
        label,
        "",
        (
            Entry(published),
            entry(paper, task, PUBLISHED, against=published),
            entry(ours, task, ours_in(variant), against=published),
        ),
    )


TABLE = Table(
    "summary",
    "Results",
    "",
    (Column("paper"), Column("ours, trained and executed as published"), Column("ours, default")),
    (
        _row("switches, multi-step", "switches", "multi-step", 83.1),
        _row("crafting", "crafting", "craft", 99.8),
        _row("blocks, multi-step, from images", "blocks", "multi-step", 66.7),
        _row("blocks, multi-step, underspecified", "blocks", "multi-step-underspecified", 63.5),
        _row("blocks, 4-stack", "blocks", "4-stack", 98.5),
        _row("blocks, 1-step", "blocks", "1-step", 98.8),
        _row("blocks, multi-step, 100,000 examples", "blocks", "multi-step", 47.0, "-100k"),
        _row("blocks, multi-step, 10,000 examples", "blocks", "multi-step", 3.0, "-10k"),
        _row("blocks, continuous, multi-step", "blocks-continuous", "multi-step", 17.0),
        _row("StarCraft (simulator), small", "starcraft-small", "build", 31.7),
        _row("StarCraft (simulator), large", "starcraft-large", "build", 35.2),
    ),
)
