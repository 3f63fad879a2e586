"""Films of episodes: what the agent did, with what it was aiming at written below."""

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from attribute_planner.errors import ConfigurationError
from attribute_planner.planning.episode import Episode

CAPTION_HEIGHT = 52
SHORTEST, LONGEST, LAST_FRAME_SECONDS = 0.15, 0.8, 2.0
FILM_SECONDS = 4.0
"""How long a film should last: the frames of a short one stand longer, within limits."""
INK, PAPER, GOOD, BAD = (60, 60, 70), (250, 249, 246), (30, 140, 80), (190, 50, 50)


def write_film(path: Path, episode: Episode) -> None:
    """An animated GIF of an episode that was recorded with pictures."""
    if path.suffix.lower() != ".gif":
        raise ConfigurationError(f"Films are GIFs: {path} should end in .gif.")
    frames = captioned_frames(episode)
    path.parent.mkdir(parents=True, exist_ok=True)
    seconds = min(max(FILM_SECONDS / len(frames), SHORTEST), LONGEST)
    durations = [int(1000 * seconds)] * (len(frames) - 1) + [int(1000 * LAST_FRAME_SECONDS)]
    pictures = [Image.fromarray(frame).quantize(96) for frame in frames]
    pictures[0].save(path, save_all=True, append_images=pictures[1:], duration=durations, loop=0)


def captioned_frames(episode: Episode) -> list[np.ndarray]:
    """The episode's pictures with goal and present aim below each."""
    goal = f"goal: {episode.goal.text(episode.space)}"
    captions = [(f"step {step.step}: {_aim(step.observed, step.aim)}", INK) for step in episode.trace]
    verdict = ("reached", GOOD) if episode.success else ("not reached", BAD)
    captions = [*captions, (f"{verdict[0]} after {episode.steps} steps", verdict[1])]
    # A film of an episode that ended before its first step has one frame.
    return [_with_caption(frame, goal, *caption) for frame, caption in zip(episode.frames, captions, strict=False)]


def _aim(observed: dict, aim: dict | None) -> str:
    if aim is None:
        return "no plan from here"
    return "aims at " + ", ".join(f"{name} = {value}" for name, value in aim.items() if observed[name] != value)


def _with_caption(frame: np.ndarray, goal: str, line: str, colour: tuple[int, int, int]) -> np.ndarray:
    height, width = frame.shape[:2]
    canvas = Image.new("RGB", (width, height + CAPTION_HEIGHT), PAPER)
    canvas.paste(Image.fromarray(frame), (0, 0))
    pen = ImageDraw.Draw(canvas)
    pen.text((10, height + 6), _fitting(pen, goal, width - 20), INK, font=_font())
    pen.text((10, height + 28), _fitting(pen, line, width - 20), colour, font=_font())
    return np.asarray(canvas)


def _font() -> ImageFont.ImageFont | ImageFont.FreeTypeFont:
    return ImageFont.load_default(11)


def _fitting(pen: ImageDraw.ImageDraw, text: str, width: int) -> str:
    """The text, cut off where it would leave the picture."""
    while pen.textlength(text, font=_font()) > width:
        text = text[:-2].rstrip(" ,…") + "…"
    return text
