"""Row 9: environments with a fault are answered by an error or a warning that says where and what it is."""

import re
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp

from attribute_planner.configuration import config_for
from attribute_planner.environments.gymnasium_bridge import from_gymnasium
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.watchdog import WATCHDOG
from attribute_planner.errors import AttributePlannerError, EnvironmentFaultError
from attribute_planner.evaluation.check_environment import check_environment
from attribute_planner.experiments.reliability.environment_cases import cases
from attribute_planner.experiments.reliability.environment_cases.case import Case, spoiled
from attribute_planner.experiments.reliability.row import Row
from attribute_planner.storage.run_directory import RunDirectory
from attribute_planner.training import train

NUMBER = 9
STEP_TIMEOUT = 0.5
NUM_ENVS, STEPS, EPISODES = 2, 8, 3


def measure() -> Row:
    """Make, step or check the environment of each case, and train on one that hangs."""
    began, every = time.monotonic(), cases()
    faults = {case.name: fault for case in every if (fault := fault_in_answer(case))}
    kept = training_that_hangs()
    measured = f"{len(every) - len(faults)} of {len(every)} faults are named with their place; {kept or 'a training '}"
    measured += "" if kept else "that hung was ended and saved"
    measured += "".join(f"; {name}: {fault:.150}" for name, fault in list(faults.items())[:3])
    return Row("bad environments", measured, not faults and not kept, time.monotonic() - began)


def fault_in_answer(case: Case) -> str:
    """What is wrong with the answer to a case; empty if it is right."""
    try:
        with WATCHDOG.limited_to(STEP_TIMEOUT):
            env = from_gymnasium(**case.options())
            if case.is_warning:
                warnings = check_environment(env, steps=60).warnings
                return "" if any(re.match(case.answer, each) for each in warnings) else f"warnings: {warnings}"
            play(env)
    except AttributePlannerError as error:
        is_right = re.match(case.answer, str(error)) and "\n" not in str(error)
        return "" if is_right else str(error)
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return "not noticed"


def play(env: Environment) -> None:
    """Some episodes of a fixed sequence of actions in a few environments."""
    envs, key = env.vector_env(NUM_ENVS), jax.random.key(0)
    try:
        for _ in range(EPISODES):
            envs.reset(key)
            for step in range(STEPS):
                envs.step(jnp.full(NUM_ENVS, step // 4 % 2), key)
    finally:
        envs.close()


def training_that_hangs() -> str:
    """What is wrong after a training whose environment hangs; empty if it ended in time, with what it had learned."""
    env = from_gymnasium(**spoiled({"step": lambda room, result: time.sleep(10**6)}, first=(12, 0)))
    config = config_for(env)
    explore = replace(config.explore, policy="random", num_envs=4, rollout_length=10, rollouts_per_epoch=1)
    practise = replace(config.practise, num_envs=4)
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        try:
            train(
                env,
                config=replace(config, explore=explore, practise=practise),
                run_dir=run,
                num_workers=0,
                step_timeout=STEP_TIMEOUT,
            )
        except EnvironmentFaultError as error:
            if "has not returned" not in str(error):
                return str(error)
        else:
            return "the training ended without an error"
        return "" if RunDirectory(run).has_checkpoint else "nothing was saved"
