"""Tables of small worlds with a known reason to fail, and an agent that does not fail."""

import json
from dataclasses import replace

import numpy as np
import pytest

from attribute_planner.aliasing.records import AttemptRecord
from attribute_planner.attributes import Attribute, AttributeSpace, parse_goal
from attribute_planner.diagnosis.diagnose import diagnosis_of
from attribute_planner.diagnosis.finding import KINDS, Diagnosis, Finding, Measured
from attribute_planner.diagnosis.tasks import Asked
from attribute_planner.diagnosis.ways import furthest_set
from attribute_planner.diagnosis.weak_edges import WeakChange, cautious_success
from attribute_planner.environments.tasks import Task
from attribute_planner.phases.detect import DetectorError
from attribute_planner.planning.plan import Planner
from attribute_planner.planning.search import Graph
from attribute_planner.transitions.table import TransitionTable
from tests.probes import numbers, ring_agent, table_of

ROOM = AttributeSpace((Attribute("place", ("left", "right")), Attribute("door", ("closed", "open", "broken"))))


def diagnosed(
    table: TransitionTable,
    goal: str,
    *starts: tuple[int, ...],
    limit: int = 50,
    success: bool | None = None,
    error: DetectorError | None = None,
    records: AttemptRecord | None = None,
) -> Diagnosis:
    """The diagnosis for a task with one goal; episodes begin in these sets."""
    planner, wanted = Planner(table), parse_goal(table.space, goal)
    task = Task("main", goal, lambda state, values, key: wanted, limit)
    plans = [planner.plan(np.array(start, np.int32), wanted) for start in starts]
    asked = [Asked(task, plan, 1 / len(plans), success) for plan in plans]
    return diagnosis_of(table, asked, error, records, given=len(table.space))


def chain(*probability: float) -> TransitionTable:
    """0 → 1 → 2 → … with these probabilities."""
    return table_of(numbers(len(probability) + 1), [((i,), (i + 1,), p) for i, p in enumerate(probability)])


def test_a_value_that_a_task_asks_for_and_that_was_never_seen():
    table = table_of(ROOM, [((0, 0), (0, 1), 0.5), ((0, 1), (0, 0), 0.5)])
    first, other = diagnosed(table, "door=broken", (0, 0)).findings
    assert first.kind == "unseen-value" and first.importance == pytest.approx(1)
    assert first.message.startswith("door=broken was never seen in training. 100 % of the goals")
    # No task asks for the right room.
    assert other.evidence == {"attribute": "place", "values": ["right"]} and other.importance < 0.05


def test_a_goal_without_a_way_and_where_the_way_ends():
    table = table_of(numbers(4), [((0,), (1,), 1.0), ((2,), (3,), 1.0)])
    (first,) = diagnosed(table, "n=3", (0,)).findings
    assert first.kind == "no-way" and first.importance == pytest.approx(1)
    assert "No path to n=3 is known, for 100 %" in first.message
    assert "From n=0, known transitions lead as far as n=" in first.message and "1 set that" in first.message


def test_values_that_were_never_seen_together_and_how_much_of_the_goal_was_reached():
    space = AttributeSpace((ROOM.attributes[0], Attribute("lit")))
    table = table_of(space, [((0, 0), (0, 1), 1.0), ((0, 1), (0, 0), 1.0), ((0, 0), (1, 0), 1.0)])
    (first,) = diagnosed(table, "place=right lit", (0, 1)).findings
    assert first.kind == "no-way" and "no sets that satisfy it were ever seen" in first.message


def test_exploration_that_sees_nothing_new_tells_impossible_goals_from_too_few_steps():
    table = table_of(numbers(4), [((0,), (1,), 1.0), ((1,), (0,), 1.0), ((2,), (3,), 1.0)])
    (first,) = diagnosed(table, "n=3", (0,)).findings
    assert first.message.endswith("train for more steps.")
    (first,) = diagnosed(replace(table, visits=np.full(3, 500.0)), "n=3", (0,)).findings
    assert first.message.endswith("the goal seems to be impossible, or needs many more steps.")


def door_with_dial(name: str) -> TransitionTable:
    """A dial with six values that matters to nothing; the door was tried once with each."""
    space = AttributeSpace((Attribute("open"), Attribute(name, range(6))))
    turns = [((door, i), (door, (i + 1) % 6), 1.0) for door in (0, 1) for i in range(6)]
    opens = [((door, i), (1 - door, i), 1.0) for door in (0, 1) for i in range(6)]
    table = replace(table_of(space, turns + opens), estimator="posterior")
    return replace(table, visits=np.full(24, 40.0)).with_practice(np.ones(24), np.ones(24))


def test_attributes_that_are_too_fine_are_named_before_the_edges_that_were_hardly_tried():
    first, second, *_ = diagnosed(door_with_dial("dial"), "open", *[(0, i) for i in range(6)]).findings
    assert first.kind == "weak-edge" and first.evidence["attributes"] == ["dial"]
    assert "splits 2 sets into 12" in first.message and "was rarely attempted" in second.message


