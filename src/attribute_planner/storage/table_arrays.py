"""Tables and counts as arrays, and the checks of arrays that were read: nothing that loads may be impossible.

A table is stored as its packed sets in ascending order, the number of transitions out of each, the target of each
transition, and the statistics of each. Older files name the source of each transition instead.
"""

import numpy as np
from jaxtyping import Bool, Int, UInt32

from attribute_planner.attributes import AttributeSpace
from attribute_planner.errors import DamagedFileError
from attribute_planner.files.array_file import Arrays
from attribute_planner.transitions.counting import TransitionCounts
from attribute_planner.transitions.model import Listing
from attribute_planner.transitions.table import TransitionTable, edge_order

STATISTICS = ("visits", "attempts", "successes", "spent")
MOST = 2.0**53
"""No statistic is larger: above it, counts are not exact."""


def table_arrays(prefix: str, table: TransitionTable | Listing) -> Arrays:
    """A whole table."""
    statistics = {name: getattr(table, name) for name in STATISTICS}
    graph = graph_arrays(table.words, table.source, table.target)
    arrays = graph | {name: array for name, array in statistics.items() if array is not None}
    return {f"{prefix}.{name}": narrowed(array) for name, array in arrays.items()}


def counts_arrays(prefix: str, counts: TransitionCounts) -> Arrays:
    """Counts of transitions."""
    # Sorted: in which order sets were numbered depends on where the run was interrupted.
    order, edges = edge_order(counts)
    source, target = np.argsort(order)[counts.pairs.rows[edges].T]
    arrays = graph_arrays(counts.sets.rows[order], source, target) | {"visits": counts.visits[edges]}
    return {f"{prefix}.{name}": narrowed(array) for name, array in arrays.items()}


def graph_arrays(
    words: UInt32[np.ndarray, "N W"], source: Int[np.ndarray, " E"], target: Int[np.ndarray, " E"]
) -> Arrays:
    """The sets, the number of transitions out of each, and the target of each transition."""
    return {"words": words, "degree": np.bincount(source, minlength=len(words)), "target": target.astype(np.uint32)}


def narrowed(array: np.ndarray) -> np.ndarray:
    """The same numbers in the smallest of a few types that holds them exactly."""
    if array.dtype.kind in "iu" or (array.dtype.kind == "f" and np.array_equal(np.rint(array), array)):
        if array.size == 0 or (array.min() >= 0 and array.max() < 2**32):
            return array.astype(np.min_scalar_type(int(array.max(initial=0))))
        return array
    single = array.astype(np.float32)
    return single if (single == array).all() else array


def has_table(prefix: str, arrays: Arrays) -> bool:
    """Whether there is a table, or counts, with this name."""
    return f"{prefix}.words" in arrays


def read_table(
    prefix: str, space: AttributeSpace, arrays: Arrays, estimator: str, *, double: bool = True
) -> TransitionTable:
    """A whole table.

    double: whether its statistics are in double precision, as training needs them; otherwise as they are stored.
    """
    words, source, target = read_graph(prefix, space, arrays)
    names = STATISTICS if f"{prefix}.spent" in arrays else STATISTICS[:3]
    statistics = {name: _statistic(f"{prefix}.{name}", arrays, len(source), double=double) for name in names}
    if (statistics["successes"] > statistics["attempts"]).any():
        raise DamagedFileError(f"The saved table {prefix!r} has more successes than attempts.")
    return TransitionTable(space, words, source, target, **statistics, estimator=estimator)


def read_counts(prefix: str, space: AttributeSpace, arrays: Arrays) -> TransitionCounts:
    """Counts of transitions."""
    words, source, target = read_graph(prefix, space, arrays)
    visits = _statistic(f"{prefix}.visits", arrays, len(source))
    counts = TransitionCounts(space.num_words)
    counts.sets.number(words)
    counts.add(words[source], words[target], visits.astype(np.int64))
    return counts


