"""The search for the settings of the baselines that are not in the paper: DQN with hindsight and goal cloning.

As in `published_search`, each candidate is trained with a seed that no table uses, and measured on tasks that this seed
draws. `preset` is the setting in `baseline_configs`; each of the others differs from it in one. The preset was chosen
by shorter runs; at full scale its temperature was compared with a higher one (docs/results.md), the others were not.

`python -m attribute_planner.experiments.peer_search [RUN…]` trains and measures the candidates that are not recorded
yet.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace

from attribute_planner.experiments.published_search import SEED, search_program
from attribute_planner.experiments.run_specs import RUN_SPECS
from attribute_planner.experiments.runs import Run, RunSpec

ENVIRONMENTS = ("switches", "crafting", "blocks")

CANDIDATES: dict[str, dict[str, tuple[str, ...]]] = {
    "hindsight-dqn": {
        "preset": (),
        "10-step-returns": ("learning.n_step=10",),
        "long-horizon": ("learning.discount=0.995",),
        "more-updates": ("replay.replay_ratio=32",),
        "warm": ("temperature=0.05",),
        "cold": ("temperature=0.005",),
        "goals-like-tasks": ("replay.whole=0",),
    },
    "goal-cloning": {
        "preset": (),
        "all-goals": ("replay.nearness=1",),
        "near-goals": ("replay.nearness=0.9",),
        "more-updates": ("replay.replay_ratio=32",),
        "recent": ("replay.capacity=200000",),
        "goals-like-tasks": ("replay.whole=0",),
    },
}
"""By baseline and name: the settings that are tried."""


def candidates() -> list[Run]:
    """The runs of all candidates."""
    return [
        Run(_candidate(f"{environment}-{model}-multi-step", name, settings), SEED, "paper")
        for model, tried in CANDIDATES.items()
        for environment in ENVIRONMENTS
        for name, settings in tried.items()
    ]


def _candidate(run_spec: str, name: str, settings: tuple[str, ...]) -> RunSpec:
    spec = RUN_SPECS[run_spec]
    return replace(spec, name=f"{spec.name}-search-{name}", settings=(*spec.settings, *settings))


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and measure candidates; the exit code is 0 if none failed."""
    return search_program("peer_search", candidates(), arguments)


if __name__ == "__main__":
    sys.exit(main())
