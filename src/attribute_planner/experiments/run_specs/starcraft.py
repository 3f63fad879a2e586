"""Run specifications for the simulator of StarCraft's build orders."""

from attribute_planner.experiments.run_specs.grid_worlds import EXPLORERS
from attribute_planner.experiments.runs import PUBLISHED, RunSpec, measured, ours_in

VERSIONS = ("starcraft-small", "starcraft-large")
TASKS = ("build", "build-at-least")

SMALL = ("explore.steps=50000", "practise.steps=50000")
"""1/300 of the steps."""


def _run_specs(environment: str) -> list[RunSpec]:
    return [
        RunSpec(f"{environment}-paper", environment, measured(TASKS, PUBLISHED), preset="paper", small=SMALL),
        RunSpec(f"{environment}-default", environment, measured(TASKS, ours_in(environment)), small=SMALL),
    ]


RANDOM_EXPLORER = RunSpec(
    "starcraft-small-random-explorer",
    "starcraft-small",
    measured(TASKS, PUBLISHED),
    preset="paper",
    settings=("explore.policy=random",),
    small=SMALL,
)

GRAPH_EXPLORER = RunSpec(
    "starcraft-small-graph-explorer",
    "starcraft-small",
    (),
    settings=EXPLORERS["graph-explorer"],
    small=SMALL[:1],
)
"""Only its exploration is reported."""

RUN_SPECS = [*(run_spec for version in VERSIONS for run_spec in _run_specs(version)), RANDOM_EXPLORER, GRAPH_EXPLORER]
