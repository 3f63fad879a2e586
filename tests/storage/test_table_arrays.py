"""Tables as arrays: what is saved comes back, and what is not possible is refused."""

import numpy as np
import pytest

from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.errors import DamagedFileError
from attribute_planner.storage.table_arrays import (
    are_ascending,
    counts_arrays,
    narrowed,
    read_counts,
    read_table,
    table_arrays,
)
from attribute_planner.transitions.counting import TransitionCounts
from tests.probes import table_of

SPACE = AttributeSpace(
    (Attribute("colour", ("red", "green", "blue")), Attribute("n", range(40_000)), Attribute("lamp"))
)
TABLE = table_of(SPACE, [((0, 1, 0), (1, 1, 0), 0.25), ((0, 1, 0), (2, 9, 1), 0.5), ((2, 9, 1), (0, 1, 0), 1.0)])


def test_a_table_comes_back_as_it_was():
    arrays = table_arrays("t", TABLE)
    assert set(arrays) == {"t.words", "t.degree", "t.target", "t.visits", "t.attempts", "t.successes"}
    read = read_table("t", SPACE, arrays, "ratio")
    for name in ("words", "source", "target", "visits", "attempts", "successes"):
        np.testing.assert_array_equal(getattr(read, name), getattr(TABLE, name))
    assert read.attempts.dtype == np.float64


def test_files_that_name_sources_are_read():
    arrays = table_arrays("t", TABLE)
    del arrays["t.degree"]
    np.testing.assert_array_equal(
        read_table("t", SPACE, arrays | {"t.source": TABLE.source}, "ratio").source, TABLE.source
    )


def test_a_type_that_holds_more_than_needed_is_read():
    arrays = table_arrays("t", TABLE)
    arrays["t.degree"] = arrays["t.degree"].astype(np.uint64)
    assert read_table("t", SPACE, arrays, "ratio").source.tolist() == TABLE.source.tolist()


def test_counts_come_back_as_they_were():
    counts = TransitionCounts(SPACE.num_words)
    counts.add(TABLE.words[TABLE.source], TABLE.words[TABLE.target], np.array([3, 2**40, 1]))
    read = read_counts("c", SPACE, counts_arrays("c", counts))
    one, other = counts_arrays("c", counts), counts_arrays("c", read)
    assert read.total == counts.total
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], strict=True)


@pytest.mark.parametrize(
    ("numbers", "kind"),
    [
        (np.array([0.0, 255.0]), np.uint8),
        (np.array([0.0, 256.0]), np.uint16),
        (np.array([-1.0, 2.0]), np.float64),
        (np.array([0.5]), np.float32),
        (np.array([0.1]), np.float64),
        (np.array([2**33]), np.int64),
        (np.zeros(0), np.uint8),
    ],
)
def test_numbers_are_stored_in_the_smallest_type_that_holds_them_exactly(numbers: np.ndarray, kind: type):
    assert narrowed(numbers).dtype == kind
    np.testing.assert_array_equal(narrowed(numbers), numbers)


def changed(name: str, change) -> dict[str, np.ndarray]:
    arrays = {key: array.copy() for key, array in table_arrays("t", TABLE).items()}
    arrays[f"t.{name}"] = change(arrays[f"t.{name}"])
    return arrays


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("words", lambda words: words[::-1], "not in ascending order"),
        ("words", lambda words: words[:, 0], r"it must be \[N, 1\]"),
        ("words", lambda words: words.astype(np.uint64), r"it must be \[N, 1\]"),
        ("words", lambda words: words | np.uint32(3), "values that the attributes do not have"),
        ("words", lambda words: words | np.uint32(1 << 31), "values that the attributes do not have"),
        ("degree", lambda degree: degree + np.uint8(1), "does not add up to 3 transitions"),
        ("degree", lambda degree: degree.astype(np.float32), "is of type float32"),
        ("target", lambda target: target + np.uint32(9), "names sets that do not exist"),
        ("target", lambda target: target[::-1], "not in ascending order, or lead nowhere"),
        ("target", lambda target: target[:, None], "one number per transition"),
        ("visits", lambda visits: visits[:2], r"it must be \[3\]"),
        ("attempts", lambda attempts: attempts * np.nan, "negative, not finite"),
        ("attempts", lambda attempts: -attempts.astype(float), "negative, not finite"),
        ("attempts", lambda attempts: attempts * 1e300, "impossibly large"),
        ("successes", lambda successes: successes + 1000.0, "more successes than attempts"),
    ],
)
def test_what_is_not_possible_is_refused(name: str, change, message: str):
    with pytest.raises(DamagedFileError, match=message):
        read_table("t", SPACE, changed(name, change), "ratio")


def test_a_missing_array_is_named():
    arrays = table_arrays("t", TABLE)
    del arrays["t.visits"]
    with pytest.raises(DamagedFileError, match=r"lacks the array 't\.visits'"):
        read_table("t", SPACE, arrays, "ratio")


def test_the_last_word_decides_the_order():
    assert are_ascending(np.array([[5, 0], [1, 1], [2, 1]], np.uint32))
    assert not are_ascending(np.array([[5, 0], [1, 1], [1, 1]], np.uint32))
    assert not are_ascending(np.array([[0, 1], [1, 0]], np.uint32))
