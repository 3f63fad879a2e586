"""MiniGrid's DoorKey with three attributes: the agent carries the key, the door is open, the agent is at the goal.

The agent explores without rewards. Then it is evaluated on two tasks: open the door, and get to the goal.

    python examples/minigrid_doorkey.py [--steps N] [--seed N]
"""

import argparse

import gymnasium
from minigrid.wrappers import FullyObsWrapper

import attribute_planner as ap


def main() -> None:
    """Train, evaluate, and show the plan and the trace of one episode."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=150_000, help="environment steps of training")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--episodes", type=int, default=500, help="evaluation episodes per task")
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
    """DoorKey, fully observed, with a function that describes its state by attributes."""
    return ap.from_gymnasium(
        lambda: FullyObsWrapper(gymnasium.make("MiniGrid-DoorKey-5x5-v0")),
        attributes=[ap.Attribute("carries_key"), ap.Attribute("door_open"), ap.Attribute("at_goal")],
        describe=describe,
        tasks={"at-goal": {"at_goal": True}, "open-door": {"door_open": True}},
        action_names=["left", "right", "forward", "pick up", "drop", "toggle", "done"],
    )


def describe(observation, info, env) -> dict[str, bool]:
    """The attributes, from MiniGrid's own grid."""
    grid = env.unwrapped.grid
    door = next(thing for thing in grid.grid if thing is not None and thing.type == "door")
    underfoot = grid.get(*env.unwrapped.agent_pos)
    at_goal = underfoot is not None and underfoot.type == "goal"
    return {"carries_key": env.unwrapped.carrying is not None, "door_open": door.is_open, "at_goal": at_goal}


if __name__ == "__main__":
    main()
