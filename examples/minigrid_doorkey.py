"""MiniGrid's DoorKey with three attributes: the agent carries the key, the door is open, the agent is at the goal.

The agent explores with no reward at all. Then it is asked to open the door, and to get to the goal.

    python examples/minigrid_doorkey.py [--steps N] [--seed N]
"""

import argparse

import gymnasium
import numpy as np
from minigrid.wrappers import FullyObsWrapper

import attribute_planner as ap

OBJECTS, STATES, DIRECTIONS = (np.eye(size, dtype=np.float32) for size in (11, 4, 4))


def main() -> None:
    """Train, measure, and show one plan and how it went."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=150_000, help="environment steps of training")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--episodes", type=int, default=500, help="episodes of each task to measure on")
    options = parser.parse_args()

    env = make_doorkey()
    agent = ap.train(env, steps=options.steps, seed=options.seed, progress=True)
    print(f"{agent.table.num_nodes} attribute sets, {agent.table.num_edges} transitions")
    for task in env.tasks:
        result = ap.evaluate(agent, task, episodes=options.episodes)
        print(f"{task}: {result.success:.1%} of {result.episodes} episodes, {result.mean_steps:.0f} steps on average")

    episode = agent.reach({"at_goal": True}, seed=1)
    print(f"Get to the goal. Plan: {episode.plan}")
    for step in episode.trace:
        if step.outcome != "on the way":
            print(f"  step {step.step + 1}: {step.outcome}")
    print(f"{'Arrived' if episode.success else 'Did not arrive'} after {episode.steps} steps.")


def make_doorkey() -> ap.Environment:
    """DoorKey, seen whole, with a description of its state by name."""
    return ap.from_gymnasium(
        lambda: FullyObsWrapper(gymnasium.make("MiniGrid-DoorKey-5x5-v0")),
        attributes=[ap.Attribute("carries_key"), ap.Attribute("door_open"), ap.Attribute("at_goal")],
        describe=describe,
        encode_observation=encode,
        tasks={"at-goal": {"at_goal": True}, "open-door": {"door_open": True}},
        action_names=["left", "right", "forward", "pick up", "drop", "toggle", "done"],
    )


def describe(observation, info, env) -> dict[str, bool]:
    """The attributes, read off MiniGrid's own grid."""
    world = env.unwrapped
    door = next(thing for thing in world.grid.grid if thing is not None and thing.type == "door")
    underfoot = world.grid.get(*world.agent_pos)
    at_goal = underfoot is not None and underfoot.type == "goal"
    return {"carries_key": world.carrying is not None, "door_open": door.is_open, "at_goal": at_goal}


def encode(observation) -> np.ndarray:
    """MiniGrid's "image" is a grid of codes, no picture: objects, their states and the agent's direction as one-hot."""
    grid = observation["image"]
    return np.concatenate(
        [OBJECTS[grid[..., 0]].ravel(), STATES[grid[..., 2]].ravel(), DIRECTIONS[observation["direction"]]]
    )


if __name__ == "__main__":
    main()
