import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.data.attempt_log import ARRIVED, CUT_OFF, FAILED, AttemptLog
from attribute_planner.data.trajectories import Trajectories
from attribute_planner.environments.vector_env import TimeStep
from attribute_planner.models.encoders import NO_VALUE
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.phases.attempt_batch import attempt_batch, hindsight
from attribute_planner.phases.attempt_counts import count_attempts, ended_attempts, log_attempts
from attribute_planner.phases.attempts import Attempt, AttemptInfo, Outcome, ReachNeighbours
from attribute_planner.phases.device_graph import device_graph
from attribute_planner.transitions.numbering import UNKNOWN
from tests.probes import RING, numbers, table_of, with_drawn_weights

LINE = table_of(numbers(4), [((0,), (1,), 1.0), ((1,), (2,), 1.0), ((2,), (3,), 1.0)])
"""Sets 0 to 3, an edge from each to the next: edge i leaves set i."""
GRAPH = device_graph(LINE)
POLICY = with_drawn_weights(lambda key: GoalPolicy(RING.spec, 4, key=key))
KEY = jax.random.key(0)


def judged(
    sets: list[int],
    *,
    source: int = 0,
    edge: int = 0,
    age: int = 0,
    terminated: bool = False,
    truncated: bool = False,
    stop_on_any_change: bool = True,
    last_start: int | None = None,
    episode_age: int = 0,
) -> tuple[Attempt, Outcome]:
    """The outcome of an attempt from `source` along `edge` that leads into each of some sets."""
    count = len(sets)
    actor = ReachNeighbours(
        POLICY, GRAPH, max_attempt_steps=3, stop_on_any_change=stop_on_any_change, last_start=last_start
    )
    everywhere = lambda value, kind: jnp.full(count, value, kind)  # noqa: E731
    memory = Attempt(
        everywhere(source, jnp.uint32)[:, None],
        GRAPH.target_words(everywhere(edge, jnp.int32)),
        everywhere(edge, jnp.int32),
        everywhere(edge != UNKNOWN, bool),
        everywhere(UNKNOWN, jnp.int32),
        everywhere(age, jnp.int32),
        jnp.zeros(count, bool),
        everywhere(episode_age, jnp.int32),
        jnp.zeros(count, bool),
    )
    values = jnp.array(sets, jnp.int32)[:, None]

    @eqx.filter_jit
    def observe() -> tuple[Attempt, Outcome]:
        timestep = TimeStep(values, values, everywhere(terminated, bool), everywhere(truncated, bool))
        return actor.observe(memory, timestep)

    return observe()


def test_an_attempt_is_over_as_soon_as_the_attributes_change():
    memory, outcome = judged([0, 1, 2])
    assert outcome.ended.tolist() == memory.idle.tolist() == [False, True, True]
    assert outcome.reached.tolist() == [False, True, False]
    assert memory.age.tolist() == [1, 1, 1]


def test_without_stop_on_any_change_an_attempt_ends_only_at_its_target_or_after_its_last_step():
    memory, outcome = judged([0, 1, 2], stop_on_any_change=False)
    assert outcome.ended.tolist() == memory.idle.tolist() == outcome.reached.tolist() == [False, True, False]
    assert memory.edge.tolist() == [0, 0, 0], "the aim stays"
    assert judged([2], age=2, stop_on_any_change=False)[1].ended.tolist() == [True]


def test_an_attempt_is_given_up_after_its_last_step():
    assert judged([0], age=1)[1].ended.tolist() == [False]
    assert judged([0], age=2)[1] == (jnp.array([True]), jnp.array([False]))


def test_the_end_of_an_episode_fails_the_attempt_and_its_time_limit_interrupts_it():
    _, died = judged([0], terminated=True)
    assert (died.ended.tolist(), died.reached.tolist()) == ([True], [False])
    memory, cut = judged([0], truncated=True)
    assert (cut.ended.tolist(), memory.idle.tolist()) == ([False], [True])
    assert judged([1], truncated=True)[1].reached.tolist() == [True]
    assert judged([1], terminated=True)[1].reached.tolist() == [False], "the way leads on from there"


