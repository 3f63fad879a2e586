"""Animations of episodes: a frame per time step, with the goal and the current target as a caption."""

import io
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from attribute_planner.attributes import value_text
from attribute_planner.errors import ConfigurationError
from attribute_planner.planning.episode import Episode

CAPTION_HEIGHT = 52
MIN_WIDTH = 200
"""Pixels of a frame, so that its caption can be read; smaller images are enlarged by a whole number."""
MIN_FRAME_SECONDS, MAX_FRAME_SECONDS, LAST_FRAME_SECONDS = 0.15, 0.8, 2.0
TOTAL_SECONDS = 4.0
"""Desired length of an animation. Frames last longer if there are few of them, within the limits above."""
INK, PAPER, GOOD, BAD = (60, 60, 70), (250, 249, 246), (30, 140, 80), (190, 50, 50)


def write_gif(path: Path | str, episode: Episode) -> None:
    """Write an animated GIF of an episode that was recorded with frames."""
    path = Path(path)
    if path.suffix.lower() != ".gif":
        raise ConfigurationError(f"Animations are written as GIF; {path} does not end in .gif.")
    animation = gif_bytes(episode)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(animation)


def gif_bytes(episode: Episode) -> bytes:
    """The animated GIF as the content of a file."""
    if not episode.frames:
        raise ConfigurationError("The episode has no frames: record them with agent.reach(…, frames=True).")
    frames = captioned_frames(episode)
    seconds = min(max(TOTAL_SECONDS / len(frames), MIN_FRAME_SECONDS), MAX_FRAME_SECONDS)
    durations = [int(1000 * seconds)] * (len(frames) - 1) + [int(1000 * LAST_FRAME_SECONDS)]
    images = [Image.fromarray(frame).quantize(96) for frame in frames]
    written = io.BytesIO()
    images[0].save(written, format="GIF", save_all=True, append_images=images[1:], duration=durations, loop=0)
    return written.getvalue()


def captioned_frames(episode: Episode) -> list[np.ndarray]:
    """The frames of an episode, each with the goal and the current target below it."""
    goal = f"goal: {episode.goal.text(episode.space)}"
    captions = [(f"step {step.step}: {_target(step.observed, step.target)}", INK) for step in episode.trace]
    verdict = ("reached", GOOD) if episode.success else ("not reached", BAD)
    captions = [*captions, (f"{verdict[0]} after {episode.steps} steps", verdict[1])]
    return [_with_caption(frame, goal, *caption) for frame, caption in zip(episode.frames, captions, strict=False)]


def _target(observed: dict, target: dict | None) -> str:
    if target is None:
        return "no plan"
    return "target: " + ", ".join(
        f"{name} = {value_text(value)}" for name, value in target.items() if observed[name] != value
    )


def _with_caption(frame: np.ndarray, goal: str, line: str, colour: tuple[int, int, int]) -> np.ndarray:
    frame = enlarged(frame)
    height, width = frame.shape[:2]
    canvas = Image.new("RGB", (width, height + CAPTION_HEIGHT), PAPER)
    canvas.paste(Image.fromarray(frame), (0, 0))
    pen = ImageDraw.Draw(canvas)
    pen.text((10, height + 6), _fitting(pen, goal, width - 20), INK, font=_font())
    pen.text((10, height + 28), _fitting(pen, line, width - 20), colour, font=_font())
    return np.asarray(canvas)


def enlarged(frame: np.ndarray) -> np.ndarray:
    """The image, every pixel repeated so often that it is wide enough for a caption."""
    factor = -(-MIN_WIDTH // frame.shape[1])
    return frame.repeat(factor, axis=0).repeat(factor, axis=1)


def _font() -> ImageFont.ImageFont | ImageFont.FreeTypeFont:
    return ImageFont.load_default(11)


def _fitting(pen: ImageDraw.ImageDraw, text: str, width: int) -> str:
    """The text, shortened to the width of the image."""
    while len(text) > 1 and pen.textlength(text, font=_font()) > width:
        text = text[:-2].rstrip(" ,…") + "…"
    return text
