"""Attempts as plain arrays, and groups of them in which the same attributes change in the same way."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int, UInt32

from attribute_planner.attributes import AttributeSpace, value_text
from attribute_planner.transitions.counting import RowIndex

UNCHANGED = -1
"""Value of an attribute that a change leaves as it is."""

MAX_ATTEMPTS = 2000
"""Largest number of attempts of a group, the latest first: the policy has changed since the older ones."""

AGES = 4
"""Number of consecutive periods within which attempts are compared: success also changes because the policy learns."""


@dataclass(frozen=True)
class AttemptRecord:
    """Attempts at edges, one row each.

    observation: the flat observation at the start (`given_observation`), as the agent receives it.
    source, target: the packed attribute sets that the edge joins.
    reached: whether the attempt arrived.
    last_observation: the observation at its end; it distinguishes an attribute, which persists, from a position.
    epoch: when it was made; larger is later.
    episode: the episode it belongs to. Attempts of one episode are not independent evidence.
    """

    observation: Float[np.ndarray, "N D"]
    source: UInt32[np.ndarray, "N W"]
    target: UInt32[np.ndarray, "N W"]
    reached: Bool[np.ndarray, " N"]
    last_observation: Float[np.ndarray, "N D"] | None = None
    epoch: Int[np.ndarray, " N"] | None = None
    episode: Int[np.ndarray, " N"] | None = None

    def __len__(self) -> int:
        return len(self.reached)


@dataclass(frozen=True)
class AttemptGroup:
    """Attempts at one edge, or at all edges that change the same attributes from and to the same values.

    rows: the attempts, as rows of the record.
    stratum: attempts at the same edge in the same period. Success is compared within a stratum only: what differs
        between edges is explained by the attributes that are there already.
    edge: the edge of each attempt.
    words: the change as text.
    """

    rows: Int[np.ndarray, " n"]
    stratum: Int[np.ndarray, " n"]
    edge: Int[np.ndarray, " n"]
    words: str


def pooled_groups(records: AttemptRecord, space: AttributeSpace) -> list[AttemptGroup]:
    """One group for every change."""
    source, target = (np.asarray(space.unpack(words)) for words in (records.source, records.target))
    changed = source != target
    number = _numbered(np.concatenate([np.where(changed, each, UNCHANGED) for each in (source, target)], axis=1))
    edge = _numbered(np.concatenate([source, target], axis=1))
    return [_group(records, space, np.flatnonzero(number == each), edge) for each in range(number.max(initial=-1) + 1)]


def together(groups: Sequence[AttemptGroup]) -> AttemptGroup:
    """The attempts of several groups as one; their strata stay apart."""
    first = np.cumsum([0, *(each.stratum.max() + 1 for each in groups)])
    stratum = [each.stratum + start for each, start in zip(groups, first, strict=False)]
    rows, edge = ([getattr(each, name) for each in groups] for name in ("rows", "edge"))
    return AttemptGroup(np.concatenate(rows), np.concatenate(stratum), np.concatenate(edge), "")


def edge_groups(records: AttemptRecord, space: AttributeSpace, group: AttemptGroup) -> list[AttemptGroup]:
    """One group for every edge of a pooled group, if there are several."""
    edges = np.unique(group.edge)
    if len(edges) < 2:
        return []
    edge = np.zeros(len(records), int)
    edge[group.rows] = group.edge
    return [_group(records, space, group.rows[group.edge == each], edge) for each in edges]


def _group(records: AttemptRecord, space: AttributeSpace, rows: np.ndarray, edge: np.ndarray) -> AttemptGroup:
    period = np.zeros(len(rows), int)
    if records.epoch is not None:
        rows = rows[np.argsort(records.epoch[rows], kind="stable")][-MAX_ATTEMPTS:]
        _, first, epoch = np.unique(records.epoch[rows], return_index=True, return_inverse=True)
        period = (first * AGES // len(rows))[epoch]
    rows, period = rows[-MAX_ATTEMPTS:], period[-MAX_ATTEMPTS:]
    stratum = _numbered(np.stack([edge[rows], period], axis=1))
    return AttemptGroup(rows, stratum, edge[rows], _words(records, space, rows, len(np.unique(edge[rows])) == 1))


def _words(records: AttemptRecord, space: AttributeSpace, rows: np.ndarray, is_single: bool) -> str:
    """`room from left to right`, and what else holds if there is only one edge."""
    before, after = (np.asarray(space.unpack(words[rows[0]])) for words in (records.source, records.target))
    return change_words(space, before, after, rest=is_single)


def change_words(
    space: AttributeSpace, source: Int[np.ndarray, " A"], target: Int[np.ndarray, " A"], *, rest: bool
) -> str:
    """`room from left to right`, and if `rest` the values of all other attributes."""
    before, after = space.decode(source), space.decode(target)
    changed = [name for name in before if before[name] != after[name]]
    changes = [f"{name} from {value_text(before[name])} to {value_text(after[name])}" for name in changed]
    others = [f"{name}={value_text(value)}" for name, value in before.items() if name not in changed]
    context = f" with {', '.join(others)}" if rest and others else ""
    return " and ".join(changes) + context


def _numbered(rows: np.ndarray) -> np.ndarray:
    """`[N]` equal rows of integers get equal numbers from 0."""
    if not len(rows):
        return np.zeros(0, int)
    return RowIndex(rows.shape[1]).number(np.ascontiguousarray(rows, np.int32).view(np.uint32))
