"""Warnings about attributes for `check_environment`: values that never occur, attributes that no action affects."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Int

from attribute_planner.attributes import AttributeSpace, Goal

MAX_LISTED, MAX_ATTRIBUTES = 6, 12
"""More values of an attribute, and more attributes, are counted, not listed."""

FEWEST_CHANGES = 3
"""Changes of an attribute from which we judge whether actions affect it."""


def values_seen(space: AttributeSpace) -> list[Bool[np.ndarray, " n"]]:
    """For each attribute, which of its values have been seen: none yet."""
    return [np.zeros(size, bool) for size in space.sizes]


def fixed_attributes(
    space: AttributeSpace, changed: Bool[np.ndarray, " A"], seen: Sequence[np.ndarray]
) -> tuple[str, ...]:
    """The attributes that differ between episodes and do not change in any."""
    columns = zip(space.names, changed, seen, strict=True)
    return tuple(name for name, has_changed, had in columns if had.sum() > 1 and not has_changed)


def unseen_value_warnings(space: AttributeSpace, seen: Sequence[np.ndarray], steps: int) -> list[str]:
    """A warning if attributes have values that did not occur."""
    unseen = [
        f"{attribute.name}={_enumerated([attribute.text(value) for value in np.flatnonzero(~had)])}"
        for attribute, had in zip(space.attributes, seen, strict=True)
        if not had.all()
    ]
    if not unseen:
        return []
    if len(unseen) > MAX_ATTRIBUTES:
        unseen = [*unseen[:MAX_ATTRIBUTES], f"and values of {len(unseen) - MAX_ATTRIBUTES} more attributes"]
    return [
        f"not seen in {steps:,} random steps: {'; '.join(unseen)}. That is usual for what takes skill; leave out only "
        "what cannot occur."
    ]


def unseen_goal_warning(
    space: AttributeSpace, task: str, goals: Goal, seen: Sequence[np.ndarray], steps: int
) -> list[str]:
    """A warning if goals `[N]` of a task ask for values that have not been seen."""
    wanted, values = np.asarray(goals.wanted), np.asarray(goals.values)
    at_least = np.zeros_like(wanted) if goals.at_least is None else np.asarray(goals.at_least)
    asked: dict[str, np.ndarray] = {}
    for number, (attribute, had) in enumerate(zip(space.attributes, seen, strict=True)):
        possible = np.array([had[value:].any() for value in range(len(had))])
        missing = wanted[:, number] & np.where(
            at_least[:, number], ~possible[values[:, number]], ~had[values[:, number]]
        )
        for value in np.unique(values[missing, number]).tolist():
            asked[f"{attribute.name}={attribute.text(value)}"] = missing & (values[:, number] == value)
    if not asked:
        return []
    count = int(np.any(list(asked.values()), axis=0).sum())
    which = "asks" if count == len(wanted) else f"{count} of {len(wanted)} goals ask"
    return [f"task {task!r}: {which} for {_enumerated(list(asked))}, not seen in {steps:,} random steps."]


def control_warnings(
    space: AttributeSpace,
    first: Int[np.ndarray, "T B A"],
    repeated: Int[np.ndarray, "T B A"],
    other: Int[np.ndarray, "T B A"],
    until: Int[np.ndarray, " B"],
) -> list[str]:
    """Warnings about attributes that do not depend on the actions.

    first, repeated: values after each step with the same random keys and the same actions.
    other: values with the same random keys and other actions.
    until: how many steps of each environment can be compared: no episode has ended before.
    """
    shown = np.arange(len(first))[:, None, None] < until[:, None]
    irreproducible = ((first != repeated) & shown).any(axis=(0, 1))
    uncontrolled = ~irreproducible & unaffected_by_actions(first, other, shown)
    warnings = [
        f"attribute {name!r} changes in the same way whatever the actions are: it is noise or a clock, which no agent "
        "can control."
        for name, is_uncontrolled in zip(space.names, uncontrolled, strict=True)
        if is_uncontrolled
    ]
    if irreproducible.any():
        listed = _enumerated([repr(space.names[number]) for number in np.flatnonzero(irreproducible)])
        warnings.append(
            f"the same seed and the same actions give other values of {listed}: either that is noise, or the "
            "environment takes random numbers that do not follow from its seed."
        )
    return warnings


def unaffected_by_actions(
    first: Int[np.ndarray, "T B A"], other: Int[np.ndarray, "T B A"], shown: Bool[np.ndarray, "T B 1"]
) -> Bool[np.ndarray, " A"]:
    """Which attributes change, and have the same values after each step that is `shown`, with other actions."""
    changes = ((first[1:] != first[:-1]) & shown[1:]).sum(axis=(0, 1))
    differs = ((first != other) & shown).any(axis=(0, 1))
    return ~differs & (changes >= FEWEST_CHANGES)


def _enumerated(names: list[str]) -> str:
    if len(names) > MAX_LISTED:
        names = [*names[:MAX_LISTED], f"{len(names) - MAX_LISTED} more"]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
