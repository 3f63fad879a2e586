"""The whole way in a few minutes: train an agent, ask it for something that it was never trained for, and watch it.

Run it with `make demo`. It leaves the agent in demo/run, a film in demo/episode.gif and a picture in demo/graph.png.
"""

import os
import shutil
import sys
from pathlib import Path

import attribute_planner as ap
from attribute_planner.drawing.film import write_film
from attribute_planner.drawing.graph_picture import draw_graph
from attribute_planner.planning.episode import ON_THE_WAY, Episode

DEMO = Path(os.path.relpath(Path(__file__).parents[1] / "demo"))
STEPS = 3_000_000
ROOM = (5, 6)
"""The smallest and the largest side of a room. The full-size rooms, 5 to 10, take several times as many steps."""
GOAL = "switch_0=red switch_1=red switch_2=red switch_3=red"
SEED = 0
"""Of the room in which the goal is pursued."""


def main() -> int:
    """Train, plan, reach; the exit status is 0 if the goal was reached."""
    print("A room with four switches of four colours. The agent can walk, and toggle the switch underfoot to its")
    print("next colour: red, green, blue, yellow, and red again. Rooms and colours are random in each episode.\n")

    print(f"1. Train for {STEPS:,} steps. The agent first explores which changes of colour are possible, then")
    print("   practises them, one change at a time. No task is ever given to it.", flush=True)
    agent = train()
    print(f"   It knows {agent.table.num_nodes} settings of the switches, {agent.table.num_edges} ways between them.\n")

    print(f"2. Ask for what it was never trained on: {GOAL}")
    episode = agent.reach(GOAL, seed=SEED, pictures=True)
    print(f"   The plan, and how likely each step is to work: {episode.plan}\n")

    print("3. Carry it out, and plan anew wherever the world does something else.")
    print_changes(episode)
    print(f"   {'Reached.' if episode.success else f'Not reached: {episode.reason}'}", end=" ")
    print(f"{episode.steps} steps, {episode.transitions} changes of colour, {episode.replans} new plans.\n")

    write_film(DEMO / "episode.gif", episode)
    draw_graph(DEMO / "graph.png", agent.table, episode.plan)
    print(f"Watch it: {DEMO / 'episode.gif'}")
    print(f"See why:  {DEMO / 'graph.png'}")
    print(f'Go on:    attribute-planner reach {DEMO / "run"} --goal "switch_1=blue switch_3=green" --seed 1')
    return 0 if episode.success else 1


def train() -> ap.Agent:
    """A fresh agent, in place of the one that an earlier demo left behind."""
    if (DEMO / "run" / "config.json").exists():
        shutil.rmtree(DEMO / "run")
    return ap.train(ap.make("switches", size=ROOM), steps=STEPS, run_dir=DEMO / "run", progress=True)


def print_changes(episode: Episode) -> None:
    """The steps at which a colour changed, or an attempt was given up."""
    for step in episode.trace:
        if step.outcome != ON_THE_WAY:
            aim = {name: value for name, value in (step.aim or {}).items() if value != step.observed[name]}
            shown = ", ".join(f"{name} → {value}" for name, value in aim.items()) or "nothing known"
            print(f"   step {step.step + 1:4d}: aimed at {shown} ({step.probability:.0%}): {step.outcome}")


if __name__ == "__main__":
    sys.exit(main())
