from collections.abc import Sequence

import numpy as np
import pytest

from attribute_planner.data.replay import Replay, remember
from attribute_planner.data.replay_batch import GoalShares, ReplayBatch
from attribute_planner.data.replay_rows import NO_GOAL
from attribute_planner.data.sequel import MAX_CHANGES
from attribute_planner.data.trajectories import Trajectories
from tests.probes import numbers

DISCOUNT = 0.5
Step = tuple[int, int, str]
"""Set before, set after, and `terminated`, `truncated` or nothing."""


def trajectories_of(envs: Sequence[Sequence[Step]], first: int = 0) -> Trajectories:
    """The steps of each environment; environment `b` observes 100 · b + the number of its step, from `first` on."""
    table = np.array([[step[:2] for step in steps] for steps in envs], np.uint32).transpose(1, 0, 2)
    flag = lambda name: np.array([[step[2] == name for step in steps] for steps in envs]).T  # noqa: E731
    length, num_envs = table.shape[:2]
    observed = first + np.arange(length)[:, None] + 100 * np.arange(num_envs)[None]
    return Trajectories(
        observation=observed.astype(np.float32)[..., None],
        attributes=table[..., :1],
        action=observed.astype(np.int32) % 7,
        info=None,
        next_attributes=table[..., 1:],
        terminated=flag("terminated"),
        truncated=flag("truncated"),
        outcome=None,
    )


def filled(steps: Sequence[Step], pursued: Sequence[int]) -> Replay:
    """A buffer with the steps of one environment."""
    replay = Replay(100)
    remember(replay, numbers(100), trajectories_of([steps]), np.array(pursued, np.int32)[:, None, None])
    return replay


def sample(
    replay: Replay, count: int = 400, *, hindsight: float = 0.0, survival: float = 0.0, n_step: int = 3
) -> ReplayBatch:
    goals = GoalShares(hindsight, survival=survival)
    return replay.sample(count, goals, discount=DISCOUNT, n_step=n_step, random=np.random.default_rng(0))


def observed(batch: ReplayBatch) -> np.ndarray:
    """`int[N]` the number that each step observed."""
    return np.asarray(batch.observation)[:, 0].astype(int)


def returns(batch: ReplayBatch) -> dict[int, tuple[float, bool, int] | None]:
    """Of each observation: discount, whether the goal is reached, and where the rest is bootstrapped, 0 for nowhere.

    `None` for steps without weight.
    """
    found = {}
    for observation, weight, discount, reached, onward in zip(
        observed(batch),
        batch.weight,
        batch.discount,
        (batch.arrived > 0) | (np.asarray(batch.next_goal)[:, 0] == NO_GOAL),
        np.asarray(batch.next_observation)[:, 0],
        strict=True,
    ):
        used = not reached and discount > 0
        what = (float(discount), bool(reached), int(onward) if used else 0) if weight else None
        assert found.setdefault(int(observation), what) == what
    return found


WALK: list[Step] = [(0, 0, ""), (0, 1, ""), (1, 1, ""), (1, 2, ""), (2, 2, ""), (2, 3, "terminated")]


def test_returns_over_several_steps_by_hand():
    # The first four steps pursue set 2, which the fourth reaches; the others pursue set 0, and the episode terminates.
    assert returns(sample(filled(WALK, [2, 2, 2, 2, 0, 0]))) == {
        0: (0.125, False, 3),  # three steps, and what the fourth is worth
        1: (0.25, True, 0),  # reached with the third step: two more steps are waited for
        2: (0.5, True, 0),
        3: (1.0, True, 0),
        4: (0.0, False, 0),  # the end of the episode is worth nothing
        5: (0.0, False, 0),
    }


def test_with_one_step_every_return_is_bootstrapped_at_the_next_observation():
    assert returns(sample(filled(WALK, [2, 2, 2, 2, 0, 0]), n_step=1)) == {
        0: (0.5, False, 1),
        1: (0.5, False, 2),
        2: (0.5, False, 3),
        3: (1.0, True, 0),
        4: (0.5, False, 5),
        5: (0.0, False, 0),
    }


def test_a_goal_that_is_reached_as_the_episode_ends_is_reached():
    for end in ("terminated", "truncated"):
        assert returns(sample(filled([(0, 0, ""), (0, 1, end)], [1, 1]))) == {0: (0.5, True, 0), 1: (1.0, True, 0)}


