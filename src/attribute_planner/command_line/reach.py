"""`attribute-planner reach`."""

import sys
from pathlib import Path
from typing import Any, Literal

import tyro

from attribute_planner.command_line.printing import busy, console, print_json


def reach(
    run: tyro.conf.Positional[str],
    goal: str,
    seed: int = 0,
    max_steps: int | None = None,
    mode: Literal["default", "memory", "outlook", "paper"] = "default",
    gif: Path | None = None,
    json: bool = False,
) -> int:
    """Let a trained agent reach a goal that it was never trained on.

    Exit status 0 only if the goal was reached.

    Args:
        run: A run directory, or the name of a shipped agent.
        goal: What is wanted, e.g. "switch_0=red switch_2=blue", or "marine>=2" for a number; attributes that are not
            mentioned do not matter.
        seed: Seed of the episode: the world, and chance.
        max_steps: Give up after so many steps; the limit of the environment's main task if not given.
        mode: `paper` for execution exactly as published; `memory` for the default without foresight; `outlook` for one
            whose foresight never doubts.
        gif: Write a film of the episode to this file.
        json: Print the result as JSON.
    """
    import attribute_planner as ap
    from attribute_planner.storage.compilation_cache import keep_compiled_for_user

    keep_compiled_for_user()
    agent = ap.load(run)
    with busy("on the way …"):
        episode = agent.reach(goal, seed=seed, max_steps=max_steps, mode=mode, pictures=gif is not None)
        if gif is not None:
            from attribute_planner.drawing.film import write_film

            write_film(gif, episode)
    if json:
        print_json(episode_to_json(episode))
    else:
        _print_episode(episode)
    if not episode.success:
        print(f"attribute-planner: The goal was not reached: {episode.reason}", file=sys.stderr)
    return 0 if episode.success else 1


def episode_to_json(episode: Any) -> dict[str, Any]:
    """What a program wants to know of an episode."""
    return {
        "success": episode.success,
        "steps": episode.steps,
        "transitions": episode.transitions,
        "replans": episode.replans,
        "reason": episode.reason,
        "plan": {
            "reachable": episode.plan.reachable,
            "probability": episode.plan.probability,
            "steps": episode.plan.steps,
            "edges": list(episode.plan.edges),
        },
        "trace": episode.trace,
    }


def _print_episode(episode: Any) -> None:
    if episode.success and episode.steps == 0:
        console.print("The goal is satisfied at the start already: nothing to do. Another --seed begins elsewhere.")
        return
    console.print(f"Plan: {episode.plan}")
    for step in episode.trace:
        if step.outcome != "on the way":
            aim = "" if step.aim is None else _difference(step.observed, step.aim)
            console.print(f"  step {step.step + 1:4d}  {step.outcome:<13}  {aim}")
    verdict = "Reached" if episode.success else "Not reached"
    console.print(f"{verdict} in {episode.steps} steps, with {episode.replans} replans.")


def _difference(before: dict[str, Any], after: dict[str, Any]) -> str:
    return ", ".join(f"{name} → {value}" for name, value in after.items() if before[name] != value)
