"""Collecting experience: a behaviour acts in many copies of an environment for a number of steps.

`DeviceCollector` runs a pure environment inside one compiled scan; `HostCollector` steps `Worlds` from Python. What
comes out is the same, and so the learners never know which one they are on.
"""

import abc
from typing import Any, Generic, NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.environments.interface import Environment, PureEnvironment
from attribute_planner.environments.spaces import Action, Array, Observation
from attribute_planner.environments.vector_env import TimeStep, where_batch
from attribute_planner.models.detector import AttributeDetector, detected_values

Key = jax.Array
Memory = TypeVar("Memory")


class Arrival(NamedTuple):
    """Where a step has led, before any reset.

    words: `uint32[B, W]` the attribute set that was reached.
    terminated, truncated: `[B]` whether the episode ended there, for good or by its time limit.
    """

    words: Array
    terminated: Array
    truncated: Array


class Actor(eqx.Module, Generic[Memory]):
    """How a batch of copies acts. Pure: what it remembers is handed in and out."""

    @abc.abstractmethod
    def begin(self, num_envs: int) -> Memory:
        """The memory before the first step."""

    @abc.abstractmethod
    def act(
        self, memory: Memory, observation: Observation, values: jax.Array, *, key: Key
    ) -> tuple[Memory, Action, Any]:
        """An action `[B]` for each copy, and a record of how it came about."""

    @abc.abstractmethod
    def observe(self, memory: Memory, arrival: Arrival) -> tuple[Memory, Any]:
        """What the step meant for the behaviour: its outcome."""

    def has_nothing_to_do(self, words: jax.Array) -> jax.Array | None:
        """`[B]` whether the behaviour has no use for the rest of an episode that is in this set; `None`: never."""
        del words
        return None


class Trajectories(NamedTuple):
    """What was collected, `[T, B, ...]`.

    observation, words: before the step.
    arrival: after it.
    record, outcome: what the behaviour said of both.
    """

    observation: Observation
    words: Array
    arrival: Arrival
    record: Any
    outcome: Any


class Collector(abc.ABC):
    """Copies of an environment that go on where the last call has left them."""

    @abc.abstractmethod
    def collect(self, actor: Actor, steps: int, *, key: Key) -> Trajectories:
        """Act for `steps` steps in every copy; a copy whose episode ends begins another one."""

    def close(self) -> None:
        """Let go of the environment."""


def collector_for(env: Environment, detector: AttributeDetector | None, num_envs: int, *, key: Key) -> Collector:
    """The collector that fits an environment; with no detector, the true f is asked."""
    if isinstance(env, PureEnvironment):
        return DeviceCollector(env, detector, num_envs, key=key)
    return HostCollector(env, detector, num_envs, key=key)


class DeviceCollector(Collector):
    """Runs a pure environment: a whole call is one compiled scan over steps."""

    def __init__(self, env: PureEnvironment, detector: AttributeDetector | None, num_envs: int, *, key: Key) -> None:
        self._env, self._detector, self._copies = env, detector, num_envs
        self._running = _begin(env, detector, num_envs, key)
        self._memory: Any = None

    def collect(self, actor: Actor, steps: int, *, key: Key) -> Trajectories:
        if self._memory is None:
            self._memory = actor.begin(self._copies)
        (self._running, self._memory), trajectories = _scan_steps(
            self._env, self._detector, actor, (self._running, self._memory), steps, key
        )
        return trajectories


STEPS_BETWEEN_RESTARTS = 10
"""How often copies with nothing to do begin anew: the whole batch pays for a reset, so they wait for each other."""


class Running(NamedTuple):
    """Episodes under way in a batch of copies: their states, ages `[B]`, and what is seen of them."""

    states: Any
    ages: jax.Array
    observation: Observation
    values: jax.Array


@eqx.filter_jit
def _begin(env: PureEnvironment, detector: AttributeDetector | None, num_envs: int, key: Key) -> Running:
    states = jax.vmap(env.reset)(jax.random.split(key, num_envs))
    return Running(states, jnp.zeros(num_envs, jnp.int32), *_look(env, detector, states))


def _look(env: PureEnvironment, detector: AttributeDetector | None, states: Any) -> tuple[Observation, jax.Array]:
    observation = jax.vmap(env.observe)(states)
    return observation, jax.vmap(env.describe)(states) if detector is None else detector(observation)


@eqx.filter_jit
def _scan_steps(
    env: PureEnvironment, detector: AttributeDetector | None, actor: Actor, carry: Any, steps: int, key: Key
) -> tuple[Any, Trajectories]:
    space = env.attributes

    def step(carry: tuple[Running, Any], now: tuple[Key, jax.Array]) -> tuple[tuple[Running, Any], Trajectories]:
        (before, memory), (step_key, number) = carry, now
        act_key, chance_key, reset_key = jax.random.split(step_key, 3)
        memory, action, record = actor.act(memory, before.observation, before.values, key=act_key)
        states = jax.vmap(env.step)(before.states, action, jax.random.split(chance_key, len(before.ages)))
        after = Running(states, before.ages + 1, *_look(env, detector, states))
        arrival = Arrival(space.pack(after.values), jax.vmap(env.terminated)(states), after.ages >= env.episode_steps)
        memory, outcome = actor.observe(memory, arrival)
        over = jnp.asarray(arrival.terminated | arrival.truncated)
        idle = actor.has_nothing_to_do(jnp.asarray(arrival.words))
        over = over if idle is None else over | (idle & (number % STEPS_BETWEEN_RESTARTS == 0))
        # A branch on the whole batch, so that a step in which no episode ends does not pay for resetting.
        after = jax.lax.cond(
            jnp.any(over),
            lambda after: where_batch(over, _begin(env, detector, len(over), reset_key), after),
            lambda after: after,
            after,
        )
        trajectories = Trajectories(before.observation, space.pack(before.values), arrival, record, outcome)
        return (after, memory), trajectories

    return jax.lax.scan(step, carry, (jax.random.split(key, steps), jnp.arange(steps)))


