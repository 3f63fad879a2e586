"""What each phase has produced, as arrays and back: the contents of agent.safetensors."""

from typing import Any

import equinox as eqx
import jax
import numpy as np

from attribute_planner.algorithm import Progress
from attribute_planner.configuration import TrainConfig
from attribute_planner.environments.interface import Environment
from attribute_planner.learning.reinforce import ReinforceConfig, TrainState, new_train_state
from attribute_planner.models.detector import AttributeDetector
from attribute_planner.models.forward_model import ForwardModel
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.phases.detect import Detected, DetectorError
from attribute_planner.phases.explore import Explored
from attribute_planner.phases.forward_model import FittedForwardModel
from attribute_planner.phases.practise import Practised
from attribute_planner.storage.arrays import Arrays, arrays_of, fill
from attribute_planner.transitions.counting import TransitionCounts
from attribute_planner.transitions.symmetry_quotient import expanded, quotient
from attribute_planner.transitions.table import TransitionTable, table_of_counts

AGENT_ALONE = "shipped"
"""The note of practice in a run directory that holds an agent, without what training would need to go on."""


def saved_parts(progress: Progress) -> dict[str, tuple[Arrays, dict[str, Any]]]:
    """Per phase, the arrays it has produced, and a note with the few numbers beside them."""
    parts: dict[str, tuple[Arrays, dict[str, Any]]] = {}
    if progress.detected is not None:
        error = progress.detected.error
        arrays = arrays_of("detected.detector", progress.detected.detector)
        parts["detected"] = (
            arrays,
            {
                "per_attribute": error.per_attribute.tolist(),
                "full_set": error.full_set,
                "states": error.states,
            },
        )
    if progress.explored is not None:
        explored = progress.explored
        parts["explored"] = (
            _counts_arrays(explored.counts)
            | _learner_arrays("explored", explored.train_state)
            | {"explored.tried": explored.tried},
            {"epoch": explored.epoch, "steps": explored.steps},
        )
    if progress.fitted_model is not None:
        parts["forward_model"] = (
            arrays_of("forward_model", progress.fitted_model.forward_model),
            {"error": progress.fitted_model.error},
        )
    if progress.model_edges is not None:
        parts["model_edges"] = table_arrays(progress.model_edges), {}
    if progress.practised is not None:
        practised = progress.practised
        statistics = {"practised.attempts": practised.attempts, "practised.successes": practised.successes}
        if practised.spent is not None:
            statistics["practised.spent"] = practised.spent
        parts["practised"] = (
            statistics | _learner_arrays("practised", practised.train_state),
            {"epoch": practised.epoch, "steps": practised.steps},
        )
    return parts


def _learner_arrays(prefix: str, train_state: TrainState) -> Arrays:
    return arrays_of(f"{prefix}.policy", train_state.policy) | arrays_of(f"{prefix}.optimiser", train_state.optimiser)


def _counts_arrays(counts: TransitionCounts) -> Arrays:
    return {
        "explored.sets": counts.sets.rows,
        "explored.pairs": counts.pairs.rows,
        "explored.visits": counts.visits,
    }


TABLE = "table."
"""What the names of a whole table's arrays begin with."""


def table_arrays(table: TransitionTable) -> Arrays:
    """A whole table."""
    names = ("words", "source", "target", "visits", "attempts", "successes", "spent")
    arrays = {f"{TABLE}{name}": getattr(table, name) for name in names}
    return {name: array for name, array in arrays.items() if array is not None}


QUOTIENT = f"{TABLE}folded"
"""The array that says that a table was saved folded."""


def shipped_table_arrays(env: Environment, config: TrainConfig, table: TransitionTable) -> Arrays:
    """A table in as little space as it can be: folded, if it was counted under the environment's symmetries."""
    if env.symmetries is None or not config.inverse.symmetric:
        return in_single_precision(table_arrays(table))
    arrays = table_arrays(quotient(table, env.symmetries.counted))
    return in_single_precision(arrays) | {QUOTIENT: np.ones(1, np.uint8)}


def in_single_precision(arrays: Arrays) -> Arrays:
    """Statistics in half the space: none counts beyond what single precision holds exactly."""
    return {name: array.astype(np.float32) if array.dtype == np.float64 else array for name, array in arrays.items()}


