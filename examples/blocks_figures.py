"""Figures 2 and 3 of the paper, with our own agent: a solved task frame by frame, and a stuck plan beside its repair.

    python examples/blocks_figures.py [--out DIR]

The agent that ships with the package rearranges blocks into the attributes of a fresh random scene. Executed as the
paper has it, some plans get stuck for ever: states that share all their attributes do not share what can be done in
them. Looking ahead, the agent sees which transitions are possible from what it sees now.
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
from attribute_planner.planning.executor import ExecutionConfig

FRAME_SIZE = 192
MOST_FRAMES = 8


@dataclass(frozen=True)
class Options:
    """What to draw.

    out: where the pictures go.
    seeds: how many tasks to look through for one that gets stuck.
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
        stuck = play(agent, seed, "paper")
        if not stuck[0].success:
            repaired = play(agent, seed, "default")
            save(options.out / "blocks-aliasing.png", [strip(*stuck), strip(*repaired)])
            print(f"Task {seed}: the paper's way is stuck; with foresight solved in {repaired[0].steps} drops.")
            return
    print(f"None of {options.seeds} tasks gets stuck.")


def play(agent: ap.Agent, seed: int, mode: str) -> tuple[Episode, np.ndarray]:
    """An attempt at the multi-step task number `seed`, and a picture of a scene that satisfies its goal."""
    task = agent.task("multi-step")
    start_key, goal_key, play_key = jax.random.split(jax.random.key(seed), 3)
    envs, wanted = (agent.env.vector_env(1) for _ in range(2))
    assert isinstance(envs, PureVectorEnv) and isinstance(wanted, PureVectorEnv)
    goal_values = wanted.reset(goal_key).attributes
    goal = agent.goal(agent.env.attributes.decode(np.asarray(goal_values)[0]))
    config = ExecutionConfig(mode, agent.patience, record=True, pictures=True)
    episode = agent.pursue(envs, envs.reset(start_key), [goal], task.max_steps, config, key=play_key)[0]
    return episode, wanted.render(0)


def strip(episode: Episode, target: np.ndarray) -> np.ndarray:
    """The first frames of an episode in a row, a scene that was asked for at the end."""
    return lay_out_strip([small(frame) for frame in episode.frames[:MOST_FRAMES]], small(target))


def small(frame: np.ndarray) -> np.ndarray:
    """A frame in the size that a strip has room for."""
    return np.asarray(Image.fromarray(frame).resize((FRAME_SIZE, FRAME_SIZE), Image.Resampling.LANCZOS))


def save(path: Path, rows: list[np.ndarray]) -> None:
    """Rows of pictures, one below the other on white."""
    width = max(row.shape[1] for row in rows)
    padded = [np.pad(row, ((0, 12), (0, width - row.shape[1]), (0, 0)), constant_values=255) for row in rows]
    Image.fromarray(np.concatenate(padded)[:-12]).save(path)
    print(path)


if __name__ == "__main__":
    main()
