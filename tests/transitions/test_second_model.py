"""Planning, execution and practice need nothing of a table but its interface: here another model takes its place."""

from dataclasses import dataclass, replace
from pathlib import Path

import jax
import numpy as np
import pytest

import attribute_planner
from attribute_planner.attributes import AttributeSpace
from attribute_planner.diagnosis.diagnose import diagnosis_of
from attribute_planner.evaluation.pursue import pursue
from attribute_planner.learning.progress import no_callback
from attribute_planner.phases.frontier import frontier_explorer
from attribute_planner.phases.practise import practise
from attribute_planner.planning.execution import Execution
from attribute_planner.planning.executor import EXECUTORS, Parts
from attribute_planner.planning.plan import Planner
from attribute_planner.transitions.model import Listing, PractisedTransitions, Successors
from tests.probes import RING, TINY, Oracle, partial_goal

Pair = tuple[bytes, bytes]


@dataclass(frozen=True)
class PairStatistics(PractisedTransitions):
    """Transitions in a dictionary: visits, attempts and successes by pairs of packed sets."""

    space: AttributeSpace
    pairs: dict[Pair, tuple[float, float, float]]

    @property
    def order(self) -> list[Pair]:
        return sorted(self.pairs, key=lambda pair: tuple(np.frombuffer(end, np.uint32)[::-1].tolist() for end in pair))

    def listing(self) -> Listing:
        ends = np.array([[np.frombuffer(end, np.uint32) for end in pair] for pair in self.order])
        words, numbers = np.unique(ends.reshape(-1, ends.shape[-1]), axis=0, return_inverse=True)
        source, target = numbers.reshape(-1, 2).T.astype(np.int32)
        visits, attempts, successes = np.array([self.pairs[pair] for pair in self.order], float).T
        success = (successes + 1) / (attempts + 1)
        steps = np.ones(len(success))
        return Listing(self.space, words, source, target, visits, attempts, successes, success, lambda: steps)

    def successors(self, words: np.ndarray) -> Successors:
        return self.listing().successors(words)

    def with_pairs(self, source: np.ndarray, target: np.ndarray, visits: int = 0) -> "PairStatistics":
        del visits
        new = {(one.tobytes(), other.tobytes()): (0.0, 0.0, 0.0) for one, other in zip(source, target, strict=True)}
        return replace(self, pairs=new | self.pairs)

    def with_practice(
        self, attempts: np.ndarray, successes: np.ndarray, spent: np.ndarray | None = None
    ) -> "PairStatistics":
        rows = zip(self.order, attempts.tolist(), successes.tolist(), strict=True)
        return replace(self, pairs={pair: (self.pairs[pair][0], tried, reached) for pair, tried, reached in rows})


def ring() -> PairStatistics:
    """All transitions of the ring, seen once each."""
    packed = [np.asarray(RING.attributes.pack(np.array([n], np.int32))) for n in range(5)]
    pairs = [(packed[n].tobytes(), packed[(n + step) % 5].tobytes()) for n in range(5) for step in (1, -1)]
    return PairStatistics(RING.attributes, dict.fromkeys(pairs, (1.0, 0.0, 0.0)))


def test_another_model_is_practised_and_planned_on():
    config = replace(TINY.practise, goal_sampling="planned")
    practised = practise(RING, None, ring(), config, key=jax.random.key(0), watch=no_callback)
    assert isinstance(practised.table, PairStatistics)
    listing = practised.table.listing()
    assert listing.successes.sum() > 0.5 * listing.attempts.sum() > 100
    plan = Planner(practised.table).plan(np.array([0], np.int32), partial_goal([3]))
    assert plan.reachable and plan.steps[-1] == {"n": 3}
    pairs = zip(plan.path, plan.path[1:], strict=False)
    assert plan.edges == tuple(listing.probability[[listing.edge(*pair) for pair in pairs]])
    explorer = frontier_explorer(RING, practised.train_state.policy, practised.table, 4, key=jax.random.key(0))
    assert (np.asarray(explorer.far.edges)[:, :5] >= -1).all()


@pytest.mark.parametrize("mode", ["paper", "default"])
def test_goals_are_pursued_by_another_model(mode: str):
    model = ring().with_practice(np.full(10, 20.0), np.full(10, 19.0))
    goals, executor = [partial_goal([n]) for n in range(5)], EXECUTORS[mode]
    execution = Execution(Parts(None, Oracle(RING), 4), Planner(model, 20.0), executor, goals, max_steps=20)
    envs = RING.vector_env(5)
    episodes = pursue(execution, envs, envs.reset(jax.random.key(0)), RING.attributes, key=jax.random.key(1))
    assert all(episode.success for episode in episodes)


def test_another_model_is_diagnosed():
    assert diagnosis_of(ring(), [], given=1).findings == []


TABLE_MAKERS = {"phases/explore.py", "phases/forward_model.py", "phases/refine.py"}
"""Where tables are made of counts."""


def test_what_plans_and_practises_does_not_know_the_table():
    package = Path(attribute_planner.__file__).parent
    files = [
        file for folder in ("planning", "phases", "evaluation", "diagnosis") for file in (package / folder).glob("*.py")
    ]
    know = {file.relative_to(package).as_posix() for file in files if "transitions.table" in file.read_text()}
    assert know == TABLE_MAKERS
