"""The whole algorithm, in the order of the paper, in a page. Begin reading here.

Training (Algorithm 1) is three phases; each is a function of its own in `phases/`. At test time (Algorithm 2), `reach`
plans on the table that training left behind and executes the plan with the policy: `planning/`.
"""

from dataclasses import dataclass, replace

import jax

from attribute_planner.agent import Agent
from attribute_planner.configuration import TrainConfig
from attribute_planner.data.examples import count_examples
from attribute_planner.environments.interface import Environment
from attribute_planner.learning.inverse import fit_inverse
from attribute_planner.learning.progress import Watch, nobody
from attribute_planner.models.detector import AttributeDetector
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.phases.detect import Detected, detect
from attribute_planner.phases.explore import Explored, explore, explored_by_chance
from attribute_planner.phases.forward_model import FittedForwardModel, add_model_edges, fit_forward_model
from attribute_planner.phases.novelty import gather_examples
from attribute_planner.phases.practise import Practised, practice_of, practise
from attribute_planner.transitions.table import TransitionTable, table_of_counts

Key = jax.Array


@dataclass(frozen=True)
class Progress:
    """How far training has come: what each phase has produced so far, `None` for those not yet begun."""

    detected: Detected | None = None
    explored: Explored | None = None
    fitted_model: FittedForwardModel | None = None
    practised: Practised | None = None
    model_edges: TransitionTable | None = None


NOTHING_YET = Progress()


def train(
    env: Environment, config: TrainConfig, *, key: Key, begun: Progress = NOTHING_YET, watch: Watch = nobody
) -> Agent:
    """Algorithm 1: detect, explore, practise. A run that was interrupted goes on from what had `begun`."""
    detect_key, explore_key, practise_key = jax.random.split(key, 3)

    detected = begun.detected or detect(env, config.detect, key=detect_key, watch=watch)
    detector = detected.detector if detected else None
    if config.practise.method == "inverse":
        return _train_on_single_steps(env, detector, config, explore_key, practise_key, begun, watch)

    explored = explore(env, detector, config.explore, key=explore_key, begun=begun.explored, watch=watch)
    possible = table_of_counts(env.attributes, explored.counts, config.estimator)

    begun_practice = begun.practised
    if (
        begun_practice is None
        and config.explore.policy == "graph"
        and config.explore.hidden_size == config.practise.hidden_size
    ):
        # It has learned to take transitions already.
        begun_practice = practice_of(explored.train_state.policy, possible, config.practise)
    practised, table = practise(
        env, detector, possible, config.practise, key=practise_key, begun=begun_practice, watch=watch
    )
    return agent_of(env, config, detector, practised.train_state.policy, table)


def _train_on_single_steps(
    env: Environment,
    detector: AttributeDetector | None,
    config: TrainConfig,
    explore_key: Key,
    practise_key: Key,
    begun: Progress,
    watch: Watch,
) -> Agent:
    """Steps 2 and 3 where a transition is a single step: random examples, from which π is learned as an inverse model.

    Examples are not saved: a run that goes on collects the same ones again. If it is given more of them, what was
    learned from fewer is learned anew.
    """
    policy_key, inverse_key, foresee_key, attempts_key, imagine_key = jax.random.split(practise_key, 5)
    examples = gather_examples(
        env, detector, config.explore, config.inverse, config.forward_model, key=explore_key, watch=watch
    )
    counts = count_examples(env, examples, symmetric=config.inverse.symmetric)
    possible = table_of_counts(env.attributes, counts, config.estimator)
    explored = explored_by_chance(env, config.explore, counts, examples.size)
    watch("explore", 1.0, {"steps": examples.size, "sets": possible.num_nodes, "edges": possible.num_edges}, explored)

    if begun.explored is not None and begun.explored.steps != examples.size:
        begun = replace(begun, fitted_model=None, practised=None)
    fitted_model = begun.fitted_model
    if config.forward_model.learn and fitted_model is None:
        fitted_model = fit_forward_model(env, examples, config.forward_model, key=foresee_key, watch=watch)

    begun_practice = begun.practised
    if begun_practice is None:
        policy = GoalPolicy(env.spec, config.practise.hidden_size, key=policy_key)
        policy = fit_inverse(env, policy, examples, config.inverse, key=inverse_key, watch=watch)
        begun_practice = practice_of(policy, possible, config.practise)
    practised, table = practise(
        env, detector, possible, config.practise, key=attempts_key, begun=begun_practice, watch=watch
    )
    policy = practised.train_state.policy
    if fitted_model is None:
        return agent_of(env, config, detector, policy, table)
    if config.forward_model.model_edges:
        table = add_model_edges(env, fitted_model.forward_model, examples, table, config.forward_model, key=imagine_key)
        watch("model_edges", 1.0, {"sets": table.num_nodes, "edges": table.num_edges}, table)
    return agent_of(env, config, detector, policy, table, fitted_model)


def agent_of(
    env: Environment,
    config: TrainConfig,
    detector: AttributeDetector | None,
    policy: GoalPolicy,
    table: TransitionTable,
    fitted_model: FittedForwardModel | None = None,
) -> Agent:
    """The agent that these parts make up, with the manners that its training gave it."""
    longest = config.practise.max_attempt_steps
    # One step is either enough or it is not; of longer attempts, a few take twice as long as they should.
    patience = longest if longest == 1 else 2 * longest
    forward_model, model_error = fitted_model or (None, 0.0)
    return Agent(
        env,
        detector,
        policy,
        table,
        patience,
        config.practise.deterministic,
        forward_model,
        config.practise.time_cost,
        model_error,
    )
