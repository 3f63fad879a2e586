"""What is trained on the blocks: as published and our way, from few examples or many, with a good or a poor detector.

The agents "as published" also learn an outlook. It changes neither their policy nor their table (transitions that it
imagines are kept apart), and lets one training show what foresight and imagined transitions would add.
"""

from attribute_planner.experiments.cells import OURS, PUBLISHED, WITHOUT_C_PI, Execution, Subject, measured

TASKS = ("1-step", "multi-step", "4-stack", "1-step-underspecified", "multi-step-underspecified")
MAIN = ("multi-step",)

POSTERIOR = Execution("paper", "posterior", imagined=False)
MEMORY = Execution("memory", "ratio", imagined=False)
FORESIGHT = Execution("default", "ratio", imagined=False)
IMAGINED = Execution("paper", "ratio", imagined=True)
SEEN_ONLY = Execution("default", "posterior", imagined=False)
WITHOUT_FORESIGHT = Execution("memory", "posterior", imagined=True)

WITH_OUTLOOK = ("practise.decay=1", "foresee.learn=true", "foresee.symmetric=false")
"""The published training, and an outlook beside it. Where the policy does not change, no statistics need to fade."""

ENOUGH = ("detect.fit.updates=5000", "inverse.fit.updates=5000", "foresee.fit.updates=5000")
"""Updates after which a million examples have been learned from."""

SIZES = {"10k": 10_000, "100k": 100_000, "1m": 1_000_000, "10m": 10_000_000}
"""Numbers of single drops to learn from. The detector has as many labels, but never more than a million."""
SMALL_SIZES = {"10k": 500, "100k": 1_000, "1m": 2_000, "10m": 4_000}
MOST_LABELS = 1_000_000

LITTLE = (
    "detect.fit.updates=60",
    "inverse.fit.updates=60",
    "foresee.fit.updates=60",
    "detect.fit.batch=32",
    "inverse.fit.batch=32",
    "foresee.fit.batch=32",
    "detect.held_out=0.1",
    "explore.copies=256",
    "practise.steps=4000",
    "practise.copies=100",
    "practise.windows_per_epoch=2",
    "foresee.imagined_states=200",
)
"""What two CPU cores can do with pictures in a minute or two: far too little to learn from them."""


def _examples(size: str) -> tuple[str, ...]:
    count = SIZES[size]
    labels = min(count, MOST_LABELS)
    held_out = ("detect.held_out=0.1",) if labels < MOST_LABELS else ()
    return (*ENOUGH, f"explore.steps={count}", f"detect.labels={labels}", *held_out)


def _small(size: str) -> tuple[str, ...]:
    count = SMALL_SIZES[size]
    return (*LITTLE, f"explore.steps={count}", f"detect.labels={count}")


def _sized(environment: str, size: str) -> list[Subject]:
    """The agent as published and ours, from so many examples."""
    full = size == "1m"
    some = ("1-step", "multi-step")
    suffix = "" if full else f"-{size}"
    published = Subject(
        f"{environment}-paper{suffix}",
        environment,
        _once(
            measured(TASKS if full else some, PUBLISHED),
            measured(TASKS if full else (), WITHOUT_C_PI),
            measured(MAIN if full else (), POSTERIOR, MEMORY, FORESIGHT, IMAGINED, OURS),
        ),
        preset="paper",
        settings=(*WITH_OUTLOOK, *_examples(size)),
        small=_small(size),
    )
    ours = Subject(
        f"{environment}-default{suffix}",
        environment,
        _once(
            measured(TASKS if full else some, OURS),
            measured(MAIN if full else (), PUBLISHED, SEEN_ONLY, WITHOUT_FORESIGHT),
        ),
        settings=_examples(size),
        small=_small(size),
    )
    return [published, ours]


def _once(*parts: tuple) -> tuple:
    return tuple(dict.fromkeys(each for part in parts for each in part))


def _poor_detector() -> list[Subject]:
    """Everything from a million examples, but the detector from 10,000 labels."""
    labels, small = ("detect.labels=10000", "detect.held_out=0.1"), (*_small("1m"), "detect.labels=500")
    without_outlook = ("practise.decay=1", "foresee.learn=false")
    return [
        Subject(
            "blocks-paper-10k-labels",
            "blocks",
            measured(MAIN, PUBLISHED),
            preset="paper",
            settings=(*without_outlook, *_examples("1m"), *labels),
            small=small,
        ),
        Subject(
            "blocks-default-10k-labels",
            "blocks",
            measured(MAIN, OURS),
            settings=(*_examples("1m"), *labels),
            small=small,
        ),
    ]


SUBJECTS = [
    *(subject for size in SIZES for subject in _sized("blocks", size)),
    *_poor_detector(),
    *_sized("blocks-continuous", "1m"),
]
