"""How the network encodes each part of an observation, one line each, for `check_environment`."""

from collections.abc import Iterator

import numpy as np

from attribute_planner.environments.seen_from_agent import cells_of, for_acting, markers_in
from attribute_planner.environments.spaces import FlatSpec, ImageSpec, ObservationSpec, Part, VectorSpec
from attribute_planner.models.observation_scaling import initial_statistics, layout_of, related_numbers, updated
from attribute_planner.models.relations import MOST_COMPARED


def observation_lines(
    spec: ObservationSpec, observations: np.ndarray, *, looked_for_agent: bool = False
) -> tuple[str, ...]:
    """A line for each part, by what was seen in observations `[N, *shape]`.

    looked_for_agent: whether an agent was looked for in grids and images.
    """
    spec = for_acting(spec)
    if isinstance(spec, FlatSpec):
        statistics = updated(initial_statistics(spec), spec, observations)
        coded = np.zeros(spec.shape, bool)
        coded[layout_of(spec).numbers.place] = np.asarray(statistics.coded) > 0
        found = markers_in(spec)
        lines = []
        for part, line in _part_lines(spec, observations, coded):
            without = looked_for_agent and cells_of(part) and not part.seen_from and part.name not in found
            named = f"{part.name}: {line}" if part.name else line
            lines.append(f"{named}; no agent found in it" if without else named)
        return (*lines, *_related_lines(spec, coded | _is_constant(observations)))
    if isinstance(spec, ImageSpec):
        return (f"an image of {_shown(spec.shape)}, convolved",)
    if isinstance(spec, VectorSpec):
        return (f"{spec.size} numbers, unchanged",)
    return (f"at most {spec.count} of {spec.vocabulary} words",)


def bounds_warnings(
    spec: ObservationSpec, bounds: tuple[tuple[float, float], ...] | None, observations: np.ndarray
) -> list[str]:
    """A warning for each part whose values in observations `[N, *shape]` lie outside its declared bounds."""
    if not isinstance(spec, FlatSpec) or bounds is None or not len(observations):
        return []
    warnings, start = [], 0
    for part, (low, high) in zip(spec.parts, bounds, strict=True):
        values = observations[:, start : start + part.size]
        least, most, start = float(values.min()), float(values.max()), start + part.size
        margin = ROUNDING * max(abs(least), abs(most), 1.0)
        if least < low - margin or most > high + margin:
            which = f"observation {part.name!r}" if part.name else "the observation"
            warnings.append(
                f"{which} had values from {least:.4g} to {most:.4g}; its space says {low:.4g} to {high:.4g}."
            )
    return warnings


ROUNDING = 1e-5
"""Relative error of numbers that are stored with single precision."""


def _related_lines(spec: FlatSpec, left_out: np.ndarray) -> Iterator[str]:
    """How many numbers are compared with each other, and if they are too many."""
    related = related_numbers(spec)
    count = int((~left_out[layout_of(spec).numbers.place[related]]).sum())
    if len(related) > MOST_COMPARED:
        yield f"the {len(related):,} numbers are not compared with each other: more than {MOST_COMPARED}"
    elif count > 1:
        yield f"the {count} numbers that are normalised are also compared with each other"


def _part_lines(spec: FlatSpec, observations: np.ndarray, coded: np.ndarray) -> Iterator[tuple[Part, str]]:
    start = 0
    for part in spec.parts:
        inside = slice(start, start + part.size)
        yield part, _line(part, observations[:, inside], coded[inside])
        start += part.size


def _line(part: Part, values: np.ndarray, coded: np.ndarray) -> str:
    if part.kind == "image":
        moved = ", moved so that the agent is in its middle" if part.seen_from else ""
        return f"an image of {_shown(part.shape)}, in patches{moved}"
    if part.kind == "text":
        return f"text, {len(np.unique(values, axis=0))} different seen; the first {part.size} words, one-hot by hash"
    if part.kind == "choice":
        many = f"{_shown(part.shape)} choices of up to" if part.size > 1 else "a choice of"
        return f"{many} {part.slots}, one-hot"
    many = f"{_shown(part.shape)} {'integers' if part.integers else 'numbers'}" if part.size > 1 else "a number"
    treatment = "the policy sees it from the agent" if part.kind == "unused" else _treatment(part, values, coded)
    turned = "; turned so that the agent faces up" if part.seen_from and part.seen_from.headings else ""
    return f"{many}, {values.min():.4g} to {values.max():.4g} seen; {treatment}{turned}"


def _treatment(part: Part, values: np.ndarray, coded: np.ndarray) -> str:
    """What is done to the numbers of a part, and to how many of them."""
    constant = _is_constant(values)
    counts = {
        "one-hot" if part.slots else "unchanged": int((coded & ~constant).sum()),
        "normalised": int((~coded & ~constant).sum()),
        "constant so far": int(constant.sum()),
    }
    used = {what: count for what, count in counts.items() if count}
    return next(iter(used)) if len(used) == 1 else ", ".join(f"{count} {what}" for what, count in used.items())


def _is_constant(values: np.ndarray) -> np.ndarray:
    """Which numbers never changed."""
    return (values == values[:1]).all(axis=0)


def _shown(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape))
