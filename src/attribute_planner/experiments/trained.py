"""What a trial knows of a subject after its training, whichever model it is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from attribute_planner.evaluation.evaluate import Evaluation
from attribute_planner.experiments.records import Curve
from attribute_planner.experiments.runs import Measurement

Evaluate = Callable[[Measurement, int, int], Evaluation]
"""What to measure, on how many tasks, with which seed."""


@dataclass(frozen=True)
class Trained:
    """A subject after its training.

    configuration: the environment's parameters and all settings.
    provenance: where it was trained.
    seconds: how long that took, interruptions left out.
    scalars, curves: numbers that training left behind, and how some of them went.
    evaluate: measures it.
    """

    configuration: dict[str, Any]
    provenance: dict[str, Any]
    seconds: float
    scalars: dict[str, float]
    curves: dict[str, Curve]
    evaluate: Evaluate


CURVE_POINTS = 60
"""How many points of a curve are kept, at most."""


def thinned(points: Curve, most: int = CURVE_POINTS) -> Curve:
    """At most so many points, evenly spread, the first and the last among them."""
    if len(points) > most:
        points = [points[round(number * (len(points) - 1) / (most - 1))] for number in range(most)]
    return [[x, float(f"{y:.4g}")] for x, y in points]
