"""A trained model as the measurements see it, planner or baseline."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from attribute_planner.evaluation.evaluate import Evaluation
from attribute_planner.experiments.records import Curve
from attribute_planner.experiments.runs import Measurement

Evaluate = Callable[[Measurement, int, int], Evaluation]
"""Arguments: measurement, number of tasks, seed."""


@dataclass(frozen=True)
class Trained:
    """A trained model.

    configuration: the environment's parameters and all settings.
    provenance: commit, versions and hardware of the training.
    seconds: duration of the training without interruptions.
    scalars, curves: metrics at the end of training, and over training.
    evaluate: measures the model.
    """

    configuration: dict[str, Any]
    provenance: dict[str, Any]
    seconds: float
    scalars: dict[str, float]
    curves: dict[str, Curve]
    evaluate: Evaluate


CURVE_POINTS = 60
"""Largest number of points of a recorded curve."""


def thinned(points: Curve, most: int = CURVE_POINTS) -> Curve:
    """At most `most` points, evenly spaced, including the first and the last."""
    if len(points) > most:
        points = [points[round(number * (len(points) - 1) / (most - 1))] for number in range(most)]
    return [[x, float(f"{y:.4g}")] for x, y in points]
