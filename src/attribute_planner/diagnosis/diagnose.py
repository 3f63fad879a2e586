"""The diagnosis of an agent: every kind of finding, the most important first."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import jax

from attribute_planner.agent import Agent
from attribute_planner.aliasing.records import AttemptRecord
from attribute_planner.diagnosis.aliasing import aliasing
from attribute_planner.diagnosis.calibration import broken_promises, measured_tasks, miscalibrated
from attribute_planner.diagnosis.detector import detector_errors
from attribute_planner.diagnosis.finding import Diagnosis, ordered
from attribute_planner.diagnosis.fineness import too_fine
from attribute_planner.diagnosis.noise import uncontrolled_attributes
from attribute_planner.diagnosis.random_steps import PolicySteps, RandomSteps, policy_steps, random_steps
from attribute_planner.diagnosis.tasks import Asked, ask
from attribute_planner.diagnosis.unseen_values import asks_for_unseen, unseen_values
from attribute_planner.diagnosis.ways import missing_ways, slow_ways
from attribute_planner.diagnosis.weak_edges import weak_changes, weak_edges
from attribute_planner.environments.hidden_attributes import without_hidden_attributes
from attribute_planner.environments.splits import ComponentName, component_name, indexed_name
from attribute_planner.phases.detect import DetectorError
from attribute_planner.planning.plan import Plan
from attribute_planner.ranges import COUNT_OR_ZERO, check_number, check_seed
from attribute_planner.transitions.model import TransitionModel

PLANS = 20
"""Goals that are drawn of each task if no episodes are run."""


def diagnose(agent: Agent, *, episodes: int = 20, seed: int = 0) -> Diagnosis:
    """The reasons why an agent fails, the most important first.

    episodes: number of episodes of each task; 0 to use plans only.
    """
    check_number("episodes", episodes, COUNT_OR_ZERO, whole=True)
    check_seed(seed)
    ask_key, steps_key = jax.random.split(jax.random.key(seed))
    return diagnosis_of_agent(agent, ask(agent, episodes or PLANS, run=episodes > 0, key=ask_key), key=steps_key)


def diagnosis_of_agent(agent: Agent, asked: Sequence[Asked], *, key: jax.Array) -> Diagnosis:
    """The diagnosis of an agent by the goals that it is asked for, its attempts, and a few steps."""
    random_key, policy_key = jax.random.split(key)
    diagnosis = diagnosis_of(
        agent.table,
        asked,
        agent.detector_error,
        agent.records,
        random_steps(agent, key=random_key),
        lambda: policy_steps(agent, key=policy_key),
        given=len(without_hidden_attributes(agent.env).attributes),
        component_name=component_name(agent.env.observation),
    )
    return replace(diagnosis, by_detector=not agent.env.has_attribute_fn)


def diagnosis_of(
    model: TransitionModel,
    asked: Sequence[Asked],
    detector_error: DetectorError | None = None,
    records: AttemptRecord | None = None,
    steps: RandomSteps | None = None,
    of_policy: Callable[[], PolicySteps] | None = None,
    *,
    given: int,
    component_name: ComponentName = indexed_name,
) -> Diagnosis:
    """The diagnosis of a model by the goals that are asked for; the first `given` attributes are not hidden.

    steps, of_policy: random steps, and what takes those of the policy.

    Causes stand before what they explain, if both are as important.
    """
    listing = model.listing()
    seen = [each for each in asked if not asks_for_unseen(each, listing, asked)]
    measured, weak = measured_tasks(asked), weak_changes(listing, seen)
    findings = [] if detector_error is None else detector_errors(listing.space, detector_error)
    findings += unseen_values(listing, asked, given)
    findings += missing_ways(listing, seen) + slow_ways(listing, seen)
    noisy = (
        [] if steps is None or of_policy is None else uncontrolled_attributes(listing, steps, of_policy, weak, given)
    )
    findings += noisy
    if records is not None:
        findings += aliasing(records, listing.space, weak, component_name, broken_promises(measured))
    findings += too_fine(listing, asked, weak, {each.evidence["attribute"] for each in noisy})
    findings += weak_edges(weak)
    findings += miscalibrated(measured)
    return Diagnosis(ordered(findings), measured, worst_plans(asked))


def worst_plans(asked: Sequence[Asked]) -> list[Plan]:
    """The least probable plan of each task."""
    plans: dict[str, Plan] = {}
    for each in asked:
        known = plans.setdefault(each.task.name, each.plan)
        plans[each.task.name] = min(known, each.plan, key=lambda plan: plan.probability)
    return list(plans.values())
