"""Examples, forward model and lookahead, where two states with the same attributes look different."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import attribute_planner as ap
from attribute_planner.agent import Agent
from attribute_planner.data.examples import random_examples, symmetric_counts
from attribute_planner.environments.graph_world import Place, graph_world
from attribute_planner.errors import ConfigurationError, RunDirectoryError
from attribute_planner.evaluation.evaluate import evaluate
from attribute_planner.learning.fitting import FitConfig
from attribute_planner.learning.inverse import InverseConfig
from attribute_planner.models.beliefs import certain
from attribute_planner.models.detector import AttributeDetector
from attribute_planner.models.forward_model import ForwardModel, actions_to_try, expect_all
from attribute_planner.phases.forward_model import (
    MODEL_EDGE_ATTEMPTS,
    ForwardModelConfig,
    forward_model_error,
    model_transitions,
)
from attribute_planner.storage.run_directory import RunDirectory, ship
from tests.probes import RING, TINY, Hosted, counts_of, numbers, with_drawn_weights

HERE, ALSO_HERE = Place((0,)), Place((0,), 1)
ALIASED = graph_world(
    numbers(3),
    [
        (HERE, 0, (2,)),
        (ALSO_HERE, 1, (1,)),
        ((1,), 0, (2,)),
        ((2,), 0, HERE),
        ((2,), 1, ALSO_HERE),
    ],
    episode_steps=8,
)
"""From one of the two places with value 0 the way to 2 is direct, from the other it leads over 1."""

QUICK = FitConfig(updates=200, batch=32, learning_rate=0.02)
SINGLE_STEPS = replace(
    TINY,
    explore=replace(TINY.explore, steps=512, policy="random", num_envs=64, steps_per_episode=1),
    practise=replace(
        TINY.practise,
        method="inverse",
        max_attempt_steps=1,
        steps=1_600,
        deterministic=True,
        decay=1.0,
        inverse=InverseConfig(fit=QUICK),
    ),
    forward_model=ForwardModelConfig(learn=True, fit=QUICK, hidden_size=16, val_fraction=0.1),
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Agent, Path]:
    run_dir = tmp_path_factory.mktemp("single-steps") / "run"
    return ap.train(ALIASED, config=SINGLE_STEPS, run_dir=run_dir), run_dir


EPISODES = 60


@pytest.fixture(scope="module")
def success_without_lookahead(run: tuple[Agent, Path]) -> float:
    return evaluate(run[0], episodes=EPISODES, mode="no-lookahead", seed=1).success


@pytest.mark.parametrize("env", [ALIASED, Hosted(ALIASED)])
def test_examples_are_single_steps(env: Hosted):
    examples = random_examples(env, None, 100, num_envs=16, episode_steps=3, key=jax.random.key(0))
    assert examples.size == 100
    place = np.asarray(env.observe_batch(examples.before)).argmax(axis=-1)
    states = jax.vmap(ALIASED.step, (0, 0, None))(jnp.asarray(place), jnp.asarray(examples.action), jax.random.key(0))
    np.testing.assert_array_equal(jax.vmap(ALIASED.describe)(states), examples.values_after)
    counts = counts_of(env, examples)
    assert counts.total == examples.changed.sum()
    assert len(counts.pairs) == 4, "0 to 2, 0 to 1, 1 to 2, 2 to 0"


def test_the_forward_model_predicts_the_outcome_of_each_action(run: tuple[Agent, Path]):
    agent, _ = run
    assert agent.forward_model is not None
    places = jnp.arange(len(ALIASED.places))
    values = jax.vmap(ALIASED.describe)(places)
    actions = actions_to_try(ALIASED.actions, len(places), 0, key=jax.random.key(0))
    expected, log_prob = expect_all(
        agent.forward_model, agent.forward_model.features(ALIASED.observe_batch(places)), certain(values), actions
    )
    truth = jax.vmap(
        lambda place: jax.vmap(lambda action: ALIASED.describe(ALIASED.step(place, action, jax.random.key(0))))(
            jnp.arange(2)
        )
    )(places)
    np.testing.assert_array_equal(expected, truth)
    assert np.exp(np.asarray(log_prob)).min() > 0.8


def test_model_edges_are_those_of_the_graph(run: tuple[Agent, Path]):
    agent, _ = run
    assert agent.forward_model is not None
    examples = random_examples(ALIASED, None, 64, num_envs=64, episode_steps=1, key=jax.random.key(3))
    states, possible = model_transitions(
        ALIASED, agent.forward_model, examples, SINGLE_STEPS.forward_model, key=jax.random.key(0)
    )
    pairs = {tuple(int(possible.sets.rows[end, 0]) for end in pair) for pair in possible.pairs.rows}
    assert pairs == {(0, 2), (0, 1), (1, 2), (2, 0)}
    assert sum(states.values()) == 64
    assert forward_model_error(ALIASED, agent.forward_model, examples) == 0.0


def test_lookahead_takes_the_transition_that_is_possible(run: tuple[Agent, Path], success_without_lookahead: float):
    agent, _ = run
    foreseeing = evaluate(agent, episodes=EPISODES, seed=1)
    assert foreseeing.success == 1.0
    assert foreseeing.mean_replans == 0.0
    paper = evaluate(agent, episodes=EPISODES, mode="paper", seed=1)
    assert paper.success < 0.95, "where the direct way is closed, the paper's execution repeats it without end"
    assert paper.success <= success_without_lookahead


def test_an_untrained_forward_model_does_no_harm(run: tuple[Agent, Path], success_without_lookahead: float):
    agent, _ = run
    clueless = replace(
        agent, forward_model=with_drawn_weights(lambda key: ForwardModel(ALIASED.spec, 16, key=key)), model_error=1.0
    )
    tried = evaluate(clueless, episodes=EPISODES, seed=1).success
    assert tried >= success_without_lookahead
    assert tried >= evaluate(clueless, episodes=EPISODES, mode="trust-model", seed=1).success
    # Each step is as likely as the table says.
    trace = clueless.reach({"n": 2}, seed=2).trace
    assert {round(step.probability, 6) for step in trace} <= set(agent.table.probability.round(6).tolist())


class Unsure(AttributeDetector):
    """Sees what is there, but never quite believes it."""

    def __init__(self) -> None:
        ignorant = with_drawn_weights(lambda key: AttributeDetector(ALIASED.spec, 2, key=key))
        self.trunk, self.heads, self.space = ignorant.trunk, ignorant.heads, ignorant.space

    def logits(self, observation: Any) -> jax.Array:
        value = jnp.array([place.values[0] for place in ALIASED.places])[jnp.argmax(observation, axis=-1)]
        return jax.nn.one_hot(value, 3)[..., None, :]


def test_when_time_is_up_even_the_unsure_stop(run: tuple[Agent, Path]):
    agent, _ = run
    unsure = replace(agent, env=replace(ALIASED, start=HERE), detector=Unsure())
    in_time = unsure.reach({"n": 2}, max_steps=1)
    assert (in_time.success, in_time.steps) == (True, 1)


def test_a_trace_tells_what_was_expected(run: tuple[Agent, Path]):
    agent, _ = run
    episode = agent.reach({"n": 2}, seed=2)
    assert episode.success
    assert all(step.outcome == "arrived" and step.probability > 0.8 for step in episode.trace)
    assert episode.trace[-1].target == {"n": 2}


def test_a_loaded_agent_is_the_one_that_was_trained(run: tuple[Agent, Path]):
    agent, run_dir = run
    loaded = ap.load(run_dir, env=ALIASED)
    assert (loaded.deterministic, loaded.max_attempt_steps, loaded.model_error) == (True, 1, agent.model_error)
    np.testing.assert_array_equal(loaded.table.probability, agent.table.probability)
    assert evaluate(loaded, episodes=EPISODES, seed=1).success == 1.0


def test_a_shipped_agent_cannot_omit_its_model_edges(run: tuple[Agent, Path], tmp_path: Path):
    trained, shipped = RunDirectory(run[1]), tmp_path / "shipped"
    ship(trained, shipped, ALIASED)
    assert RunDirectory(shipped).agent(ALIASED).table.num_edges == trained.agent(ALIASED).table.num_edges
    with pytest.raises(RunDirectoryError, match=r"does not distinguish observed edges from those of the forward model"):
        RunDirectory(shipped).agent(ALIASED, model_edges=False)


def test_a_finished_run_that_goes_on_changes_nothing(run: tuple[Agent, Path]):
    agent, run_dir = run
    again = ap.train(ALIASED, run_dir=run_dir, resume=True)
    np.testing.assert_array_equal(again.table.probability, agent.table.probability)


@pytest.mark.slow
def test_a_run_with_more_examples_is_fitted_again(run: tuple[Agent, Path], tmp_path: Path):
    agent, run_dir = run
    shutil.copytree(run_dir, tmp_path / "run")
    again = ap.train(ALIASED, run_dir=tmp_path / "run", resume=True, steps=SINGLE_STEPS.steps * 2)
    assert again.table.visits.sum() > 1.5 * agent.table.visits.sum()
    assert evaluate(again, episodes=EPISODES, seed=1).success == 1.0


@pytest.mark.slow
def test_with_a_forward_model_no_practice_is_needed(tmp_path: Path):
    unpractised = replace(SINGLE_STEPS, practise=replace(SINGLE_STEPS.practise, steps=0))
    ap.train(ALIASED, config=unpractised, run_dir=tmp_path / "run")
    agent = ap.load(tmp_path / "run", env=ALIASED)
    assert agent.table.attempts.max() == MODEL_EDGE_ATTEMPTS
    assert evaluate(agent, episodes=100, seed=1).success == 1.0
    with pytest.raises(ConfigurationError, match=r"PractiseConfig\.steps must be greater than zero"):
        replace(unpractised.practise, method="ppo")


def test_counts_are_unchanged_without_symmetries():
    examples = random_examples(RING, None, 64, num_envs=64, episode_steps=1, key=jax.random.key(0))
    one = counts_of(RING, examples)
    other = symmetric_counts(RING, one)
    assert (one.total, len(one.pairs)) == (other.total, len(other.pairs))
