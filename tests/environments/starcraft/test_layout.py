import numpy as np

from attribute_planner.environments.starcraft.layout import layout_of
from attribute_planner.environments.starcraft.movement import MAX_LENGTH
from attribute_planner.environments.starcraft.rules import FIELDS, MINING_RANGE, SCV_REACH

GROUND = layout_of(32)


def test_workers_travel_78_to_111_pixels():
    lengths = np.diagonal(GROUND.lengths[:FIELDS, FIELDS:])
    assert (len(lengths), lengths.min(), lengths.max()) == (8, 78, 111)
    assert abs(lengths.mean() - 99) < 1


def test_a_field_of_the_nearer_column_is_78_pixels_away_by_hand():
    # The command centre's body begins 58 pixels left of its middle at x = 512, the fifth field ends three tiles
    # left of its footprint at x = 448; an SCV touches either with its edge, 12 pixels from its own middle.
    assert GROUND.places[4].tolist() == [448 - 3 * 32 + 12, 496]
    assert GROUND.places[4 + FIELDS].tolist() == [512 - 58 - 12, 496]
    assert GROUND.lengths[4, 4 + FIELDS] == 442 - 364


def test_the_nearest_free_field_is_the_nearest_in_range_that_nobody_works_on():
    assert GROUND.nearest_free[3, 1 << 3] == 5  # 8 pixels away
    assert GROUND.nearest_free[3, (1 << 3) | (1 << 5)] == 2  # 32 pixels, as far as 4: the first counts
    assert GROUND.nearest_free[0, 1 << 0] == 1
    assert GROUND.nearest_free[0, (1 << 0) | (1 << 1)] == -1  # the next one is 101 pixels away
    assert (GROUND.nearest_free[:, 255] == -1).all()


def test_the_ground_looks_the_same_on_a_larger_map():
    larger = layout_of(64)
    assert (larger.places - GROUND.places == 16 * 32).all()
    assert (larger.lengths == GROUND.lengths).all()


def test_no_way_is_longer_than_the_table_of_motions():
    x, y = np.meshgrid(np.arange(12, 1013), np.arange(12, 1013), indexing="ij")
    for field, (left, top, right, bottom) in enumerate(GROUND.field_boxes):
        beyond_x = np.maximum(np.maximum(left - x, x - right) - SCV_REACH, 0)
        beyond_y = np.maximum(np.maximum(top - y, y - bottom) - SCV_REACH, 0)
        in_range = beyond_x**2 + beyond_y**2 <= MINING_RANGE**2
        for place in (field, field + FIELDS):
            distance = np.hypot(x[in_range] - GROUND.places[place, 0], y[in_range] - GROUND.places[place, 1])
            assert distance.max() < MAX_LENGTH
