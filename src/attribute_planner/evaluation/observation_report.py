"""How the network encodes each part of an observation, one line each, for `check_environment`."""

from collections.abc import Iterator

import numpy as np

from attribute_planner.environments.spaces import FlatSpec, ImageSpec, ObservationSpec, Part, VectorSpec
from attribute_planner.models.observation_scaling import initial_statistics, layout_of, updated


def observation_lines(spec: ObservationSpec, observations: np.ndarray) -> tuple[str, ...]:
    """A line for each part, by what was seen in observations `[N, *shape]`."""
    if isinstance(spec, FlatSpec):
        return tuple(f"{part.name}: {line}" if part.name else line for part, line in _part_lines(spec, observations))
    if isinstance(spec, ImageSpec):
        return (f"an image of {_shown(spec.shape)}, convolved",)
    if isinstance(spec, VectorSpec):
        return (f"{spec.size} numbers, unchanged",)
    return (f"at most {spec.count} of {spec.vocabulary} words",)


def _part_lines(spec: FlatSpec, observations: np.ndarray) -> Iterator[tuple[Part, str]]:
    statistics = updated(initial_statistics(spec), spec, observations)
    coded = np.zeros(spec.shape, bool)
    coded[layout_of(spec).numbers.place] = np.asarray(statistics.coded) > 0
    start = 0
    for part in spec.parts:
        inside = slice(start, start + part.size)
        yield part, _line(part, observations[:, inside], coded[inside])
        start += part.size


def _line(part: Part, values: np.ndarray, coded: np.ndarray) -> str:
    if part.kind == "image":
        return f"an image of {_shown(part.shape)}, convolved"
    if part.kind == "text":
        return f"text, {len(np.unique(values, axis=0))} different seen; the first {part.size} words, one-hot by hash"
    if part.kind == "choice":
        many = f"{_shown(part.shape)} choices of up to" if part.size > 1 else "a choice of"
        return f"{many} {part.slots}, one-hot"
    many = f"{_shown(part.shape)} {'integers' if part.integers else 'numbers'}" if part.size > 1 else "a number"
    return f"{many}, {values.min():.4g} to {values.max():.4g} seen; {_treatment(part, values, coded)}"


def _treatment(part: Part, values: np.ndarray, coded: np.ndarray) -> str:
    """What is done to the numbers of a part, and to how many of them."""
    constant = (values == values[:1]).all(axis=0)
    counts = {
        "one-hot" if part.slots else "unchanged": int((coded & ~constant).sum()),
        "normalised": int((~coded & ~constant).sum()),
        "constant so far": int(constant.sum()),
    }
    used = {what: count for what, count in counts.items() if count}
    return next(iter(used)) if len(used) == 1 else ", ".join(f"{count} {what}" for what, count in used.items())


def _shown(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape))
