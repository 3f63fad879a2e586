"""The report of the suite: success of the planner and its peers on every world, generated from records."""

from collections.abc import Sequence
from pathlib import Path

from attribute_planner.experiments.aggregates import Aggregate, aggregate_of, shown, shown_aggregate
from attribute_planner.experiments.records import Record, read_records
from attribute_planner.experiments.report import hardware_section, markdown
from attribute_planner.experiments.runs import PLANNER, RunSpec
from attribute_planner.experiments.strangers.peers import RANDOM, STEPS
from attribute_planner.experiments.strangers.registry import ORACLES, WORLDS
from attribute_planner.experiments.strangers.suite import BUDGETS, SUITE, run_specs_of
from attribute_planner.experiments.tables.layout import COUNT, PERCENT, Source

REPORTS = {"paper": Path("reproduction/strangers.md"), "small": Path("reproduction/strangers-small.md")}
"""The path of the report of each scale."""

TITLES = {PLANNER: "attribute planner", "ppo": "SB3 PPO", "her": "SB3 DQN or SAC, with HER", RANDOM: "random"}
"""The heading of each method."""


def write_report(path: Path, records: Path, scale: str) -> None:
    """Write the report of a scale."""
    found = [each for each in read_records(records) if each.scale == scale] if records.is_dir() else []
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(report_text(found, scale), encoding="utf-8")


def report_text(records: Sequence[Record], scale: str) -> str:
    """The whole report."""
    command = f"attribute-planner reproduce {SUITE}" + ("" if scale == "paper" else f" --scale {scale}")
    return (
        "\n\n".join(
            [
                "# Environments that others wrote",
                INTRODUCTION.format(command=command, count=len(records), episodes=BUDGETS[scale].episodes),
                success_table(records),
                "## Cost of training",
                COSTS,
                cost_table(records),
                hardware_section(records),
            ]
        )
        + "\n"
    )


INTRODUCTION = """\
Every environment with default settings. `{command}` generates this file from {count} records.

- Success in % of {episodes} episodes per seed: mean over seeds [95 % interval], and the number of seeds. The interval
  is a t-interval over seeds, whose standard error is at least that of all episodes pooled; with one seed, Wilson's.
- "possible" is the success rate of an optimal policy. It is computed for the slippery lake; the other environments are
  assumed to be solvable from every start.
- Peers get the same number of environment steps as the planner, and a reward of 1 at the goal. Their policies are
  evaluated with the best action and as in training; the better of the two is shown."""

COSTS = "Environment steps of training, and minutes of training on the hardware below; means over seeds."


def success_table(records: Sequence[Record]) -> str:
    """Success of each method on each world."""
    head = ["world", "possible", *TITLES.values()]
    rows = [
        [
            world,
            shown(100 * ORACLES[world](), PERCENT) if world in ORACLES else "100",
            *(_success_text(best_success(run_spec, records)) for run_spec in run_specs_of(world)),
        ]
        for world in WORLDS
    ]
    return markdown([head, *rows])


def best_success(run_spec: RunSpec, records: Sequence[Record]) -> Aggregate | None:
    """Success of a method on a world, executed in the better of the ways in which it was measured."""
    found = [aggregate_of(Source(run_spec.name, each), records, PERCENT) for each in run_spec.measurements]
    return max((each for each in found if each is not None), key=lambda each: each.mean, default=None)


def cost_table(records: Sequence[Record]) -> str:
    """Steps and minutes of training of each method on each world."""
    methods = [method for method in TITLES if method != RANDOM]
    head = ["world", *(f"{TITLES[method]}: {what}" for method in methods for what in ("steps", "minutes"))]
    rows = [
        [world, *(text for spec in run_specs_of(world) if spec.model in methods for text in _cost_texts(spec, records))]
        for world in WORLDS
    ]
    return markdown([head, *rows])


def _success_text(number: Aggregate | None) -> str:
    return MISSING if number is None else f"{shown_aggregate(number, PERCENT)} ({number.seeds})"


def _cost_texts(run_spec: RunSpec, records: Sequence[Record]) -> tuple[str, str]:
    mine = [record for record in records if record.run_spec == run_spec.name]
    steps = aggregate_of(Source(run_spec.name, STEPS), records, COUNT)
    if steps is None:
        return MISSING, MISSING
    seconds = sum(record.training_seconds for record in mine) / len(mine)
    return shown(steps.mean, COUNT), f"{seconds / 60:.1f}"


MISSING = "–"
"""What is not measured yet."""
