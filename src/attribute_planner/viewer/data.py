"""Attributes, plans and transitions as data for the page. Sets are lists of value numbers; the page has the words."""

import base64
import io
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Int, UInt8
from PIL import Image

from attribute_planner.attributes import Attribute
from attribute_planner.planning.plan import Plan
from attribute_planner.transitions.evidence import EdgeEvidence
from attribute_planner.transitions.model import Listing
from attribute_planner.transitions.numbering import UNKNOWN, NumberedSets

NOTHING = EdgeEvidence(0.0, 0.0, 0.0, 0.0)
"""The evidence of a transition that is not listed."""


def space_json(sets: NumberedSets) -> list[dict[str, Any]]:
    """The attributes with their values and groups, and in which share of the known sets each is not its first value."""
    space = sets.space
    shares = (sets.values > 0).mean(axis=0).round(4).tolist() if sets.num_nodes else [0.0] * len(space)
    columns = zip(space, groups_of(space.names), shares, strict=True)
    return [{**_attribute_json(attribute), "group": group, "share": share} for attribute, group, share in columns]


def _attribute_json(attribute: Attribute) -> dict[str, Any]:
    values = attribute.values
    known = {"start": values.start, "step": values.step} if isinstance(values, range) else {"values": list(values)}
    return {"name": attribute.name, "kind": attribute.kind, "size": attribute.size, **known}


def groups_of(names: Sequence[str]) -> list[str]:
    """The group of each name: what it shares with others. `switch_0` and `switch_1` are of the group `switch`;
    `red_left_of_blue` and `blue_left_of_red`, relations of two things, are of the group `_left_of_`."""
    words = [name.split("_") for name in names]
    numbered = ["_".join(part for part in each if not part.isdigit()) for each in words]
    related = [f"_{'_'.join(each[1:-1])}_" if len(each) > 2 else "" for each in words]
    first = [each[0] for each in words]
    candidates = [_shared(numbered, 2), _shared(related, 3), _shared(first, 2)]
    return [next((group for group in options if group), "") for options in zip(*candidates, strict=True)]


def _shared(groups: Sequence[str], least: int) -> list[str]:
    count = Counter(groups)
    return [group if count[group] >= least else "" for group in groups]


def set_json(values: Int[np.ndarray, " A"]) -> list[int]:
    """An attribute set."""
    return np.asarray(values).tolist()


def evidence_json(evidence: EdgeEvidence, probability: float | None = None) -> dict[str, Any]:
    """What is known of a transition; `probability` is that within an episode, if it differs from c_π."""
    return {
        "probability": evidence.probability if probability is None else probability,
        "practised": evidence.probability,
        "attempts": round(evidence.attempts, 1),
        "successes": round(evidence.successes, 1),
        "visits": round(evidence.visits),
        "tried": evidence.is_tried,
    }


def edge_between(listing: Listing, source: Int[np.ndarray, " A"], target: Int[np.ndarray, " A"]) -> EdgeEvidence | None:
    """What is known of the transition between two sets; `None` if it is not listed."""
    ends = listing.number_of(source), listing.number_of(target)
    if UNKNOWN in ends:
        return None
    edge = listing.edge(*ends)
    row = listing.edges_of(ends[0])
    return listing.evidence(edge) if edge < row.stop and listing.target[edge] == ends[1] else None


def edge_json(listing: Listing, source: Int[np.ndarray, " A"], target: Int[np.ndarray, " A"]) -> dict[str, Any]:
    """What is known of the transition between two sets; its probability is `None` if it is not listed."""
    known = edge_between(listing, source, target)
    return {**evidence_json(NOTHING), "probability": None} if known is None else evidence_json(known)


def plan_json(plan: Plan) -> dict[str, Any]:
    """A plan with the evidence of each transition."""
    return {
        "reachable": plan.reachable,
        "probability": plan.probability,
        "reason": plan.reason,
        "horizon": plan.horizon if np.isfinite(plan.horizon) else None,
        "sets": [set_json(values) for values in plan.values],
        "edges": [evidence_json(each, p) for each, p in zip(plan.evidence, plan.edges, strict=True)],
    }


def image_url(image: UInt8[np.ndarray, "H W C"], compress_level: int = 1) -> str:
    """An image as a PNG inside an address; a low level of compression is fast, a high one small."""
    drawn = io.BytesIO()
    Image.fromarray(image).save(drawn, format="PNG", compress_level=compress_level)
    return "data:image/png;base64," + base64.b64encode(drawn.getvalue()).decode()
