"""What is trained on the switches and on crafting: as published, with each of our changes alone, and with all."""

from attribute_planner.experiments.runs import OURS, PUBLISHED, Execution, Subject, measured

MAIN_TASKS = {"switches": "multi-step", "crafting": "craft"}

POSTERIOR = Execution("paper", "posterior", model_edges=False)
MEMORY = Execution("default", "ratio", model_edges=False)

SMALL = {
    "switches": ("explore.steps=100000", "practise.steps=600000"),
    "crafting": ("explore.steps=150000", "practise.steps=600000"),
}
"""A twentieth of the steps: enough to see the agents begin to learn."""

CHANGES = {
    "step-reward": ("practise.step_reward=-0.01",),
    "any-change": ("practise.stop_on_any_change=true",),
    "hindsight": ("practise.stop_on_any_change=true", "practise.hindsight=0.5"),
    "reuse": (
        "practise.learning.update_epochs=4",
        "practise.learning.num_minibatches=4",
        "practise.learning.gae_lambda=0.95",
        "practise.learning.anneal=true",
    ),
}
"""Our changes to the training as published, one at a time; hindsight has to know where an attempt ended."""

BARELY_PRACTISED = "practise.steps=1"
"""Where only exploration is looked at."""

EXPLORERS = {
    "random-explorer": ("explore.policy=random", BARELY_PRACTISED),
    "graph-explorer": ("explore.policy=graph", BARELY_PRACTISED),
    "count-bonus": ("explore.bonus=count", BARELY_PRACTISED),
}
"""Other explorers than the default one."""


def _subjects(environment: str) -> list[Subject]:
    main, small = [MAIN_TASKS[environment]], SMALL[environment]
    published = Subject(
        f"{environment}-paper",
        environment,
        measured(main, PUBLISHED, POSTERIOR, MEMORY, OURS),
        preset="paper",
        small=small,
    )
    changed = [
        Subject(
            f"{environment}-{name}", environment, measured(main, PUBLISHED), "planner", "", "paper", settings, small
        )
        for name, settings in CHANGES.items()
    ]
    ours = Subject(
        f"{environment}-default",
        environment,
        measured(main, OURS, PUBLISHED, POSTERIOR, MEMORY),
        small=small,
    )
    explorers = [
        Subject(f"{environment}-{name}", environment, (), settings=settings, small=small[:1])
        for name, settings in EXPLORERS.items()
    ]
    return [published, *changed, ours, *explorers]


SUBJECTS = [subject for environment in MAIN_TASKS for subject in _subjects(environment)]
