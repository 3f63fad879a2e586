"""The agent: an environment and the parts that were learned on it. It plans, and it reaches goals."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import jax
import numpy as np

from attribute_planner.aliasing.records import AttemptRecord
from attribute_planner.attributes import AttributeSpace, Goal, Value, goal_from_names
from attribute_planner.environments.hidden_attributes import without_hidden_attributes
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.tasks import Task
from attribute_planner.environments.vector_env import TimeStep, VectorEnv
from attribute_planner.errors import ConfigurationError
from attribute_planner.evaluation.pursue import pursue
from attribute_planner.models.detector import AttributeDetector
from attribute_planner.models.forward_model import ForwardModel
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.phases.detect import DetectorError
from attribute_planner.planning.belief import perceive
from attribute_planner.planning.episode import Episode
from attribute_planner.planning.episode_model import AttemptModel, EpisodeModel, Odds
from attribute_planner.planning.execution import Execution
from attribute_planner.planning.executor import EXECUTORS, Conduct, Executor, Parts, executor_named, plan_model
from attribute_planner.planning.plan import Plan, Planner
from attribute_planner.ranges import check_seed, require_positive
from attribute_planner.transitions.table import TransitionTable

if TYPE_CHECKING:
    from attribute_planner.diagnosis.finding import Diagnosis
    from attribute_planner.diagnosis.report import Report

NamedGoal = Mapping[str, Value] | str


@dataclass(frozen=True)
class Agent:
    """A trained Attribute Planner.

    env: the environment in which it was trained.
    detector: f̂; `None` if the environment's own f is used.
    policy: π(a | s, ρ_goal).
    table: c_π.
    max_attempt_steps: t_max, the number of steps after which an attempt has failed.
    deterministic: whether the policy always takes its most probable action.
    forward_model: P(ρ' | s, a); `None` if it was not learned.
    model_error: fraction of held-out steps on which the forward model was wrong.
    stop_on_any_change: whether an attempt ends with any change of the attributes.
    detector_error: the error of the detector on held-out labels; `None` if it is not known.
    attempts: returns the last attempts of practice, for `diagnose`; `None` if they were not kept.
    odds: how likely attempts succeed, compared with practice, if that was measured.
    conduct: what practice has measured about how to act.
    """

    env: Environment
    detector: AttributeDetector | None
    policy: GoalPolicy
    table: TransitionTable
    max_attempt_steps: int
    deterministic: bool = False
    forward_model: ForwardModel | None = None
    model_error: float = 0.0
    stop_on_any_change: bool = True
    detector_error: DetectorError | None = None
    attempts: Callable[[], AttemptRecord | None] | None = None
    odds: Odds = Odds()
    conduct: Conduct = Conduct()

    def __repr__(self) -> str:
        size = f"{self.table.num_nodes:,} attribute sets, {self.table.num_edges:,} transitions"
        return f"Agent({self.env.name}: {size})"

    def _repr_html_(self) -> str:
        from attribute_planner.drawing.html import agent_html

        return agent_html(self)

    def with_estimator(self, name: str) -> "Agent":
        """The same agent with another estimate of c_π: `ratio`, `posterior`, `alike` or `visits`."""
        return replace(self, table=replace(self.table, estimator=name))

    def with_true_attributes(self) -> "Agent":
        """The same agent with the true attributes instead of those of its detector."""
        if not self.env.has_attribute_fn:
            raise ConfigurationError(f"{self.env.name} has no attribute function; only the detector gives attributes.")
        return replace(self, detector=None)

    @cached_property
    def records(self) -> AttemptRecord | None:
        """The last attempts of practice; of a loaded run, they are read when they are first asked for."""
        return None if self.attempts is None else self.attempts()

    @property
    def planner(self) -> Planner:
        """Plans as execution does, for the steps of the main task."""
        return self.planner_for(self.max_steps)

    @property
    def max_steps(self) -> int:
        """Steps of the main task, or of an episode if there are no tasks."""
        return self.env.max_steps

    def goal(self, goal: NamedGoal) -> Goal:
        """A goal given as `{"switch_0": "red", "marine": ">=2"}` or as `"switch_0=red marine>=2"`."""
        return goal_from_names(self.env.attributes, goal)

    def plan(self, attributes: Mapping[str, Value], goal: NamedGoal) -> Plan:
        """The most probable path from a complete attribute set to a goal, which may be partial.

        Hidden attributes may be left out; they then have the values that were observed most often with the others.
        """
        return self.planner.plan(self._complete(attributes), self.goal(goal))

    def _complete(self, attributes: Mapping[str, Value]) -> np.ndarray:
        """`int32[A]` the values of a named set, hidden ones included."""
        space, given = self.env.attributes, len(without_hidden_attributes(self.env).attributes)
        if given == len(space) or any(name in attributes for name in space.names[given:]):
            return space.encode(attributes)
        named = AttributeSpace(space.attributes[:given]).encode(attributes)
        visits = np.bincount(self.table.source, weights=self.table.visits, minlength=self.table.num_nodes)
        seen = np.where((self.table.values[:, :given] == named).all(axis=1), visits, -1.0)
        hidden = self.table.values[seen.argmax(), given:] if seen.max(initial=-1.0) >= 0 else 0 * space.sizes[given:]
        return np.concatenate([named, hidden]).astype(np.int32)

    def reach(
        self,
        goal: NamedGoal,
        *,
        seed: int = 0,
        max_steps: int | None = None,
        mode: str = "default",
        frames: bool = False,
    ) -> Episode:
        """Run one episode with this goal, for at most `max_steps` steps; by default the limit of the main task.

        mode: the execution mode, a name in `EXECUTORS`: `default`, `paper`, or `default` with one part changed.
        frames: whether to keep an image of every step.
        """
        check_seed(seed)
        if max_steps is not None:
            require_positive("max_steps", max_steps)
        wanted, executor = self.goal(goal), executor_named(mode)
        reset_key, pursue_key = jax.random.split(jax.random.key(seed))
        limit = max_steps or self.max_steps
        envs = self.env.vector_env(1)
        envs.episode_steps = limit
        try:
            return self.pursue(
                envs, envs.reset(reset_key), [wanted], limit, executor, key=pursue_key, record=True, frames=frames
            )[0]
        finally:
            envs.close()

    def pursue(
        self,
        envs: VectorEnv,
        timestep: TimeStep,
        goals: Sequence[Goal],
        max_steps: int,
        executor: Executor,
        *,
        key: jax.Array,
        record: bool = False,
        frames: bool = False,
        watch: Callable[[int], None] | None = None,
    ) -> list[Episode]:
        """Algorithm 2 for a batch of environments, with one goal for each.

        watch: called after every step with the number of episodes that have ended.
        """
        camera = envs.render if frames else None
        execution = self.execution(goals, max_steps, executor, record=record, camera=camera, watch=watch)
        return pursue(execution, envs, timestep, self.env.attributes, key=key)

    def execution(
        self,
        goals: Sequence[Goal],
        max_steps: int,
        executor: Executor = EXECUTORS["default"],
        *,
        record: bool = False,
        camera: Callable[[int], np.ndarray] | None = None,
        watch: Callable[[int], None] | None = None,
    ) -> Execution:
        """The actor that pursues goals, one in each environment of a batch."""
        planner = self.planner_for(max_steps, executor)
        return Execution(self._parts, planner, executor, goals, max_steps, record, camera, watch)

    def diagnose(self, *, episodes: int = 20, seed: int = 0) -> "Diagnosis":
        """The reasons for failures, the most important first.

        episodes: number of episodes of each task; 0 to use plans only.
        """
        from attribute_planner.diagnosis.diagnose import diagnose

        return diagnose(self, episodes=episodes, seed=seed)

    @cached_property
    def report(self) -> "Report":
        """A plan with its evidence and the success of a few episodes for each task, and warnings. It is computed
        once."""
        from attribute_planner.diagnosis.report import report_on

        return report_on(self)

    def detect(self, timestep: TimeStep) -> np.ndarray:
        """`int32[B, A]` the attributes of a batch of environments: the detector's, or the environment's own."""
        attributes = None if timestep.attributes is None else np.asarray(timestep.attributes)
        return perceive(self.detector, timestep.observation, attributes).values

    def task(self, name: str | None) -> Task:
        """A task of the agent's environment; the main one for `None`."""
        return self.env.task(name)

    @cached_property
    def _parts(self) -> Parts:
        return Parts(
            self.detector,
            self.policy,
            self.max_attempt_steps,
            self.deterministic,
            self.forward_model,
            self.model_error,
            self.stop_on_any_change,
            self.conduct,
        )

    @cached_property
    def _planners(self) -> dict[tuple[float, EpisodeModel], Planner]:
        return {}

    def planner_for(self, max_steps: int, executor: Executor = EXECUTORS["default"]) -> Planner:
        """The planner of an executor for episodes of `max_steps`. It is cached, with its distances to known goals."""
        horizon = float(max_steps) if executor.timed else np.inf
        looks_ahead = self.forward_model is not None
        model = plan_model(executor, self.conduct, deterministic=self.deterministic, looks_ahead=looks_ahead)
        if (horizon, model) not in self._planners:
            attempts = AttemptModel(model, self.max_attempt_steps, self.odds)
            self._planners[horizon, model] = Planner(self.table, horizon, attempts=attempts)
        return self._planners[horizon, model]
