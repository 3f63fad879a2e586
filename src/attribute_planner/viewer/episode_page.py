"""An episode or a plan as one HTML page with the components of the viewer: no other files, no server.

The page runs its own script and style only, which its content security policy names by their hashes.
"""

import base64
import hashlib
import json
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from attribute_planner.errors import ConfigurationError
from attribute_planner.planning.episode import Episode
from attribute_planner.planning.plan import Plan, Planner
from attribute_planner.viewer.data import image_url, space_json
from attribute_planner.viewer.frames import FrameWriter, result_json
from attribute_planner.viewer.goals import goal_json
from attribute_planner.viewer.static_files import bundled, static_files

MAX_IMAGES = 300
"""Images in a page; of longer episodes, those of evenly spaced steps."""


def write_episode_page(path: Path | str, episode: Episode) -> None:
    """Write the page of an episode."""
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise ConfigurationError(f"The report of an episode is an HTML page; {path} does not end in .html.")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(episode_page(episode), encoding="utf-8")


def episode_page(episode: Episode) -> str:
    """The page of an episode, to scrub through, with its plan and the graph around it."""
    if not episode.trace and episode.steps:
        raise ConfigurationError("The episode has no trace: agent.reach records its steps, ap.evaluate does not.")
    data = {"frames": _frames(episode), "result": result_json(episode)}
    return _page(f"Goal: {episode.goal.text(episode.space)}", episode.plan, data)


def plan_page(plan: Plan) -> str:
    """The page of a plan with the graph around it."""
    first = FrameWriter(_planner(plan), plan.goal).frame(0, plan.start, None)
    return _page(f"Plan: {plan.goal.text(plan.space)}", plan, {"frames": [first], "result": None})


def in_notebook(page: str, height: int) -> str:
    """A page inside another one, apart from its scripts and styles; its height is in pixels.

    It is light, as pictures in notebooks are: it cannot know the theme of the notebook, only that of the system.
    """
    page = page.replace('<html lang="en">', '<html lang="en" data-theme="light">', 1)
    style = f"width:100%;height:{height}px;border:0"
    return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{escape(page)}"></iframe>'


def _planner(plan: Plan) -> Planner:
    return Planner(plan.listing, plan.horizon, attempts=plan.attempts)


def _frames(episode: Episode) -> list[dict[str, Any]]:
    space, limit = episode.space, episode.plan.horizon
    writer = FrameWriter(_planner(episode.plan), episode.goal)
    every = max(1, -(-len(episode.frames) // MAX_IMAGES))
    frames = []
    for number in range(len(episode.trace) + 1):
        here = episode.trace[number] if number < len(episode.trace) else None
        values = episode.final if here is None else space.encode(here.observed)
        target = None if here is None or here.target is None else space.encode(here.target)
        is_drawn = number < len(episode.frames) and (number % every == 0 or here is None)
        seen = {"image": image_url(episode.frames[number], compress_level=9)} if is_drawn else {}
        before = episode.trace[number - 1] if number else None
        frames.append(
            writer.frame(number, np.asarray(values), target, before=before, left=max(limit - number, 1.0), **seen)
        )
    return frames


def _page(title: str, plan: Plan, data: dict[str, Any]) -> str:
    data |= {"attributes": space_json(plan.listing), "goal": goal_json(plan.goal, plan.space)}
    # Inside a script, "<" could end it.
    embedded = json.dumps(data, allow_nan=False).replace("<", "\\u003c")
    script, style = bundled("report.js"), static_files()["style.css"].content.decode()
    policy = f"default-src 'none'; img-src data:; script-src '{_hash(script)}'; style-src '{_hash(style)}'"
    body = static_files()["report.html"].content.decode().replace("TITLE", escape(title))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style}</style></head>\n<body>\n{body}\n"
        f'<script type="application/json" id="data">{embedded}</script>\n'
        f'<script type="module">{script}</script>\n</body></html>\n'
    )


def _hash(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