def read_graph(
    prefix: str, space: AttributeSpace, arrays: Arrays
) -> tuple[UInt32[np.ndarray, "N W"], Int[np.ndarray, " E"], Int[np.ndarray, " E"]]:
    """Words, source and target of a graph, sorted and within range."""
    words = _array(f"{prefix}.words", arrays, "u")
    if words.itemsize > 4 or words.ndim != 2 or words.shape[1] != space.num_words or len(words) >= 2**31:
        raise DamagedFileError(f"The saved {prefix}.words has shape {words.shape}; it must be [N, {space.num_words}].")
    words = words.astype(np.uint32)
    if not are_sets(words, space):
        raise DamagedFileError(f"The saved {prefix}.words holds values that the attributes do not have.")
    if not are_ascending(words):
        raise DamagedFileError(f"The saved {prefix}.words is not in ascending order.")
    source = _source(prefix, arrays, len(words))
    target = _numbers(f"{prefix}.target", arrays, len(source), len(words))
    rising = (np.diff(source) > 0) | (np.diff(target) > 0)
    if len(source) and (not rising.all() or (np.diff(source) < 0).any() or (source == target).any()):
        raise DamagedFileError(f"The transitions of {prefix!r} are not in ascending order, or lead nowhere.")
    return words, source, target


def _source(prefix: str, arrays: Arrays, sets: int) -> Int[np.ndarray, " E"]:
    if f"{prefix}.source" in arrays:
        return _numbers(f"{prefix}.source", arrays, None, sets)
    degree = _array(f"{prefix}.degree", arrays, "u")
    edges = _array(f"{prefix}.target", arrays, "iu").size
    if degree.shape != (sets,) or int(degree.sum(dtype=np.uint64)) != edges or int(degree.max(initial=0)) > edges:
        raise DamagedFileError(f"The saved {prefix}.degree does not add up to {edges} transitions of {sets} sets.")
    return np.repeat(np.arange(sets, dtype=np.int32), degree.astype(np.int64))


def _numbers(name: str, arrays: Arrays, count: int | None, sets: int) -> Int[np.ndarray, " E"]:
    """Numbers of sets."""
    numbers = _array(name, arrays, "iu")
    if numbers.ndim != 1 or (count is not None and len(numbers) != count):
        raise DamagedFileError(f"The saved {name} has shape {numbers.shape}; it must have one number per transition.")
    if len(numbers) and not 0 <= int(numbers.min()) <= int(numbers.max()) < sets:
        raise DamagedFileError(f"The saved {name} names sets that do not exist; there are {sets}.")
    return numbers.astype(np.int32)


def _statistic(name: str, arrays: Arrays, count: int, *, double: bool = True) -> np.ndarray:
    """`float[E]` in double precision, or in single precision if that is how it is stored."""
    numbers = _array(name, arrays, "iuf")
    if numbers.shape != (count,):
        raise DamagedFileError(f"The saved {name} has shape {numbers.shape}; it must be [{count}].")
    if count and not (numbers.min() >= 0 and numbers.max() <= MOST):  # false for NaN, too
        raise DamagedFileError(f"The saved {name} holds numbers that are negative, not finite or impossibly large.")
    single = not double and (numbers.dtype == np.float32 or numbers.dtype.itemsize < 4)
    return numbers.astype(np.float32 if single else float, copy=False)


def _array(name: str, arrays: Arrays, kinds: str) -> np.ndarray:
    if name not in arrays:
        raise DamagedFileError(f"The saved agent lacks the array {name!r}; it was saved by another version.")
    if arrays[name].dtype.kind not in kinds:
        raise DamagedFileError(f"The saved array {name!r} is of type {arrays[name].dtype}.")
    return arrays[name]


def are_sets(words: UInt32[np.ndarray, "N W"], space: AttributeSpace) -> bool:
    """Whether every attribute has one of its values, and no other bit is set."""
    values = np.asarray(space.unpack(words))
    return bool((values < space.sizes).all()) and np.array_equal(np.asarray(space.pack(values)), words)


def are_ascending(words: UInt32[np.ndarray, "N W"]) -> bool:
    """Whether rows are in ascending order, without duplicates; the last column is the most significant."""
    before, after = words[:-1], words[1:]
    rises: Bool[np.ndarray, " n"] = np.zeros(len(before), bool)
    equal = np.ones(len(before), bool)
    for column in reversed(range(words.shape[1])):
        rises |= equal & (before[:, column] < after[:, column])
        equal &= before[:, column] == after[:, column]
    return bool(rises.all())