def test_a_new_attempt_has_no_age_and_one_that_goes_on_keeps_its_own():
    memory, _ = judged([0, 1], age=1)
    actor = ReachNeighbours(POLICY, GRAPH, max_attempt_steps=3)
    words, edge = jnp.array([[0], [1]], jnp.uint32), jnp.array([0, 1], jnp.int32)
    begun = actor.begin_attempts(memory, words, edge, memory.idle)
    assert memory.idle.tolist() == [False, True]
    assert begun.age.tolist() == [2, 0]
    assert (begun.source[:, 0].tolist(), begun.target[:, 0].tolist()) == ([0, 1], [1, 2])
    assert not begun.idle.any()


def test_an_episode_ends_between_attempts_when_no_other_may_begin():
    restart = lambda sets, **how: judged(sets, last_start=5, **how)[0].restart.tolist()  # noqa: E731
    assert restart([0, 1]) == [False, False]
    assert restart([0, 1], episode_age=4) == [False, True], "the attempt that goes on is not broken off"
    assert restart([0], edge=UNKNOWN) == [True], "without a neighbour there is nothing to attempt"
    assert judged([1], episode_age=4)[0].restart.tolist() == [False]
    assert judged([0, 1], last_start=5, episode_age=4)[0].episode_age.tolist() == [5, 0]


def test_an_attempt_without_a_target_never_arrives():
    assert judged([3], edge=UNKNOWN)[1].reached.tolist() == [False]


def experience_of(rows: list[tuple[int, int, int, str]]) -> Trajectories:
    """One environment's steps: set before, set after, edge attempted, and `ended`, `reached`, `cut` or nothing."""
    before, after, edge, what = ([row[i] for row in rows] for i in range(4))
    flag = lambda *names: jnp.array([[w in names] for w in what])  # noqa: E731
    words = lambda sets: jnp.array(sets, jnp.uint32)[:, None, None]  # noqa: E731
    nothing = jnp.zeros((len(rows), 1))
    age = [0]
    for row in rows[:-1]:
        age.append(0 if row[3] else age[-1] + 1)
    return Trajectories(
        observation=nothing[..., None],
        attributes=words(before),
        action=nothing.astype(jnp.int32),
        info=AttemptInfo(
            edge=jnp.array(edge)[:, None],
            target=words(after),
            pursues=jnp.array(edge)[:, None] != UNKNOWN,
            age=jnp.array(age)[:, None],
            log_prob=nothing,
            value=nothing,
        ),
        next_attributes=words(after),
        terminated=flag(),
        truncated=flag("cut"),
        outcome=Outcome(flag("ended", "reached"), flag("reached")),
    )


WALK = experience_of(
    [
        (0, 0, 0, ""),
        (0, 1, 0, "reached"),  # aimed at 1, and got there
        (1, 1, 1, ""),
        (1, 3, 1, "ended"),  # aimed at 2, ended in 3
        (3, 0, UNKNOWN, "ended"),  # aimed at nothing
        (0, 0, 0, "ended"),  # aimed at 1, time ran out
        (0, 0, 0, ""),
        (0, 0, 0, "cut"),  # aimed at 1, the episode was cut off
        (2, 2, 2, ""),  # aimed at 3, and the batch is over
    ]
)


def test_attempts_are_counted_for_the_edge_that_was_pursued():
    counts = count_attempts(jnp.array([[10, 0, 0], [5, 0, 0], [30, 0, 0]], jnp.int32), WALK)
    # An attempt that is cut off is a failure; one that is not over yet adds its steps.
    assert counts.tolist() == [[13, 1, 0], [6, 0, 0], [35, 2, 1]]


T_MAX = 4


@pytest.mark.parametrize("last", [False, True])
def test_attempts_that_are_over_by_hand(last):
    ended = ended_attempts(WALK, T_MAX, last=last)
    edge, reached, steps, weight = [0, 1, 0, 0], [True, False, False, False], [2, 2, 1, 2], [1.0, 1.0, 1.0, 0.5]
    if last:
        # The attempt under way at the end of the last rollout had one step of four.
        edge, reached, steps, weight = [*edge, 2], [*reached, False], [*steps, 1], [*weight, 0.25]
    assert ended.edge.tolist() == edge
    assert ended.reached.tolist() == reached
    assert ended.steps.tolist() == steps
    assert ended.weight.tolist() == weight
    attempts, successes, spent = ended.counts(3)
    assert attempts.tolist() == [2.5, 1.0, 0.25 if last else 0.0]
    assert successes.tolist() == [1.0, 0.0, 0.0]
    assert spent.tolist() == [5.0, 2.0, 1.0 if last else 0.0]


