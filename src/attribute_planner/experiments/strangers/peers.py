"""Stable-Baselines3 on the same environment, with a sparse reward for the same goals.

All settings are the defaults of Stable-Baselines3, with two exceptions for hindsight experience replay: learning starts
after the first episode, which its replay buffer requires, and the buffer holds as many steps as there are. The network
is its default for dictionaries, `MultiInputPolicy`. PPO completes its last rollout, so that it takes up to 2,047 steps
more. Needs the extra `peers`.
"""

# Stable-Baselines3 is not among the packages of a development environment.
# pyright: reportMissingImports=false

import time
from collections.abc import Callable
from importlib import metadata
from importlib.util import find_spec
from typing import Any

import numpy as np
from gymnasium import spaces

from attribute_planner.environments.gymnasium_bridge import GymnasiumEnvironment
from attribute_planner.evaluation.evaluate import Evaluation
from attribute_planner.evaluation.statistics import success_interval
from attribute_planner.experiments.runs import Measurement
from attribute_planner.experiments.strangers.goal_env import GoalEnv
from attribute_planner.experiments.trained import Trained
from attribute_planner.storage.provenance import provenance

DETERMINISTIC, STOCHASTIC = "deterministic", "stochastic"
"""The two ways in which a policy is evaluated: its best action, or as in training."""

RANDOM = "random"
STEPS = "training steps"
"""The scalar that holds the number of environment steps of a training."""

Act = Callable[[dict[str, np.ndarray], bool], Any]
"""Maps an observation, and whether to take the best action, to an action."""

Settings = dict[str, str | int]


def is_installed() -> bool:
    """Whether Stable-Baselines3 can be used."""
    return find_spec("stable_baselines3") is not None


def train_peer(model: str, world: GymnasiumEnvironment, steps: int, seed: int) -> Trained:
    """A peer, trained for `steps` environment steps."""
    started = time.monotonic()
    act, settings = PEERS[model](GoalEnv(world), steps, seed)

    def evaluate(measurement: Measurement, episodes: int, seed: int) -> Evaluation:
        is_best = measurement.execution.mode == DETERMINISTIC
        return evaluate_acting(world, lambda observed: act(observed, is_best), measurement, episodes, seed)

    return Trained(
        configuration={"environment": {"name": world.name, "parameters": None}, "config": settings},
        provenance=provenance(),
        seconds=time.monotonic() - started,
        scalars={STEPS: int(settings["steps"])},
        curves={},
        evaluate=evaluate,
    )


def evaluate_acting(
    world: GymnasiumEnvironment,
    act: Callable[[dict[str, np.ndarray]], Any],
    measurement: Measurement,
    episodes: int,
    seed: int,
) -> Evaluation:
    """Success of a policy on the world's task."""
    env = GoalEnv(world)
    lengths: list[int] = []
    observed, _ = env.reset(seed=seed)
    for _ in range(episodes):
        over, steps = False, 0
        reward = 0.0
        while not over:
            observed, reward, terminated, truncated, _ = env.step(act(observed))
            over, steps = terminated or truncated, steps + 1
        lengths += [steps] if reward else []
        observed, _ = env.reset()
    env.close()
    return Evaluation(
        environment=world.name,
        task=env.task.name,
        mode=measurement.execution.mode,
        episodes=episodes,
        success=len(lengths) / episodes,
        interval=success_interval(len(lengths), episodes),
        mean_steps=float(np.mean(lengths)) if lengths else float("nan"),
        mean_replans=float("nan"),
        planned=float("nan"),
        max_steps=env.task.max_steps,
    )


def _ppo(env: GoalEnv, steps: int, seed: int) -> tuple[Act, Settings]:
    from stable_baselines3 import PPO

    model = PPO("MultiInputPolicy", env, seed=seed, device="cpu").learn(steps)
    return _act_of(model), {"model": "PPO", "steps": model.num_timesteps, **_version()}


def _her(env: GoalEnv, steps: int, seed: int) -> tuple[Act, Settings]:
    """DQN for discrete actions, SAC for a box."""
    from stable_baselines3 import DQN, SAC, HerReplayBuffer

    algorithm = SAC if isinstance(env.action_space, spaces.Box) else DQN
    defaults: dict[str, Any] = {
        "learning_starts": max(100, env.world.episode_steps + 1),
        "buffer_size": min(1_000_000, steps),
    }
    model = algorithm(
        "MultiInputPolicy", env, replay_buffer_class=HerReplayBuffer, seed=seed, device="cpu", **defaults
    ).learn(steps)
    name = f"{algorithm.__name__} with HER"
    return _act_of(model), {"model": name, "steps": model.num_timesteps, **defaults, **_version()}


def _random(env: GoalEnv, steps: int, seed: int) -> tuple[Act, Settings]:
    """Uniformly random actions, without training."""
    del steps
    env.action_space.seed(seed)
    return lambda observed, is_best: env.action_space.sample(), {"model": RANDOM, "steps": 0}


PEERS: dict[str, Callable[[GoalEnv, int, int], tuple[Act, Settings]]] = {"ppo": _ppo, "her": _her, RANDOM: _random}
"""How each peer is trained, given the environment, the number of steps and the seed."""


def _act_of(model: Any) -> Act:
    return lambda observed, is_best: model.predict(observed, deterministic=is_best)[0]


def _version() -> Settings:
    return {"stable-baselines3": metadata.version("stable-baselines3")}
