"""Execution (Algorithm 2): move to the next set on the path, observe where that led, replan.

An `Executor` is a value that names how goals are pursued; `planning.execution` carries it out.
"""

from dataclasses import dataclass
from typing import NamedTuple

from attribute_planner.errors import unknown_name
from attribute_planner.models.detector import AttributeDetector
from attribute_planner.models.forward_model import ForwardModel
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.planning.episode_model import DETERMINISTIC, EpisodeModel
from attribute_planner.planning.state_success import SuccessModel
from attribute_planner.transitions.edge_numbers import EdgeNumbers


@dataclass(frozen=True)
class Executor:
    """An execution mode; each field is one part of it."""

    model: EpisodeModel | None = EpisodeModel()
    """The evidence model of failed attempts; `None` to ignore them, as published."""
    replanning: bool = True
    """Whether a failed attempt lowers the values of all sets whose path takes the transition."""
    timed: bool = True
    """Whether plans take the duration of transitions and the remaining steps into account."""
    lookahead: bool = True
    """Whether actions are chosen by the forward model, if the agent has one."""
    model_error: bool = True
    """Whether the measured error of the forward model lowers the probability of its predictions."""
    observation_search: bool = True
    """Whether other actions are tried when the policy returns to the same observation."""
    nearest_set: bool = True
    """Whether to act as in the nearest known set if there is no path and no forward model."""
    goal_relaxation: bool = True
    """Whether to relax a goal that no known set satisfies, if there is no forward model."""
    measured_aliasing: bool = True
    """Whether the default model has the share of aliasing that practice has measured, if it has."""
    state_success: bool = True
    """Whether the policy's values adjust c_π to the present state, if it learned off-policy."""
    early_replanning: bool = True
    """Whether to replan when an attempt takes longer than half of those that arrived there in practice, if known."""


EXECUTORS: dict[str, Executor] = {
    "paper": Executor(
        model=None,
        replanning=False,
        timed=False,
        lookahead=False,
        model_error=False,
        observation_search=False,
        nearest_set=False,
        goal_relaxation=False,
        measured_aliasing=False,
        state_success=False,
        early_replanning=False,
    ),
    "default": Executor(),
    "no-replanning": Executor(replanning=False),
    "no-time": Executor(timed=False),
    "no-lookahead": Executor(lookahead=False),
    "trust-model": Executor(model_error=False),
    "no-observation-search": Executor(observation_search=False),
    "no-nearest-set": Executor(nearest_set=False),
    "no-goal-relaxation": Executor(goal_relaxation=False),
    "no-state-success": Executor(state_success=False),
    "no-early-replanning": Executor(early_replanning=False),
    "no-measured-aliasing": Executor(measured_aliasing=False),
    "no-evidence": Executor(model=EpisodeModel(aliasing=0.0)),
}
"""The execution modes by name: Algorithm 2 as published, the default, and the default with one part changed."""


def executor_named(name: str) -> Executor:
    """The executor of that name."""
    if name not in EXECUTORS:
        raise unknown_name("execution mode", name, EXECUTORS)
    return EXECUTORS[name]


class Conduct(NamedTuple):
    """What practice has measured about how to act.

    repeatable: how often an action led to the same observation again in an episode.
    inverse_temperature: the factor of the policy's log probabilities with which it acts best (`phases.temperatures`).
    success: what the policy's values tell about success from a state; `None`: nothing.
    aliasing: the share of failed attempts that is due to the state; `None`: not measured.
    arrival_steps: mean steps of the attempts that arrived, by transition; `None`: not measured.
    """

    repeatable: float = 1.0
    inverse_temperature: float = 1.0
    success: SuccessModel | None = None
    aliasing: float | None = None
    arrival_steps: EdgeNumbers | None = None


@dataclass(frozen=True)
class Parts:
    """The learned parts of an agent that execution uses.

    detector: f̂; `None` where the environment's own f is used.
    max_attempt_steps: steps after which an attempt has failed, as in practice.
    deterministic: whether the policy takes its most probable action.
    model_error: how often the forward model is wrong.
    stop_on_any_change: whether attempts end with any change of the attributes.
    conduct: what practice has measured about how to act.
    """

    detector: AttributeDetector | None
    policy: GoalPolicy
    max_attempt_steps: int
    deterministic: bool = False
    forward_model: ForwardModel | None = None
    model_error: float = 0.0
    stop_on_any_change: bool = True
    conduct: Conduct = Conduct()


def episode_model(executor: Executor, conduct: Conduct, *, deterministic: bool) -> EpisodeModel | None:
    """The evidence model of an executor, for an agent whose policy is deterministic or not; `None`: no evidence."""
    if executor.model != EpisodeModel():
        return executor.model
    if executor.measured_aliasing and conduct.aliasing is not None:
        return EpisodeModel(conduct.aliasing)
    return DETERMINISTIC if deterministic else EpisodeModel()


def plan_model(executor: Executor, conduct: Conduct, *, deterministic: bool, looks_ahead: bool) -> EpisodeModel:
    """The same for the probability of plans. After a failure, lookahead takes another action."""
    if looks_ahead and executor.lookahead:
        return EpisodeModel(aliasing=0.0)
    return episode_model(executor, conduct, deterministic=deterministic) or EpisodeModel()