def test_an_attempt_that_is_cut_off_at_its_target_or_after_t_max_counts_in_full():
    # Cut off after five steps, where t_max is four.
    late = experience_of([(0, 0, 0, "")] * 4 + [(0, 0, 0, "cut")])
    assert ended_attempts(late, T_MAX, last=False).weight.tolist() == [1.0]
    # Both at once: the attempt ended.
    there = experience_of([(0, 1, 0, "reached")])._replace(truncated=jnp.array([[True]]))
    assert ended_attempts(there, T_MAX, last=True).weight.tolist() == [1.0]


def test_the_log_has_attempts_that_were_cut_off():
    log = AttemptLog()
    log_attempts(log, WALK, 100, last=True)
    first, last, env, outcome = log.rows.T.tolist()
    assert outcome == [ARRIVED, FAILED, FAILED, CUT_OFF, CUT_OFF] and env == [0] * 5
    assert list(zip(first, last, strict=True)) == [(100, 101), (102, 103), (105, 105), (106, 107), (108, 108)]


def test_attempts_that_begin_too_close_to_the_end_do_not_count():
    # Of the nine steps, the last three leave fewer than four steps to an attempt that begins there.
    counts = count_attempts(jnp.zeros((3, 3), jnp.int32), WALK, 8 - jnp.arange(9), horizon=4)
    assert counts.tolist() == [[2, 1, 0], [1, 0, 0], [3, 2, 0]]


def test_a_reset_is_never_seen_through_in_hindsight():
    # The episode ends within an attempt, and the next one ends elsewhere: only its own steps show how to get there.
    trajectories = experience_of([(0, 0, 0, ""), (0, 0, 0, "cut"), (2, 2, 2, ""), (2, 0, 2, "ended")])
    relabelled = eqx.filter_jit(hindsight)(trajectories, 1.0, key=KEY)[0]
    assert relabelled[:, 0].tolist() == [False, False, True, True]
    batch = attempt_batch(GRAPH, trajectories, step_reward=0.0, hindsight_share=1.0, key=KEY)
    assert batch.cut[:, 0].tolist() == [False, True, False, False]


def test_hindsight_finds_where_attempts_ended_that_went_elsewhere():
    chance, landed = eqx.filter_jit(hindsight)(WALK, 1.0, key=KEY)
    # The attempt at 2 (both its steps), and the one without an aim; time that ran out led nowhere new.
    assert chance[:, 0].tolist() == [False, False, True, True, True, False, False, False, False]
    assert landed[2:5, 0, 0].tolist() == [3, 3, 0]
    assert not eqx.filter_jit(hindsight)(WALK, 0.0, key=KEY)[0].any()


def test_hindsight_is_chosen_attempt_by_attempt():
    many = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf[2:4], (2, 4000, *leaf.shape[2:])), WALK)
    chance = np.asarray(eqx.filter_jit(hindsight)(many, 0.25, key=KEY)[0])
    np.testing.assert_array_equal(chance[0], chance[1])
    assert chance[0].mean() == pytest.approx(0.25, abs=0.03)


def test_arriving_earns_one_and_every_step_costs():
    batch = attempt_batch(GRAPH, WALK, step_reward=-0.125, hindsight_share=0.0, key=KEY)
    np.testing.assert_allclose(batch.reward[:2, 0], [-0.125, 0.875])
    assert batch.goal[:, 0, 0].tolist() == [1, 1, 2, 2, NO_VALUE, 1, 1, 1, 3]
    assert batch.weight[:, 0].tolist() == [1, 1, 1, 1, 0, 1, 1, 1, 1]
    assert not batch.imitate.any()


def test_in_hindsight_the_goal_is_where_the_attempt_ended():
    batch = attempt_batch(GRAPH, WALK, step_reward=-0.125, hindsight_share=1.0, key=KEY)
    np.testing.assert_allclose(batch.reward[2:5, 0], [-0.125, 0.875, 0.875])
    assert batch.goal[:, 0, 0].tolist() == [1, 1, 3, 3, 0, 1, 1, 1, 3]
    assert batch.imitate[:, 0].tolist() == [False, False, True, True, True, False, False, False, False]
    assert batch.weight[4, 0] == 1
