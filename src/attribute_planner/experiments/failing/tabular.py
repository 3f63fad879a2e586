"""An idealised learner for failing worlds: it explores at random, knows each state by its observation, and acts
optimally on what it has seen. Its table and attempts are those of the real algorithm; it trains in a second.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.agent import Agent
from attribute_planner.aliasing.records import AttemptRecord
from attribute_planner.environments.spaces import Discrete
from attribute_planner.experiments.failing.world import NUM_ACTIONS, FailingWorld, observation_of
from attribute_planner.learning.fitting import FitConfig
from attribute_planner.learning.progress import no_callback
from attribute_planner.models.distributions import Categorical
from attribute_planner.models.policy import GoalPolicy, PolicyOutput
from attribute_planner.phases.detect import DetectConfig, detect
from attribute_planner.phases.goal_sampling import optimistic
from attribute_planner.planning.search import Graph
from attribute_planner.transitions.counting import TransitionCounts
from attribute_planner.transitions.numbering import UNKNOWN
from attribute_planner.transitions.table import TransitionTable, table_of_counts

SURE = 50.0
"""Logit of the best action."""

DETECT = DetectConfig(fit=FitConfig(updates=200, batch=32), hidden_size=32)


class TabularPolicy(GoalPolicy):
    """The best known action of each state towards each set.

    states: `[N, D]` observation of each state. sets: `[M, A]` values of each set. best: `int32[N, M]` the action.
    """

    states: jax.Array
    sets: jax.Array
    best: jax.Array

    def __init__(self, states: np.ndarray, sets: np.ndarray, best: np.ndarray, actions: Discrete) -> None:
        unused: Any = None
        self.encoder = self.action_head = self.baseline_head = unused
        self.action_space, self.temperature = actions, None
        self.states, self.sets, self.best = jnp.asarray(states), jnp.asarray(sets), jnp.asarray(best)

    def __call__(self, observation: Any, values: jax.Array, goal: jax.Array) -> PolicyOutput:
        del values
        away = jnp.abs(jnp.asarray(observation, jnp.float32)[:, None] - self.states[None]).sum(axis=-1)
        differ = (goal[:, None] != self.sets[None]).sum(axis=-1)
        action = self.best[jnp.argmin(away, axis=1), jnp.argmin(differ, axis=1)]
        return PolicyOutput(Categorical(SURE * jax.nn.one_hot(action, NUM_ACTIONS)), jnp.zeros(action.shape))


class Simulation:
    """A world as arrays, and what was seen of it.

    values: `[N, A]`; features: `[N, D]`; targets, chances: `[N, actions, K]` where actions lead, and how likely.
    """

    def __init__(self, world: FailingWorld, random: np.random.Generator) -> None:
        self.world, self.random, self.space = world, random, world.environment.attributes
        encode, states = world.environment.encoder.encode, world.states
        number = {state: i for i, state in enumerate(states)}
        self.values = np.array([self.space.encode(world.describe(state)) for state in states])
        self.features = np.array([encode(observation_of(world, state)) for state in states], np.float32)
        self.starts = np.array([number[state] for state in world.starts])
        self.terminal = np.array([world.terminal(state) for state in states])
        listed = [
            [
                [(1.0, state)] if world.terminal(state) else world.outcomes(state, action)
                for action in range(NUM_ACTIONS)
            ]
            for state in states
        ]
        most = max(len(outcomes) for row in listed for outcomes in row)
        self.targets = np.zeros((len(states), NUM_ACTIONS, most), int)
        self.chances = np.zeros(self.targets.shape)
        for i, row in enumerate(listed):
            for action, outcomes in enumerate(row):
                for k, (chance, after) in enumerate(outcomes):
                    self.targets[i, action, k], self.chances[i, action, k] = number[after], chance
        self.seen = np.zeros((len(states), NUM_ACTIONS), bool)
        self.state, self.age, self.episode = self._start(), 0, 0

    def _start(self) -> int:
        return int(self.random.choice(self.starts))

    def step(self, action: int) -> tuple[int, bool]:
        """The next state, and whether the episode is over there; the next step then begins another one."""
        chance = self.chances[self.state, action].cumsum()
        after = int(self.targets[self.state, action, np.searchsorted(chance, self.random.random() * chance[-1])])
        self.seen[self.state, action] = True
        self.state, self.age = after, self.age + 1
        return after, bool(self.terminal[after]) or self.age >= self.world.episode_steps

    def reset(self) -> None:
        """Begin another episode."""
        self.state, self.age, self.episode = self._start(), 0, self.episode + 1

    def best_actions(self, values: np.ndarray) -> np.ndarray:
        """`int[N]` the actions that most likely lead to a set soon, by value iteration on what was seen; −1: any."""
        there = (self.values == values).all(axis=1)
        value, discount = there.astype(float), 1 - 1 / self.world.max_attempt_steps
        q = np.zeros(self.seen.shape)
        for _ in range(self.world.max_attempt_steps):
            q = discount * (self.chances * value[self.targets]).sum(axis=-1) * self.seen
            value = np.where(there, 1.0, q.max(axis=1))
        return np.where(q.max(axis=1) > 0, q.argmax(axis=1), -1)


def train_tabular(world: FailingWorld, seed: int = 0) -> Agent:
    """An agent of this world, as good as its budget allows."""
    simulation = Simulation(world, np.random.default_rng(seed))
    counts = explore(simulation)
    table = table_of_counts(simulation.space, counts, "posterior")
    table, records, best = practise(simulation, table)
    detected = detect(world.environment, DETECT, key=jax.random.key(seed), watch=no_callback)
    actions = world.environment.actions
    assert isinstance(actions, Discrete)
    policy = TabularPolicy(simulation.features, table.values, np.maximum(best, 0).astype(np.int32), actions)
    return Agent(
        world.environment,
        None if detected is None else detected.detector,
        policy,
        table,
        world.max_attempt_steps,
        stop_on_any_change=False,
        detector_error=None if detected is None else detected.error,
        attempts=lambda: records,
    )


def explore(simulation: Simulation) -> TransitionCounts:
    """Random actions; all changes of attributes are counted."""
    states, after = [], []
    for _ in range(simulation.world.explore_steps):
        states.append(simulation.state)
        landed, over = simulation.step(int(simulation.random.integers(NUM_ACTIONS)))
        after.append(landed)
        if over:
            simulation.reset()
    counts = TransitionCounts(simulation.space.num_words)
    before, later = simulation.values[states], simulation.values[after]
    changed = (before != later).any(axis=1)
    counts.record(*(np.asarray(simulation.space.pack(each[changed])) for each in (before, later)))
    return counts


def practise(simulation: Simulation, table: TransitionTable) -> tuple[TransitionTable, AttemptRecord, np.ndarray]:
    """Attempts along plans to random sets; and `int[N, M]` the best action of each state towards each set."""
    best = np.stack([simulation.best_actions(values) for values in table.values], axis=1)
    graph, random = Graph(optimistic(table)), simulation.random
    ways = {number: graph.to_sets(np.array([number])).successor for number in range(table.num_nodes)}
    attempts, successes, spent = np.zeros((3, table.num_edges))
    rows: list[tuple[int, int, int, bool, int, int]] = []
    steps, far = 0, int(random.integers(table.num_nodes))
    while steps < simulation.world.practise_steps:
        source = table.number_of(simulation.values[simulation.state])
        target = UNKNOWN if source < 0 else int(ways[far][source])
        if target == UNKNOWN:
            far, steps = int(random.integers(table.num_nodes)), steps + 1
            if random.random() < 0.2:
                simulation.reset()
            continue
        began, age, reached, over = simulation.state, 0, False, False
        last = after = began
        while age < simulation.world.max_attempt_steps and not reached and not over:
            action, last = int(best[simulation.state, target]), simulation.state
            after, over = simulation.step(action if action >= 0 else int(random.integers(NUM_ACTIONS)))
            age, reached = age + 1, bool((simulation.values[after] == table.values[target]).all())
        steps += age
        edge = table.edge(source, target)
        weight = 1.0 if reached or age == simulation.world.max_attempt_steps or simulation.terminal[after] else 0.0
        attempts[edge], successes[edge], spent[edge] = (
            attempts[edge] + (weight or age / simulation.world.max_attempt_steps),
            successes[edge] + reached,
            spent[edge] + age,
        )
        if weight:
            rows.append((began, last, edge, reached, steps, simulation.episode))
        if over:
            simulation.reset()
            far = int(random.integers(table.num_nodes))
    return table.with_practice(attempts, successes, spent), _records(simulation, table, rows), best


def _records(simulation: Simulation, table: TransitionTable, rows: list[tuple]) -> AttemptRecord:
    began, last, edge, reached, epoch, episode = np.array(rows, int).reshape(-1, 6).T
    return AttemptRecord(
        simulation.features[began],
        table.words[table.source[edge]],
        table.words[table.target[edge]],
        reached.astype(bool),
        simulation.features[last],
        epoch,
        episode,
    )