class HostCollector(Collector):
    """Steps worlds from Python; what the behaviour does between two steps of them is one compiled call."""

    def __init__(self, env: Environment, detector: AttributeDetector | None, num_envs: int, *, key: Key) -> None:
        self._space, self._detector = env.attributes, detector
        self._envs = env.vector_env(num_envs)
        self._sight = self._look(self._envs.reset(key))
        self._memory: Any = None
        self._idle: np.ndarray | None = None

    def collect(self, actor: Actor, steps: int, *, key: Key) -> Trajectories:
        if self._memory is None:
            self._memory = actor.begin(self._envs.num_envs)
        self._idle, collected = None, []
        decision = _decide(actor, self._memory, self._sight.observation, self._sight.values, key, 0)
        for number in range(1, steps + 1):
            before, taken, arrival = self._sight, decision, self._step(actor, decision)
            if number < steps:
                outcome, decision = _judge_and_decide(
                    actor, taken.memory, arrival, self._sight.observation, self._sight.values, key, number
                )
            else:
                outcome, self._memory = _judge(actor, taken.memory, arrival)
            collected.append(Trajectories(before.observation, before.words, arrival, taken.record, outcome))
        return jax.tree.map(_stack, *collected)

    def close(self) -> None:
        self._envs.close()

    def _step(self, actor: Actor, decision: "Decision") -> Arrival:
        """Act in the worlds, and begin anew where that ended an episode, or left nothing to do in it."""
        before = self._sight
        timestep = self._envs.step(jax.tree.map(np.asarray, decision.action), decision.chance_key)
        self._sight = self._look(timestep)
        arrival = Arrival(self._sight.words, timestep.terminated, timestep.truncated)
        over = timestep.over | self._nothing_to_do(actor, before.words)
        if over.any():
            self._sight, self._idle = self._look(self._envs.reset_where(over, decision.reset_key)), None
        return arrival

    def _nothing_to_do(self, actor: Actor, before: Array) -> np.ndarray:
        """`[B]` which copies the behaviour has no more use for; it is asked only when that may have changed."""
        if self._idle is None or np.any(self._sight.words != before):
            idle = _has_nothing_to_do(actor, self._sight.words)
            self._idle = np.zeros(self._envs.num_envs, bool) if idle is None else np.asarray(idle)
        return self._idle

    def _look(self, timestep: TimeStep) -> "Sight":
        if self._detector is None:
            assert timestep.attributes is not None, "an environment without f needs a detector"
            values = np.asarray(timestep.attributes)
        else:
            values = np.asarray(detected_values(self._detector, timestep.observation))
        return Sight(timestep.observation, values, self._space.pack(values))


class Sight(NamedTuple):
    """What is seen of a batch of worlds: observation, attribute values `[B, A]`, and the same packed, `[B, W]`."""

    observation: Observation
    values: np.ndarray
    words: Array


class Decision(NamedTuple):
    """What a behaviour has decided to do.

    chance_key, reset_key: for the worlds; made here, since a key that is split on the host costs as much as a decision.
    """

    memory: Any
    action: Action
    record: Any
    chance_key: Key
    reset_key: Key


def _decide_now(
    actor: Actor, memory: Any, observation: Observation, values: jax.Array, key: Key, number: jax.Array
) -> Decision:
    act_key, chance_key, reset_key = jax.random.split(jax.random.fold_in(key, number), 3)
    return Decision(*actor.act(memory, observation, values, key=act_key), chance_key, reset_key)


@jax.jit
def _judge_and_decide(
    actor: Actor,
    memory: Any,
    arrival: Arrival,
    observation: Observation,
    values: jax.Array,
    key: Key,
    number: jax.Array,
) -> tuple[Any, Decision]:
    memory, outcome = actor.observe(memory, arrival)
    return outcome, _decide_now(actor, memory, observation, values, key, number)


@jax.jit
def _judge(actor: Actor, memory: Any, arrival: Arrival) -> tuple[Any, Any]:
    memory, outcome = actor.observe(memory, arrival)
    return outcome, memory


@jax.jit
def _has_nothing_to_do(actor: Actor, words: jax.Array) -> jax.Array | None:
    return actor.has_nothing_to_do(words)


_decide = jax.jit(_decide_now)


def _stack(*leaves: Any) -> jax.Array:
    """One array `[T, ...]`; stacked on the host, where that takes one call and not one a leaf."""
    return jnp.asarray(np.stack([np.asarray(leaf) for leaf in leaves]))
