"""`attribute-planner check`."""

import dataclasses
from typing import Annotated

import tyro

from attribute_planner.command_line.arguments import OptionalInt, shown_as
from attribute_planner.command_line.printing import busy, console, print_json


def check(
    env: Annotated[str, tyro.conf.Positional, shown_as("ENV")],
    steps: OptionalInt = None,
    seed: int = 0,
    json: bool = False,
) -> int:
    """Check an environment before training: step it at random and report faults, and anything suspicious.

    The exit status is 0 if there is no fault; warnings are not faults.

    Args:
        env: A function of your own that returns an environment, as module:function, or the name of a built-in
            environment.
        steps: Number of random steps in each of eight environments; by default one more than an episode has, but at
            least 200 and at most 500.
        seed: Random seed.
        json: Print the report as JSON.
    """
    import attribute_planner as ap

    environment = ap.make(env)
    with busy("Taking random steps …"):
        report = ap.check_environment(environment, steps=steps, seed=seed)
    if json:
        print_json(dataclasses.asdict(report))
    else:
        console.print(str(report), markup=False, soft_wrap=True)
    return 0
