from pathlib import Path

import numpy as np
import pytest
from matplotlib.patches import FancyBboxPatch
from PIL import Image

from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.drawing.graph_picture import draw_graph, layout
from attribute_planner.drawing.small_graph import planned_labels, small_graph
from attribute_planner.errors import UnknownNameError
from attribute_planner.planning.plan import Planner
from tests.probes import numbers, partial_goal, table_of

TABLE = table_of(
    numbers(6),
    [((0,), (1,), 0.5), ((1,), (3,), 0.5), ((0,), (2,), 0.1), ((2,), (3,), 0.1), ((3,), (4,), 0.0)],
    also=[(5,)],
)
"""Two ways from 0 to 3; from 4 and 5 there is none."""


def test_sets_stand_in_columns_by_their_distance():
    places = layout(TABLE, root=3)
    # One column farther than the farthest for what has no way to the root.
    assert places[:, 0].tolist() == [-2, -1, -1, 0, -3, -3]
    assert len({tuple(place) for place in places.tolist()}) == 6


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_a_picture_is_written(tmp_path: Path, suffix: str):
    path = tmp_path / "pictures" / f"graph{suffix}"
    draw_graph(path, TABLE)
    assert path.stat().st_size > 1000


def test_a_plan_is_drawn_in_colour(tmp_path: Path):
    plan = Planner(TABLE).plan(np.array([0]), partial_goal([3]))
    draw_graph(tmp_path / "plain.png", TABLE)
    draw_graph(tmp_path / "plan.png", TABLE, plan)
    orange = np.array([228, 87, 46])
    found = [
        (np.abs(np.asarray(Image.open(tmp_path / name).convert("RGB")).astype(int) - orange).max(axis=-1) < 8).sum()
        for name in ("plain.png", "plan.png")
    ]
    assert found[0] == 0
    assert found[1] > 500


def test_where_there_is_no_plan_none_is_drawn(tmp_path: Path):
    for start in ([4], [5]):
        plan = Planner(TABLE).plan(np.array(start), partial_goal([3]))
        assert not plan.reachable
        draw_graph(tmp_path / "graph.png", TABLE, plan)
        assert (tmp_path / "graph.png").exists()


def test_other_formats_are_refused(tmp_path: Path):
    with pytest.raises(UnknownNameError, match=r"no image format '\.bmp'.*There are: \.png, \.svg"):
        draw_graph(tmp_path / "graph.bmp", TABLE)


def test_labels_of_a_plan_fit_between_the_sets():
    """The arrow of a transition that changes much has room for its label, and shows on both sides of it."""
    space = AttributeSpace((Attribute("kettle_on_the_stove", ("cold", "hot")), Attribute("tea_in_the_cup")))
    table = table_of(space, [((0, 0), (1, 1), 0.9)])
    plan = Planner(table).plan(np.array([0, 0], np.int32), partial_goal([1, 1]))
    figure = small_graph(table, plan, "")
    boxes = [patch.get_window_extent() for patch in figure.axes[0].patches if isinstance(patch, FancyBboxPatch)]
    left, right = sorted(boxes, key=lambda each: each.x0)
    label = next(text for text in figure.axes[0].texts if "90.0%" in text.get_text()).get_window_extent()
    assert left.x1 + 10 < label.x0 and label.x1 + 10 < right.x0


def test_the_labels_of_a_plan_multiply_to_its_probability():
    plan = Planner(TABLE, horizon=4.0).plan(np.array([0], np.int32), partial_goal([3]))
    shown = [float(label[-1].rstrip("%")) / 100 for label in planned_labels(plan).values()]
    assert np.prod(shown) == pytest.approx(plan.probability, abs=0.001) and plan.probability > 0.26
