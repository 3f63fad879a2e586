"""Run specifications for the blocks: published and default training, several data sizes, several detectors.

The agent "as published" with a million examples also learns a forward model. The model changes neither its policy nor
its table (model-generated edges are stored separately). One training can then be measured with and without lookahead
and model-generated edges.
"""

from attribute_planner.experiments.runs import OURS, PUBLISHED, WITHOUT_C_PI, Execution, RunSpec, measured

TASKS = ("1-step", "multi-step", "4-stack", "1-step-underspecified", "multi-step-underspecified")
MAIN = ("multi-step",)

POSTERIOR = Execution("paper", "posterior", model_edges=False)
MEMORY = Execution("no-lookahead", "ratio", model_edges=False)
LOOKAHEAD = Execution("default", "ratio", model_edges=False)
WITHOUT_MODEL_ERROR = Execution("trust-model", "ratio", model_edges=False)
MODEL_EDGES = Execution("paper", "ratio", model_edges=True)
WITHOUT_MODEL_EDGES = Execution("default", "posterior", model_edges=False)
TWENTY_DROPS = Execution("paper", "ratio", model_edges=False, max_steps=20)
"""The published execution of the 1-step tasks, with the step limit of the other tasks."""
ONE_STEP = ("1-step", "1-step-underspecified")
WITHOUT_LOOKAHEAD = Execution("no-lookahead", "posterior", model_edges=True)

WITH_FORWARD_MODEL = ("forward_model.learn=true", "forward_model.symmetric=false")
"""A forward model in addition to the published training."""

SIZES = {"10k": 10_000, "100k": 100_000, "1m": 1_000_000, "10m": 10_000_000}
"""Numbers of single drops to learn from. The detector has the same number of labels, at most a million."""
SMALL_SIZES = {"10k": 1_000, "100k": 3_000, "1m": 10_000, "10m": 30_000}
SMALL_LABELS, FEW_SMALL_LABELS = 10_000, 1_000
MOST_LABELS = 1_000_000
NO_PRACTICE = ("practise.steps=0",)
"""The default agents of 10k and 100k examples do not practise. The published c_π is estimated from practice."""

SMALL_PICTURES = (("image_size", 32),)
"""At the small scale: 1/16 of the pixels."""

SMALL_FIT = ("fit.updates=450", "fit.batch=96", "fit.learning_rate=0.005")
"""About half a minute on one CPU core; a larger step size compensates for some of the missing updates."""

SMALL_SETTINGS = (
    *(f"{phase}.{setting}" for phase in ("detect", "practise.inverse", "forward_model") for setting in SMALL_FIT),
    "detect.val_fraction=0.1",
    "explore.num_envs=256",
    "practise.steps=5000",
    "practise.num_envs=100",
    "forward_model.model_edge_states=2000",
)
"""For two CPU cores: enough to see that the agents start to learn."""


def _examples(size: str) -> tuple[str, ...]:
    count = SIZES[size]
    labels = min(count, MOST_LABELS)
    val_fraction = ("detect.val_fraction=0.1",) if labels < MOST_LABELS else ()
    return (f"explore.steps={count}", f"detect.num_labels={labels}", *val_fraction)


def _small(size: str) -> tuple[str, ...]:
    count = SMALL_SIZES[size]
    return (*SMALL_SETTINGS, f"explore.steps={count}", f"detect.num_labels={min(count, SMALL_LABELS)}")


def _sized(environment: str, size: str) -> list[RunSpec]:
    """The published and the default agent for one data size; with continuous physics the preset sets the size."""
    tasks = TASKS if size == "1m" else ("1-step", "multi-step")
    suffix = "" if size == "1m" else f"-{size}"
    published, ours = measured(tasks, PUBLISHED), measured(tasks, OURS)
    alone = NO_PRACTICE if size in ("10k", "100k") else ()
    examples = _examples(size) if environment == "blocks" else ()
    if size == "1m":
        published += measured(tasks, WITHOUT_C_PI)
    settings = WITH_FORWARD_MODEL if (environment, size) == ("blocks", "1m") else ()
    if settings:
        published += measured(ONE_STEP, TWENTY_DROPS)
        published += measured(MAIN, POSTERIOR, MEMORY, WITHOUT_MODEL_ERROR, LOOKAHEAD, MODEL_EDGES, OURS)
        ours += measured(MAIN, PUBLISHED, WITHOUT_MODEL_EDGES, WITHOUT_LOOKAHEAD)
    return [
        RunSpec(
            f"{environment}-paper{suffix}",
            environment,
            published,
            preset="paper",
            settings=(*settings, *examples),
            small=_small(size),
            small_env=SMALL_PICTURES,
        ),
        RunSpec(
            f"{environment}-default{suffix}",
            environment,
            ours,
            settings=(*examples, *alone),
            small=(*_small(size), *alone),
            small_env=SMALL_PICTURES,
        ),
    ]


def _poor_detector() -> list[RunSpec]:
    """A million examples, but only 10,000 labels for the detector."""
    labels, small = (
        ("detect.num_labels=10000", "detect.val_fraction=0.1"),
        (*_small("1m"), f"detect.num_labels={FEW_SMALL_LABELS}"),
    )
    return [
        RunSpec(
            "blocks-paper-10k-labels",
            "blocks",
            measured(MAIN, PUBLISHED),
            preset="paper",
            settings=(*_examples("1m"), *labels),
            small=small,
            small_env=SMALL_PICTURES,
        ),
        RunSpec(
            "blocks-default-10k-labels",
            "blocks",
            measured(MAIN, OURS),
            settings=(*_examples("1m"), *labels),
            small=small,
            small_env=SMALL_PICTURES,
        ),
    ]


RUN_SPECS = [
    *(run_spec for size in SIZES for run_spec in _sized("blocks", size)),
    *_poor_detector(),
    *_sized("blocks-continuous", "1m"),
]
