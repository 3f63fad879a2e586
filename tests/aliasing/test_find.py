"""Attempts in worlds whose missing attribute is known."""

import json
from dataclasses import replace

import jax
import numpy as np
import pytest

from attribute_planner.aliasing.find import find_aliasing
from attribute_planner.aliasing.finding import Aliasing
from attribute_planner.aliasing.records import AttemptRecord
from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.environments.splits import Codes, Split, Threshold

SPACE = AttributeSpace((Attribute("room", ("left", "right")), Attribute("lamp")))
LEFT, RIGHT, LEFT_LIT, RIGHT_LIT = ([0, 0], [1, 0], [0, 1], [1, 1])
SEEDS, FEW_SEEDS = range(20), range(6)
HIDDEN = 3
"""The component that shows the hidden bit."""


def attempts(observation: np.ndarray, chance: np.ndarray, random: np.random.Generator, **fields) -> AttemptRecord:
    """Attempts to go from the left to the right room, each with its own chance of success."""
    n = len(chance)
    source, target = (np.tile(np.asarray(SPACE.pack(np.array(each, np.int32))), (n, 1)) for each in (LEFT, RIGHT))
    return AttemptRecord(observation.astype(np.float32), source, target, random.random(n) < chance, **fields)


def noise(random: np.random.Generator, n: int) -> np.ndarray:
    """Observations that say nothing: five numbers, three bits, two codes."""
    bits, codes = random.integers(2, size=(n, 3)), random.integers(6, size=(n, 2))
    return np.concatenate([random.normal(size=(n, 5)), bits, codes], axis=1)


def hidden_bit(seed: int, n: int = 200) -> AttemptRecord:
    """A door that opens only with a key, which component 3 shows as a number around 0 or 1."""
    random = np.random.default_rng(seed)
    observation, key = noise(random, n), random.random(n) < 0.5
    observation[:, HIDDEN] = key + random.uniform(-0.3, 0.3, n)
    return attempts(observation, np.where(key, 0.95, 0.02), random, last_observation=observation.astype(np.float32))


def find(records: AttemptRecord, seed: int = 0) -> list[Aliasing]:
    return find_aliasing(records, SPACE, key=jax.random.key(seed))


def with_few_of_the_lamp(seed: int, chance_without: float) -> AttemptRecord:
    """The door, and 24 attempts at the lamp, which succeed with the key and by some chance without it."""
    random, door = np.random.default_rng(seed), hidden_bit(seed)
    observation, key = noise(random, 24), np.arange(24) % 2 == 0
    observation[:, HIDDEN] = key
    lamp = attempts(observation, np.where(key, 0.95, chance_without), random, last_observation=np.float32(observation))
    lamp = replace(lamp, target=np.tile(np.asarray(SPACE.pack(np.array(LEFT_LIT, np.int32))), (24, 1)))
    parts = {
        name: np.concatenate([getattr(door, name), getattr(lamp, name)])
        for name in ("observation", "source", "target", "reached", "last_observation")
    }
    return AttemptRecord(**parts)


@pytest.mark.parametrize(("chance_without", "also"), [(0.02, ("lamp from false to true with room=left",)), (0.95, ())])
def test_a_change_with_few_attempts_is_named_if_they_confirm_the_split(chance_without: float, also: tuple):
    found = [find(with_few_of_the_lamp(seed, chance_without), seed) for seed in FEW_SEEDS]
    assert sum(len(each) == 1 and each[0].also == also for each in found) >= len(found) - 1


def test_a_hidden_bit_is_found_with_its_component_and_threshold():
    assert sum(is_the_key(find(hidden_bit(seed), seed), hidden_bit(seed)) for seed in SEEDS) >= 19


def is_the_key(found: list[Aliasing], records: AttemptRecord) -> bool:
    """Whether the only finding is a threshold of the right component, on the right side of almost all values."""
    conditions = found[0].split.conditions if len(found) == 1 and found[0].is_attribute else ()
    condition = conditions[0] if len(conditions) == 1 else None
    if not isinstance(condition, Threshold) or condition.component != HIDDEN:
        return False
    shown = records.observation[:, HIDDEN]
    return bool(((shown > condition.value) == (shown > 0.5)).mean() >= 0.97)


