"""What is trained on the simulator of StarCraft's build orders."""

from attribute_planner.experiments.run_specs.grid_worlds import EXPLORERS
from attribute_planner.experiments.runs import PUBLISHED, Subject, measured, ours_in

VERSIONS = ("starcraft-small", "starcraft-large")
TASKS = ("build", "build-at-least")

SMALL = ("explore.steps=50000", "practise.steps=50000")
"""A three hundredth of the steps."""


def _subjects(environment: str) -> list[Subject]:
    return [
        Subject(f"{environment}-paper", environment, measured(TASKS, PUBLISHED), preset="paper", small=SMALL),
        Subject(f"{environment}-default", environment, measured(TASKS, ours_in(environment)), small=SMALL),
    ]


RANDOM_EXPLORER = Subject(
    "starcraft-small-random-explorer",
    "starcraft-small",
    measured(TASKS, PUBLISHED),
    preset="paper",
    settings=("explore.policy=random",),
    small=SMALL,
)

GRAPH_EXPLORER = Subject(
    "starcraft-small-graph-explorer",
    "starcraft-small",
    (),
    settings=EXPLORERS["graph-explorer"],
    small=SMALL[:1],
)
"""Only its exploration is looked at."""

SUBJECTS = [*(subject for version in VERSIONS for subject in _subjects(version)), RANDOM_EXPLORER, GRAPH_EXPLORER]
