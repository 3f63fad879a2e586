"""What a training will take, said before it begins."""

import time

import jax

from attribute_planner.configuration import TrainConfig
from attribute_planner.data.random_actions import RandomActions
from attribute_planner.data.rollout import advance, start
from attribute_planner.environments.interface import Environment, PureEnvironment


def budget(env: Environment, config: TrainConfig) -> str:
    """The budget of a training in one or two sentences; for a simulator on the host also the duration of its steps."""
    how, rounds = config.practise, f"{config.rounds} round{'s' if config.rounds > 1 else ''}"
    text = (
        f"{env.name}: {config.steps:,} steps in {rounds}, {config.explore.steps:,} of them to explore; "
        f"the policy learns by {how.method}; an attempt has at most {how.max_attempt_steps} steps."
    )
    if isinstance(env, PureEnvironment):
        return text
    seconds = config.steps * seconds_per_step(env, how.num_envs)
    return f"{text} The simulator takes about {duration_words(seconds)} of the training time."


def duration_words(seconds: float) -> str:
    """A duration in the unit that suits it: seconds, minutes, hours or days."""
    for unit, size, least in (("days", 86_400, 2), ("h", 3_600, 2), ("min", 60, 1.5)):
        if seconds >= least * size:
            number = seconds / size
            return f"{number:,.0f} {unit}" if number >= 10 or unit == "min" else f"{number:.1f} {unit}"
    return f"{max(round(seconds), 1)} s"


TIMED_STEPS = 20


def seconds_per_step(env: Environment, num_envs: int) -> float:
    """Seconds per step of one environment, measured on a few random steps."""
    envs, actor = env.vector_env(num_envs), RandomActions(env)
    start_key, steps_key = jax.random.split(jax.random.key(0))
    try:
        episodes = start(actor, envs, key=start_key)
        episodes, _ = advance(actor, envs, episodes, 1, space=env.attributes, key=steps_key, keep="nothing")
        began = time.perf_counter()
        advance(actor, envs, episodes, TIMED_STEPS, space=env.attributes, key=steps_key, keep="nothing")
        return (time.perf_counter() - began) / (TIMED_STEPS * num_envs)
    finally:
        envs.close()
