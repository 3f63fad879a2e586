"""The diagnosis of an agent: every kind of finding, the most important first."""

from collections.abc import Sequence

import jax

from attribute_planner.agent import Agent
from attribute_planner.aliasing.records import AttemptRecord
from attribute_planner.diagnosis.aliasing import aliasing
from attribute_planner.diagnosis.calibration import measured_tasks, miscalibrated
from attribute_planner.diagnosis.detector import detector_errors
from attribute_planner.diagnosis.finding import Diagnosis, ordered
from attribute_planner.diagnosis.tasks import Asked, ask
from attribute_planner.diagnosis.unseen_values import asks_for_unseen, unseen_values
from attribute_planner.diagnosis.ways import missing_ways, slow_ways
from attribute_planner.diagnosis.weak_edges import weak_changes, weak_edges
from attribute_planner.environments.hidden_attributes import without_hidden_attributes
from attribute_planner.phases.detect import DetectorError
from attribute_planner.transitions.model import TransitionModel

PLANS = 20
"""Goals that are drawn of each task if no episodes are run."""


def diagnose(agent: Agent, *, episodes: int = 20, seed: int = 0) -> Diagnosis:
    """The reasons why an agent fails, the most important first.

    episodes: number of episodes of each task; 0 to use plans only.
    """
    return diagnosis_of_agent(agent, ask(agent, episodes or PLANS, run=episodes > 0, key=jax.random.key(seed)))


def diagnosis_of_agent(agent: Agent, asked: Sequence[Asked]) -> Diagnosis:
    """The diagnosis of an agent by the goals that it is asked for."""
    given = len(without_hidden_attributes(agent.env).attributes)
    return diagnosis_of(agent.table, asked, agent.detector_error, agent.records, given=given)


def diagnosis_of(
    model: TransitionModel,
    asked: Sequence[Asked],
    detector_error: DetectorError | None = None,
    records: AttemptRecord | None = None,
    *,
    given: int,
) -> Diagnosis:
    """The diagnosis of a model by the goals that are asked for; the first `given` attributes are not hidden."""
    listing = model.listing()
    seen = [each for each in asked if not asks_for_unseen(each, listing, asked)]
    measured = measured_tasks(asked)
    findings = [] if detector_error is None else detector_errors(listing.space, detector_error)
    findings += unseen_values(listing, asked, given)
    findings += missing_ways(listing, seen) + slow_ways(listing, seen)
    weak = weak_changes(listing, seen)
    # Before the weak edges, whose cause it is.
    findings += [] if records is None else aliasing(records, listing.space, weak)
    findings += weak_edges(weak)
    findings += miscalibrated(measured)
    return Diagnosis(ordered(findings), measured)
