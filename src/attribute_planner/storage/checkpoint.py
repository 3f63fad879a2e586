"""Training progress and agents as arrays and notes: the contents of agent.safetensors.

Arrays are named after the part they belong to: `detector…`, `exploration.…`, `forward_model…`, `policy…`, `optimiser…`,
`practice.…`, `success.…`, `table.…`. A note holds the scalars of each part. The counts of exploration and the
statistics of practice each carry their own attribute sets and edges, so that one may be ahead of the other; loading
joins them.
"""

from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar

import equinox as eqx
import jax
import numpy as np

from attribute_planner.agent import Agent
from attribute_planner.algorithm import Progress, final_table, possible_transitions
from attribute_planner.configuration import TrainConfig
from attribute_planner.data.attempt_log import AttemptLog
from attribute_planner.environments.interface import Environment
from attribute_planner.errors import DamagedFileError
from attribute_planner.files.array_file import Arrays
from attribute_planner.learning.policy_gradient import TrainState, new_train_state
from attribute_planner.models.detector import AttributeDetector
from attribute_planner.models.forward_model import ForwardModel
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.phases.detect import Detected, DetectorError
from attribute_planner.phases.explore import Explored
from attribute_planner.phases.forward_model import FittedForwardModel
from attribute_planner.phases.practise import Practised
from attribute_planner.planning.episode_model import Odds
from attribute_planner.storage.arrays import arrays_of, fill
from attribute_planner.storage.conduct import CONDUCT, conduct_arrays, load_conduct
from attribute_planner.storage.table_arrays import counts_arrays, has_table, read_counts, read_table, table_arrays
from attribute_planner.transitions.counting import TransitionCounts, merged
from attribute_planner.transitions.symmetry_quotient import expanded, quotient
from attribute_planner.transitions.table import TransitionTable

Notes = dict[str, Any]
Tree = TypeVar("Tree")

AGENT_ONLY = "agent_only"
"""The note of a file that holds an agent without what is needed to continue training."""
CALIBRATION = "calibration"
"""The note of what calibration has measured."""
QUOTIENT = "table.quotient"
"""The array that marks a table stored as its symmetry quotient."""
SEEN = "practice.seen"
"""The transitions that practice has seen."""
ATTEMPT_LOG = "practice.attempt_log"
"""The array of the last attempts as places among the recorded steps, in which missing attributes are found."""


def progress_arrays(progress: Progress) -> tuple[Arrays, Notes]:
    """The results of each phase so far."""
    arrays: Arrays = {}
    notes: Notes = {}
    if progress.detected is not None:
        detector, error = progress.detected
        arrays |= arrays_of("detector", detector)
        notes["detector"] = _error_note(error)
    if progress.explored is not None:
        explored = progress.explored
        arrays |= counts_arrays("exploration", explored.counts)
        if explored.tried is not None:
            arrays |= table_arrays("exploration.tried", explored.tried)
        arrays |= _train_state_arrays("exploration.", explored.train_state)
        notes["exploration"] = {
            "epoch": explored.epoch,
            "steps": explored.steps,
            "round_number": explored.round_number,
        }
    if progress.fitted_model is not None:
        arrays |= arrays_of("forward_model", progress.fitted_model.forward_model)
        notes["forward_model"] = {
            "error": progress.fitted_model.error,
            "fitted_on": progress.fitted_model.fitted_on,
        }
    if progress.practised is not None:
        practised = progress.practised
        arrays |= table_arrays("practice", practised.table.listing()) | _train_state_arrays("", practised.train_state)
        if progress.log is not None and len(progress.log):
            arrays[ATTEMPT_LOG] = progress.log.rows
        if practised.counts is not None:
            arrays |= counts_arrays(SEEN, practised.counts)
        notes["practice"] = {
            "epoch": practised.epoch,
            "steps": practised.steps,
            "fitted_on": practised.fitted_on,
            "round_number": practised.round_number,
        }
        more, notes[CONDUCT] = conduct_arrays(practised.conduct)
        arrays |= more
    if progress.model_edges is not None:
        arrays |= table_arrays("table", progress.model_edges)
        notes["model_edges"] = {}
    if progress.calibration is not None:
        measured = progress.calibration
        notes[CALIBRATION] = measured.metrics | {"by_goal": dict(measured.odds.by_goal)}
    return arrays, notes


def agent_arrays(agent: Agent, config: TrainConfig) -> tuple[Arrays, Notes]:
    """A compact form of an agent: statistics in single precision, as a symmetry quotient if they were counted so."""
    symmetries = agent.env.symmetries if config.explore.symmetric else None
    table = agent.table if symmetries is None else quotient(agent.table, symmetries.counted)
    arrays = arrays_of("policy", agent.policy) | single_precision(table_arrays("table", table))
    more, conduct = conduct_arrays(agent.conduct)
    arrays, notes = arrays | more, {AGENT_ONLY: True, CONDUCT: conduct}
    if symmetries is not None:
        arrays[QUOTIENT] = np.ones(1, np.uint8)
    if agent.detector is not None:
        arrays |= arrays_of("detector", agent.detector)
        notes["detector"] = {} if agent.detector_error is None else _error_note(agent.detector_error)
    if agent.forward_model is not None:
        arrays |= arrays_of("forward_model", agent.forward_model)
        notes["forward_model"] = {"error": agent.model_error}
    if agent.odds != Odds():
        notes[CALIBRATION] = {**vars(agent.odds), "by_goal": dict(agent.odds.by_goal)}
    return arrays, notes


def _train_state_arrays(prefix: str, train_state: TrainState) -> Arrays:
    parts = {"policy": train_state.policy, "optimiser": train_state.optimiser, "critic": train_state.critic}
    return {name: array for part, tree in parts.items() for name, array in arrays_of(f"{prefix}{part}", tree).items()}


