"""The agent: an environment and the three parts that were learned on it. It plans, and it reaches goals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import jax
import numpy as np

from attribute_planner.attributes import Goal, Value, goal_from_names, parse_goal
from attribute_planner.configuration import require_positive
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.tasks import Task
from attribute_planner.environments.vector_env import TimeStep, VectorEnv
from attribute_planner.errors import ConfigurationError
from attribute_planner.models.detector import AttributeDetector
from attribute_planner.models.forward_model import ForwardModel
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.planning.belief import look
from attribute_planner.planning.episode import Episode
from attribute_planner.planning.execution import Driver, pursue
from attribute_planner.planning.executor import ExecutionConfig
from attribute_planner.planning.lookahead import STEP_COST
from attribute_planner.planning.planner import Plan, Planner
from attribute_planner.transitions.table import TransitionTable

NamedGoal = Mapping[str, Value] | str


@dataclass(frozen=True)
class Agent:
    """A trained Attribute Planner.

    env: where it was trained.
    detector: f̂; `None` where the environment's own f is used.
    policy: π(a | s, ρ_goal).
    table: c_π.
    patience: after how many steps without a change an attempt is given up.
    greedy: whether the policy always takes its likeliest action.
    outlook: what each action would lead to, where transitions are single steps and it was learned.
    hurry: what each environment step costs in a plan, on the scale of −log c_π.
    doubt: how often the outlook was wrong on steps that it had not learned from.
    """

    env: Environment
    detector: AttributeDetector | None
    policy: GoalPolicy
    table: TransitionTable
    patience: int
    deterministic: bool = False
    forward_model: ForwardModel | None = None
    time_cost: float = 0.0
    model_error: float = 0.0

    def with_estimator(self, name: str) -> "Agent":
        """The same agent, believing another estimate of c_π: `ratio`, `posterior`, `alike` or `visits`."""
        return replace(self, table=replace(self.table, estimator=name))

    def with_true_attributes(self) -> "Agent":
        """The same agent, told the true attributes in place of what its detector sees: what does the detector cost?"""
        if not self.env.has_attribute_fn:
            raise ConfigurationError(f"{self.env.name} does not tell its true attributes; only the detector sees them.")
        return replace(self, detector=None)

    @cached_property
    def planner(self) -> Planner:
        """Plans on the agent's table."""
        return Planner(self.table, time_cost=self.time_cost)

    @cached_property
    def _lookahead_planner(self) -> Planner:
        return Planner(self.table, STEP_COST)

    def goal(self, goal: NamedGoal) -> Goal:
        """A goal given as `{"switch_0": "red", "marine": ">=2"}` or as `"switch_0=red marine>=2"`."""
        space = self.env.attributes
        return parse_goal(space, goal) if isinstance(goal, str) else goal_from_names(space, goal)

    def plan(self, attributes: Mapping[str, Value], goal: NamedGoal) -> Plan:
        """The most probable path from a complete attribute set to a goal, which may be partial."""
        return self.planner.plan(self.env.attributes.encode(attributes), self.goal(goal))

    def reach(
        self,
        goal: NamedGoal,
        *,
        seed: int = 0,
        max_steps: int | None = None,
        mode: str = "default",
        pictures: bool = False,
    ) -> Episode:
        """Begin an episode and pursue a goal in it, for `max_steps` steps or as long as the main task allows."""
        if max_steps is not None:
            require_positive("max_steps", max_steps)
        wanted = self.goal(goal)
        reset_key, pursue_key = jax.random.split(jax.random.key(seed))
        config = ExecutionConfig(mode, self.patience, record=True, pictures=pictures)
        limit = max_steps or self.env.task(None).max_steps
        envs = self.env.vector_env(1)
        envs.episode_steps = limit
        try:
            return self.pursue(envs, envs.reset(reset_key), [wanted], limit, config, key=pursue_key)[0]
        finally:
            envs.close()

    def pursue(
        self,
        envs: VectorEnv,
        timestep: TimeStep,
        goals: Sequence[Goal],
        max_steps: int,
        config: ExecutionConfig,
        *,
        key: jax.Array,
    ) -> list[Episode]:
        """Algorithm 2 for many goals at once, one in each copy of the environment."""
        return pursue(self._driver, envs, timestep, goals, max_steps, config, key=key)

    def detect(self, timestep: TimeStep) -> np.ndarray:
        """`int32[B, A]` what the agent believes the attributes of a batch of worlds to be."""
        return look(self.detector, timestep).values

    def task(self, name: str | None) -> Task:
        """A task of the agent's environment; the main one for `None`."""
        return self.env.task(name)

    @cached_property
    def _driver(self) -> Driver:
        return Driver(
            self.detector,
            self.policy,
            self.planner,
            self.deterministic,
            self.forward_model,
            self._lookahead_planner,
            self.model_error,
        )
