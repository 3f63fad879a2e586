"""Run specifications for the baselines. Their settings are in `experiments.baseline_configs`.

On the blocks, half of the training goals specify all attributes, and half specify as many as the underspecified tasks
do: one policy is measured on both kinds of tasks.
"""

from attribute_planner.experiments.run_specs.blocks import SIZES, SMALL_FIT, SMALL_PICTURES, SMALL_SIZES, TASKS
from attribute_planner.experiments.runs import REACTIVE, RunSpec, measured

DISTRIBUTIONS = ("1-step", "multi-step", "curriculum")
"""Nearby goals, the test tasks, and a curriculum from one to the other."""

SMALL_STEPS = {"switches": 700_000, "crafting": 750_000, "starcraft-small": 60_000, "starcraft-large": 60_000}

POLICY_GRADIENTS = ("reinforce", "ppo")
"""The paper has REINFORCE; PPO is the learner of our planner."""
TASKS_OF = {
    "switches": ("multi-step",),
    "crafting": ("craft",),
    "starcraft-small": ("build", "build-at-least"),
    "starcraft-large": ("build", "build-at-least"),
}
DISTRIBUTIONS_OF = {"switches": DISTRIBUTIONS, "crafting": DISTRIBUTIONS}
"""What the paper trains REINFORCE on; in StarCraft not on nearby goals."""


def _policy_gradient(environment: str, model: str, training_distribution: str) -> RunSpec:
    return RunSpec(
        f"{environment}-{model}-{training_distribution}",
        environment,
        measured(TASKS_OF[environment], REACTIVE),
        model=model,
        training_distribution=training_distribution,
        small=(f"training.steps={SMALL_STEPS[environment]}", "training.num_envs=256"),
    )


PEERS = ("hindsight-dqn", "goal-cloning")
"""What is usual today for goals in terms of attributes. They are trained on the test tasks, as the paper's are in (ii):
goals in hindsight are a curriculum of their own."""
PEER_STEPS = {"switches": 400_000, "crafting": 400_000}
"""At the small scale: fewer, because each step is replayed several times."""


def _peer(environment: str, model: str) -> RunSpec:
    return RunSpec(
        f"{environment}-{model}-multi-step",
        environment,
        measured(TASKS_OF[environment], REACTIVE),
        model=model,
        training_distribution="multi-step",
        small=(f"training.steps={PEER_STEPS[environment]}",),
    )


BOTH_KINDS_OF_GOALS = ("mentioned=0.7", "partial=0.5")

FEW_STEPS = {
    "blocks": ("training.steps=10000", "training.num_envs=64", "training.rollout_length=10"),
    "blocks-continuous": ("training.steps=3000", "training.num_envs=256", "training.rollout_length=4"),
}
"""About 15 seconds on one CPU core with small images."""


FEW_UPDATES = ("replay.batch_size=128", "replay.replay_ratio=4")
"""Further settings of the peers at the small scale."""


def _on_images(environment: str, model: str, training_distribution: str) -> RunSpec:
    """A baseline that learns on tasks of the blocks."""
    return RunSpec(
        f"{environment}-{model}-{training_distribution}",
        environment,
        measured(TASKS, REACTIVE),
        model=model,
        training_distribution=training_distribution,
        settings=tuple(f"training.{setting}" for setting in BOTH_KINDS_OF_GOALS),
        small=FEW_STEPS[environment] + (FEW_UPDATES if model in PEERS else ()),
        small_env=SMALL_PICTURES,
    )


AS_PUBLISHED = "learning.symmetric=false"
"""The inverse model is fitted as the planner's policy is in the published training."""
LITTLE_FIT = (*(f"learning.{setting}" for setting in SMALL_FIT), "num_envs=256")


def _inverse(environment: str, training_distribution: str, size: str = "1m") -> RunSpec:
    full = size == "1m"
    sized = (f"examples={SIZES[size]}",) if environment == "blocks" else ()
    return RunSpec(
        f"{environment}-inverse-{training_distribution}" + ("" if full else f"-{size}"),
        environment,
        measured(TASKS if full else ("1-step", "multi-step"), REACTIVE),
        model="inverse",
        training_distribution=training_distribution,
        settings=(AS_PUBLISHED, *sized, *BOTH_KINDS_OF_GOALS),
        small=(*LITTLE_FIT, f"examples={SMALL_SIZES[size]}"),
        small_env=SMALL_PICTURES,
    )


def _on_blocks(environment: str) -> list[RunSpec]:
    return [
        *(
            _on_images(environment, model, each)
            for model in ("actor-critic", "option-critic")
            for each in DISTRIBUTIONS
        ),
        *(_inverse(environment, each) for each in ("1-step", "multi-step")),
    ]


RUN_SPECS = [
    *(
        _policy_gradient(environment, model, each)
        for model in POLICY_GRADIENTS
        for environment in TASKS_OF
        for each in DISTRIBUTIONS_OF.get(environment, DISTRIBUTIONS[1:])
    ),
    *(_peer(environment, model) for model in PEERS for environment in PEER_STEPS),
    *_on_blocks("blocks"),
    *(_on_images("blocks", model, "multi-step") for model in PEERS),
    *(_inverse("blocks", "1-step", size=size) for size in SIZES if size != "1m"),
    *_on_blocks("blocks-continuous"),
]