def test_where_an_episode_is_cut_off_the_return_ends_one_step_earlier():
    # What followed the second step is not known, nor what follows the last one of the buffer.
    steps: list[Step] = [(0, 0, ""), (0, 0, "truncated"), (5, 5, ""), (5, 5, "")]
    assert returns(sample(filled(steps, [1, 1, 1, 1]))) == {
        0: (0.5, False, 1),
        1: None,
        2: (0.5, False, 3),
        3: None,
    }


def test_a_batch_holds_what_was_recorded():
    batch = sample(filled(WALK, [2, 2, 2, 2, 0, 0]))
    number = observed(batch)
    assert batch.values[:, 0].tolist() == np.array([0, 0, 1, 1, 2, 2])[number].tolist()
    assert batch.goal[:, 0].tolist() == np.array([2, 2, 2, 2, 0, 0])[number].tolist()
    assert np.asarray(batch.action).tolist() == (number % 7).tolist()
    assert np.unique(number).tolist() == [0, 1, 2, 3, 4, 5]


def test_the_oldest_steps_are_overwritten_and_the_others_stay_in_order():
    replay = Replay(4)
    walk: list[Step] = [(i, i + 1, "") for i in range(6)]
    for part in (slice(0, 3), slice(3, 6)):
        goals = np.full((3, 1, 1), 5, np.int32)
        remember(replay, numbers(100), trajectories_of([walk[part]], part.start), goals)
    assert replay.size == 4
    # The fifth step reaches set 5; rows are stored as 4, 5, 2, 3.
    assert returns(sample(replay)) == {2: (0.25, True, 0), 3: (0.5, True, 0), 4: (1.0, True, 0), 5: None}


@pytest.mark.parametrize("cut", [False, True])
def test_steps_follow_the_last_addition_unless_it_was_cut(cut):
    replay = Replay(100)
    walk: list[Step] = [(i, i + 1, "") for i in range(4)]
    for part in (slice(0, 2), slice(2, 4)):
        if cut:
            replay.cut()
        remember(replay, numbers(100), trajectories_of([walk[part]], part.start), np.full((2, 1, 1), 9, np.int32))
    found = returns(sample(replay, n_step=2))
    if cut:
        assert found == {0: (0.5, False, 1), 1: None, 2: (0.5, False, 3), 3: None}
    else:
        assert found == {0: (0.25, False, 2), 1: (0.25, False, 3), 2: (0.5, False, 3), 3: None}
    # In hindsight, a set behind the cut is no goal either.
    goals = sample(replay, hindsight=1.0)
    early = observed(goals) < 2
    assert set(goals.goal[early, 0].tolist()) == ({1, 2} if cut else {1, 2, 3, 4})


def test_cutting_an_empty_buffer_does_nothing():
    replay = Replay(10)
    replay.cut()
    assert (replay.size, replay.pending) == (0, 0)


def random_episodes(length: int, random: np.random.Generator) -> list[Step]:
    """Episodes of up to ten steps, in which every other step or so goes on by one set; each has ten sets of its own."""
    steps, episode, here = [], 0, 0
    for _ in range(length):
        there = here + int(random.random() < 0.5 and here % 10 < 9)
        end = random.choice(["terminated", "truncated", "", "", "", "", ""])
        steps.append((here, there, end))
        if end:
            episode = (episode + 1) % 10
            here = 10 * episode
        else:
            here = there
    return steps


