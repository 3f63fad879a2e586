import numpy as np

from attribute_planner.environments.spaces import FlatSpec, ImageSpec, Marker, Part, VectorSpec, WordsSpec
from attribute_planner.evaluation.observation_report import observation_lines


def test_each_part_has_a_line():
    spec = FlatSpec(
        (
            Part("grid", (2, 1), "numbers", 0, 32),
            Part("way", (), "choice", 0, 4),
            Part("goal", (2,), "text", 1, 255),
            Part("speed", (3,), "numbers", -8, 32, integers=False),
            Part("view", (1, 2, 1), "image"),
        ),
        "float32",
    )
    seen = np.array([[0, 1, 3, 7, 9, 0.5, 2, 4, 0, 1], [10, 3, 2, 7, 9, -1.25, 2, 5, 0, 9]], np.float32)
    assert observation_lines(spec, seen) == (
        "grid: 2 × 1 integers, 0 to 10 seen; one-hot",
        "way: a choice of 4, one-hot",
        "goal: text, 1 different seen; the first 2 words, one-hot by hash",
        "speed: 3 numbers, -1.25 to 5 seen; 1 one-hot, 1 normalised, 1 constant so far",
        "view: an image of 1 × 2 × 1, in patches",
    )


def test_an_observation_of_a_single_part_has_no_name():
    spec = FlatSpec((Part("", (), "numbers", 0, 0, integers=False),), "float32")
    assert observation_lines(spec, np.array([[0.5], [2.0]])) == ("a number, 0.5 to 2 seen; normalised",)


def test_numbers_that_are_compared_with_each_other_are_counted():
    spec = FlatSpec((Part("", (3,), "numbers", 0, 32, integers=False),), "float32")
    seen = np.array([[0.5, 1.5, 1.0], [2.5, 0.5, 0.0]])
    assert observation_lines(spec, seen)[1:] == ("the 2 numbers that are normalised are also compared with each other",)
    assert observation_lines(spec, seen * [1, 2, 1])[1:] == ()


def test_too_many_numbers_are_not_compared_with_each_other():
    spec = FlatSpec((Part("", (14,), "numbers", 0, 32, integers=False),), "float32")
    seen = np.random.default_rng(0).normal(size=(3, 14)).astype(np.float32)
    assert observation_lines(spec, seen)[1:] == ("the 14 numbers are not compared with each other: more than 12",)


def test_grids_in_which_no_agent_was_found_are_told_from_others():
    marker = Marker("seen", (2,), (0, 1, 2), (0, 1), (1, 1))
    parts = (
        Part("seen", (4, 4), "choice", 0, 3),
        Part("empty", (4, 4), "choice", 0, 3),
        Part("speed", (), "choice", 0, 3),
        Part("seen around the agent", (9, 9), "numbers", 0, 5, seen_from=marker),
    )
    spec = FlatSpec(parts, "uint8")
    seen = np.zeros((2, *spec.shape), np.uint8)
    lines = observation_lines(spec, seen, looked_for_agent=True)
    assert [line.partition(":")[0] for line in lines if line.endswith("; no agent found in it")] == ["empty"]
    assert not any("no agent" in line for line in observation_lines(spec, seen))


def test_other_observations():
    assert observation_lines(ImageSpec(16, 20), np.zeros(0)) == ("an image of 16 × 20 × 3, convolved",)
    assert observation_lines(VectorSpec(3), np.zeros(0)) == ("3 numbers, unchanged",)
    assert observation_lines(WordsSpec(4, 20, (0, 0, 1, 1)), np.zeros(0)) == ("at most 4 of 20 words",)
