"""`attribute-planner`: the entry point that finds the command and turns mistakes into one clear line."""

import sys
from collections.abc import Callable, Sequence

import tyro

from attribute_planner.command_line.agents import agents
from attribute_planner.command_line.benchmark import benchmark
from attribute_planner.command_line.envs import envs
from attribute_planner.command_line.evaluate import evaluate
from attribute_planner.command_line.graph import graph
from attribute_planner.command_line.reach import reach
from attribute_planner.command_line.reproduce import reproduce
from attribute_planner.command_line.train import train
from attribute_planner.errors import AttributePlannerError

COMMANDS: dict[str, Callable[..., int]] = {
    "envs": envs,
    "agents": agents,
    "train": train,
    "reach": reach,
    "evaluate": evaluate,
    "graph": graph,
    "benchmark": benchmark,
    "reproduce": reproduce,
}
"""Every command returns its exit status: 0 only if what was asked for was achieved."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; its exit status. Usage errors exit with 2, as usual."""
    try:
        return tyro.extras.subcommand_cli_from_dict(
            COMMANDS,
            prog="attribute-planner",
            description="Name the properties, explore once, reach any goal.",
            args=arguments,
        )
    except (AttributePlannerError, OSError) as mistake:
        print(f"attribute-planner: {mistake}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("attribute-planner: stopped; what was learned so far is saved.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