def single_precision(arrays: Arrays) -> Arrays:
    """Statistics in half the space: none exceeds what single precision holds exactly."""
    return {name: array.astype(np.float32) if array.dtype == np.float64 else array for name, array in arrays.items()}


def load_progress(env: Environment, config: TrainConfig, arrays: Arrays, notes: Notes) -> Progress:
    """The results of each phase; empty for a shipped agent, whose training cannot be continued."""
    if AGENT_ONLY in notes:
        return Progress()
    detected = explored = practised = None
    if (error := load_detector_error(notes)) is not None:
        detected = Detected(load_detector(env, config, arrays), error)
    if note := notes.get("exploration"):
        how = config.explore
        template = _structure(lambda key: new_train_state(GoalPolicy(env.spec, how.hidden_size, key=key), how.learning))
        train_state = _load_train_state("exploration.", template, arrays)
        tried = has_table("exploration.tried", arrays)
        tried = read_table("exploration.tried", env.attributes, arrays, config.estimator) if tried else None
        explored = Explored(read_counts("exploration", env.attributes, arrays), train_state, **note, tried=tried)
    if note := notes.get("practice"):
        reacher = config.practise.reacher
        template = _structure(lambda key: reacher.train_state(_new_policy(env, config, key), env.spec, key=key))
        train_state = _load_train_state("", template, arrays)
        table = read_table("practice", env.attributes, arrays, config.estimator)
        note = {name: value for name, value in note.items() if name != "repeatable"}  # of older files
        conduct = load_conduct(arrays, notes, env.attributes.num_words)
        practised = Practised(train_state, table, **note, conduct=conduct, counts=_load_seen(env, arrays))
    fitted_model, log = load_forward_model(env, config, arrays, notes), AttemptLog(arrays.get(ATTEMPT_LOG))
    return Progress(detected, explored, fitted_model, practised, log=log)


def load_detector(env: Environment, config: TrainConfig, arrays: Arrays) -> AttributeDetector:
    """f̂."""
    how = config.detect
    return _load("detector", lambda key: AttributeDetector(env.spec, how.hidden_size, how.keypoints, key=key), arrays)


def _error_note(error: DetectorError) -> dict[str, Any]:
    return {**error._asdict(), "per_attribute": error.per_attribute.tolist()}


def load_odds(notes: Notes) -> Odds:
    """What calibration has measured; the odds of practice if it has not."""
    measured = {field.name for field in fields(Odds)}
    return Odds(**{name: value for name, value in notes.get(CALIBRATION, {}).items() if name in measured})


def load_detector_error(notes: Notes) -> DetectorError | None:
    """The error of f̂ on held-out labels; `None` if it was not stored."""
    note = notes.get("detector")
    return DetectorError(**{**note, "per_attribute": np.array(note["per_attribute"])}) if note else None


def load_forward_model(
    env: Environment, config: TrainConfig, arrays: Arrays, notes: Notes
) -> FittedForwardModel | None:
    """The forward model with its error; `None` if there is none."""
    if "forward_model" not in notes:
        return None
    how = config.forward_model
    network = _load(
        "forward_model", lambda key: ForwardModel(env.spec, how.hidden_size, how.keypoints, key=key), arrays
    )
    return FittedForwardModel(network, **notes["forward_model"])


def load_policy(env: Environment, config: TrainConfig, arrays: Arrays) -> GoalPolicy:
    """π."""
    return _load("policy", lambda key: _new_policy(env, config, key), arrays)


def _new_policy(env: Environment, config: TrainConfig, key: jax.Array) -> GoalPolicy:
    return config.practise.reacher.new_policy(env.spec, config.practise.hidden_size, key=key)


def load_table(env: Environment, config: TrainConfig, arrays: Arrays, *, model_edges: bool = True) -> TransitionTable:
    """c_π: the table as stored, or else (or without model edges) the counts of exploration joined with practice."""
    if has_table("table", arrays) and (model_edges or not has_table("exploration", arrays)):
        is_quotient = QUOTIENT in arrays
        table = read_table("table", env.attributes, arrays, config.estimator, double=is_quotient)
        if not is_quotient:
            return table
        if env.symmetries is None:
            raise DamagedFileError(f"The saved table is a quotient by symmetries, but {env.name} has none.")
        return expanded(table, env.symmetries.counted)
    practised = _load_seen(env, arrays)
    counts = (
        read_counts("exploration", env.attributes, arrays)
        if practised is None
        else merged(read_counts("exploration", env.attributes, arrays), practised)
    )
    possible = possible_transitions(env, counts, config)
    return final_table(possible, read_table("practice", env.attributes, arrays, config.estimator))


def _load(prefix: str, build: Callable[[jax.Array], Tree], arrays: Arrays) -> Tree:
    """A network that `build` makes of a key, with the stored weights."""
    return fill(prefix, _structure(build), arrays)


def _structure(build: Callable[[jax.Array], Tree]) -> Tree:
    return eqx.filter_eval_shape(lambda: build(jax.random.key(0)))


def _load_train_state(prefix: str, template: TrainState, arrays: Arrays) -> TrainState:
    parts = (template.policy, template.optimiser, template.critic)
    names = ("policy", "optimiser", "critic")
    return TrainState(*(fill(f"{prefix}{name}", part, arrays) for name, part in zip(names, parts, strict=True)))


def _load_seen(env: Environment, arrays: Arrays) -> TransitionCounts | None:
    """The transitions that were seen in practice; `None` where they were not counted."""
    return read_counts(SEEN, env.attributes, arrays) if has_table(SEEN, arrays) else None
