"""Gymnasium's LunarLander with three attributes: side, height, and whether both legs touch the ground.

The agent explores without rewards. Then it is evaluated on two tasks: land between the flags, and land to their left.

    pip install "gymnasium[box2d]"
    python examples/lunar_lander.py [--steps N] [--seed N]
"""

import argparse

import gymnasium
import numpy as np

import attribute_planner as ap

SIDES = ("left", "middle", "right")
FLAGS = (-0.2, 0.2)
"""The positions of the flags. The screen reaches from −1 to 1."""
HEIGHTS = ("low", "medium", "high")
BOUNDS = (0.4, 0.9)
"""The bounds of the heights. The lander starts at 1.4, and the ground is at 0."""


def main() -> None:
    """Train, evaluate, and show the plan and the end of one episode."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=500_000, help="environment steps of training")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--episodes", type=int, default=200, help="evaluation episodes per task")
    options = parser.parse_args()

    env = make_lunar_lander()
    print(ap.check_environment(env))
    agent = ap.train(env, steps=options.steps, seed=options.seed, progress=True)
    for task in env.tasks:
        result = ap.evaluate(agent, task, episodes=options.episodes)
        print(f"{task}: {result.success:.1%} of {result.episodes} episodes")

    episode = agent.reach({"side": "right", "landed": True}, seed=1)
    print(f"Land on the right. Plan: {episode.plan}")
    print(f"{'Landed' if episode.success else 'Not landed'} after {episode.steps} steps.")


def make_lunar_lander() -> ap.Environment:
    """LunarLander with a function that describes its state by attributes."""

    def describe(observation, info, env):
        x, y, *_, left_leg, right_leg = observation
        return {
            "side": SIDES[np.digitize(x, FLAGS)],
            "height": HEIGHTS[np.digitize(y, BOUNDS)],
            "landed": bool(left_leg and right_leg),
        }

    return ap.from_gymnasium(
        lambda: gymnasium.make("LunarLander-v3"),
        attributes=[
            ap.Attribute("side", values=SIDES),
            ap.Attribute("height", values=HEIGHTS),
            ap.Attribute("landed"),
        ],
        describe=describe,
        tasks={"land": {"side": "middle", "landed": True}, "land-left": {"side": "left", "landed": True}},
        action_names=["nothing", "left engine", "main engine", "right engine"],
    )


if __name__ == "__main__":
    main()
