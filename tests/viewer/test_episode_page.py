"""Pages of one file: of an episode and of a plan."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from attribute_planner.agent import Agent
from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.drawing.words import change_words, goal_words
from attribute_planner.errors import ConfigurationError
from attribute_planner.viewer.static_files import FOLDER, bundled, static_files
from tests.probes import partial_goal


def test_a_page_needs_no_other_file(line_agent: Agent, tmp_path: Path):
    page = line_agent.reach({"n": 3}).to_html(tmp_path / "new" / "episode.html")
    assert (tmp_path / "new" / "episode.html").read_text() == page
    assert re.findall(r"(?:src|href)=|url\(|@import|^import |^export |https?:(?!//www\.w3\.org)", page, re.M) == []
    assert "script-src 'sha256-" in page


def test_names_cannot_leave_the_data_of_a_page(hostile_agent: Agent):
    names = hostile_agent.env.attributes.names
    page = hostile_agent.reach({names[1]: True}).to_html()
    assert "<script>alert" not in page and "</script><script>" not in page
    assert page.count("<script") == page.count("</script>") == 2


def test_long_episodes_have_fewer_images(line_agent: Agent):
    episode = line_agent.reach({"n": 3})
    film = [np.full((2, 2, 3), number, np.uint8) for number in range(len(episode.trace) + 1)]
    assert replace(episode, frames=film).to_html().count("data:image/png") == 4


def test_in_a_notebook_a_page_is_light_and_what_has_no_scripts_is_folded(line_agent: Agent):
    episode = line_agent.reach({"n": 3})
    for shown in (episode._repr_html_(), episode.plan._repr_html_()):
        frame, folded = shown.index("<iframe"), shown.index("<details>")
        assert frame < folded < shown.index("<table>")
        assert "data-theme=&quot;light&quot;" in shown[frame:folded]
    assert "data-theme" not in episode.to_html().partition("<head>")[0]


def test_a_notebook_shows_how_a_long_goal_begins():
    space = AttributeSpace(tuple(Attribute(f"a_rather_long_name_{number}") for number in range(12)))
    goal = partial_goal([1] * 12)
    words = goal_words(goal, space)
    assert words.startswith("a_rather_long_name_0=true") and words.endswith(" … (12 attributes)") and len(words) < 150
    short = partial_goal([1] + [None] * 11)
    assert goal_words(short, space) == "a_rather_long_name_0=true"
    assert change_words(dict.fromkeys("abcde", 1)) == "a → 1, b → 1, c → 1 +2"


def test_a_page_is_html_and_needs_a_trace(line_agent: Agent, tmp_path: Path):
    episode = line_agent.reach({"n": 3})
    with pytest.raises(ConfigurationError, match=r"does not end in \.html"):
        episode.to_html(tmp_path / "episode.pdf")
    with pytest.raises(ConfigurationError, match="has no trace"):
        replace(episode, trace=[]).to_html()


def test_the_modules_of_the_page_can_be_joined_into_one_script():
    """Joined modules share one scope: a name must not be defined twice."""
    for entry in ("report.js", "main.js"):
        script = bundled(entry)
        defined = re.findall(r"^(?:async )?(?:function|class|const|let) (\w+)", script, re.M)
        assert len(defined) == len(set(defined)) > 10, sorted(name for name in defined if defined.count(name) > 1)
        assert not re.search(r"^(import|export)\b", script, re.M)
    assert {path.name for path in FOLDER.iterdir()} == set(static_files())
