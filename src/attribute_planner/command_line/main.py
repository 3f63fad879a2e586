"""The entry point `attribute-planner`. A user's mistake is reported in one line on standard error."""

import sys
from collections.abc import Callable, Sequence

import tyro

from attribute_planner.command_line.agents import agents
from attribute_planner.command_line.benchmark import benchmark
from attribute_planner.command_line.diagnose import diagnose
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
    "diagnose": diagnose,
    "graph": graph,
    "benchmark": benchmark,
    "reproduce": reproduce,
}
"""Every command returns its exit status: 0 only on success."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status. Usage errors exit with 2."""
    try:
        return tyro.extras.subcommand_cli_from_dict(
            COMMANDS,
            prog="attribute-planner",
            description="Name the properties, explore once, reach any goal.",
            args=arguments,
            config=(tyro.conf.FlagCreatePairsOff,),
        )
    except (AttributePlannerError, OSError) as mistake:
        print(f"attribute-planner: {mistake}", file=sys.stderr)
        return 1
    except KeyboardInterrupt as interrupt:
        advice = f"; {interrupt}" if str(interrupt) else "."
        print(f"attribute-planner: interrupted{advice}", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
