"""Missing attributes: if the success of an edge depends on the observation, find the split that predicts it.

For every change with enough attempts of both outcomes, a split is found on one half of the attempts and tested on the
other, and the other way round; both tests must be significant, corrected for the number of changes that are tested. If
no change has enough attempts by itself, all are tested together: what is missing often decides several changes. A split
that was found with one change is then tested with the others, for which none is searched: fewer attempts suffice.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import jax
import numpy as np
from jaxtyping import Int

from attribute_planner.aliasing.evidence import Evidence, combined, evidence_for
from attribute_planner.aliasing.finding import Aliasing
from attribute_planner.aliasing.persistence import is_attribute_like
from attribute_planner.aliasing.records import AttemptGroup, AttemptRecord, edge_groups, pooled_groups, together
from attribute_planner.aliasing.split_search import Blocks, best_split, one_hot_blocks
from attribute_planner.attributes import AttributeSpace
from attribute_planner.environments.splits import ComponentName, Split, indexed_name

Key = jax.Array

MIN_OUTCOMES = 10
"""Least number of successes, and of failures, in each half of the attempts."""

SIGNIFICANCE = 0.01
"""Probability of a false finding, over all changes that are tested."""

MIN_AUC = 0.65
"""Least lower end of the interval of the held-out AUC: much better than chance, not only significantly."""

SAME_SPLIT = 0.95
"""Two splits that agree on this share of the observations are the same attribute."""


@dataclass(frozen=True)
class Tested:
    """A group of attempts, the best split of it, and the held-out evidence for splits found in this way.

    p_value: the larger one of the two halves.
    """

    group: AttemptGroup
    split: Split
    evidence: Evidence
    p_value: float


def find_aliasing(
    records: AttemptRecord, space: AttributeSpace, *, key: Key, component_name: ComponentName = indexed_name
) -> list[Aliasing]:
    """The changes whose success depends on the observation, those that explain most failures first.

    component_name: the name of a component of the flat observation, for messages.
    """
    random = np.random.default_rng(np.asarray(jax.random.key_data(key)))
    blocks = one_hot_blocks(records.observation)
    tested: list[Tested] = []
    num_tests = 0
    groups = pooled_groups(records, space)
    for pooled in groups:
        result = examine(records, pooled, blocks, random)
        num_tests += result is not None
        if result is not None and is_convincing(result, num_tests=1):
            tested.append(result)
            continue
        # If the edges of a change differ, one of them alone may still depend on the observation.
        single = [examine(records, each, blocks, random) for each in edge_groups(records, space, pooled)]
        tested += [each for each in single if each is not None]
        num_tests += sum(each is not None for each in single)
    convincing = [each for each in tested if is_convincing(each, num_tests)]
    if not convincing and len(groups) > 1:
        whole = examine(records, together(groups), blocks, random)
        if whole is not None and is_convincing(whole, num_tests + 1):
            return _common_findings(records, groups, whole, component_name)
    findings = [_finding(records, each, component_name) for each in convincing]
    different = distinct(sorted(findings, key=lambda finding: -finding.failures_explained), records)
    return [_with_confirmed(records, each, groups, random) for each in different]


def examine(records: AttemptRecord, group: AttemptGroup, blocks: Blocks, random: np.random.Generator) -> Tested | None:
    """Find and test a split; `None` if there are too few attempts of either outcome, or nothing varies."""
    group = _informative(records, group)
    half = _halves(records, group, random)
    reached = records.reached[group.rows]
    outcomes = [np.bincount(reached[part], minlength=2).min() for part in (half, ~half)]
    if min(outcomes) < MIN_OUTCOMES:
        return None
    parts = [_held_out(records, group, fitted, blocks, random) for fitted in (half, ~half)]
    split = _fit(records, group, np.ones(len(half), bool), blocks, random)
    if split is None or any(part is None for part in parts):
        return None
    one, other = (part for part in parts if part is not None)
    return Tested(group, split, combined(one, other), max(one.p_value, other.p_value))


def is_convincing(tested: Tested, num_tests: int) -> bool:
    """Whether the split separates far better than chance, when so many groups are tested."""
    return tested.p_value * num_tests <= SIGNIFICANCE and tested.evidence.auc[1] >= MIN_AUC


def distinct(findings: list[Aliasing], records: AttemptRecord) -> list[Aliasing]:
    """The findings with different splits; the changes of the others are listed with the first one of their split."""
    kept: list[tuple[Aliasing, np.ndarray]] = []
    for finding in findings:
        side = np.asarray(finding.split.holds(records.observation))
        for place, (other, other_side) in enumerate(kept):
            agreement = (side == other_side).mean()
            if max(agreement, 1 - agreement) >= SAME_SPLIT:
                kept[place] = other.with_change(finding.change), other_side
                break
        else:
            kept.append((finding, side))
    return [finding for finding, _ in kept]


def _finding(records: AttemptRecord, tested: Tested, component_name: ComponentName) -> Aliasing:
    failures = int((~records.reached[tested.group.rows]).sum())
    evidence, (outside, inside) = tested.evidence, tested.evidence.rates
    explained = max(inside - outside, 0.0) * evidence.attempts[0]
    return Aliasing(
        change=tested.group.words,
        split=tested.split,
        attempts=evidence.attempts,
        successes=evidence.successes,
        auc=evidence.auc[0],
        interval=evidence.auc[1:],
        failures_explained=explained,
        share_explained=min(explained / max(failures, 1), 1.0),
        is_attribute=is_attribute_like(records, tested.group.rows, tested.split, evidence.rates),
        condition=tested.split.words(component_name),
    )


def _common_findings(
    records: AttemptRecord, groups: Sequence[AttemptGroup], tested: Tested, component_name: ComponentName
) -> list[Aliasing]:
    """The finding about a split that decides several changes, those that fail most often first."""
    failed = ~records.reached & ~np.asarray(tested.split.holds(records.observation))
    decided = np.isin(np.arange(len(records)), tested.group.rows)
    failures = {each.words: int((failed & decided)[each.rows].sum()) for each in groups}
    changes = sorted((words for words in failures if failures[words]), key=lambda words: -failures[words])
    found = _finding(records, tested, component_name)
    return [replace(found, change=changes[0], also=tuple(changes[1:]), pooled=True)] if changes else []


def _informative(records: AttemptRecord, group: AttemptGroup) -> AttemptGroup:
    """The attempts of strata in which both outcomes occur: the others are explained by the known attributes."""
    reached = records.reached[group.rows]
    successes = np.bincount(group.stratum, weights=reached)
    is_mixed = (successes > 0) & (successes < np.bincount(group.stratum))
    keep = is_mixed[group.stratum]
    return AttemptGroup(group.rows[keep], group.stratum[keep], group.edge[keep], group.words)


def _halves(records: AttemptRecord, group: AttemptGroup, random: np.random.Generator) -> np.ndarray:
    """`bool[n]` a random half of the attempts: of whole episodes if they are known, else with half of each outcome."""
    if records.episode is not None:
        episodes, episode = np.unique(records.episode[group.rows], return_inverse=True)
        return (random.permutation(len(episodes)) % 2 == 0)[episode]
    shuffled = random.permutation(len(group.rows))
    rank = np.empty(len(shuffled), int)
    rank[shuffled[np.argsort(records.reached[group.rows][shuffled], kind="stable")]] = np.arange(len(shuffled))
    return rank % 2 == 0


def _fit(
    records: AttemptRecord, group: AttemptGroup, fitted: np.ndarray, blocks: Blocks, random: np.random.Generator
) -> Split | None:
    rows, stratum = group.rows[fitted], group.stratum[fitted]
    reached = records.reached[rows].astype(float)
    mean = np.bincount(stratum, weights=reached) / np.maximum(np.bincount(stratum), 1)
    return best_split(records.observation[rows], reached - mean[stratum], blocks, random)


def _held_out(
    records: AttemptRecord, group: AttemptGroup, fitted: np.ndarray, blocks: Blocks, random: np.random.Generator
) -> Evidence | None:
    """The evidence of the attempts that were not fitted for the split of those that were."""
    split = _fit(records, group, fitted, blocks, random)
    if split is None:
        return None
    return _evidence(records, group.rows[~fitted], group.stratum[~fitted], split, random)


def _evidence(
    records: AttemptRecord, rows: np.ndarray, stratum: np.ndarray, split: Split, random: np.random.Generator
) -> Evidence | None:
    """The evidence of attempts for a split; `None` if none of their strata is on both sides."""
    holds = np.asarray(split.holds(records.observation[rows]))
    counted = _independent(records, rows, holds, random)
    evidence = evidence_for(holds[counted], records.reached[rows[counted]], stratum[counted])
    return evidence if len(evidence.counts) else None


def _with_confirmed(
    records: AttemptRecord, found: Aliasing, groups: Sequence[AttemptGroup], random: np.random.Generator
) -> Aliasing:
    """The finding with the other changes whose attempts confirm its split."""
    for group in (each for each in groups if each.words not in (found.change, *found.also)):
        informative = _informative(records, group)
        evidence = _evidence(records, informative.rows, informative.stratum, found.split, random)
        if evidence is not None and evidence.p_value <= SIGNIFICANCE and evidence.auc[0] >= MIN_AUC:
            found = found.with_change(group.words)
    return found


def _independent(
    records: AttemptRecord, rows: np.ndarray, holds: np.ndarray, random: np.random.Generator
) -> Int[np.ndarray, " k"]:
    """Which attempts count as evidence: one of each episode and side, drawn at random; all if episodes are unknown."""
    if records.episode is None:
        return np.arange(len(rows))
    shuffled = random.permutation(len(rows))
    pairs = 2 * records.episode[rows[shuffled]].astype(np.int64) + holds[shuffled]
    return shuffled[np.unique(pairs, return_index=True)[1]]
