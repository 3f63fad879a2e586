"""What each of our changes buys by itself; the paper has no such tables. All are read against its own agent."""

from attribute_planner.experiments.run_specs import blocks, grid_worlds
from attribute_planner.experiments.runs import OURS, PUBLISHED, Execution
from attribute_planner.experiments.tables.layout import Column, Row, Table, entry

_MAIN = {"switches": ("multi-step", 83.1), "crafting": ("craft", 99.8)}


def _grid_row(label: str, variant: str, execution: Execution) -> Row:
    entries = [
        entry(f"{environment}-{variant}", task, execution, against=number)
        for environment, (task, number) in _MAIN.items()
    ]
    return Row(label, "no tasks", tuple(entries))


GRID_WORLDS = Table(
    "grid-worlds-changes",
    "Our changes on the grid worlds, one at a time",
    "not in the paper; its agent has 83.1 and 99.8",
    (Column("switches"), Column("crafting")),
    (
        _grid_row("as published", "paper", PUBLISHED),
        _grid_row("+ steps cost 0.01 instead of 0.1", "step-reward", PUBLISHED),
        _grid_row("+ an attempt ends with any change", "any-change", PUBLISHED),
        _grid_row("+ that, and hindsight", "hindsight", PUBLISHED),
        _grid_row("+ every batch used several times, with traces and a falling step size", "reuse", PUBLISHED),
        _grid_row("+ posterior estimate of c_π", "paper", grid_worlds.POSTERIOR),
        _grid_row("+ memory within the episode", "paper", grid_worlds.MEMORY),
        _grid_row("+ posterior and memory", "paper", OURS),
        _grid_row("training with all changes, executed as published", "default", PUBLISHED),
        _grid_row("… and the posterior", "default", grid_worlds.POSTERIOR),
        _grid_row("… and memory, but not the posterior", "default", grid_worlds.MEMORY),
        _grid_row("all changes", "default", OURS),
    ),
    (
        "An attempt that came into another set than the one aimed at goes on, as the paper's text says. By its "
        "Algorithm 1 any change ends it; with steps that cost 0.1 it then pays to change whatever is near.",
    ),
)


def _blocks_row(label: str, subject: str, execution: Execution) -> Row:
    return Row(label, "1-step", (entry(subject, "multi-step", execution, against=66.7),))


BLOCKS = Table(
    "blocks-changes",
    "Our changes on the blocks, one at a time",
    "not in the paper; its agent has 66.7",
    (Column("multi-step"),),
    (
        _blocks_row("as published", "blocks-paper", PUBLISHED),
        _blocks_row("+ posterior estimate of c_π", "blocks-paper", blocks.POSTERIOR),
        _blocks_row("+ memory within the episode", "blocks-paper", blocks.MEMORY),
        _blocks_row("+ memory and foresight, the outlook not doubted", "blocks-paper", blocks.UNDOUBTED),
        _blocks_row("+ memory and foresight", "blocks-paper", blocks.FORESIGHT),
        _blocks_row("+ imagined transitions", "blocks-paper", blocks.IMAGINED),
        _blocks_row("+ symmetries", "blocks-default", PUBLISHED),
        _blocks_row("all changes", "blocks-default", OURS),
        _blocks_row("… but symmetries", "blocks-paper", OURS),
        _blocks_row("… but imagined transitions", "blocks-default", blocks.SEEN_ONLY),
        _blocks_row("… but foresight", "blocks-default", blocks.WITHOUT_FORESIGHT),
    ),
    ("From a million examples, where imagining has little left to add; see the number of examples.",),
)
