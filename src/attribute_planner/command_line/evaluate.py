"""`attribute-planner evaluate`."""

from typing import Any, Literal

import tyro

from attribute_planner.command_line.printing import busy, console, number_or_none, print_json, print_table


def evaluate(
    run: tyro.conf.Positional[str],
    task: str | None = None,
    episodes: int = 1000,
    mode: Literal["default", "memory", "outlook", "paper"] = "default",
    estimator: Literal["ratio", "posterior", "alike", "visits"] | None = None,
    true_attributes: bool = False,
    seed: int = 0,
    json: bool = False,
) -> int:
    """Measure how often an agent reaches the goals of a task, with a 95 % interval, and why it fails.

    Args:
        run: A run directory, or the name of a shipped agent.
        task: Name of a task of the agent's environment (see `attribute-planner envs`); the main one if not given.
        episodes: How many tasks to try.
        mode: `paper` for execution exactly as published; `memory` for the default without foresight; `outlook` for one
            whose foresight never doubts.
        estimator: How c_π is estimated, if not as in training: `ratio` as published, `visits` for the paper's ablation.
        true_attributes: Tell the agent the true attributes in place of what its detector sees: what remains is not
            the detector's fault.
        seed: Seed of the tasks.
        json: Print the result as JSON.
    """
    import attribute_planner as ap
    from attribute_planner.storage.compilation_cache import keep_compiled_for_user

    keep_compiled_for_user()
    agent = ap.load(run)
    agent = agent if estimator is None else agent.with_estimator(estimator)
    agent = agent.with_true_attributes() if true_attributes else agent
    with busy(f"{episodes} episodes …"):
        result = ap.evaluate(agent, task, episodes=episodes, mode=mode, seed=seed)
    if json:
        print_json(evaluation_to_json(result))
        return 0
    oracle = {} if result.oracle is None else {"scripted player": f"{result.oracle:.1%}"}
    console.print(
        f"{result.environment}, {result.task}: {result.episodes} episodes, mode {result.mode}", highlight=False
    )
    print_table(
        ("success", "95 % interval", "steps", "replans", *oracle),
        [
            (
                f"{result.success:.1%}",
                f"{result.interval.low:.1%} – {result.interval.high:.1%}",
                f"{result.mean_steps:.1f}",
                f"{result.mean_replans:.2f}",
                *oracle.values(),
            )
        ],
    )
    for reason, count in result.failures.items():
        console.print(f"{count} failed: {reason}", highlight=False)
    return 0


def evaluation_to_json(result: Any) -> dict[str, Any]:
    """What a program wants to know of an evaluation."""
    return {
        "environment": result.environment,
        "task": result.task,
        "mode": result.mode,
        "episodes": result.episodes,
        "success": result.success,
        "interval": [result.interval.low, result.interval.high],
        "mean_steps": number_or_none(result.mean_steps),
        "mean_replans": result.mean_replans,
        "planned": result.planned,
        "max_steps": result.max_steps,
        "oracle": result.oracle,
        "failures": dict(result.failures),
    }
