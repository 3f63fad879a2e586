"""Types of command-line arguments: how they are shown in the help."""

from pathlib import Path
from typing import Annotated, Any

import tyro


def shown_as(metavar: str) -> Any:
    """An argument whose help text states its default."""
    return tyro.conf.arg(metavar=metavar, help_behavior_hint="")


Run = Annotated[str, tyro.conf.Positional, shown_as("RUN")]
Names = Annotated[tuple[str, ...], shown_as("[NAME ...]")]
OptionalGoal = Annotated[str | None, shown_as("GOAL")]
OptionalFloat = Annotated[float | None, shown_as("FLOAT")]
OptionalInt = Annotated[int | None, shown_as("INT")]
OptionalName = Annotated[str | None, shown_as("NAME")]
OptionalEnv = Annotated[str | None, shown_as("ENV")]
OptionalPath = Annotated[Path | None, shown_as("PATH")]
