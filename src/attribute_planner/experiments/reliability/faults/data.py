"""Faults in the step loop and in recorded steps."""

from attribute_planner.experiments.reliability.faults.fault import Fault

FAULTS = (
    Fault(
        "the age is kept over a reset",
        "data/scan.py",
        "jnp.where(over, 0, age), memory)",
        "age, memory)",
        "data/test_rollout.py::test_episodes_are_truncated_at_their_limit_and_others_follow",
    ),
    Fault(
        "the age is kept over a reset, on the host",
        "data/host_loop.py",
        "np.where(over, 0, age), None",
        "age, None",
        "data/test_rollout.py::test_a_limit_that_is_given_counts_from_each_reset",
    ),
    Fault(
        "the reset has the key of the chance",
        "data/host_loop.py",
        "        return Decision(*actor.act(memory, observation, attributes, key=act_key), env_key, reset_key)",
        "        return Decision(*actor.act(memory, observation, attributes, key=act_key), env_key, env_key)",
        "data/test_rollout.py::test_no_step_and_no_reset_on_the_host_share_a_key",
    ),
    Fault(
        "all environments share their chance",
        "data/scan.py",
        "states = jax.vmap(env.step)(before.states, action, jax.random.split(env_key, num_envs))",
        "states = jax.vmap(env.step)(before.states, action, jnp.broadcast_to(env_key, (num_envs,)))",
        "data/test_rollout.py::test_every_environment_has_a_chance_of_its_own",
    ),
    Fault(
        "a time limit is recorded as a terminal state",
        "data/host_loop.py",
        "ends = timestep.terminated, truncated",
        "ends = truncated, truncated",
        "data/test_rollout.py::test_episodes_are_truncated_at_their_limit_and_others_follow "
        "data/test_rollout.py::test_where_an_episode_terminated_is_recorded_before_the_reset",
    ),
    Fault(
        "goals in hindsight cross the end of episodes",
        "data/sequel.py",
        "np.where(next_change <= episode_end, next_change, NEVER)",
        "next_change",
        "data/test_replay.py::test_goals_in_hindsight_lie_ahead_in_the_same_episode",
    ),
    Fault(
        "the last recorded step does not end its episode",
        "data/sequel.py",
        "    over[-1] = True\n",
        "",
        "data/test_replay.py::test_goals_in_hindsight_lie_ahead_in_the_same_episode "
        "data/test_replay.py::test_where_an_episode_is_cut_off_the_return_ends_one_step_earlier",
    ),
    Fault(
        "arriving is discounted one step too much",
        "data/replay_batch.py",
        "np.where(reached, steps - 1, steps)",
        "steps",
        "data/test_replay.py::test_returns_over_several_steps_by_hand",
    ),
    Fault(
        "values go on after a terminal state",
        "data/replay.py",
        "running & terminated & ~arrives",
        "running & False",
        "data/test_replay.py::test_returns_over_several_steps_by_hand",
    ),
    Fault(
        "episodes are not cut between rollouts",
        "data/replay.py",
        "self._columns.over[(self._end - 1) % self._rows] = True",
        "pass",
        "data/test_replay.py::test_steps_follow_the_last_addition_unless_it_was_cut",
    ),
)
