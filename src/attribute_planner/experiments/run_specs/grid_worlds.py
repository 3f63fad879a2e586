"""Run specifications for switches and crafting: as published, with each of our changes alone, and with all of them."""

from attribute_planner.experiments.runs import OURS, PUBLISHED, Execution, RunSpec, measured

MAIN_TASKS = {"switches": "multi-step", "crafting": "craft"}

POSTERIOR = Execution("paper", "posterior", model_edges=False)
MEMORY = Execution("default", "ratio", model_edges=False)

SMALL = {
    "switches": ("explore.steps=100000", "practise.steps=600000"),
    "crafting": ("explore.steps=150000", "practise.steps=600000"),
}
"""1/20 of the steps: enough to see that the agents start to learn."""

CHANGES = {
    "step-reward": ("practise.step_reward=-0.01",),
    "any-change": ("practise.stop_on_any_change=true",),
    "hindsight": ("practise.stop_on_any_change=true", "practise.hindsight=0.5"),
    "practise-ppo": ("practise.method=ppo",),
}
"""Changes to the published training, one at a time. Hindsight needs attempts that end with any change."""

NO_PRACTICE = "practise.steps=1"
"""For runs of which only the exploration is reported."""

EXPLORERS = {
    "random-explorer": ("explore.policy=random", NO_PRACTICE),
    "graph-explorer": ("explore.policy=graph", NO_PRACTICE),
    "count-bonus": ("explore.bonus=count", NO_PRACTICE),
}
"""Exploration policies other than the default."""


def _run_specs(environment: str) -> list[RunSpec]:
    main, small = [MAIN_TASKS[environment]], SMALL[environment]
    published = RunSpec(
        f"{environment}-paper",
        environment,
        measured(main, PUBLISHED, POSTERIOR, MEMORY, OURS),
        preset="paper",
        small=small,
    )
    changed = [
        RunSpec(
            f"{environment}-{name}", environment, measured(main, PUBLISHED), "planner", "", "paper", settings, small
        )
        for name, settings in CHANGES.items()
    ]
    ours = RunSpec(
        f"{environment}-default",
        environment,
        measured(main, OURS, PUBLISHED, POSTERIOR, MEMORY),
        small=small,
    )
    explorers = [
        RunSpec(f"{environment}-{name}", environment, (), settings=settings, small=small[:1])
        for name, settings in EXPLORERS.items()
    ]
    return [published, *changed, ours, *explorers]


RUN_SPECS = [run_spec for environment in MAIN_TASKS for run_spec in _run_specs(environment)]
