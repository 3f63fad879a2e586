"""How fast the viewer is: `python -m tests.viewer.speed [--cache FOLDER] [AGENT…]` in the root of the repository.

It prints a table. With a cache, compiled functions are kept there, as `attribute-planner view` keeps them: the first
run measures the first start of the viewer, another run later ones.

First paint is that of the page in a new tab. Ready: the agent is loaded, and its start is shown with examples of goals.
CPU until then is that of the server, which other programs disturb less. Examples: those of tasks are there too. A step
lasts from the key press to the frame after the one in which it was drawn. Frames per second are counted while the graph
is dragged.
"""

import contextlib
import os
import statistics
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from attribute_planner.storage.agents import shipped_agents
from attribute_planner.storage.compilation_cache import use_compilation_cache
from attribute_planner.viewer.runs import Runs, entries_of
from attribute_planner.viewer.server import Server
from tests.viewer.browser import Browser, Tab, find_chromium

STEPS, EPISODES = 100, 20
"""Steps that are measured of each agent, and episodes that they are taken from at most."""
PAUSE = 0.125
"""Seconds between a step and the next key press, as at the speed 4×. The next step is computed meanwhile."""
SECONDS = 3.0
"""How long the graph is dragged."""
COUNT_FRAMES = """window.times = []; window.counting = true;
const count = (time) => { times.push(time); if (counting) requestAnimationFrame(count); };
requestAnimationFrame(count); 0"""
TIME_A_STEP = """(async () => { const began = performance.now();
document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}));
const index = viewer.film.index;
while (viewer.film.index === index && viewer.film.result === null) await new Promise(requestAnimationFrame);
await new Promise(requestAnimationFrame);
return performance.now() - began; })()"""


@dataclass(frozen=True)
class Speed:
    """What was measured of one agent: times in milliseconds, CPU time in seconds."""

    agent: str
    first_paint: float
    ready: float
    ready_cpu: float
    examples: float
    steps: list[float]
    frames_per_second: float

    def row(self) -> str:
        """A row of the table."""
        times = sorted(self.steps)
        median, late = statistics.median(times), times[int(0.95 * (len(times) - 1))]
        ready = f"{self.ready / 1000:.1f} s | {self.ready_cpu:.1f} s | {self.examples / 1000:.1f} s"
        steps = f"{median:.0f} ms | {late:.0f} ms | {self.frames_per_second:.0f}"
        return f"| `{self.agent}` | {self.first_paint:.0f} ms | {ready} | {steps} |"


def main(names: Annotated[list[str], tyro.conf.Positional], cache: Path | None = None) -> None:
    """Measure the named agents, or all that ship."""
    if cache is not None:
        use_compilation_cache(cache)
    program = find_chromium()
    assert program is not None, "Chromium is needed"
    server = Server(Runs(entries_of(None)))
    threading.Thread(target=server.run, daemon=True).start()
    print(f"{os.cpu_count()} cores")
    print("| agent | first paint | ready | CPU until then | examples | step, median | step, 95 % | frames/s |")
    print("|---|---|---|---|---|---|---|---|")
    with contextlib.closing(Browser(program)) as browser:
        for name in names or sorted(shipped_agents()):
            tab = browser.tab()
            tab.resize(1440, 900)
            print(measure(tab, f"{server.address}#{name}", name).row(), flush=True)
            tab.close()
    server.stop()


def measure(tab: Tab, address: str, name: str) -> Speed:
    """Open the viewer with an agent, run episodes, and drag the graph."""
    began, cpu = time.perf_counter(), time.process_time()
    tab.open(address)
    tab.wait("document.querySelectorAll('.chips .chip').length && document.querySelector('.scene-image').naturalWidth")
    ready, ready_cpu = 1000 * (time.perf_counter() - began), time.process_time() - cpu
    tab.value("viewer.suggested")
    examples = 1000 * (time.perf_counter() - began)
    paint = tab.value("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    tab.value(f"viewer.connection.ask('prepare', {{run: '{name}'}}).then(() => 0)")
    steps: list[float] = []
    for seed in range(EPISODES):
        if len(steps) < STEPS:
            steps += episode(tab, seed, STEPS - len(steps))
    return Speed(name, paint, ready, ready_cpu, examples, steps, frames_per_second(tab))


def episode(tab: Tab, seed: int, most: int) -> list[float]:
    """The times of the steps of an episode with the last example as its goal."""
    tab.value(f"viewer.start({seed}).then(() => viewer.suggested).then(() => viewer.panel.examples.lastChild.click())")
    tab.wait("viewer.player.enabled && viewer.goal")
    time.sleep(0.5)  # a person looks at the plan
    times: list[float] = []
    while len(times) < most and not tab.value("viewer.film.result"):
        time.sleep(PAUSE)
        times.append(tab.value(TIME_A_STEP))
    return times


def frames_per_second(tab: Tab) -> float:
    """Frames that are drawn while the mouse drags the graph to and fro."""
    box = "document.querySelector('canvas').getBoundingClientRect()"
    left, top, width, height = tab.value(f"(({{x, y, width, height}}) => [x, y, width, height])({box})")
    x, y = left + width / 2, top + height - 8
    tab.send("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", clickCount=1)
    tab.value(COUNT_FRAMES)
    began, moves = time.perf_counter(), 0
    while time.perf_counter() - began < SECONDS:
        moves += 1
        tab.move(x + 3 * abs(moves % 160 - 80), y, buttons=1)
    times = tab.value("counting = false; times")
    tab.send("Input.dispatchMouseEvent", type="mouseReleased", x=x, y=y, button="left", clickCount=1)
    return 1000 * (len(times) - 1) / (times[-1] - times[0])


if __name__ == "__main__":
    tyro.cli(main)
