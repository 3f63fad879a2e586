"""The whole algorithm, in the order of the paper, in a page. Begin reading here.

Training (Algorithm 1) is three phases; each is a function of its own in `phases/`. At test time (Algorithm 2), `reach`
plans on the table that training left behind and executes the plan with the policy: `planning/`.
"""

from dataclasses import dataclass

import jax
import numpy as np

from attribute_planner.agent import Agent
from attribute_planner.configuration import TrainConfig
from attribute_planner.environments.interface import Environment
from attribute_planner.parts.table import TransitionTable, table_of_counts
from attribute_planner.phases.detect import Detected, detect
from attribute_planner.phases.explore import Explored, explore
from attribute_planner.phases.practise import Practised, practise
from attribute_planner.phases.progress import Watch, nobody

Key = jax.Array


@dataclass(frozen=True)
class Progress:
    """How far training has come: what each phase has produced so far, `None` for those not yet begun."""

    detected: Detected | None = None
    explored: Explored | None = None
    practised: Practised | None = None


NOTHING_YET = Progress()


def train(
    env: Environment, config: TrainConfig, *, key: Key, begun: Progress = NOTHING_YET, watch: Watch = nobody
) -> Agent:
    """Algorithm 1: detect, explore, practise. A run that was interrupted goes on from what had `begun`."""
    detect_key, explore_key, practise_key = jax.random.split(key, 3)

    detected = begun.detected or detect(env, config.detect, key=detect_key, watch=watch)
    detector = detected.detector if detected else None

    explored = explore(env, detector, config.explore, key=explore_key, begun=begun.explored, watch=watch)
    possible = table_of_counts(env.attributes, explored.counts, config.estimator)

    begun_practice = _carried_over(begun, possible)
    practised, table = practise(
        env, detector, possible, config.practise, key=practise_key, begun=begun_practice, watch=watch
    )
    return Agent(env, detector, practised.learner.policy, table, patience=2 * config.practise.max_attempt_steps)


def _carried_over(begun: Progress, possible: TransitionTable) -> Practised | None:
    """The practice that had begun, on a graph to which a longer exploration may have added edges."""
    if begun.practised is None or begun.explored is None:
        return begun.practised
    places = table_of_counts(possible.space, begun.explored.counts).edges_in(possible)
    attempts, successes = np.zeros((2, possible.num_edges))
    attempts[places], successes[places] = begun.practised.attempts, begun.practised.successes
    return begun.practised._replace(attempts=attempts, successes=successes)
