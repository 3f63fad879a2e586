import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from attribute_planner.experiments.strangers import make_world
from attribute_planner.experiments.strangers.goal_env import GoalEnv

RIGHT, DOWN = 2, 1


def test_the_layout_and_the_reward_are_those_of_hindsight_replay():
    env = GoalEnv(make_world("frozen-lake-blocks"))
    observed, _ = env.reset(seed=0)
    assert observed["observation"].tolist() == (np.arange(64) == 0).astype(int).tolist()
    assert np.flatnonzero(observed["achieved_goal"]).tolist() == [0, 16]  # the first block, not at the goal
    assert np.flatnonzero(observed["desired_goal"]).tolist() == [17]  # at the goal, in any block
    steps = [env.step(np.array(action)) for action in [RIGHT] * 7 + [DOWN] * 7]
    assert [reward for _, reward, *_ in steps] == [0.0] * 13 + [1.0]
    assert steps[-1][2] and steps[-1][4]["is_success"]
    achieved = np.stack([observed["achieved_goal"] for observed, *_ in steps])
    rewards = env.compute_reward(achieved, achieved[:1], {})
    assert rewards.tolist() == [1.0] + [0.0] * 13  # the first step's set is left at the second one


def test_an_episode_is_truncated_at_the_limit_of_the_world():
    env = GoalEnv(make_world("cliff-walking"))
    env.reset(seed=0)
    ends = [env.step(0)[2:4] for _ in range(200)]
    assert ends == [(False, False)] * 199 + [(False, True)]


def test_no_episode_begins_at_its_goal():
    env = GoalEnv(make_world("pendulum"))
    for seed in range(30):
        observed, _ = env.reset(seed=seed)
        assert not env.reached(observed["achieved_goal"], observed["desired_goal"])


def test_codes_are_one_hot():
    pytest.importorskip("minigrid")
    env = GoalEnv(make_world("unlock"))
    observed, _ = env.reset(seed=0)
    assert observed["observation"].shape == (7 * 7 * 3 * 11,)
    assert observed["observation"].sum() == 7 * 7 * 3


def test_the_goal_env_follows_the_interface_of_gymnasium():
    check_env(GoalEnv(make_world("taxi")), skip_render_check=True)
