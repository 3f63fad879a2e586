import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.environments.graph_world import graph_world
from attribute_planner.environments.spaces import Action, Discrete, Observation
from attribute_planner.models.beliefs import Beliefs, certain
from attribute_planner.models.encoders import NO_VALUE
from attribute_planner.models.forward_model import ForwardModel
from attribute_planner.planning.active_episode import ActiveEpisode
from attribute_planner.planning.attempt_limit import AttemptLimits
from attribute_planner.planning.episode import ON_THE_WAY
from attribute_planner.planning.lookahead import Option, Options, best_option, consider, numbers_of
from attribute_planner.planning.plan import Planner
from attribute_planner.planning.posterior import Posterior
from attribute_planner.transitions.numbering import UNKNOWN
from attribute_planner.transitions.table import TransitionTable
from tests.probes import Oracle, numbers, partial_goal, table_of

HERE, BESIDE, GOAL, ELSEWHERE = range(4)
SPACE = numbers(4)
TABLE = table_of(
    SPACE, [((HERE,), (GOAL,), 0.99), ((BESIDE,), (GOAL,), 0.99), ((HERE,), (BESIDE,), 0.99), ((GOAL,), (HERE,), 0.99)]
)
LEFT = 20


def at(value: int) -> np.ndarray:
    return np.array([value], np.int32)


def posterior(table: TransitionTable = TABLE) -> Posterior:
    return Posterior(Planner(table, float(LEFT)), partial_goal([GOAL]))


def options(*expected: tuple[int, float], table: TransitionTable = TABLE) -> Options:
    """The options of one environment, each with its outcome and the outcome's probability; the last is the policy's."""
    values = np.array([[[place] for place, _ in expected]], np.int32)
    log_prob = np.log([[[probability] for _, probability in expected]])
    return Options(np.arange(len(expected))[None], values, log_prob, numbers_of(table, values))


def choice(
    posterior: Posterior, options: Options, *, policy_success: float = 0.0, model_error: float = 0.0, left: int = LEFT
) -> Option:
    goal = partial_goal([GOAL])
    return best_option(
        posterior, goal, at(HERE), options, 0, policy_success=policy_success, model_error=model_error, left=left
    )


def test_an_option_that_probably_arrives_is_preferred_to_a_detour():
    best = choice(posterior(), options((BESIDE, 0.99), (GOAL, 0.95), (GOAL, 0.01)))
    assert (best.place, best.action, best.outcome.tolist(), best.probability) == (1, 1, [GOAL], pytest.approx(0.95))


def test_an_option_that_hardly_arrives_is_not():
    assert choice(posterior(), options((BESIDE, 0.99), (GOAL, 0.05), (GOAL, 0.01))).place == 0


def test_with_one_step_left_only_arriving_counts():
    assert choice(posterior(), options((BESIDE, 0.99), (GOAL, 0.05), (GOAL, 0.01)), left=1).place == 1


def test_the_value_of_an_option_by_hand():
    assert choice(posterior(), options((GOAL, 0.6), (GOAL, 0.01))).value == pytest.approx(0.6)
    # One step to go from there, with 19 left.
    onward = choice(posterior(), options((BESIDE, 1.0), (GOAL, 0.01)))
    assert onward.value == pytest.approx(0.99 * np.exp(-1 / 19), rel=1e-5)


def test_of_several_options_that_arrive_the_most_probable_is_taken():
    assert choice(posterior(), options((GOAL, 0.6), (GOAL, 0.95), (BESIDE, 0.99), (GOAL, 0.01))).place == 1


def test_after_failures_another_outcome_is_taken():
    seen, offered = posterior(), options((BESIDE, 0.99), (GOAL, 0.95), (GOAL, 0.01))
    seen.failed(at(HERE), at(GOAL))
    assert choice(seen, offered).place == 0


def test_an_action_that_was_taken_before_gives_way_to_another_with_the_same_outcome():
    seen, offered = posterior(), options((GOAL, 0.9), (GOAL, 0.8), (GOAL, 0.01))
    seen.took(at(HERE), np.int64(0))
    assert choice(seen, offered).place == 1
    seen.took(at(HERE), np.int64(1))
    assert choice(seen, offered).place == 0


