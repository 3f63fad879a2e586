"""How many causes the diagnosis names: `python -m attribute_planner.experiments.failing [WORLD …]`."""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from attribute_planner.agent import Agent
from attribute_planner.configuration import config_for
from attribute_planner.experiments.failing.others import OTHERS
from attribute_planner.experiments.failing.tabular import train_tabular
from attribute_planner.experiments.failing.world import FailingWorld
from attribute_planner.experiments.failing.worlds import WORLDS
from attribute_planner.training import train


def main(arguments: Sequence[str] | None = None) -> int:
    """Train an agent in each world, diagnose it, and print the first finding; the exit code is 0 if most are right."""
    parser = argparse.ArgumentParser(prog="python -m attribute_planner.experiments.failing", description=__doc__)
    parser.add_argument("worlds", nargs="*", help="names of worlds; default: all")
    parser.add_argument("--others", action="store_true", help="the five worlds on which nothing was tuned")
    parser.add_argument("--steps", type=int, help="train with default settings for so many steps, not the fast learner")
    parser.add_argument("--findings", type=int, default=1, help="how many findings to print")
    options = parser.parse_args(arguments)
    made = [make() for make in (OTHERS if options.others else WORLDS)]
    worlds = [world for world in made if world.name in options.worlds or not options.worlds]
    learn = partial(train_default, steps=options.steps) if options.steps else train_tabular
    named = sum(report_on(world, learn, options.findings) for world in worlds)
    print(f"The first finding names the cause in {named} of {len(worlds)} worlds.")
    return 0


def train_default(world: FailingWorld, steps: int) -> Agent:
    """An agent that was trained as a user would, but for the longest attempt, which is the world's."""
    config, limit = config_for(world.environment), world.max_attempt_steps
    explore, practise = (
        replace(config.explore, max_attempt_steps=limit),
        replace(config.practise, max_attempt_steps=limit),
    )
    return train(world.environment, steps=steps, config=replace(config, explore=explore, practise=practise))


def report_on(world: FailingWorld, learn: Callable[[FailingWorld], Agent], findings: int = 1) -> bool:
    """Print what the diagnosis of a world says first; whether that names the cause."""
    began = time.process_time()
    agent = learn(world)
    trained = time.process_time()
    diagnosis = agent.diagnose()
    first = diagnosis.findings[0] if diagnosis.findings else None
    right = first is not None and world.is_named_by(first.kind, first.message)
    seconds = f"{trained - began:.1f} s to train, {time.process_time() - trained:.1f} s to diagnose"
    print(f"{'right' if right else 'WRONG'}  {world.name} ({world.cause}; {seconds})", flush=True)
    for each in diagnosis.findings[:findings]:
        print(f"       {each.importance:.2f} {each.kind}: {each.message}", flush=True)
    if findings > 1:
        print("      ", *diagnosis.measured, flush=True)
    return right


if __name__ == "__main__":
    raise SystemExit(main())