def test_attributes_that_training_has_added_are_not_too_fine():
    first, *_ = diagnosed(door_with_dial("hidden_0"), "open", *[(0, i) for i in range(6)]).findings
    assert "attributes" not in first.evidence and "was rarely attempted" in first.message


def test_attributes_that_no_task_mentions_are_too_fine_if_there_are_too_few_attempts():
    """A lamp is switched in the last of twelve places, and each transition was tried once."""
    space = AttributeSpace((Attribute("lamp"), Attribute("place", range(12))))
    moves = [((lamp, i), (lamp, i + 1), 1.0) for lamp in (0, 1) for i in range(11)]
    back = [(after, before, 1.0) for before, after, _ in moves]
    table = replace(table_of(space, [*moves, *back, ((0, 11), (1, 11), 1.0)]), estimator="posterior")
    table = replace(table, visits=np.full(45, 40.0)).with_practice(np.ones(45), np.ones(45))
    first, *_ = diagnosed(table, "lamp", *[(0, i) for i in range(6)]).findings
    assert first.kind == "weak-edge" and first.evidence["attributes"] == ["place"]
    assert "No task mentions place, which splits 2 sets into 24" in first.message
    *_, second = diagnosed(table.with_practice(np.full(45, 99.0), np.full(45, 90.0)), "lamp", (0, 0)).findings
    assert "attributes" not in second.evidence


def test_episodes_that_end_before_they_get_further():
    """Three transitions of twenty steps each, of seventy: a fourth one was never seen."""
    table = table_of(numbers(5), [((i,), (i + 1,), 1.0) for i in range(3)])
    table = replace(table, spent=np.full(3, 20.0 * table.attempts[0]), visits=np.full(3, 500.0))
    first, *_ = diagnosed(table, "n=4", (0,), limit=70).findings
    assert first.kind == "unseen-value" and "n=3, the furthest set that is known, takes about 60 of" in first.message
    assert "give episodes more steps" in first.message
    first, *_ = diagnosed(table, "n=4", (0,), limit=200).findings
    assert "Check that the state can have this value" in first.message


def test_a_start_that_was_never_seen():
    first, *_ = diagnosed(table_of(numbers(3), [((0,), (1,), 1.0)]), "n=1", (2,)).findings
    assert first.kind == "no-way" and "Episodes begin in n=2, which training never saw" in first.message


def test_a_plan_that_takes_longer_than_the_task_allows():
    table = replace(chain(0.999, 0.999, 0.999), spent=np.full(3, 20_000.0))
    (first,) = diagnosed(table, "n=3", (0,), limit=30).findings
    assert first.kind == "no-way" and "takes about 60 steps, and task 'main' allows 30" in first.message


def test_attempts_that_mostly_fail_do_not_tell_that_a_plan_takes_too_long():
    table = replace(chain(0.999, 0.5, 0.999), spent=np.full(3, 20_000.0))
    assert "no-way" not in [each.kind for each in diagnosed(table, "n=3", (0,), limit=45).findings]


def test_a_transition_that_was_not_tried_is_not_weak_if_the_same_change_succeeds_elsewhere():
    table = table_of(ROOM, [((0, 0), (0, 1), 0.99), ((1, 0), (1, 1), 0.99)])
    tried = np.where(table.values[table.source][:, 0] == 0, 1000.0, 0.0)
    table = table.with_practice(tried, 0.99 * tried)
    assert cautious_success(table.listing()) == pytest.approx(0.99, abs=0.005)
    nowhere = cautious_success(table.with_practice(np.array([1e-9, 0.0]), np.zeros(2)).listing())
    assert nowhere == pytest.approx(0.5)


def test_the_transition_that_holds_plans_back_with_its_attempts():
    (first,) = diagnosed(chain(0.999, 0.02, 0.999), "n=3", (0,), (2,)).findings
    assert first.kind == "weak-edge" and first.importance == pytest.approx(0.49, abs=0.01)
    assert "Changing n from 1 to 2 succeeded in 20 of 1000 recent attempts, and 50 % of the plans" in first.message


def test_a_transition_that_was_hardly_tried_is_weak_although_its_estimate_is_high():
    table = replace(chain(0.999, 0.999), attempts=np.array([1000.0, 0.1]), successes=np.array([999.0, 0.0]))
    table = replace(table, estimator="posterior")
    assert table.probability.min() > 0.8
    (first,) = diagnosed(table, "n=2", (0,)).findings
    assert first.kind == "weak-edge" and "n from 1 to 2 was rarely attempted (0 recent attempts)" in first.message


def test_edges_that_make_the_same_change_are_one_finding():
    table = table_of(ROOM, [((0, 0), (0, 1), 0.2), ((1, 0), (1, 1), 0.2)])
    findings = diagnosed(table, "door=open", (0, 0), (1, 0)).findings
    assert findings[0].evidence["change"] == "door from closed to open"
    assert findings[0].importance == pytest.approx(0.8, abs=0.01)
    assert [each.kind for each in findings] == ["weak-edge", "unseen-value"]