def test_goals_in_hindsight_lie_ahead_in_the_same_episode():
    random = np.random.default_rng(1)
    replay = Replay(300)
    walks = [random_episodes(160, random) for _ in range(3)]
    for begin in range(0, 160, 20):
        remember(replay, numbers(100), trajectories_of([walk[begin : begin + 20] for walk in walks], begin))
    assert replay.size == 300
    batch = sample(replay, 5_000, hindsight=1.0, n_step=10)
    goal, here = batch.goal[:, 0].astype(int), batch.values[:, 0].astype(int)
    known = goal != NO_GOAL
    assert 0.3 < known.mean() < 1
    assert (goal[known] // 10 == here[known] // 10).all()
    ahead = goal[known] - here[known]
    assert set(ahead.tolist()) == set(range(1, MAX_CHANGES + 1))
    assert (batch.weight[~known] == 0).all(), "without a goal there is nothing to learn"
    # The first of the next changes is the likeliest; steps without one have a neighbouring set as their goal.
    assert (ahead == 1).mean() > 0.5


def test_the_share_of_goals_in_hindsight():
    # Every step pursues set 50; later in the episode, sets 1 to 5 are reached.
    walk: list[Step] = [(0, 0, "")] * 20 + [(i, i + 1, "") for i in range(5)]
    replay = filled(walk, [50] * len(walk))
    batch = sample(replay, 20_000, hindsight=0.6)
    first = observed(batch) < 20
    goals = batch.goal[first, 0]
    assert (goals == 50).mean() == pytest.approx(0.4, abs=0.02)
    shares = [(goals == goal).mean() / 0.6 for goal in (1, 2, 3, 4)]
    np.testing.assert_allclose(shares, [1 / 2, 1 / 4, 1 / 8, 1 / 8], atol=0.02)


def test_steps_that_pursued_nothing_have_a_neighbour_as_their_goal():
    walk: list[Step] = [(0, 0, ""), (0, 1, ""), (1, 1, "")]
    replay = Replay(10)
    remember(replay, numbers(100), trajectories_of([walk]))
    assert returns(sample(replay, hindsight=0.0)) == {0: (0.5, True, 0), 1: (1.0, True, 0), 2: None}


def test_a_neighbour_is_a_goal_whatever_happened_next():
    # Set 0 leads to 1 and to 2, as often.
    walk: list[Step] = [(0, 1, "truncated"), (0, 2, "truncated")] * 20
    replay = filled(walk, [50] * len(walk))
    shares = GoalShares(hindsight=0.0, neighbours=0.5)
    batch = replay.sample(20_000, shares, discount=DISCOUNT, n_step=1, random=np.random.default_rng(0))
    goals = batch.goal[:, 0]
    assert [(goals == goal).mean() for goal in (50, 1, 2)] == pytest.approx([0.5, 0.25, 0.25], abs=0.02)
    assert batch.arrived[goals != 50].mean() == pytest.approx(0.5, abs=0.03), "luck has no part in the choice"


def test_rare_transitions_are_replayed_as_often_as_others():
    # One step in a hundred leads on to set 2.
    walk: list[Step] = [(0, 1, ""), (1, 0, "")] * 99 + [(0, 1, ""), (1, 2, "terminated")]
    replay = filled(walk, [50] * len(walk))
    for balanced, share in ((0.0, 0.0), (1.0, 1 / 3)):
        shares = GoalShares(hindsight=1.0, balanced=balanced)
        batch = replay.sample(9_000, shares, discount=0.5, n_step=1, random=np.random.default_rng(0))
        assert (batch.goal[:, 0] == 2).mean() == pytest.approx(share, abs=0.03)


def test_an_arrival_that_ends_the_episode_is_none_where_the_way_leads_on():
    fatal: list[Step] = [(0, 1, "terminated")]
    # As long as set 1 is never left, it may be the end that was wanted.
    assert returns(sample(filled(fatal, [1]))) == {0: (1.0, True, 0)}
    again: list[Step] = [*fatal, (0, 1, ""), (1, 2, "")]
    assert returns(sample(filled(again, [1, 1, 2])))[0] == (0.0, False, 0)


def replay_again(replay: Replay) -> Replay:
    """The same buffer, read afresh."""
    rows = replay.rows_since(0)
    assert rows is not None
    again = Replay(replay.capacity)
    again.restore(replay.state, rows[1])
    return again


def test_how_often_actions_lead_to_the_same_observation_again():
    walk: list[Step] = [(0, 0, "")] * 40
    replay = filled(walk, [1] * len(walk))
    assert replay.repeatability() == 1.0, "every observation is seen once"
    columns = replay._columns
    assert columns is not None
    columns.action[:] = 0
    columns.observation[:] = 0
    assert replay_again(replay).repeatability() == 1.0
    turns = np.array([0, 1, 0, 2] * 10, columns.observation.dtype)
    columns.observation[:40] = turns.reshape(40, *[1] * (columns.observation.ndim - 1))
    # From 0 the action leads to 1 and to 2 in turn; from 1 and from 2 always to 0.
    assert replay_again(replay).repeatability() == pytest.approx(0.5, abs=0.03)


def test_values_are_kept_whatever_came_first():
    space = numbers(300)
    replay = Replay(100)
    for begin in (0, 200):
        walk: list[Step] = [(begin + i, begin + i + 1, "terminated") for i in range(3)]
        remember(replay, space, trajectories_of([walk], begin))
    batch = sample(replay, hindsight=1.0)
    assert set(batch.values[:, 0].tolist()) == {0, 1, 2, 200, 201, 202}
    assert (batch.goal[:, 0] == batch.values[:, 0] + 1).all()


def test_added_steps_are_pending():
    replay = filled(WALK, [2] * 6)
    assert (replay.pending, replay.size) == (6.0, 6)


def test_the_worth_of_an_arrival_depends_on_how_long_the_episode_goes_on():
    # Set 1 leads on to set 2, which leads nowhere. The first two arrivals at set 1 have a sequel; the third is cut off.
    walk: list[Step] = [(0, 1, ""), (1, 2, "terminated"), (0, 1, ""), (1, 1, "terminated"), (0, 1, "truncated")]
    batch = sample(filled(walk, [1, 2, 1, 2, 1]))
    number, after = observed(batch), np.asarray(batch.next_observation)[:, 0]
    found = {
        step: (float(batch.arrived[row]), int(batch.next_goal[row, 0]), int(after[row]))
        for step, row in zip(number.tolist(), range(len(number)), strict=True)
    }
    # One of three episodes ends in failure: the second. Two thirds of the worth are certain.
    assert (found[0], found[2]) == ((pytest.approx(2 / 3), NO_GOAL, 1), (pytest.approx(2 / 3), NO_GOAL, 3))
    assert found[1][:2] == (1.0, 2) and found[4][:2] == (1.0, 1), "nothing leads on, and what follows is not known"
    assert found[3][0] == 0.0
    # If the episode goes on with a probability of 0.8 after the first arrival, and of 0 after the second:
    worth = batch.wanted(np.where(number == 0, 0.8, 0.0))
    assert worth[number == 0] == pytest.approx(2 / 3 + 0.8 / 3) and worth[number == 2] == pytest.approx(2 / 3)


def test_an_arrival_where_paths_end_is_worth_the_same_however_the_episode_goes_on():
    # From set 1 a transition leads back to 0, and from 0 one leads to 1 and one to 2.
    walk: list[Step] = [(0, 1, ""), (1, 0, ""), (0, 2, "terminated"), (2, 1, ""), (1, 1, "terminated")]
    batch = sample(filled(walk, [1, 0, 1, 1, 0]))
    arrived = {step: set(batch.arrived[observed(batch) == step].tolist()) for step in range(5)}
    # Both episodes end in failure, so nothing is certain where a path may go on: it does from 0, whatever it came from.
    assert arrived[0] == {1.0} and arrived[1] == {0.0}
    # It does from 1, if it came from 2.
    assert arrived[3] == {0.0} and set(batch.next_goal[observed(batch) == 3].ravel().tolist()) == {NO_GOAL}


def test_survival_by_hand():
    # Every episode ends in failure: so all steps can be without a goal.
    replay = filled([(i, i + 1, "terminated" if i == 5 else "") for i in range(6)], [50] * 6)
    batch = sample(replay, survival=1.0)
    assert (batch.goal == NO_GOAL).all() and (batch.next_goal == NO_GOAL).all() and batch.weight.all()
    # After each step the time is over with a probability of a half. Values of 0.2 replace what follows three steps.
    worth = dict(zip(observed(batch).tolist(), batch.wanted(np.full(400, 0.2)).tolist(), strict=True))
    assert worth == pytest.approx({**dict.fromkeys((0, 1, 2), 0.875 + 0.125 * 0.2), 3: 0.75, 4: 0.5, 5: 0.0})


def test_survival_is_learned_in_proportion_to_the_episodes_that_end_in_failure():
    walk: list[Step] = [(0, 1, "truncated"), (0, 1, "terminated"), (0, 2, "terminated"), (1, 2, "terminated")]
    batch = sample(filled(walk, [1, 1, 1, 2]), 2_000, survival=0.8)
    assert (batch.goal == NO_GOAL).mean() == pytest.approx(0.2, abs=0.03)


def test_where_no_episode_ends_in_failure_all_arrivals_are_worth_the_same():
    walk: list[Step] = [(0, 1, ""), (1, 2, "terminated"), (0, 1, ""), (1, 1, "truncated")]
    for pursued in ([1, 2, 1, 2], [1, 2, 1, NO_GOAL]):
        batch = sample(filled(walk, pursued), survival=1.0)
        assert set(batch.arrived.tolist()) <= {0.0, 1.0}
        assert not batch.weight[batch.goal[:, 0] == NO_GOAL].any()
