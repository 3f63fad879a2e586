"""Train an agent, let it reach a goal that it was not trained on, and show the episode: two minutes on two CPU cores.

Run it with `make demo`. It writes demo/run (the agent), demo/episode.gif and demo/graph.png.
"""

import os
import shutil
import sys
from pathlib import Path

import attribute_planner as ap
from attribute_planner.drawing.animation import write_gif
from attribute_planner.drawing.graph_picture import draw_graph
from attribute_planner.planning.episode import ON_THE_WAY, Episode

DEMO = Path(os.path.relpath(Path(__file__).parents[1] / "demo"))
STEPS = 3_000_000
ROOM = (5, 6)
"""Smallest and largest side of a room. Rooms of full size, 5 to 10, need several times as many steps."""
GOAL = "switch_0=red switch_1=red switch_2=red switch_3=red"
SEED = 0
"""Random seed of the episode."""


def main() -> int:
    """Train, plan, execute. The exit status is 0 if the goal is reached."""
    print("A room contains four switches of four colours. The agent moves through the room and toggles the switch that")
    print("it stands on: red, green, blue, yellow, red. The room and the colours are random in every episode.\n")

    print(f"1. Train for {STEPS:,} steps. The agent explores which colour changes are possible, then practises")
    print("   them one at a time. It is given neither tasks nor rewards.", flush=True)
    agent = train()
    print(f"   Its graph has {agent.table.num_nodes} attribute sets and {agent.table.num_edges} transitions.\n")

    print(f"2. Plan a path to a new goal: {GOAL}")
    episode = agent.reach(GOAL, seed=SEED, frames=True)
    print(f"   The plan, with the success probability of each transition: {episode.plan}\n")

    print("3. Execute the plan, and replan after every deviation.")
    print_changes(episode)
    print(f"   {'Reached.' if episode.success else f'Not reached: {episode.reason}'}", end=" ")
    print(f"{episode.steps} steps, {episode.transitions} colour changes, {episode.replans} replans.\n")

    write_gif(DEMO / "episode.gif", episode)
    draw_graph(DEMO / "graph.png", agent.table, episode.plan)
    print(f"Animation: {DEMO / 'episode.gif'}")
    print(f"Graph:     {DEMO / 'graph.png'}")
    print(f'Next goal: attribute-planner reach {DEMO / "run"} --goal "switch_1=blue switch_3=green" --seed 1')
    return 0 if episode.success else 1


def train() -> ap.Agent:
    """Train a new agent; the run of an earlier demo is replaced."""
    if (DEMO / "run" / "config.json").exists():
        shutil.rmtree(DEMO / "run")
    return ap.train(ap.make("switches", size=ROOM), steps=STEPS, run_dir=DEMO / "run", progress=True)


def print_changes(episode: Episode) -> None:
    """Print the steps at which a colour changed or an attempt failed."""
    for step in episode.trace:
        if step.outcome != ON_THE_WAY:
            target = {name: value for name, value in (step.target or {}).items() if value != step.observed[name]}
            shown = ", ".join(f"{name} → {value}" for name, value in target.items()) or "no plan"
            print(f"   step {step.step + 1:4d}: {shown} ({step.probability:.0%}): {step.outcome}")


if __name__ == "__main__":
    sys.exit(main())