def test_the_message_says_what_was_seen_and_what_to_do():
    (finding,) = find(hidden_bit(0, 400))
    (failing, working), (fewer, more) = finding.attempts, finding.successes
    assert failing + working == 400
    assert more / working == pytest.approx(0.95, abs=0.05) and fewer / failing == pytest.approx(0.02, abs=0.03)
    assert finding.message.startswith("Changing room from left to right with lamp=false succeeds in 9")
    assert "where observation[3] > 0." in finding.message and "an attribute seems to be missing" in finding.message
    assert finding.interval[0] < finding.auc < finding.interval[1] and finding.auc > 0.9
    assert finding.share_explained > 0.8


def test_components_have_the_names_that_the_caller_gives():
    (finding,) = find_aliasing(hidden_bit(0), SPACE, key=jax.random.key(0), component_name=lambda i: f"sensor {i}")
    assert "sensor 3 > 0." in finding.message


def test_nothing_is_found_where_failures_do_not_depend_on_the_observation():
    found = [find(unlearned(seed), seed) for seed in SEEDS]
    assert sum(map(bool, found)) <= 1


def unlearned(seed: int) -> AttemptRecord:
    random = np.random.default_rng(seed)
    return attempts(noise(random, 200), np.full(200, random.uniform(0.15, 0.85)), random)


def test_success_that_grows_while_the_policy_learns_is_no_finding():
    def learning(seed: int) -> AttemptRecord:
        random = np.random.default_rng(seed)
        progress = np.linspace(0, 1, 400)
        observation = noise(random, 400)
        observation[:, 1] += 6 * progress  # the frontier moves while the policy learns
        return attempts(observation, progress, random, epoch=(progress * 50).astype(int))

    assert not any(each.is_attribute for seed in FEW_SEEDS for each in find(learning(seed), seed))


def test_attempts_of_one_episode_are_not_independent_evidence():
    """Ten episodes that happen to work or not: with forty attempts each, some component always tells them apart."""

    def few_episodes(seed: int) -> AttemptRecord:
        random = np.random.default_rng(seed)
        episode = np.repeat(np.arange(10), 40)
        observation, works = random.normal(size=(10, 30))[episode], (random.permutation(10) % 2)[episode]
        return attempts(observation, works.astype(float), random, episode=episode)

    assert sum(bool(find(few_episodes(seed), seed)) for seed in FEW_SEEDS) == 0


def far(seed: int, *, steps: int = 8, slope: float = 0.0) -> AttemptRecord:
    """Attempts that arrive if the distance is at most `steps`, exactly or, with a slope, more or less."""
    random = np.random.default_rng(seed)
    observation = noise(random, 300)
    observation[:, 0] = random.integers(1, 21, 300)
    margin = steps + 0.5 - observation[:, 0]
    last = observation.copy()
    last[:, 0] = np.maximum(observation[:, 0] - steps, 0)
    chance = 1 / (1 + np.exp(-margin / slope)) if slope else (margin > 0).astype(float)
    return attempts(observation, chance, random, last_observation=last.astype(np.float32))


@pytest.mark.parametrize("slope", [0.0, 1.0, 3.0])
def test_distance_is_called_difficulty(slope: float):
    found = [finding for seed in FEW_SEEDS for finding in find(far(seed, slope=slope), seed)]
    assert sum(finding.is_attribute for finding in found) == 0
    assert all("an attribute seems to be missing" not in each.message for each in found if not each.is_attribute)


def test_gradual_success_is_called_difficulty_even_without_the_last_observation():
    found = [find(replace(far(seed, slope=3.0), last_observation=None), seed) for seed in FEW_SEEDS]
    assert sum(each.is_attribute for finding in found for each in finding) == 0


def test_two_conditions_that_must_both_hold_are_found():
    def key_and_light(seed: int) -> AttemptRecord:
        random = np.random.default_rng(seed)
        observation = noise(random, 600)
        works = (observation[:, 5] == 1) & (observation[:, 6] == 1)
        return attempts(observation, np.where(works, 0.95, 0.01), random)

    found = [find(key_and_light(seed), seed) for seed in FEW_SEEDS]
    components = [{c.component for c in each[0].split.conditions if isinstance(c, Threshold)} for each in found if each]
    assert components.count({5, 6}) == len(FEW_SEEDS)


