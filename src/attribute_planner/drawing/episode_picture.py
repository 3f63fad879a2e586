"""A picture of an episode: the value of each attribute over time, and where an attempt arrived, deviated or failed."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from attribute_planner.attributes import Value
from attribute_planner.drawing.picture import FAILED, INK, LINE, PAPER, REACHED, SOFT, blank, finish, text_size
from attribute_planner.errors import ConfigurationError
from attribute_planner.planning.episode import ARRIVED, ON_THE_WAY, Episode

WIDTH, LANE, MARGIN, TITLE_HEIGHT, FRAME_HEIGHT, MAX_FRAMES = 11.0, 0.34, 0.3, 0.55, 1.35, 8
"""Inches: the picture, a lane, the margin, the title, a frame; and the number of frames above the lanes."""
SHADES = ("#dbe4f3", "#b9cbe8", "#8fabdb", "#f3dfc4", "#e9c48f", "#cfe5d3", "#a5d0b0", "#e5cfe3")
"""Colours of the values of an attribute, in turn."""
BOTH = {False: "#f0f2f6", True: "#8fabdb"}
"""Colours of a binary attribute."""


@dataclass(frozen=True)
class Lane:
    """The values of one attribute: those that it had, each with its first step; and the one that the goal asks for."""

    name: str
    values: list[tuple[int, Value]]
    wanted: str


def draw_episode(path: Path | str | None, episode: Episode) -> Image.Image:
    """An image of an episode that `agent.reach` returned; written to a file if a path is given."""
    if not episode.trace and episode.steps:
        raise ConfigurationError("The episode was not recorded: agent.reach records its steps, ap.evaluate does not.")
    lanes, shown = lanes_of(episode), _key_frames(episode)
    left = MARGIN + max(text_size([lane.name], 8.5)[0] for lane in lanes) + 0.2
    right = WIDTH - MARGIN - max(text_size([lane.wanted], 8.5)[0] for lane in lanes) - 0.15
    film = FRAME_HEIGHT + 0.3 if shown else 0.0
    height = MARGIN + 0.55 + len(lanes) * LANE + film + TITLE_HEIGHT
    figure, axes = blank(WIDTH, height)
    steps = max(episode.steps, 1)
    end = steps + max(1, round(0.03 * steps))  # what the last step led to is seen, too

    def across(step: float) -> float:
        return left + (right - left) * step / end

    _draw_title(axes, episode, height)
    if shown:
        _draw_frames(axes, episode, shown, across, height - TITLE_HEIGHT - FRAME_HEIGHT, left, right)
    top = height - TITLE_HEIGHT - film
    for number, lane in enumerate(lanes):
        _draw_lane(axes, lane, top - number * LANE, across, end, episode.success)
    _draw_events(axes, episode, across, top, top - len(lanes) * LANE)
    _draw_axis(axes, across, steps, top - len(lanes) * LANE - 0.16)
    return finish(figure, path)


def lanes_of(episode: Episode) -> list[Lane]:
    """A lane for each attribute that changed or that the goal asks for."""
    sets = [step.observed for step in episode.trace]
    sets.append(episode.space.decode(episode.final))
    lanes = []
    for number, attribute in enumerate(episode.space.attributes):
        seen = [each[attribute.name] for each in sets]
        values = [(i, value) for i, value in enumerate(seen) if i == 0 or value != seen[i - 1]]
        if len(values) > 1 or episode.goal.wanted[number]:
            lanes.append(Lane(attribute.name, values, _wanted(episode, number)))
    return lanes


def _wanted(episode: Episode, number: int) -> str:
    goal, attribute = episode.goal, episode.space.attributes[number]
    if not goal.wanted[number]:
        return ""
    at_least = goal.at_least is not None and bool(goal.at_least[number])
    return f"{'≥' if at_least else '='} {attribute.text(int(goal.values[number]))}"


def _draw_title(axes: Any, episode: Episode, height: float) -> None:
    verdict, colour = ("reached", REACHED) if episode.success else ("not reached", FAILED)
    replans = f"{episode.replans} replan{'' if episode.replans == 1 else 's'}"
    goal = f"Goal: {episode.goal.text(episode.space)}".replace("$", r"\$")
    axes.text(MARGIN, height - 0.3, goal, fontsize=11, color=INK, va="center")
    words = f"{verdict} in {episode.steps} steps, {replans}"
    axes.text(WIDTH - MARGIN, height - 0.3, words, fontsize=10, color=colour, va="center", ha="right")


def _draw_lane(axes: Any, lane: Lane, top: float, across: Any, end: int, success: bool) -> None:
    from matplotlib.patches import Rectangle

    middle, known = top - LANE / 2, []
    axes.text(across(0) - 0.12, middle, lane.name, fontsize=8.5, color=INK, ha="right", va="center")
    ends = [*(first for first, _ in lane.values[1:]), end]
    for (first, value), last in zip(lane.values, ends, strict=True):
        known += [value] if value not in known else []
        x, width = across(first), across(last) - across(first)
        shade = BOTH[value] if isinstance(value, bool) else SHADES[known.index(value) % len(SHADES)]
        axes.add_patch(Rectangle((x, top - LANE + 0.05), width, LANE - 0.1, facecolor=shade, edgecolor=PAPER))
        word = str(value)
        if not isinstance(value, bool) and text_size([word], 7.5)[0] + 0.06 < width:
            axes.text(x + width / 2, middle, word, fontsize=7.5, color=INK, ha="center", va="center")
    if lane.wanted:
        colour = REACHED if success else FAILED
        axes.text(across(end) + 0.12, middle, lane.wanted, fontsize=8.5, color=colour, ha="left", va="center")


def _draw_events(axes: Any, episode: Episode, across: Any, top: float, bottom: float) -> None:
    """A line where an attempt ended: green where it arrived, red where it did not."""
    for step in episode.trace:
        if step.outcome != ON_THE_WAY:
            colour = REACHED if step.outcome == ARRIVED else FAILED
            axes.plot([across(step.step + 1)] * 2, [bottom + 0.02, top - 0.02], color=colour, linewidth=1.0, alpha=0.8)


def _draw_axis(axes: Any, across: Any, steps: int, y: float) -> None:
    every = next(each for each in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10**9) if steps / each <= 12)
    for step in range(0, steps + 1, every):
        axes.text(across(step), y, str(step), fontsize=7, color=SOFT, ha="center", va="center")
    words = "steps; a green line: an attempt arrived; a red line: it deviated, was given up, or the episode ended"
    axes.text(across(0), y - 0.2, words, fontsize=7, color=SOFT, ha="left", va="center")


def _key_frames(episode: Episode) -> list[int]:
    """The numbers of the frames to show: the first, the last, and those where an attempt ended, evenly thinned."""
    if not episode.frames:
        return []
    ended = [step.step + 1 for step in episode.trace if step.outcome != ON_THE_WAY]
    shown = sorted({0, *ended, len(episode.frames) - 1} & set(range(len(episode.frames))))
    if len(shown) <= MAX_FRAMES:
        return shown
    return [shown[i] for i in np.linspace(0, len(shown) - 1, MAX_FRAMES).round().astype(int)]


def _draw_frames(
    axes: Any, episode: Episode, shown: list[int], across: Any, bottom: float, left: float, right: float
) -> None:
    """A film strip, each frame joined with its step."""
    slot = (right - left) / len(shown)
    for number, frame in enumerate(shown):
        image = episode.frames[frame]
        tall = min(FRAME_HEIGHT, (slot - 0.1) * image.shape[0] / image.shape[1])
        wide, x = tall * image.shape[1] / image.shape[0], left + slot * (number + 0.5)
        base = bottom + (FRAME_HEIGHT - tall)
        axes.imshow(
            image, extent=(x - wide / 2, x + wide / 2, base, base + tall), zorder=3, interpolation="antialiased"
        )
        axes.plot([x, across(frame)], [base - 0.03, bottom - 0.26], color=LINE, linewidth=0.8, zorder=1)
    axes.set_xlim(0, WIDTH)
    axes.set_ylim(0, axes.figure.get_figheight())
    axes.set_aspect("auto")
