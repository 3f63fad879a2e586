"""The paper's baselines: what each is trained on. How, and for how long, is in `experiments.fairness`.

On the blocks, half of the training goals mention everything, and half as much as those of the underspecified tasks do:
one policy for both.
"""

from attribute_planner.experiments.run_specs.blocks import SIZES, SMALL_FIT, SMALL_PICTURES, SMALL_SIZES, TASKS
from attribute_planner.experiments.runs import REACTIVE, Subject, measured

REGIMES = ("1-step", "multi-step", "curriculum")
"""What a policy is trained on: nearby goals, the test tasks, and from the one to the other."""

SMALL_STEPS = {"switches": 700_000, "crafting": 750_000, "starcraft-small": 60_000, "starcraft-large": 60_000}

REINFORCE_TASKS = {
    "switches": ("multi-step",),
    "crafting": ("craft",),
    "starcraft-small": ("build", "build-at-least"),
    "starcraft-large": ("build", "build-at-least"),
}
REINFORCE_REGIMES = {"switches": REGIMES, "crafting": REGIMES}
"""What the paper trains REINFORCE on; in StarCraft on all but nearby goals."""


def _reinforce(environment: str, regime: str) -> Subject:
    return Subject(
        f"{environment}-reinforce-{regime}",
        environment,
        measured(REINFORCE_TASKS[environment], REACTIVE),
        model="reinforce",
        regime=regime,
        small=(f"school.steps={SMALL_STEPS[environment]}",),
    )


BOTH_KINDS_OF_GOALS = ("mentioned=0.7", "partial=0.5")

FEW_TRIALS = {
    "blocks": ("school.steps=10000", "school.num_envs=64", "school.rollout_length=10"),
    "blocks-continuous": ("school.steps=3000", "school.num_envs=256", "school.rollout_length=4"),
}
"""What a CPU core can do with small pictures in a quarter of a minute."""


def _critic(environment: str, model: str, regime: str) -> Subject:
    """Actor-critic or Option-Critic on the blocks."""
    return Subject(
        f"{environment}-{model}-{regime}",
        environment,
        measured(TASKS, REACTIVE),
        model=model,
        regime=regime,
        settings=tuple(f"school.{setting}" for setting in BOTH_KINDS_OF_GOALS),
        small=FEW_TRIALS[environment],
        small_world=SMALL_PICTURES,
    )


AS_PUBLISHED = "learning.symmetric=false"
"""The inverse model is fitted as the planner's own, as published."""
LITTLE_FIT = (*(f"learning.{setting}" for setting in SMALL_FIT), "num_envs=256")


def _inverse(environment: str, regime: str, size: str = "1m") -> Subject:
    full = size == "1m"
    sized = (f"examples={SIZES[size]}",) if environment == "blocks" else ()
    return Subject(
        f"{environment}-inverse-{regime}" + ("" if full else f"-{size}"),
        environment,
        measured(TASKS if full else ("1-step", "multi-step"), REACTIVE),
        model="inverse",
        regime=regime,
        settings=(AS_PUBLISHED, *sized, *BOTH_KINDS_OF_GOALS),
        small=(*LITTLE_FIT, f"examples={SMALL_SIZES[size]}"),
        small_world=SMALL_PICTURES,
    )


def _on_blocks(environment: str) -> list[Subject]:
    critics = [_critic(environment, model, regime) for model in ("actor-critic", "option-critic") for regime in REGIMES]
    return critics + [_inverse(environment, regime) for regime in ("1-step", "multi-step")]


SUBJECTS = [
    *(
        _reinforce(environment, regime)
        for environment in REINFORCE_TASKS
        for regime in REINFORCE_REGIMES.get(environment, REGIMES[1:])
    ),
    *_on_blocks("blocks"),
    *(_inverse("blocks", "1-step", size=size) for size in SIZES if size != "1m"),
    *_on_blocks("blocks-continuous"),
]
