"""The viewer in a real browser. One Chromium and one server serve all tests; without a Chromium they are skipped."""

import contextlib
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("uvicorn")

from attribute_planner.agent import Agent
from attribute_planner.drawing.diagnosis_page import diagnosis_page
from attribute_planner.storage.run_directory import RunDirectory
from attribute_planner.viewer.runs import Entry, Runs, entries_of, loaded
from attribute_planner.viewer.server import Server
from tests.viewer.browser import Browser, Tab, find_chromium
from tests.viewer.conftest import HOSTILE, LINE, append, begun_run

CHROMIUM = find_chromium()
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium is installed (Debian, Ubuntu: apt install chromium)"
)


@pytest.fixture(scope="module")
def training(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    return begun_run(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def address(line_agent: Agent, hostile_agent: Agent, weak_agent: Agent, training: RunDirectory) -> Iterator[str]:
    """The address of a viewer of four small runs and of two shipped agents."""
    known = {"line": line_agent, HOSTILE: hostile_agent, "weak": weak_agent}
    entries = {name: Entry(name, training.path, LINE) for name in (*known, "begun")}
    entries |= {name: entries_of(None)[name] for name in ("switches", "blocks")}

    def load(entry: Entry) -> Agent:
        return known[entry.name] if entry.name in known else loaded(entry)

    server = Server(Runs(entries, load))
    thread = threading.Thread(target=server.run)
    thread.start()
    yield server.address
    server.stop()
    thread.join(20)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    assert CHROMIUM is not None
    with contextlib.closing(Browser(CHROMIUM)) as browser:
        yield browser


@pytest.fixture
def tab(browser: Browser, address: str) -> Iterator[Tab]:
    """A new tab; whatever the page complains about fails the test."""
    tab = browser.tab()
    tab.resize(1440, 900)
    tab.open(f"{address}#line")
    tab.wait("document.querySelectorAll('.chip').length")
    yield tab
    assert tab.complaints() == []
    assert [url for url in tab.requests() if not url.startswith((address, "data:", "blob:"))] == []
    tab.close()


def open_run(tab: Tab, run: str) -> None:
    tab.value(f"document.getElementById('run').value = {json.dumps(run)}; viewer.open({json.dumps(run)}).then(() => 0)")


def set_number(tab: Tab, value: int) -> None:
    """Ask for a value of the only attribute of the line."""
    tab.value(
        f"""(() => {{ const input = document.querySelector('.number input');
        input.value = '{value}'; input.dispatchEvent(new Event('change')); }})()"""
    )
    tab.wait(
        f"document.querySelector('.goal-text').textContent === 'n={value}' && document.querySelector('.verdict p')"
    )


def text(tab: Tab, selector: str) -> str:
    return tab.value(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''").replace(
        "\N{NO-BREAK SPACE}", " "
    )


def test_a_goal_is_set_and_reached_and_the_episode_is_scrubbed(tab: Tab):
    set_number(tab, 3)
    assert "✓ Plan: 3 transitions" in text(tab, ".verdict")
    assert "3 transitions" in text(tab, ".plan-summary") and "90 % · 900 of 1,000" in text(tab, ".plan")
    tab.click(".play")
    tab.wait("document.querySelector('.scene-status.good')")
    assert text(tab, ".scene-status") == "✓ Goal reached in 3 steps"
    assert tab.value("document.querySelectorAll('.plan .arrived').length") == 3
    tab.press("ArrowLeft")
    tab.wait("document.querySelector('.counter').textContent === '2 / 3'")
    assert tab.value("document.querySelectorAll('.plan .arrived').length") == 2
    assert "n → 3" in text(tab, ".plan .now")
    tab.press("Home")
    tab.wait("document.querySelector('.scene-status').textContent === 'At the start'")
    tab.press(" ", " ")
    tab.wait("document.querySelector('.scene-status.good')")


def test_no_step_is_lost_if_an_episode_begins_slowly(tab: Tab):
    """Longer than the pause after which the first step is computed in advance."""
    tab.value(
        """(() => { const { connection } = viewer; const ask = connection.ask.bind(connection);
        connection.ask = async (what, message) => {
          if (what === "begin") await new Promise((done) => setTimeout(done, 700));
          return ask(what, message); }; })()"""
    )
    set_number(tab, 3)
    tab.click(".play")
    tab.wait("viewer.film.result")
    assert tab.value("viewer.film.frames.map((frame) => frame.step)") == [0, 1, 2, 3]


def test_a_failing_run_says_what_failed_and_what_is_believed_now(tab: Tab):
    open_run(tab, "weak")
    set_number(tab, 4)
    tab.value("viewer.player.speed.value = '3'; viewer.player.toggle()")
    tab.wait("document.querySelector('.scene-status.bad')")
    assert "drifted: arrived elsewhere" in text(tab, ".plan .drifted") and "90 % → 5 %" in text(tab, ".plan .drifted")
    tab.value("viewer.player.seek(5)")
    assert "90 % · 900 of 1,000 · now 5 %" in text(tab, ".plan .now")


def test_a_goal_that_cannot_be_reached_says_why_and_offers_the_nearest(tab: Tab):
    set_number(tab, 5)
    assert "✕ No plan: no chain of transitions" in text(tab, ".verdict")
    tab.click(".verdict .chip")
    tab.wait("document.querySelector('.goal-text').textContent === 'n=4'")
    tab.wait("document.querySelector('.verdict .good')")
    tab.click(".goal-head .row button:last-child")
    tab.wait("document.querySelector('.goal-text.soft')")


def test_a_set_of_the_graph_becomes_the_goal(tab: Tab):
    set_number(tab, 3)
    tab.value("document.querySelector('canvas').focus()")
    for key in ("ArrowRight", "ArrowRight", "ArrowRight"):
        tab.press(key)
    assert "n 2" in text(tab, ".tip") and "90 %, 900 of 1,000 attempts" in text(tab, ".tip")
    tab.press("Enter", "\r")
    tab.wait("document.querySelector('.goal-text').textContent === 'n=2'")


LAST_WALKED = """(() => { const { last, view, canvas } = viewer.graph;
const middle = (side) => [(last.from.x * side + last.to.x * (1 - side)), (last.from.y * side + last.to.y * (1 - side))];
const [x, y] = middle(0.35).map((at, i) => at * view.scale + [view.x, view.y][i]);
const column = (dy) => [...canvas.getContext("2d").getImageData(Math.round(x), Math.round(y + dy), 1, 1).data];
return [-3.8, 0].map((dy) => column(dy * view.scale).join()).concat(viewer.graph.colours.ink); })()"""
"""The colours of the edge walked last at its border and in its middle, and the colour of ink."""


def test_the_transition_walked_last_stands_out_in_the_graph(tab: Tab):
    set_number(tab, 3)
    assert tab.value("viewer.graph.last") is None and "walked last" in text(tab, ".legend")
    for _ in range(2):
        tab.value("viewer.player.step().then(() => 0)")
    label = "document.querySelector('canvas').getAttribute('aria-label')"
    assert "Walked last: n → 2." in tab.value(label)
    tab.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    border, middle, ink = tab.value(LAST_WALKED)
    assert border != middle and border.endswith("255")
    assert [int(part) for part in border.split(",")[:3]] == colour_of(ink)
    tab.value("viewer.graph.point(viewer.graph.last.to)")
    assert "walked last: n → 2: 90 %, 900 of 1,000 attempts" in text(tab, ".tip")
    tab.value("viewer.player.seek(1)")
    assert "Walked last: n → 1." in tab.value(label)
    tab.value("viewer.player.seek(0)")
    assert "Walked last" not in tab.value(label)


def test_the_transition_walked_last_is_drawn_beside_sets_of_one_column(tab: Tab):
    """It bends into the free place at the right of the column, and covers nothing."""
    set_number(tab, 3)
    tab.value("viewer.player.step().then(() => 0)")
    tab.value("viewer.graph.last.from.x = viewer.graph.last.to.x; viewer.graph.last.from.y = -120; viewer.graph.draw()")
    seen = tab.value(
        """(() => { const { last: { to, from }, view, canvas } = viewer.graph;
        const place = [to.x + to.box.width / 2 + 22, (to.y + from.y) / 2];
        const at = place.map((part, i) => Math.round(part * view.scale + [view.x, view.y][i]));
        const { data } = canvas.getContext("2d").getImageData(at[0], at[1], 8, 1);
        return data.filter((part, i) => i % 4 === 3 && part).length; })()"""
    )
    assert seen > 0


def colour_of(text: str) -> list[int]:
    """The parts of `#1b2333`, or of `rgb(27, 35, 51)`."""
    if text.startswith("#"):
        return [int(text[i : i + 2], 16) for i in (1, 3, 5)]
    return [int(part) for part in text[4:-1].replace(",", " ").split()]


def test_goals_of_tasks_follow_after_the_start_and_are_not_repeated(tab: Tab):
    tab.value("viewer.suggested")
    texts = "[...document.querySelectorAll('.chips .chip')].map((each) => each.title)"
    first = tab.value(texts)
    assert len(first) == len(set(first)) >= 2
    tab.click(".chips .chip:last-child")
    tab.wait("document.querySelector('.verdict .good')")
    tab.click(".goal-head .clear")
    tab.wait("document.querySelector('.goal-text.soft')")
    tab.value("viewer.suggested")
    assert tab.value(texts) == first


def test_hostile_names_are_shown_as_text(tab: Tab):
    open_run(tab, HOSTILE)
    tab.wait("document.querySelectorAll('fieldset .attribute').length === 2")
    tab.click(".segments label:nth-child(3) span")
    tab.wait("document.querySelector('.verdict .good')")
    assert "<script>alert(1)</script>=<b>bold</b>" in text(tab, ".goal-text")
    assert tab.value("document.querySelectorAll('main b, main script, main img:not(.scene-image)').length") == 0
    tab.value("viewer.player.step().then(() => 0)")
    assert "<b>bold</b>" in text(tab, ".beliefs")


def test_two_tabs_do_not_disturb_each_other(tab: Tab, browser: Browser, address: str):
    other = browser.tab(f"{address}#line")
    other.wait("document.querySelectorAll('.chip').length")
    set_number(tab, 4)
    set_number(other, 2)
    for each, steps in ((tab, 4), (other, 2)):
        each.value("viewer.player.toggle()")
        each.wait("viewer.film.result")
        assert each.value("viewer.film.result.steps") == steps
    other.close()


def test_a_run_in_training_is_followed_live(tab: Tab, training: RunDirectory):
    open_run(tab, "begun")
    tab.wait("document.getElementById('note').textContent.includes('has no agent yet')")
    tab.wait("document.querySelectorAll('.chart').length === 1")
    assert "explore: sets" in text(tab, ".chart") and "Training: explore" in text(tab, ".training-status")
    append(training, {"phase": "explore", "seconds": 3, "sets": 77})
    tab.wait("document.querySelector('.chart-value').textContent === '77'")
    assert tab.value("viewer.training.lines.length") == 4


def test_the_training_of_shipped_agents_shows_what_is_known_of_it(tab: Tab):
    open_run(tab, "switches")
    tab.click("[data-view=training]")
    tab.wait("document.querySelectorAll('.chart').length === 2 && document.querySelector('.edges')")
    assert "practise: success" in text(tab, ".charts") and "12.0M steps" in tab.value(
        "[...document.querySelectorAll('.chart text')].map((each) => each.textContent).join()"
    )
    assert "c7f4346b56d5" in text(tab, "#training") and "12,000,000 steps, ppo" in text(tab, "#training")
    tab.value("document.getElementById('run').value = 'blocks'; viewer.training.open('blocks')")
    tab.wait("document.querySelector('.edges')")
    assert text(tab, ".training-status") == (
        "The metrics of this agent's training were not kept, so there are no curves to show."
    )
    assert tab.value("document.querySelectorAll('.chart').length") == 0 and "NVIDIA H200" in text(tab, "#training")
    tab.resize(420, 900)
    assert tab.value("document.documentElement.scrollWidth") <= 420
    assert tab.value("document.querySelector('.edges tbody tr').offsetHeight") < 200  # the cells stand below each other


def test_a_shipped_agent_reaches_a_goal_in_the_dark_and_on_a_narrow_screen(tab: Tab, tmp_path: Path):
    tab.resize(390, 844, dark=True)
    open_run(tab, "switches")
    tab.wait(
        "document.querySelectorAll('.segments').length === 4 && document.querySelector('.scene-image').naturalWidth"
    )
    tab.click(".attribute:nth-of-type(1) .segments label:nth-child(2) span")
    tab.wait("document.querySelector('.verdict .good')")
    tab.value("viewer.player.speed.value = '3'; viewer.player.toggle()")
    tab.wait("viewer.film.result")
    assert tab.value("viewer.film.result.success") is True
    assert tab.value("document.documentElement.scrollWidth") <= 390
    ground = tab.value("getComputedStyle(document.body).backgroundColor")
    assert max(int(part) for part in ground[4:-1].split(",")) < 60
    tab.screenshot(tmp_path / "narrow.png")
    assert (tmp_path / "narrow.png").stat().st_size > 10_000


def test_the_page_and_its_steps_appear_quickly(tab: Tab):
    """The limits are wide: tests share the machine. Alone on two cores, it is a second and a tenth of a second."""
    paint = tab.value("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    assert paint < 5000
    set_number(tab, 4)
    tab.value("viewer.player.step().then(() => 0)")
    began = time.perf_counter()
    tab.value("viewer.player.step().then(() => 0)")
    assert tab.value("viewer.film.index") == 2
    assert time.perf_counter() - began < 2.0


def test_the_page_of_a_diagnosis_is_legible_on_a_narrow_screen(browser: Browser, line_agent: Agent, tmp_path: Path):
    page = diagnosis_page(line_agent.diagnose(episodes=2), line_agent.table, "line")
    (tmp_path / "diagnosis.html").write_text(page, encoding="utf-8")
    tab = browser.tab()
    tab.resize(420, 900)
    tab.open(f"file://{tmp_path}/diagnosis.html")
    tab.wait("document.querySelectorAll('.bar').length")
    assert tab.value("document.documentElement.scrollWidth") <= 420
    sizes = "[...document.querySelectorAll('.bars span')].map((each) => parseFloat(getComputedStyle(each).fontSize))"
    assert min(tab.value(sizes)) >= 12 and tab.value("document.querySelector('.bar').offsetWidth") > 100
    tab.close()


def test_a_page_of_an_episode_is_scrubbed_without_a_server(browser: Browser, line_agent: Agent, tmp_path: Path):
    line_agent.reach({"n": 3}).to_html(tmp_path / "episode.html")
    tab = browser.tab(f"file://{tmp_path}/episode.html")
    tab.wait("document.querySelector('.scene-status')")
    assert text(tab, "h1") == "Goal: n=3"
    assert tab.value("document.querySelectorAll('.plan .planned').length") == 3
    tab.click(".play")
    tab.wait("document.querySelector('.scene-status.good')")
    assert text(tab, ".scene-status") == "✓ Goal reached in 3 steps"
    assert tab.complaints() == []
    tab.close()
