from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from attribute_planner.agent import Agent
from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.drawing.animation import (
    CAPTION_HEIGHT,
    LAST_FRAME_SECONDS,
    MAX_FRAME_SECONDS,
    captioned_frames,
    write_gif,
)
from attribute_planner.environments.graph_world import Place
from attribute_planner.errors import ConfigurationError
from attribute_planner.planning.episode import Episode
from attribute_planner.planning.plan import Planner
from tests.probes import RING, Hosted, Oracle, numbers, partial_goal, table_of

TABLE = table_of(numbers(5), [((i,), ((i + step) % 5,), 0.9) for i in range(5) for step in (1, -1)])


@pytest.fixture(scope="module")
def episode() -> Episode:
    """Two steps from 0 to 2, with frames of 200 × 120 that grow darker."""
    world = Hosted(replace(RING, start=Place((0,))))
    found = Agent(world, None, Oracle(RING), TABLE, 3).reach({"n": 2}, frames=True)
    assert found.steps == 2
    return replace(found, frames=[np.full((120, 200, 3), 250 - 80 * i, np.uint8) for i in range(3)])


def test_there_is_a_frame_before_every_step_and_one_after_the_last(episode: Episode):
    frames = captioned_frames(episode)
    assert [frame.shape for frame in frames] == [(120 + CAPTION_HEIGHT, 200, 3)] * 3
    for frame, picture in zip(frames, episode.frames, strict=True):
        np.testing.assert_array_equal(frame[:120], picture)
    # Every caption says something, and none says what another one says.
    captions = {frame[120:].tobytes() for frame in frames}
    assert len(captions) == 3
    assert all(frame[120:].std() > 1 for frame in frames)


def test_a_failure_looks_different_from_a_success(episode: Episode):
    won, lost = captioned_frames(episode)[-1], captioned_frames(replace(episode, success=False))[-1]
    assert (won != lost).any()


def test_small_images_are_enlarged_so_that_captions_fit(episode: Episode):
    """Pixels are repeated; the caption is that of a wide image, as far as it fits."""
    small = replace(episode, frames=[frame[:30, :64] for frame in episode.frames])
    for frame, picture in zip(captioned_frames(small), small.frames, strict=True):
        assert frame.shape == (4 * 30 + CAPTION_HEIGHT, 4 * 64, 3)
        np.testing.assert_array_equal(frame[: 4 * 30 : 4, ::4], picture)


def test_long_captions_are_shortened_to_the_width_of_the_image(episode: Episode):
    goal = partial_goal([2])
    space = AttributeSpace((Attribute("n" * 200, range(5)),))
    table = table_of(space, [((0,), (2,), 0.9)])
    plan = Planner(table).plan(np.array([0], np.int32), goal)
    long = replace(episode, goal=goal, plan=plan)
    assert {frame.shape[1] for frame in captioned_frames(long)} == {200}


def test_an_animation_has_all_frames_and_shows_the_last_one_longest(episode: Episode, tmp_path: Path):
    path = tmp_path / "new" / "ring.gif"
    write_gif(path, episode)
    with Image.open(path) as gif:
        assert (gif.size, gif.n_frames) == ((200, 120 + CAPTION_HEIGHT), 3)  # pyright: ignore[reportAttributeAccessIssue]
        durations = []
        for number in range(3):
            gif.seek(number)
            durations.append(gif.info["duration"])
    assert durations == [1000 * MAX_FRAME_SECONDS] * 2 + [1000 * LAST_FRAME_SECONDS]


def test_an_episode_without_a_step_has_one_frame(episode: Episode, tmp_path: Path):
    at_once = replace(episode, trace=[], frames=episode.frames[:1], steps=0)
    write_gif(tmp_path / "still.gif", at_once)
    with Image.open(tmp_path / "still.gif") as gif:
        assert gif.n_frames == 1  # pyright: ignore[reportAttributeAccessIssue]


def test_other_formats_are_refused(episode: Episode, tmp_path: Path):
    with pytest.raises(ConfigurationError, match=r"does not end in \.gif"):
        write_gif(tmp_path / "ring.mp4", episode)
