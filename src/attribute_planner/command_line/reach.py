"""`attribute-planner reach`."""

import sys
from typing import Any

from attribute_planner.command_line.arguments import OptionalEnv, OptionalInt, OptionalPath, Run
from attribute_planner.command_line.printing import busy, console, print_json, say_written


def reach(
    run: Run,
    goal: str,
    seed: int = 0,
    max_steps: OptionalInt = None,
    mode: str = "default",
    gif: OptionalPath = None,
    report: OptionalPath = None,
    env: OptionalEnv = None,
    json: bool = False,
) -> int:
    """Run one episode: the agent plans a path to a goal and executes it.

    The exit status is 0 only if the goal is reached.

    Args:
        run: Run directory, or name of a shipped agent.
        goal: Attribute values to reach, for example "switch_0=red switch_2=blue", or "marine>=2" for at least two.
            Attributes that are not named may have any value.
        seed: Random seed of the episode.
        max_steps: Maximum number of environment steps. Default: the limit of the environment's main task.
        mode: Execution mode: `default`, or `paper` (as published); `evaluate --help` lists all.
        gif: Write an animation of the episode to this file.
        report: Write a page of the episode to this file, FILE.html: to scrub through, with the plan and the graph.
        env: Environment of the run, as module:function. Default: the one that it was trained on.
        json: Print the result as JSON.
    """
    import attribute_planner as ap
    from attribute_planner.storage.compilation_cache import use_user_compilation_cache

    use_user_compilation_cache()
    agent = ap.load(run, None if env is None else ap.make(env))
    with busy("Running the episode …"):
        episode = agent.reach(goal, seed=seed, max_steps=max_steps, mode=mode, frames=bool(gif or report))
        if gif is not None:
            from attribute_planner.drawing.animation import write_gif

            write_gif(gif, episode)
        if report is not None:
            episode.to_html(report)
    say_written(gif, report)
    if json:
        print_json(episode_to_json(episode))
    else:
        _print_episode(episode)
    if not episode.success:
        print(f"attribute-planner: {_sentence(episode.reason)}", file=sys.stderr)
    return 0 if episode.success else 1


def _sentence(reason: str) -> str:
    """The reason of a failure; it says that the goal was not reached, and says it once."""
    said = reason.startswith("the goal was not reached")
    return reason[:1].upper() + reason[1:] if said else f"The goal was not reached: {reason}"


def episode_to_json(episode: Any) -> dict[str, Any]:
    """The episode as a JSON object."""
    return {
        "success": episode.success,
        "steps": episode.steps,
        "transitions": episode.transitions,
        "replans": episode.replans,
        "reason": episode.reason,
        "plan": episode.plan.to_json(),
        "trace": episode.trace,
    }


def _print_episode(episode: Any) -> None:
    if episode.success and episode.steps == 0:
        console.print("The goal is already satisfied at the start. Another --seed starts in another state.")
        return
    console.print(f"Plan: {episode.plan}")
    for step in episode.trace:
        if step.outcome != "on the way":
            target = "" if step.target is None else _difference(step.observed, step.target)
            console.print(f"  step {step.step + 1:4d}  {step.outcome:<13}  {target}")
    verdict = "Reached" if episode.success else "Not reached"
    console.print(f"{verdict} in {episode.steps} steps, with {episode.replans} replans.")


def _difference(before: dict[str, Any], after: dict[str, Any]) -> str:
    return ", ".join(f"{name} → {value}" for name, value in after.items() if before[name] != value)
