"""The commands of `attribute-planner`, and how their arguments are parsed."""

import sys
from collections.abc import Callable, Sequence

import tyro

from attribute_planner.command_line.agents import agents
from attribute_planner.command_line.benchmark import benchmark
from attribute_planner.command_line.check import check
from attribute_planner.command_line.diagnose import diagnose
from attribute_planner.command_line.envs import envs
from attribute_planner.command_line.evaluate import evaluate
from attribute_planner.command_line.graph import graph
from attribute_planner.command_line.reach import reach
from attribute_planner.command_line.reproduce import reproduce
from attribute_planner.command_line.train import train
from attribute_planner.command_line.view import view
from attribute_planner.errors import ConfigurationError

PROGRAM = "attribute-planner"

COMMANDS: dict[str, Callable[..., int]] = {
    "envs": envs,
    "agents": agents,
    "check": check,
    "train": train,
    "reach": reach,
    "evaluate": evaluate,
    "diagnose": diagnose,
    "graph": graph,
    "view": view,
    "benchmark": benchmark,
    "reproduce": reproduce,
}
"""Every command returns its exit status: 0 only on success."""


def run_command(arguments: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name and return its exit status; a usage error exits with 2."""
    check_characters(sys.argv[1:] if arguments is None else arguments)
    return tyro.extras.subcommand_cli_from_dict(
        COMMANDS,
        prog=PROGRAM,
        description="Name the properties, explore once, reach any goal.",
        args=arguments,
        config=(tyro.conf.FlagCreatePairsOff,),
    )


def check_characters(arguments: Sequence[str]) -> None:
    """An error if an argument has characters that no path and no name can have: NUL, or bytes that are not UTF-8."""
    for number, argument in enumerate(arguments, start=1):
        if "\0" in argument or _has_surrogates(argument):
            what = "a NUL character" if "\0" in argument else "bytes that are not UTF-8"
            raise ConfigurationError(f"Argument {number} contains {what}.")


def _has_surrogates(text: str) -> bool:
    return any("\ud800" <= each <= "\udfff" for each in text)
