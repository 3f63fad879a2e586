"""Plot the build order of a StarCraft episode, planned and executed, and write an animation of the episode.

    python examples/starcraft_build_order.py RUN [--goal "depot=1 barracks=1 marine=2"] [--out DIR]

RUN is a run directory, or the name of a shipped agent: starcraft-small or starcraft-large. The environment simulates
the economy of Brood War; it is not the game.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro

import attribute_planner as ap
from attribute_planner.drawing.animation import write_gif
from attribute_planner.environments.starcraft.timeline import draw_timeline, events_of, planned_events
from attribute_planner.planning.episode import Episode


@dataclass(frozen=True)
class Options:
    """Options.

    run: run directory, or name of a shipped agent.
    goal: number of units and buildings of each type to have.
    seed: random seed of the episode.
    out: folder for `build_order.png` and `build_order.gif`.
    """

    run: tyro.conf.Positional[str]
    goal: str = "depot=1 barracks=1 marine=2"
    seed: int = 0
    out: Path = Path("runs/build_order")


def main() -> None:
    """Run one episode and draw it."""
    options = tyro.cli(Options, description=__doc__)
    agent = ap.load(options.run)
    episode = agent.reach(options.goal, seed=options.seed, frames=True)
    options.out.mkdir(parents=True, exist_ok=True)
    draw(agent, episode, options.out / "build_order.png")
    write_gif(options.out / "build_order.gif", episode)
    outcome = "reached" if episode.success else "not reached"
    print(f"{options.goal}: {outcome} after {episode.steps} steps; images in {options.out}.")


def draw(agent: ap.Agent, episode: Episode, path: Path) -> None:
    """Write the timeline of an episode."""
    space, table, plan = episode.space, agent.table, episode.plan
    observed = [space.encode(step.observed) for step in episode.trace]
    targets = [None if step.target is None else space.encode(step.target) for step in episode.trace]
    edges = [table.edge(*pair) for pair in zip(plan.path, plan.path[1:], strict=False)]
    figure = draw_timeline(
        events_of(space, np.stack([*observed, episode.final]), targets),
        plan=planned_events(space, plan.values, table.duration[edges]),
        title=f"{episode.goal.text(space)}: {'reached' if episode.success else 'not reached'}",
    )
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
