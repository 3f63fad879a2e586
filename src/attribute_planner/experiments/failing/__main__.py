"""How many causes the diagnosis names: `python -m attribute_planner.experiments.failing [WORLD …]`."""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from attribute_planner.agent import Agent
from attribute_planner.experiments.failing.case import FailingCase
from attribute_planner.experiments.failing.tabular import train_tabular
from attribute_planner.experiments.failing.worlds import FURTHER, OTHERS, WORLDS

Learn = Callable[[], Agent]


def main(arguments: Sequence[str] | None = None) -> int:
    """Train an agent in each world, diagnose it, and print the first finding; the exit code is 0 if most are right."""
    parser = argparse.ArgumentParser(prog="python -m attribute_planner.experiments.failing", description=__doc__)
    parser.add_argument("worlds", nargs="*", help="names of worlds; default: all")
    parser.add_argument("--others", action="store_true", help="five other worlds")
    parser.add_argument("--further", action="store_true", help="ten environments as users write them; implies --train")
    parser.add_argument(
        "--train", action="store_true", help="train by ap.train, not by the fast learner; a minute each"
    )
    parser.add_argument("--steps", type=int, help="steps of ap.train; default: those of each world; implies --train")
    parser.add_argument("--findings", type=int, default=1, help="how many findings to print")
    options = parser.parse_args(arguments)
    trains = options.train or options.steps is not None
    chosen = [
        each
        for each in cases(options.others, options.further, trains, options.steps)
        if each[0].name in options.worlds or not options.worlds
    ]
    named = sum(report_on(case, learn, options.findings) for case, learn in chosen)
    print(f"The first finding names the cause in {named} of {len(chosen)} worlds.")
    return 0 if named >= MOST * len(chosen) else 1


MOST = 0.9
"""The share of the worlds whose cause must be named."""


def cases(others: bool, further: bool, trains: bool, steps: int | None) -> Iterator[tuple[FailingCase, Learn]]:
    """The chosen worlds, each with a function that trains an agent in it."""
    if further:
        made = [make() for make in FURTHER]
        yield from ((case, partial(case.train, steps)) for case in made)
        return
    for world in (make() for make in (OTHERS if others else WORLDS)):
        yield world.case, partial(world.case.train, steps) if trains else partial(train_tabular, world)


def report_on(case: FailingCase, learn: Learn, findings: int = 1) -> bool:
    """Print what the diagnosis of a world says first; whether that names the cause."""
    began = time.process_time()
    agent = learn()
    trained = time.process_time()
    diagnosis = agent.diagnose()
    first = diagnosis.findings[0] if diagnosis.findings else None
    right = first is not None and case.is_named_by(first.kind, first.message)
    seconds = f"{trained - began:.1f} s to train, {time.process_time() - trained:.1f} s to diagnose"
    print(f"{'right' if right else 'WRONG'}  {case.name} ({case.cause}; {seconds})", flush=True)
    for each in diagnosis.findings[:findings]:
        print(f"       {each.importance:.2f} {each.kind}: {each.message}", flush=True)
    if findings > 1:
        print("      ", *diagnosis.measured, flush=True)
    return right


if __name__ == "__main__":
    raise SystemExit(main())