def test_an_option_that_changes_nothing_is_worth_nothing():
    best = choice(posterior(), options((HERE, 0.99), (HERE, 0.5)))
    assert best.value == 0.0
    assert choice(posterior(), options((HERE, 0.99), (BESIDE, 0.1), (HERE, 0.9))).place == 1


def test_an_outcome_that_the_table_does_not_hold_is_worth_nothing_unless_it_is_the_goal():
    table = table_of(SPACE, [((HERE,), (BESIDE,), 0.9), ((BESIDE,), (HERE,), 0.9)])
    offered = options((ELSEWHERE, 0.99), (GOAL, 0.3), (ELSEWHERE, 0.9), table=table)
    assert offered.number.tolist() == [[UNKNOWN] * 3]
    best = choice(posterior(table), offered)
    assert (best.place, best.value) == (1, pytest.approx(0.3))


def test_an_error_of_the_forward_model_counts_in_favour_of_the_policy():
    offered = options((GOAL, 0.9), (GOAL, 0.01))
    assert choice(posterior(), offered, policy_success=0.8, model_error=0.2).place == 0
    best = choice(posterior(), offered, policy_success=0.8, model_error=0.7)
    # 0.3 · 0.01 + 0.7 · 0.8 against 0.3 · 0.9.
    assert (best.place, best.probability) == (1, pytest.approx(0.563))


def test_attributes_that_the_goal_does_not_mention_do_not_lower_the_probability_to_arrive():
    first_only = partial_goal([1, None])
    space = numbers(2).attributes + numbers(2, "m").attributes
    table = table_of(type(SPACE)(space), [((0, 0), (1, 0), 0.9)])
    planner = Planner(table)
    values = np.array([[[1, 0], [0, 1]]], np.int32)
    offered = Options(np.arange(2)[None], values, np.log([[[0.9, 0.1], [0.9, 0.1]]]), numbers_of(table, values))
    best = best_option(
        Posterior(planner, first_only),
        first_only,
        np.zeros(2, np.int32),
        offered,
        0,
        policy_success=0.0,
        model_error=0.0,
        left=LEFT,
    )
    assert (best.place, best.probability) == (0, pytest.approx(0.9))


def episode_at(place: int, p_goal: float, table: TransitionTable = TABLE) -> ActiveEpisode:
    """An episode of an agent with lookahead that believes to be at a place, and at the goal with some probability."""
    planner, goal = Planner(table, float(LEFT)), partial_goal([GOAL])
    return ActiveEpisode(
        planner,
        lambda goal: Posterior(planner, goal),
        goal,
        at(place),
        p_goal,
        max_steps=LEFT,
        attempt_limits=AttemptLimits(3, planner.listing, None),
        nearest_set=False,
        relax_goal=False,
        record=True,
    )


def test_an_agent_that_is_sure_to_be_there_stops():
    episode = episode_at(GOAL, p_goal=0.99)
    episode.look_ahead(options((BESIDE, 0.99), (GOAL, 0.95), (GOAL, 0.01)), 0, 0.0)
    assert (episode.active, episode.claimed, episode.steps) == (False, True, 0)


def test_an_agent_that_may_be_there_repeats_what_leads_there_if_that_is_more_probable():
    episode = episode_at(GOAL, p_goal=0.6)
    assert episode.look_ahead(options((BESIDE, 0.99), (GOAL, 0.95), (GOAL, 0.01)), 0, 0.0) == 1
    assert episode.active
    episode.advance(at(GOAL), 0.99, False, 1)
    episode.look_ahead(options((BESIDE, 0.99), (GOAL, 0.95), (GOAL, 0.01)), 0, 0.0)
    assert (episode.active, episode.claimed, episode.steps) == (False, True, 1)


def test_an_agent_that_may_be_there_stops_if_nothing_is_more_probable():
    episode = episode_at(GOAL, p_goal=0.6)
    episode.look_ahead(options((ELSEWHERE, 0.99), (GOAL, 0.1), (GOAL, 0.01)), 0, 0.0)
    assert (episode.active, episode.claimed, episode.steps) == (False, True, 0)


def test_an_agent_that_cannot_become_surer_stops():
    episode, offered = episode_at(GOAL, p_goal=0.6), options((GOAL, 0.95), (GOAL, 0.01))
    while episode.active and episode.steps < LEFT:
        episode.look_ahead(offered, 0, 0.0)
        if episode.active:
            episode.advance(at(GOAL), 0.6, False, 0)
    assert (episode.active, episode.claimed) == (False, True)
    assert 1 <= episode.steps <= 3


