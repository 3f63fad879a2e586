"""Trials in a pure environment: a whole call is one compiled scan over steps."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.attributes import Goal
from attribute_planner.baselines.episodes import Steps, Trials, require_something_to_do
from attribute_planner.baselines.reactive_policy import ReactivePolicy
from attribute_planner.baselines.training_distribution import Stage, aim_of
from attribute_planner.environments.interface import PureEnvironment
from attribute_planner.environments.spaces import Observation
from attribute_planner.environments.vector_env import where_batch
from attribute_planner.models.detector import AttributeDetector

Key = jax.Array
Function = TypeVar("Function", bound=Callable)


class Trial(NamedTuple):
    """Trials under way, `[B, ...]`: states, ages, numbers of stages, goals, and what the policy sees."""

    states: Any
    age: jax.Array
    stage: jax.Array
    goal: Goal
    observation: Observation
    values: jax.Array


class DeviceTrials(Trials):
    """In a pure environment: a whole call is one compiled scan over steps."""

    def __init__(
        self,
        env: PureEnvironment,
        detector: AttributeDetector | None,
        stages: Sequence[Stage],
        num_envs: int,
        *,
        key: Key,
    ) -> None:
        self._env, self._detector, self._stages, self._copies = env, detector, tuple(stages), num_envs
        self._trial = _begin(env, detector, self._stages, jnp.int32(1), num_envs, key)
        require_something_to_do(self._stages, ~np.asarray(self._trial.goal.satisfied_by(self._trial.values)))
        self._memory: Any = None

    def collect(self, policy: ReactivePolicy, steps: int, open_stages: int, *, key: Key) -> Steps:
        if self._memory is None:
            self._memory = policy.begin(self._copies)
        (self._trial, self._memory), tried = _scan_steps(
            self._env,
            self._detector,
            self._stages,
            policy,
            (self._trial, self._memory),
            steps,
            jnp.int32(open_stages),
            key,
        )
        return tried


@eqx.filter_jit
def _scan_steps(
    env: PureEnvironment,
    detector: AttributeDetector | None,
    stages: tuple[Stage, ...],
    policy: ReactivePolicy,
    carry: tuple[Trial, Any],
    steps: int,
    open_stages: jax.Array,
    key: Key,
) -> tuple[tuple[Trial, Any], Steps]:
    limit = jnp.array([stage.task.max_steps for stage in stages], jnp.int32)
    single_attempt = jnp.array([stage.single_attempt for stage in stages])

    def step(carry: tuple[Trial, Any], step_key: Key) -> tuple[tuple[Trial, Any], Steps]:
        before, memory = carry
        act_key, chance_key, begin_key = jax.random.split(step_key, 3)
        num_envs, aim = len(before.age), aim_of(before.goal)
        memory, action, record = policy.decide(memory, before.observation, before.values, aim, key=act_key)
        states = jax.vmap(env.step)(before.states, action, jax.random.split(chance_key, num_envs))
        observation, values = _look(env, detector, states)
        after = Trial(states, before.age + 1, before.stage, before.goal, observation, values)
        reached = jnp.asarray(after.goal.satisfied_by(values))
        tried_once = single_attempt[after.stage] & jnp.any(values != before.values, axis=-1)
        ended = reached | tried_once | jax.vmap(env.terminated)(states)
        cut = (after.age >= limit[after.stage]) & ~ended

        def begin_where_over(under_way: tuple[Trial, Any]) -> tuple[Trial, Any]:
            fresh = _begin(env, detector, stages, open_stages, num_envs, begin_key), policy.begin(num_envs)
            return where_batch(ended | cut, fresh, under_way)

        # A branch on the whole batch, so that a step in which no trial ends does not pay for beginning others.
        carry = jax.lax.cond(jnp.any(ended | cut), begin_where_over, lambda carry: carry, (after, memory))
        weight = jnp.ones(num_envs)
        return carry, Steps(before.observation, before.values, aim, action, record, reached, ended, cut, weight)

    return jax.lax.scan(step, carry, jax.random.split(key, steps))


@eqx.filter_jit
def _begin(
    env: PureEnvironment,
    detector: AttributeDetector | None,
    stages: tuple[Stage, ...],
    open_stages: jax.Array,
    num_envs: int,
    key: Key,
) -> Trial:
    """Fresh trials, each at a random one of the open stages."""
    stage_key, start_key, goal_key = jax.random.split(key, 3)
    stage = jax.random.randint(stage_key, (num_envs,), 0, open_stages)
    start_keys = jax.random.split(start_key, num_envs)
    states = _by_stage(
        stage, [each.task.start or env.reset for each in stages], lambda start: jax.vmap(start)(start_keys)
    )
    goal = _unsolved_goals(env, stage, stages, states, goal_key)
    return Trial(states, jnp.zeros(num_envs, jnp.int32), stage, goal, *_look(env, detector, states))


DRAWS = 50
"""How often goals that hold at the start are drawn again."""


def _unsolved_goals(env: PureEnvironment, stage: jax.Array, stages: tuple[Stage, ...], states: Any, key: Key) -> Goal:
    """A goal for each state, of its own stage, drawn again where it holds already."""
    values = jax.vmap(env.describe)(states)

    def draw(number: int | jax.Array) -> Goal:
        keys = jax.random.split(jax.random.fold_in(key, number), len(stage))
        return _by_stage(
            stage, [each.task.goal for each in stages], lambda goal: _bounded(jax.vmap(goal)(states, values, keys))
        )

    def again(drawn: tuple[jax.Array, Goal]) -> tuple[jax.Array, Goal]:
        number, goal = drawn
        return number + 1, where_batch(jnp.asarray(goal.satisfied_by(values)), draw(number), goal)

    def is_needed(drawn: tuple[jax.Array, Goal]) -> jax.Array:
        number, goal = drawn
        return jnp.any(goal.satisfied_by(values)) & (number < DRAWS)

    return jax.lax.while_loop(is_needed, again, (jnp.int32(1), draw(0)))[1]


def _by_stage(stage: jax.Array, functions: Sequence[Function], call: Callable[[Function], Any]) -> Any:
    """What the function of its own stage gives each copy; one that serves several stages is called once."""
    results = {function: call(function) for function in dict.fromkeys(functions)}
    chosen = results[functions[0]]
    for number, function in enumerate(functions):
        if function != functions[0]:
            chosen = where_batch(stage == number, results[function], chosen)
    return chosen


def _bounded(goal: Goal) -> Goal:
    """The goal with all its fields, so that goals of all tasks look alike."""
    or_more = jnp.zeros(goal.wanted.shape, bool) if goal.at_least is None else goal.at_least
    return Goal(jnp.asarray(goal.values, jnp.int32), goal.wanted, or_more)


def _look(env: PureEnvironment, detector: AttributeDetector | None, states: Any) -> tuple[Observation, jax.Array]:
    observation = jax.vmap(env.observe)(states)
    return observation, jax.vmap(env.describe)(states) if detector is None else detector(observation)