def policy_template(env: Environment, hidden_size: int) -> GoalPolicy:
    """A policy without weights, to be filled."""
    return eqx.filter_eval_shape(lambda: GoalPolicy(env.spec, hidden_size, key=jax.random.key(0)))


def _load_learner(
    prefix: str, env: Environment, hidden_size: int, learning: ReinforceConfig, arrays: Arrays
) -> TrainState:
    template = eqx.filter_eval_shape(
        lambda: new_train_state(GoalPolicy(env.spec, hidden_size, key=jax.random.key(0)), learning)
    )
    return TrainState(
        fill(f"{prefix}.policy", template.policy, arrays), fill(f"{prefix}.optimiser", template.optimiser, arrays)
    )


def load_detector(env: Environment, config: TrainConfig, arrays: Arrays) -> AttributeDetector:
    """The detector alone."""
    how = config.detect
    template = eqx.filter_eval_shape(
        lambda: AttributeDetector(env.spec, how.hidden_size, how.keypoints, key=jax.random.key(0))
    )
    return fill("detected.detector", template, arrays)


def load_detected(env: Environment, config: TrainConfig, arrays: Arrays, notes: dict) -> Detected | None:
    """What phase 1 had produced."""
    if "detected" not in notes:
        return None
    note = notes["detected"]
    error = DetectorError(np.array(note["per_attribute"]), note["full_set"], note["states"])
    return Detected(load_detector(env, config, arrays), error)


def load_explored(env: Environment, config: TrainConfig, arrays: Arrays, notes: dict) -> Explored | None:
    """What phase 2 had produced."""
    if "explored" not in notes:
        return None
    train_state = _load_learner("explored", env, config.explore.hidden_size, config.explore.learning, arrays)
    note, tried = notes["explored"], arrays.get("explored.tried", np.zeros((2, 0)))
    return Explored(_load_counts(env, arrays), train_state, note["epoch"], note["steps"], tried)


def load_forward_model(env: Environment, config: TrainConfig, arrays: Arrays, notes: dict) -> FittedForwardModel | None:
    """The outlook with its error."""
    if "forward_model" not in notes:
        return None
    how = config.forward_model
    template = eqx.filter_eval_shape(
        lambda: ForwardModel(env.spec, how.hidden_size, how.keypoints, key=jax.random.key(0))
    )
    return FittedForwardModel(fill("forward_model", template, arrays), notes["forward_model"]["error"])


def load_practised(env: Environment, config: TrainConfig, arrays: Arrays, notes: dict) -> Practised | None:
    """What phase 3 had produced; nothing, if the agent ships without what training would need to go on."""
    if "practised" not in notes or AGENT_ALONE in notes["practised"]:
        return None
    train_state = _load_learner("practised", env, config.practise.hidden_size, config.practise.learning, arrays)
    statistics = arrays["practised.attempts"], arrays["practised.successes"]
    note, spent = notes["practised"], arrays.get("practised.spent")
    return Practised(train_state, *statistics, note["epoch"], note["steps"], spent)


def _load_counts(env: Environment, arrays: Arrays) -> TransitionCounts:
    counts = TransitionCounts(env.attributes.num_words)
    sets, pairs = arrays["explored.sets"], arrays["explored.pairs"]
    counts.sets.number(sets)
    counts.add(sets[pairs[:, 0]], sets[pairs[:, 1]], arrays["explored.visits"])
    return counts


def load_table(env: Environment, config: TrainConfig, arrays: Arrays) -> TransitionTable:
    """The table as it was saved, or made of what exploration and practice have counted."""
    if f"{TABLE}words" in arrays:
        graph = {name: arrays[f"{TABLE}{name}"] for name in ("words", "source", "target")}
        statistics = {name: arrays[f"{TABLE}{name}"].astype(float) for name in ("visits", "attempts", "successes")}
        spent = arrays.get(f"{TABLE}spent")
        spent = None if spent is None else spent.astype(float)
        table = TransitionTable(env.attributes, **graph, **statistics, estimator=config.estimator, spent=spent)
        if QUOTIENT not in arrays:
            return table
        assert env.symmetries is not None, "only what has symmetries is saved folded"
        return expanded(table, env.symmetries.counted)
    table = table_of_counts(env.attributes, _load_counts(env, arrays), config.estimator)
    statistics = arrays["practised.attempts"], arrays["practised.successes"]
    return table.with_practice(*statistics, arrays.get("practised.spent"))