def test_lookahead_finds_a_way_that_the_table_does_not_hold():
    table = table_of(SPACE, [((HERE,), (BESIDE,), 0.9), ((BESIDE,), (HERE,), 0.9)])
    episode = episode_at(HERE, p_goal=0.0, table=table)
    assert episode.active
    assert episode.target.tolist() == [NO_VALUE]
    assert episode.target_or_goal.tolist() == [GOAL], "without a target, the policy is told the goal"
    assert episode.look_ahead(options((BESIDE, 0.99), (GOAL, 0.8), (GOAL, 0.01), table=table), 0, 0.0) == 1
    episode.advance(at(GOAL), 1.0, False, 1)
    assert episode.believes_goal


def test_a_step_that_changes_nothing_is_a_failure_at_once():
    episode = episode_at(HERE, p_goal=0.0)
    episode.look_ahead(options((GOAL, 0.95), (GOAL, 0.01)), 0, 0.0)
    episode.advance(at(HERE), 0.0, False, 0)
    assert episode.posterior.failures(at(HERE), at(GOAL)[None]).tolist() == [1.0]
    assert [step.outcome for step in episode.account([]).trace] == [ON_THE_WAY]


def test_when_time_is_up_the_agent_claims_what_it_believes():
    episode = episode_at(HERE, p_goal=0.0)
    for _ in range(LEFT):
        episode.look_ahead(options((GOAL, 0.5), (GOAL, 0.01)), 0, 0.0)
        there = GOAL if episode.left == 1 else HERE
        episode.advance(at(there), 0.55 if there == GOAL else 0.0, False, 0)
    assert (episode.active, episode.claimed, episode.left) == (False, True, 0)


STAR = graph_world(SPACE, [((HERE,), place, (place,)) for place in (BESIDE, GOAL, ELSEWHERE)], start=(HERE,))
"""Action i leads to place i."""


class Known(ForwardModel):
    """Predicts that action i leads to place i, and action 0 to no change, with nine tenths."""

    def __init__(self) -> None:
        self.encoder, self.products, self.tower, self.heads = (None,) * 4  # pyright: ignore[reportAttributeAccessIssue]
        self.stays, self.space, self.actions, self.observation_rank = jnp.zeros(()), SPACE, STAR.actions, 1

    def features(self, observation: Observation) -> jax.Array:
        return jnp.asarray(observation)  # pyright: ignore[reportArgumentType]

    def logits(self, features: jax.Array, values: jax.Array, action: Action) -> jax.Array:
        assert isinstance(action, jax.Array)
        leads_to = jnp.where(action == 0, values[..., 0], action)
        return jnp.log(jax.nn.one_hot(leads_to, 4) * (0.9 - 0.1 / 3) + 0.1 / 3)[..., None, :]


def considered(beliefs: Beliefs) -> Options:
    wanted = np.array([[GOAL]], np.int32)
    observation = np.eye(4, dtype=np.float32)[:1]
    return consider(Known(), Oracle(STAR), TABLE, observation, beliefs, wanted, wanted, key=jax.random.key(0))


def test_every_listed_action_is_considered_and_the_policys_own_last():
    assert isinstance(STAR.actions, Discrete)
    offered = considered(certain(at(HERE)[None]))
    assert np.asarray(offered.actions).tolist() == [[0, 1, 2, 3, GOAL]]
    assert offered.outcome[0, :, 0].tolist() == [HERE, BESIDE, GOAL, ELSEWHERE, GOAL]
    np.testing.assert_allclose(np.exp(offered.log_prob[0, :, 0]), 0.9, rtol=1e-5)
    assert offered.number[0].tolist() == [0, 1, 2, UNKNOWN, 2]


def test_outcomes_are_weighed_by_the_beliefs():
    beliefs = Beliefs(jnp.array([[[HERE], [BESIDE]]]), jnp.array([[0.75, 0.25]]))
    offered = considered(beliefs)
    # Action 0 keeps the set: 0.75 · 0.9 + 0.25 · 0.1 / 3 for the first hypothesis.
    assert offered.outcome[0, 0].tolist() == [HERE]
    assert np.exp(offered.log_prob[0, 0, 0]) == pytest.approx(0.75 * 0.9 + 0.25 * 0.1 / 3, rel=1e-5)
