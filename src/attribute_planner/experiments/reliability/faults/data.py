"""Faults in the step loop and in recorded steps."""

from attribute_planner.experiments.reliability.faults.fault import Fault

REPLAY = "data/test_replay.py"
ROLLOUT = "data/test_rollout.py"

FAULTS = (
    Fault("the age is kept over a reset", "data/scan.py", "jnp.where(over, 0, age), memory)", "age, memory)", ROLLOUT),
    Fault(
        "the age is kept over a reset, on the host",
        "data/host_loop.py",
        "np.where(over, 0, age), None",
        "age, None",
        ROLLOUT,
    ),
    Fault(
        "the reset has the key of the chance",
        "data/host_loop.py",
        "    act_key, env_key, reset_key = jax.random.split(jax.random.fold_in(key, number), 3)\n"
        "    return Decision(*actor.act(memory, observation, attributes, key=act_key), env_key, reset_key)",
        "    act_key, env_key, reset_key = jax.random.split(jax.random.fold_in(key, number), 3)\n"
        "    return Decision(*actor.act(memory, observation, attributes, key=act_key), env_key, env_key)",
        ROLLOUT,
    ),
    Fault(
        "all environments share their chance",
        "data/scan.py",
        "states = jax.vmap(env.step)(before.states, action, jax.random.split(env_key, num_envs))",
        "states = jax.vmap(env.step)(before.states, action, jnp.broadcast_to(env_key, (num_envs,)))",
        ROLLOUT,
    ),
    Fault(
        "a time limit is recorded as a terminal state",
        "data/host_loop.py",
        "ends = timestep.terminated, truncated",
        "ends = truncated, truncated",
        ROLLOUT,
    ),
    Fault(
        "goals in hindsight cross the end of episodes",
        "data/sequel.py",
        "np.where(next_change <= episode_end, next_change, NEVER)",
        "next_change",
        REPLAY,
    ),
    Fault("the last recorded step does not end its episode", "data/sequel.py", "    over[-1] = True\n", "", REPLAY),
    Fault(
        "arriving is discounted one step too much",
        "data/replay.py",
        "np.where(reached, steps - 1, steps)",
        "steps",
        REPLAY,
    ),
    Fault(
        "values go on after a terminal state",
        "data/replay.py",
        "running & terminated & ~arrives",
        "running & False",
        REPLAY,
    ),
    Fault(
        "episodes are not cut between rollouts",
        "data/replay.py",
        "self._columns.over[(self._end - 1) % self._rows] = True",
        "pass",
        REPLAY,
    ),
)
