"""The effect of each of our changes alone. These tables are not in the paper; they are compared with its agent."""

from attribute_planner.experiments.run_specs import blocks, grid_worlds
from attribute_planner.experiments.runs import OURS, PUBLISHED, Execution
from attribute_planner.experiments.tables.grid_worlds import LOOPS
from attribute_planner.experiments.tables.layout import Column, Row, Table, entry

_MAIN = {"switches": ("multi-step", 83.1), "crafting": ("craft", 99.8)}


def _grid_row(label: str, variant: str, execution: Execution, below: str = "") -> Row:
    entries = [
        entry(f"{environment}-{variant}", task, execution, against=number)
        for environment, (task, number) in _MAIN.items()
    ]
    return Row(label, "no tasks", tuple(entries), below)


NEAREST_CHANGE = (
    "At a cost of 0.1 per step, to end a long attempt by the nearest change costs less than to arrive. On switches "
    "about half of the attempts end elsewhere then, on crafting 4 %; if they continue, fewer than 1 % fail on both."
)

GRID_WORLDS = Table(
    "grid-worlds-changes",
    "Our changes on the grid worlds, one at a time",
    "not in the paper; its agent has 83.1 and 99.8",
    (Column("switches"), Column("crafting")),
    (
        _grid_row("as published", "paper", PUBLISHED, LOOPS),
        _grid_row("+ steps cost 0.01 instead of 0.1", "step-reward", PUBLISHED),
        _grid_row("+ an attempt ends with any change", "any-change", PUBLISHED, NEAREST_CHANGE),
        _grid_row("+ an attempt ends with any change, and hindsight", "hindsight", PUBLISHED),
        _grid_row("+ PPO instead of REINFORCE", "practise-ppo", PUBLISHED),
        _grid_row("+ posterior estimate of c_π", "paper", grid_worlds.POSTERIOR, LOOPS),
        _grid_row("+ memory within the episode", "paper", grid_worlds.MEMORY),
        _grid_row("+ posterior and memory", "paper", OURS),
        _grid_row("training with all changes, executed as published", "default", PUBLISHED, LOOPS),
        _grid_row("… with the posterior", "default", grid_worlds.POSTERIOR, LOOPS),
        _grid_row("… with memory, without the posterior", "default", grid_worlds.MEMORY),
        _grid_row("all changes", "default", OURS),
    ),
    (
        "As published, an attempt that leads to another set than its goal continues, as the paper's text says. In its "
        "Algorithm 1 any change ends it.",
    ),
)


def _blocks_row(label: str, run_spec: str, execution: Execution) -> Row:
    return Row(label, "1-step", (entry(run_spec, "multi-step", execution, against=66.7),))


BLOCKS = Table(
    "blocks-changes",
    "Our changes on the blocks, one at a time",
    "not in the paper; its agent has 66.7",
    (Column("multi-step"),),
    (
        _blocks_row("as published", "blocks-paper", PUBLISHED),
        _blocks_row("+ posterior estimate of c_π", "blocks-paper", blocks.POSTERIOR),
        _blocks_row("+ memory within the episode", "blocks-paper", blocks.MEMORY),
        _blocks_row("+ memory and lookahead, model error ignored", "blocks-paper", blocks.WITHOUT_MODEL_ERROR),
        _blocks_row("+ memory and lookahead", "blocks-paper", blocks.LOOKAHEAD),
        _blocks_row("+ model-generated edges", "blocks-paper", blocks.MODEL_EDGES),
        _blocks_row("+ symmetries", "blocks-default", PUBLISHED),
        _blocks_row("all changes", "blocks-default", OURS),
        _blocks_row("… without symmetries", "blocks-paper", OURS),
        _blocks_row("… without model-generated edges", "blocks-default", blocks.WITHOUT_MODEL_EDGES),
        _blocks_row("… without lookahead", "blocks-default", blocks.WITHOUT_LOOKAHEAD),
    ),
    ("With a million examples, model-generated edges add little; see the table of the number of examples.",),
)
