"""`attribute-planner evaluate`."""

from typing import Any

from attribute_planner.command_line.arguments import OptionalEnv, OptionalName, Run
from attribute_planner.command_line.printing import console, number_or_none, print_json, print_table


def evaluate(
    run: Run,
    task: OptionalName = None,
    episodes: int = 1000,
    mode: str = "default",
    estimator: OptionalName = None,
    true_attributes: bool = False,
    seed: int = 0,
    env: OptionalEnv = None,
    json: bool = False,
) -> int:
    """Measure the success rate of an agent on a task, with its 95 % interval, and count the kinds of failures.

    Args:
        run: Run directory, or name of a shipped agent.
        task: Task of the agent's environment (`attribute-planner envs` lists them). Default: the main task.
        episodes: Number of episodes, each with a new goal.
        mode: Execution mode: `default`, `paper` (as published), or `default` with one part changed: `no-replanning`,
            `no-early-replanning`, `no-time`, `no-lookahead`, `trust-model`, `no-observation-search`, `no-nearest-set`,
            `no-goal-relaxation`, `no-state-success`, `no-measured-aliasing`, `no-evidence`.
        estimator: Estimator of c_π: `ratio` (as published), `posterior`, `visits` (an ablation of the paper).
            Default: that of the training run.
        true_attributes: Give the agent the true attributes instead of those that its detector predicts.
        seed: Random seed of the tasks.
        env: Environment of the run, as module:function. Default: the one that it was trained on.
        json: Print the result as JSON.
    """
    import attribute_planner as ap
    from attribute_planner.storage.compilation_cache import use_user_compilation_cache

    use_user_compilation_cache()
    agent = ap.load(run, None if env is None else ap.make(env))
    agent = agent if estimator is None else agent.with_estimator(estimator)
    agent = agent.with_true_attributes() if true_attributes else agent
    result = ap.evaluate(agent, task, episodes=episodes, mode=mode, seed=seed, progress=True)
    if json:
        print_json(evaluation_to_json(result))
        return 0
    oracle = {} if result.oracle is None else {"scripted policy": f"{result.oracle:.1%}"}
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
    """The result as a JSON object."""
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
