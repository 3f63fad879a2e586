"""The pictures of the viewer in the documentation: `python -m tests.viewer.pictures` in the root of the repository."""

import contextlib
import io
import threading
import time
from pathlib import Path

import numpy as np
from PIL import Image

from attribute_planner.viewer.runs import Runs, entries_of
from attribute_planner.viewer.server import Server
from tests.viewer.browser import Browser, Tab, find_chromium

FOLDER = Path("docs/images")
GOAL = "switch_0=red switch_1=red switch_2=red switch_3=red"
TOWER = "red_on_top_of_green=true green_on_top_of_blue=true blue_on_top_of_yellow=true"
SIZE, GIF_WIDTH = (1360, 820), 900
VIVID = 90
"""Difference between the largest and the smallest part of a vivid colour."""


def main() -> None:
    """Draw the screenshots, one light and one dark, and the animation."""
    program = find_chromium()
    assert program is not None, "Chromium is needed"
    server = Server(Runs(entries_of("switches")))
    threading.Thread(target=server.run, daemon=True).start()
    with contextlib.closing(Browser(program)) as browser:
        tab = browser.tab()
        tab.resize(*SIZE)
        tab.open(server.address)
        tab.wait("document.querySelectorAll('.chip').length")
        frames = [picture(tab)]
        ask(tab, GOAL)
        frames += [picture(tab)] * 2
        frames += run(tab)
        tab.value("viewer.player.seek(12)")
        picture(tab).save(FOLDER / "viewer.png", optimize=True)
        tab.resize(*SIZE, dark=True)
        tab.value("document.getElementById('seed').value = '4'; viewer.open('blocks').then(() => 0)")
        ask(tab, TOWER)
        run(tab)
        tab.value("viewer.player.seek(3)")
        picture(tab).save(FOLDER / "viewer-blocks.png", optimize=True)
    server.stop()
    write_gif(FOLDER / "viewer.gif", frames)


def ask(tab: Tab, goal: str) -> None:
    """Choose a goal."""
    tab.value(f"viewer.connection.ask('goal', {{goal: '{goal}'}}).then((known) => viewer.panel.set(known))")
    tab.wait("document.querySelector('.verdict .good')")


def run(tab: Tab) -> list[Image.Image]:
    """Run the episode; a picture of each step."""
    frames = []
    while not tab.value("viewer.film.result"):
        tab.value("viewer.player.step().then(() => 0)")
        frames.append(picture(tab))
    return frames


def picture(tab: Tab) -> Image.Image:
    """The window as it is now."""
    time.sleep(0.15)
    path = io.BytesIO()
    path.write(tab.picture())
    return Image.open(path).convert("RGB")


def write_gif(path: Path, frames: list[Image.Image]) -> None:
    """The animation; the last frame is shown longer."""
    width, height = frames[0].size
    small = [frame.resize((GIF_WIDTH, height * GIF_WIDTH // width), Image.Resampling.LANCZOS) for frame in frames]
    chosen = [small[0], small[len(small) // 2], small[-1]]
    sheet = Image.new("RGB", (GIF_WIDTH, small[0].height * len(chosen)))
    for number, frame in enumerate(chosen):
        sheet.paste(frame, (0, number * frame.height))
    palette = palette_of(sheet)
    drawn = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in small]
    durations = [900] * 3 + [260] * (len(drawn) - 4) + [2500]
    drawn[0].save(path, save_all=True, append_images=drawn[1:], duration=durations, loop=0, optimize=True)


def palette_of(sheet: Image.Image) -> Image.Image:
    """Colours of the page, and as many again of its few vivid places, which otherwise would get none."""
    pixels = np.asarray(sheet)
    vivid = pixels[np.ptp(pixels, axis=-1) > VIVID]
    halves = [sheet, Image.fromarray(vivid[None])]
    palette = Image.new("P", (1, 1))
    palette.putpalette([value for half in halves for value in (half.quantize(128).getpalette() or [])[: 3 * 128]])
    return palette


if __name__ == "__main__":
    main()
