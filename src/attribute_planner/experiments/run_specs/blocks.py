"""What is trained on the blocks: as published and our way, from few examples or many, with a good or a poor detector.

The agent "as published" with a million examples also learns an outlook. It changes neither its policy nor its table
(transitions that it imagines are kept apart), and lets one training show what foresight and imagination would add.
"""

from attribute_planner.experiments.runs import OURS, PUBLISHED, WITHOUT_C_PI, Execution, Subject, measured

TASKS = ("1-step", "multi-step", "4-stack", "1-step-underspecified", "multi-step-underspecified")
MAIN = ("multi-step",)

POSTERIOR = Execution("paper", "posterior", model_edges=False)
MEMORY = Execution("memory", "ratio", model_edges=False)
FORESIGHT = Execution("default", "ratio", model_edges=False)
UNDOUBTED = Execution("outlook", "ratio", model_edges=False)
IMAGINED = Execution("paper", "ratio", model_edges=True)
SEEN_ONLY = Execution("default", "posterior", model_edges=False)
WITHOUT_FORESIGHT = Execution("memory", "posterior", model_edges=True)

PLAIN_RATIO = ("practise.decay=1",)
"""Where the policy does not change, no statistics need to fade; and the paper says nothing of it for the blocks."""
WITH_FORWARD_MODEL = ("forward_model.learn=true", "forward_model.symmetric=false")
"""An outlook beside the published training."""

SIZES = {"10k": 10_000, "100k": 100_000, "1m": 1_000_000, "10m": 10_000_000}
"""Numbers of single drops to learn from. The detector has as many labels, but never more than a million."""
SMALL_SIZES = {"10k": 1_000, "100k": 3_000, "1m": 10_000, "10m": 30_000}
SMALL_LABELS, FEW_SMALL_LABELS = 10_000, 1_000
MOST_LABELS = 1_000_000
NOTHING_BESIDE = ("practise.steps=0",)
"""For our agents of few examples: their drops are all that was ever tried. A table as published rests on practice."""

SMALL_PICTURES = (("image_size", 32),)
"""At the small scale: a sixteenth of the pixels."""

SMALL_FIT = ("fit.updates=450", "fit.batch=96", "fit.learning_rate=0.005")
"""What a CPU core can do with pictures in half a minute; larger steps make up for some of the missing updates."""

LITTLE = (
    *(f"{phase}.{setting}" for phase in ("detect", "inverse", "forward_model") for setting in SMALL_FIT),
    "detect.val_fraction=0.1",
    "explore.num_envs=256",
    "practise.steps=5000",
    "practise.num_envs=100",
    "forward_model.model_edge_states=2000",
)
"""For two CPU cores: enough to see the agents begin to learn."""


def _examples(size: str) -> tuple[str, ...]:
    count = SIZES[size]
    labels = min(count, MOST_LABELS)
    val_fraction = ("detect.val_fraction=0.1",) if labels < MOST_LABELS else ()
    return (f"explore.steps={count}", f"detect.num_labels={labels}", *val_fraction)


def _small(size: str) -> tuple[str, ...]:
    count = SMALL_SIZES[size]
    return (*LITTLE, f"explore.steps={count}", f"detect.num_labels={min(count, SMALL_LABELS)}")


def _sized(environment: str, size: str) -> list[Subject]:
    """The agent as published and ours, from so many examples; where physics is dear, as many as the settings say."""
    tasks = TASKS if size == "1m" else ("1-step", "multi-step")
    suffix = "" if size == "1m" else f"-{size}"
    published, ours, settings = measured(tasks, PUBLISHED), measured(tasks, OURS), PLAIN_RATIO
    alone = NOTHING_BESIDE if size in ("10k", "100k") else ()
    examples = _examples(size) if environment == "blocks" else ()
    if size == "1m":
        published += measured(tasks, WITHOUT_C_PI)
    if (environment, size) == ("blocks", "1m"):
        settings += WITH_FORWARD_MODEL
        published += measured(MAIN, POSTERIOR, MEMORY, UNDOUBTED, FORESIGHT, IMAGINED, OURS)
        ours += measured(MAIN, PUBLISHED, SEEN_ONLY, WITHOUT_FORESIGHT)
    return [
        Subject(
            f"{environment}-paper{suffix}",
            environment,
            published,
            preset="paper",
            settings=(*settings, *examples),
            small=_small(size),
            small_world=SMALL_PICTURES,
        ),
        Subject(
            f"{environment}-default{suffix}",
            environment,
            ours,
            settings=(*examples, *alone),
            small=(*_small(size), *alone),
            small_world=SMALL_PICTURES,
        ),
    ]


def _poor_detector() -> list[Subject]:
    """Everything from a million examples, but the detector from 10,000 labels."""
    labels, small = (
        ("detect.num_labels=10000", "detect.val_fraction=0.1"),
        (*_small("1m"), f"detect.num_labels={FEW_SMALL_LABELS}"),
    )
    return [
        Subject(
            "blocks-paper-10k-labels",
            "blocks",
            measured(MAIN, PUBLISHED),
            preset="paper",
            settings=(*PLAIN_RATIO, *_examples("1m"), *labels),
            small=small,
            small_world=SMALL_PICTURES,
        ),
        Subject(
            "blocks-default-10k-labels",
            "blocks",
            measured(MAIN, OURS),
            settings=(*_examples("1m"), *labels),
            small=small,
            small_world=SMALL_PICTURES,
        ),
    ]


SUBJECTS = [
    *(subject for size in SIZES for subject in _sized("blocks", size)),
    *_poor_detector(),
    *_sized("blocks-continuous", "1m"),
]