def test_a_detector_that_was_tested_on_few_labels_is_a_finding_and_a_good_one_is_not():
    few, good = (DetectorError(np.array([share]), share, states) for share, states in ((0.2, 5), (0.001, 10_000)))
    first, *_ = diagnosed(chain(0.2), "n=1", (0,), error=few).findings
    assert first.kind == "detector" and "about 20 % of 5 held-out states" in first.message
    assert diagnosed(chain(0.999), "n=1", (0,), error=good).findings == []


def test_a_missing_attribute_is_named_before_the_weak_edge_that_it_explains():
    random = np.random.default_rng(0)
    source, target = (np.tile(np.asarray(numbers(2).pack(np.array([n], np.int32))), (400, 1)) for n in (0, 1))
    has_key = random.random(400) < 0.5
    observation = np.stack([random.normal(size=400), has_key], axis=1).astype(np.float32)
    records = AttemptRecord(observation, source, target, has_key & (random.random(400) < 0.95), observation)
    first, second = diagnosed(chain(0.48), "n=1", (0,), records=records).findings
    assert (first.kind, second.kind) == ("aliasing", "weak-edge")
    assert "observation[1] > 0.5" in first.message and "refine=True" in first.message


def test_broken_promises_are_found():
    (first,) = diagnosed(chain(0.999), "n=1", *[(0,)] * 20, success=False).findings
    assert first.kind == "miscalibrated" and "0 of 20 episodes succeed" in first.message
    assert diagnosed(chain(0.999), "n=1", *[(0,)] * 20, success=True).findings == []


def test_an_agent_that_succeeds_has_no_important_finding():
    found = ring_agent().diagnose()
    (measured,) = found.measured
    assert measured.task == "any-to-any" and measured.successes >= 19
    assert all(each.importance < 0.25 for each in found.findings)
    assert f"any-to-any: {measured.successes} of 20 episodes succeed" in str(found)


def test_a_diagnosis_has_a_json_form_and_known_kinds():
    found = diagnosed(chain(0.999, 0.02), "n=2", (0,))
    saved = json.loads(json.dumps(found.to_json()))
    assert saved["findings"][0]["kind"] in KINDS and saved["findings"][0]["evidence"]["attempts"] == 1000
    assert str(Diagnosis([])) == "No cause of failures was found."
    measured = [Measured("task", 20, 20, 0.996)]
    assert str(Diagnosis([], measured)).startswith("task: 20 of 20 episodes succeed, more than 99 % planned\n")


@pytest.mark.parametrize(("successes", "said"), [(20, True), (19, False)])
def test_weaknesses_are_told_from_causes_of_failures(successes: int, said: bool):
    weak = Finding("weak-edge", "It succeeds in 9 of 20 attempts.", 0.5)
    lines = str(Diagnosis([weak], [Measured("task", 20, successes, 0.9)])).splitlines()
    assert lines[0].startswith(f"task: {successes} of 20 episodes succeed")
    assert lines[-1] == "1. weak-edge: It succeeds in 9 of 20 attempts."
    assert any(line.startswith("No episode failed.") for line in lines) == said


def test_success_that_only_the_detector_knows_is_called_so():
    measured = [Measured("task", 20, 5, 0.25)]
    assert str(Diagnosis([], measured, by_detector=True)).count("Success is what the detector sees") == 1
    assert "detector" not in str(Diagnosis([], measured)) and "detector" not in Diagnosis([], by_detector=True).summary


def test_a_missing_attribute_explains_plans_that_promise_too_much():
    """The attempts of practice mostly began where the change is possible, the episodes do not."""
    records = aliased_attempts()
    table = replace(chain(0.99), attempts=np.array([1000.0]), successes=np.array([990.0]))
    first, *others = diagnosed(table, "n=1", *[(0,)] * 20, success=False, records=records).findings
    assert first.kind == "aliasing" and first.importance > 0.9
    assert "miscalibrated" in [each.kind for each in others]


def aliased_attempts() -> AttemptRecord:
    """Attempts to get from 0 to 1 that arrive if the observation is 1."""
    key = (np.arange(200) % 2).astype(np.float32)
    source, target = (np.tile(np.asarray(numbers(2).pack(np.array([each], np.int32))), (200, 1)) for each in (0, 1))
    return AttemptRecord(key[:, None], source, target, key > 0.5)


def test_a_transition_without_a_failure_among_few_attempts_is_not_weak():
    assert not WeakChange("n", 0.1, 1.0, 15.0, 14.6).is_weak and WeakChange("n", 0.1, 1.0, 15.0, 14.0).is_weak


def test_shortcuts_that_were_never_observed_do_not_bring_the_furthest_set_nearer():
    table = table_of(numbers(3), [((0,), (1,), 1.0), ((1,), (2,), 1.0), ((0,), (2,), 0.4)])
    table = replace(table, spent=np.array([5.0, 5.0, 5.0]) * table.attempts)
    observed = replace(table, visits=np.array([10.0, 0.0, 10.0]))  # sorted by source: 0 → 1, 0 → 2, 1 → 2
    assert furthest_set(Graph(table), 0)[1] < furthest_set(Graph(observed), 0)[1] == 10
