"""Gymnasium's Taxi with three attributes: the passenger's location, the destination, and whether they are the same.

The agent explores without rewards. Then it is evaluated on two tasks: pick the passenger up, and deliver the passenger.

    python examples/taxi.py [--steps N] [--seed N]
"""

import argparse

import gymnasium

import attribute_planner as ap

STOPS = ("R", "G", "Y", "B")
PLACES = (*STOPS, "taxi")


def main() -> None:
    """Train, evaluate, and show the plan and the trace of one episode."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=300_000, help="environment steps of training")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--episodes", type=int, default=500, help="evaluation episodes per task")
    options = parser.parse_args()

    env = make_taxi()
    print(ap.check_environment(env))
    agent = ap.train(env, steps=options.steps, seed=options.seed, progress=True)
    print(f"{agent.table.num_nodes} attribute sets, {agent.table.num_edges} transitions")
    for task in env.tasks:
        result = ap.evaluate(agent, task, episodes=options.episodes)
        print(f"{task}: {result.success:.1%} of {result.episodes} episodes, {result.mean_steps:.0f} steps on average")

    episode = agent.reach({"at_goal": True}, seed=1)
    print(f"Deliver the passenger. Plan: {episode.plan}")
    for step in episode.trace:
        if step.outcome != "on the way":
            print(f"  step {step.step + 1}: {step.outcome}")
    print(f"{'Delivered' if episode.success else 'Not delivered'} after {episode.steps} steps.")


def make_taxi() -> ap.Environment:
    """Taxi with a function that describes its state by attributes."""

    def describe(observation, info, env):
        _, _, passenger, destination = env.unwrapped.decode(observation)
        return {
            "passenger": PLACES[passenger],
            "destination": STOPS[destination],
            "at_goal": passenger == destination,
        }

    return ap.from_gymnasium(
        lambda: gymnasium.make("Taxi-v4"),
        attributes=[
            ap.Attribute("passenger", values=PLACES),
            ap.Attribute("destination", values=STOPS),
            ap.Attribute("at_goal"),
        ],
        describe=describe,
        tasks={"pick-up": {"passenger": "taxi"}, "deliver": {"at_goal": True}},
        action_names=["south", "north", "east", "west", "pick up", "drop off"],
    )


if __name__ == "__main__":
    main()
