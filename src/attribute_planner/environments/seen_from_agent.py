"""Parts of an observation that repeat a grid or an image, seen from the agent in it."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Shaped

from attribute_planner.environments.centring import (
    RandomSteps,
    cell_keys,
    cell_types,
    distances,
    find_marker,
    place_of,
    surroundings,
)
from attribute_planner.environments.space_specs import FlatSpec, Marker, Part

Read = Callable[[Any], np.ndarray]
"""Reads the values of one part, as a flat array, from an observation."""

SMALLEST_SIDE = 4
"""In smaller grids the agent is not looked for."""
WINDOW = 9
"""Number of cells on a side of the surroundings in a grid; those in an image are as large as the image."""
MAX_TYPES = 64
"""With more types of cells, only images are seen from the agent, and without distances."""
AGENT, NEW, OUTSIDE = range(3)
"""What follows the types of cells in the surroundings: the agent, a type that was never seen, and beyond the edge."""

AROUND, DISTANCES = "around the agent", "as distances from the agent"
"""What the names of parts end with that are seen from the agent."""


class ReadPart(NamedTuple):
    """A part of an observation, the function that reads it, and its lowest and highest value."""

    part: Part
    read: Read
    low: float
    high: float


def cells_of(part: Part) -> Read | None:
    """Brings the flat values of a grid or an image into the shape `[H, W, C]`; `None` for any other part."""
    shape = (*part.shape, 1) if len(part.shape) == 2 else part.shape
    is_grid = part.kind == "numbers" and part.integers and part.slots > 0 and len(shape) == 3
    if part.kind != "image" and not is_grid:
        return None
    channels_first = is_grid and shape[0] != shape[1] == shape[2]
    if min(shape[1:] if channels_first else shape[:2]) < SMALLEST_SIDE:
        return None
    return lambda values: np.moveaxis(values.reshape(shape), 0, -1) if channels_first else values.reshape(shape)


def markers_of(parts: Iterable[ReadPart], steps: RandomSteps) -> dict[str, Marker]:
    """The agent in those parts that show it, by name, from some random steps."""
    markers = {}
    for part, read, *_ in parts:
        cells = cells_of(part)
        if cells is not None:
            shown = np.stack([cells(read(observation)) for observation in steps.observations])
            marker = find_marker(shown, steps, image=part.kind == "image")
            markers |= {} if marker is None else {part.name: marker}
    return markers


def markers_in(spec: FlatSpec) -> dict[str, Marker]:
    """The same, from the parts that are seen from the agent."""
    seen = [part for part in spec.parts if part.around is not None]
    return {
        part.name.removesuffix(AROUND).removesuffix(DISTANCES).rstrip(): part.around for part in seen if part.around
    }


def completed(given: Shaped[np.ndarray, "*lead D"], spec: FlatSpec) -> Shaped[np.ndarray, "*lead size"]:
    """Observations whose parts are all given but those that are seen from the agent, with these."""
    parts, end = [], 0
    for part in spec.parts:
        if part.around is None:
            start, end = end, end + part.size
            kind = np.int64 if part.integers else given.dtype  # beside other numbers, integers are stored like them
            parts.append(ReadPart(part, lambda row, i=slice(start, end), kind=kind: row[i].astype(kind), 0, 0))
    markers = markers_in(spec)
    parts += [seen for each in parts if each.part.name in markers for seen in from_agent(each, markers[each.part.name])]
    rows = given.reshape(-1, given.shape[-1])
    whole = np.stack([np.concatenate([each.read(row) for each in parts]) for row in rows])
    return whole.astype(spec.dtype).reshape(*given.shape[:-1], -1)


def from_agent(whole: ReadPart, marker: Marker) -> list[ReadPart]:
    """What the agent in a grid or an image has around it, and how far it is to each type of cell."""
    part, read, low, high = whole
    cells, is_image, others = cells_of(part), part.kind == "image", np.array(marker.others)
    assert cells is not None, "only grids and images show an agent"
    height, width, _ = cells(np.zeros(part.size)).shape
    name = f"{part.name} {AROUND}".lstrip()

    def view(observation: Any) -> np.ndarray:
        """An image as it is; in a grid the number of each cell's type, then `AGENT`, `NEW` or `OUTSIDE`."""
        shown = cells(read(observation))
        keys = cell_keys(shown, image=is_image)
        place = place_of(marker, keys)
        if is_image:
            return surroundings(shown, place, (height, width), 0).reshape(-1)
        types = cell_types(shown)
        number = np.minimum(np.searchsorted(others, types), len(others) - 1)
        number = np.where(others[number] == types, number, len(others) + NEW)
        number = np.where(np.isin(keys, marker.keys).any(axis=-1), len(others) + AGENT, number)
        return surroundings(number[..., None], place, (WINDOW, WINDOW), len(others) + OUTSIDE).reshape(-1)

    def measure(observation: Any) -> np.ndarray:
        """The distances to all other types of cells, then where the agent is."""
        shown = cells(read(observation))
        place = place_of(marker, cell_keys(shown, image=is_image))
        ways = distances(cell_types(shown), place, marker.others).reshape(-1)
        return np.append(ways, (0, 0, 0) if place is None else (1, *place))

    slots, far = len(others) + OUTSIDE + 1, max(height, width) - 1
    if is_image:
        found = [ReadPart(replace(part, name=name, around=marker), view, low, high)]
    else:
        window = Part(name, (WINDOW, WINDOW), "numbers", 0, slots, around=marker)
        found = [ReadPart(window, view, 0, slots - 1)] if slots <= MAX_TYPES else []
    if len(others) <= MAX_TYPES:
        ways = Part(f"{part.name} {DISTANCES}".lstrip(), (len(others) + 1, 3), "numbers", around=marker)
        found.append(ReadPart(ways, measure, -far, max(far, 1)))
    return found