def test_a_category_of_a_one_hot_observation_is_found():
    """A place of 60 shown as one-hot, a quarter of which is the right destination."""

    def taxi(seed: int) -> AttemptRecord:
        random = np.random.default_rng(seed)
        place = random.integers(60, size=1000)
        return attempts(np.eye(60)[place], np.where(place % 4 == 1, 0.95, 0.0), random)

    found = [find(taxi(seed), seed) for seed in FEW_SEEDS]
    right = 0
    for each in found:
        condition = each[0].split.conditions[0] if each else None
        if isinstance(condition, Codes) and condition.size == 60:
            right += set(condition.codes) == set(range(1, 60, 4))
    assert right == len(FEW_SEEDS)


def test_a_code_in_the_middle_is_found():
    random = np.random.default_rng(0)
    observation = noise(random, 300)
    (finding,) = find(attempts(observation, np.where(observation[:, 8] == 2, 0.95, 0.0), random))
    assert finding.split == Split((Codes(8, 1, (2,)),))
    assert finding.condition == "observation[8] is 2"


def test_what_known_attributes_explain_is_not_missing():
    """The lamp decides, and the lamp is an attribute: edges with and without it are different edges."""
    random = np.random.default_rng(0)
    lit = random.integers(2, size=600).astype(bool)
    observation = noise(random, 600)
    observation[:, HIDDEN] = lit
    records = attempts(observation, np.where(lit, 0.9, 0.1), random)
    records = replace(records, source=packed(lit, LEFT, LEFT_LIT), target=packed(lit, RIGHT, RIGHT_LIT))
    assert find(records) == []


def test_edges_that_make_the_same_change_share_their_evidence():
    random = np.random.default_rng(0)
    records = hidden_bit(0, 60)
    lit = random.integers(2, size=60).astype(bool)
    records = replace(records, source=packed(lit, LEFT, LEFT_LIT), target=packed(lit, RIGHT, RIGHT_LIT))
    (finding,) = find(records)
    assert finding.change == "room from left to right" and finding.is_attribute


def test_a_split_that_explains_two_changes_is_found_once():
    there, back = hidden_bit(0), hidden_bit(1)
    both = AttemptRecord(
        *(np.concatenate(each) for each in (
            (there.observation, back.observation), (there.source, back.target), (there.target, back.source),
            (there.reached, back.reached),
        ))
    )  # fmt: skip
    (finding,) = find(both)
    assert len(finding.also) == 1 and finding.also[0] in finding.message


def test_changes_with_few_attempts_each_are_tested_together():
    """Four changes of the same two attributes; each alone has too few attempts."""
    sets, parts = [LEFT, RIGHT, RIGHT_LIT, LEFT_LIT], [hidden_bit(seed, 30) for seed in range(4)]
    columns = []
    for number, part in enumerate(parts):
        source, target = (np.asarray(SPACE.pack(np.array(sets[(number + each) % 4], np.int32))) for each in (0, 1))
        columns.append((part.observation, np.tile(source, (30, 1)), np.tile(target, (30, 1)), part.reached))
    (finding,) = find(AttemptRecord(*(np.concatenate(each) for each in zip(*columns, strict=True))))
    assert finding.pooled and is_the_key([finding], parts[0])
    assert len(finding.also) == 3 and all(each in finding.message for each in (finding.change, *finding.also))
    assert finding.attempts[0] + finding.attempts[1] > 60


def test_too_few_attempts_are_no_evidence():
    assert find(hidden_bit(0, 30)) == []
    assert find(hidden_bit(0, 0)) == []


def test_the_same_key_finds_the_same():
    assert find(hidden_bit(0)) == find(hidden_bit(0))


def test_a_finding_can_be_written_to_a_file():
    (finding,) = find(hidden_bit(0))
    written = json.loads(json.dumps(finding.to_json()))
    assert (written["message"], tuple(written["attempts"])) == (finding.message, finding.attempts)


def packed(lit: np.ndarray, dark_set: list[int], lit_set: list[int]) -> np.ndarray:
    return np.asarray(SPACE.pack(np.where(lit[:, None], lit_set, dark_set).astype(np.int32)))
