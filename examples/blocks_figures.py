"""Figures 2 and 3 of the paper, with the shipped agent: a solved task, and a failure of the published execution.

    python examples/blocks_figures.py [--out DIR]

The agent rearranges blocks until the scene has the attributes of another random scene. With the published execution,
some plans never succeed: two states with the same attributes can differ in which transitions are possible. The default
execution predicts from the current observation which transitions are possible.
"""

from dataclasses import dataclass
from pathlib import Path

import jax
import numpy as np
import tyro
from PIL import Image

import attribute_planner as ap
from attribute_planner.environments.blocks.drawing import lay_out_strip
from attribute_planner.environments.vector_env import PureVectorEnv
from attribute_planner.planning.episode import Episode
from attribute_planner.planning.executor import EXECUTORS

FRAME_SIZE = 192
MAX_FRAMES = 8


@dataclass(frozen=True)
class Options:
    """Options.

    out: folder for the images.
    seeds: number of tasks to search for one in which the published execution fails.
    """

    out: Path = Path("docs/images")
    seeds: int = 40


def main() -> None:
    """Draw both figures."""
    options = tyro.cli(Options, description=__doc__)
    agent = ap.load("blocks")
    options.out.mkdir(parents=True, exist_ok=True)
    longest = max((play(agent, seed, "default") for seed in range(6)), key=lambda shown: shown[0].steps)
    save(options.out / "blocks-solved.png", [strip(*longest)])
    for seed in range(options.seeds):
        failed = play(agent, seed, "paper")
        if not failed[0].success:
            repaired = play(agent, seed, "default")
            save(options.out / "blocks-aliasing.png", [strip(*failed), strip(*repaired)])
            print(f"Task {seed}: published execution fails; default execution takes {repaired[0].steps} steps.")
            return
    print(f"Published execution solves all of {options.seeds} tasks.")


def play(agent: ap.Agent, seed: int, mode: str) -> tuple[Episode, np.ndarray]:
    """One episode of the multi-step task, and an image of a scene that satisfies its goal."""
    task = agent.task("multi-step")
    start_key, goal_key, play_key = jax.random.split(jax.random.key(seed), 3)
    envs, wanted = (agent.env.vector_env(1) for _ in range(2))
    assert isinstance(envs, PureVectorEnv) and isinstance(wanted, PureVectorEnv)
    goal_values = wanted.reset(goal_key).attributes
    goal = agent.goal(agent.env.attributes.decode(np.asarray(goal_values)[0]))
    episode = agent.pursue(
        envs, envs.reset(start_key), [goal], task.max_steps, EXECUTORS[mode], key=play_key, frames=True
    )[0]
    return episode, wanted.render(0)


def strip(episode: Episode, target: np.ndarray) -> np.ndarray:
    """The first frames of an episode in a row, followed by the scene `target`."""
    return lay_out_strip([small(frame) for frame in episode.frames[:MAX_FRAMES]], small(target))


def small(frame: np.ndarray) -> np.ndarray:
    """A frame, resized for a strip."""
    return np.asarray(Image.fromarray(frame).resize((FRAME_SIZE, FRAME_SIZE), Image.Resampling.LANCZOS))


def save(path: Path, rows: list[np.ndarray]) -> None:
    """Write rows of images, one below the other on white."""
    width = max(row.shape[1] for row in rows)
    padded = [np.pad(row, ((0, 12), (0, width - row.shape[1]), (0, 0)), constant_values=255) for row in rows]
    Image.fromarray(np.concatenate(padded)[:-12]).save(path)
    print(path)


if __name__ == "__main__":
    main()
