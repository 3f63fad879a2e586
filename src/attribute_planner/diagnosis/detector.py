"""A detector that is often wrong, or that was tested on too few labels to know."""

from attribute_planner.attributes import AttributeSpace
from attribute_planner.diagnosis.finding import Finding
from attribute_planner.diagnosis.wording import percent
from attribute_planner.evaluation.statistics import success_interval
from attribute_planner.phases.detect import DetectorError

MAX_ERROR = 0.02
"""Upper end of the interval of the error up to which a detector is not reported."""

LOOKS = 10
"""Observations of a typical episode that must all be read correctly."""


def detector_errors(space: AttributeSpace, error: DetectorError) -> list[Finding]:
    """A finding if the detector may be wrong too often: the upper end of the 95 % interval counts."""
    high = success_interval(round(error.full_set * error.states), error.states).high
    if high <= MAX_ERROR:
        return []
    worst = int(error.per_attribute.argmax())
    most = f"; most often about {space.names[worst]} ({percent(error.per_attribute[worst])})" if error.full_set else ""
    message = (
        f"The detector is wrong about {percent(error.full_set)} of {error.states} held-out states, which means up to "
        f"{percent(high)} in general{most}. Give it more labels."
    )
    evidence = {"full_set": error.full_set, "high": high, "states": error.states, "worst": space.names[worst]}
    return [Finding("detector", message, 1 - (1 - high) ** LOOKS, evidence)]
