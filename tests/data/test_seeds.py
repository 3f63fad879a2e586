"""Calls of seeds that train together: which become one, and what happens where one ends, fails or has no memory."""

import threading
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.data import seeds
from attribute_planner.data.seeds import Together, batched, num_together
from attribute_planner.phases.device_graph import DeviceGraph, device_graph
from attribute_planner.phases.goal_sampling import FarSets
from attribute_planner.transitions.numbering import UNKNOWN
from tests.probes import numbers, table_of


class Traced:
    """Functions that note how they are traced."""

    def __init__(self) -> None:
        self.shapes: list[tuple[int, ...]] = []

        @batched
        def double(number: jax.Array, name: str = "") -> tuple[jax.Array, str]:
            self.shapes.append(number.shape)
            return 2 * number, name

        self.double = double


def run(*trainings: Callable[[], Any], say: Callable[[str], None] = print) -> list[Any]:
    return Together(say).run(trainings)


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of calls that were stacked."""
    stacked, found = seeds.stacked_call, []

    def noted(function: Any, calls: Any) -> Any:
        found.append(len(calls))
        return stacked(function, calls)

    monkeypatch.setattr(seeds, "stacked_call", noted)
    return found


def test_calls_that_are_alike_are_one_call_with_a_result_for_each_seed(sizes: list[int]):
    traced = Traced()
    results = run(*(lambda number=number: traced.double(jnp.float32(number), name="x") for number in range(3)))
    assert [(float(value), name) for value, name in results] == [(0.0, "x"), (2.0, "x"), (4.0, "x")]
    assert sizes == [3]
    assert traced.shapes == [()]  # one trace, of one seed's share


def test_keys_are_stacked_and_draw_as_alone():
    draw = batched(lambda key: jax.random.uniform(key, (3,)))
    keys = [jax.random.key(number) for number in range(2)]
    together = run(*(lambda key=key: draw(key) for key in keys))
    assert np.array_equal(together, [draw(key) for key in keys])


def test_calls_that_differ_in_shape_or_static_parts_are_made_one_by_one(sizes: list[int]):
    traced = Traced()
    results = run(
        lambda: traced.double(jnp.zeros(2), name="a"),
        lambda: traced.double(jnp.zeros(3), name="a"),
        lambda: traced.double(jnp.zeros(3), name="b"),
    )
    assert [(value.shape, name) for value, name in results] == [((2,), "a"), ((3,), "a"), ((3,), "b")]
    assert sizes == []


def test_a_training_that_ends_or_fails_does_not_stop_the_others(sizes: list[int]):
    traced = Traced()

    def calls(number: int) -> int:
        for _ in range(number):
            traced.double(jnp.float32(number))
        if number == 2:
            raise ValueError("seed 2")
        return number

    one, two, three, four = run(*(lambda number=number: calls(number) for number in (1, 2, 3, 4)))
    assert (one, str(two), three, four) == (1, "seed 2", 3, 4)
    assert sizes == [4, 3, 2]  # the last call is that of one seed alone


def test_an_error_of_a_stacked_call_is_that_of_each_seed():
    @batched
    def fail(number: jax.Array) -> jax.Array:
        raise ValueError("broken")

    assert [str(each) for each in run(lambda: fail(jnp.zeros(1)), lambda: fail(jnp.zeros(1)))] == ["broken"] * 2


def test_without_memory_for_all_calls_are_made_one_by_one_from_then_on(monkeypatch: pytest.MonkeyPatch):
    attempts, said = [], []

    def exhausted(function: Any, calls: Any) -> Any:
        attempts.append(len(calls))
        raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 99 bytes.")

    monkeypatch.setattr(seeds, "stacked_call", exhausted)
    traced = Traced()

    def training(number: int) -> list[float]:
        return [float(traced.double(jnp.float32(number + step))[0]) for step in range(2)]

    assert run(*(lambda number=n: training(number) for n in range(3)), say=said.append) == [[0, 2], [2, 4], [4, 6]]
    assert attempts == [3]
    assert said == [
        "The memory of the device is too small for 3 seeds at once: from here on, their calls are made one by one."
    ]


def test_an_interruption_ends_all_trainings_in_order(monkeypatch: pytest.MonkeyPatch):
    def interrupted(function: Any, calls: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(seeds, "stacked_call", interrupted)
    traced, saved, errors = Traced(), [], []

    def training(number: int) -> None:
        try:
            traced.double(jnp.float32(number))
        except KeyboardInterrupt as error:
            errors.append(error)
            raise
        finally:
            saved.append(number)

    threads = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        run(*(lambda number=n: training(number) for n in range(3)))
    assert sorted(saved) == [0, 1, 2] and len(errors) == 3
    assert threading.active_count() == threads


def test_a_function_that_is_traced_by_another_is_part_of_it(sizes: list[int]):
    traced = Traced()
    outer = jax.jit(lambda number: traced.double(number)[0] + 1)
    assert [float(each) for each in run(lambda: outer(jnp.float32(1)), lambda: outer(jnp.float32(2)))] == [3, 5]
    assert sizes == []


def test_a_training_knows_how_many_there_are():
    assert num_together() == 1
    assert run(num_together, num_together) == [2, 2]


def test_a_padded_graph_finds_the_same_sets_and_neighbours():
    small, large = (graph_of_ring(size) for size in (5, 40))
    padded = small.padded_to(tuple(map(max, small.sizes, large.sizes)))
    assert padded.sizes == large.sizes != small.sizes
    words, key = jnp.asarray(large.space.pack(jnp.arange(40, dtype=jnp.int32)[:, None])), jax.random.key(0)
    number = small.locate(words)
    assert np.array_equal(padded.locate(words), number) and (number != UNKNOWN).sum() == 5
    assert np.array_equal(padded.leads_on(number), small.leads_on(number))
    drawn = small.random_neighbour(number, key=key)
    assert np.array_equal(padded.random_neighbour(number, key=key), drawn)
    known = drawn[drawn != UNKNOWN]
    assert np.array_equal(padded.target_words(known), small.target_words(known))


def graph_of_ring(size: int) -> DeviceGraph:
    edges = [((place,), ((place + 1) % size,), 1.0) for place in range(size)]
    return device_graph(table_of(numbers(40), edges))


def test_padded_sets_have_no_way_to_distant_ones():
    far = FarSets(jnp.array([0, 1], jnp.int32), jnp.array([[3, 4], [5, 6]], jnp.int32), jnp.ones((2, 2)))
    assert far.padded_to((4,)).weight.shape == (2, 4)
    assert far.padded_to((4,)).edges.tolist() == [[3, 4, UNKNOWN, UNKNOWN], [5, 6, UNKNOWN, UNKNOWN]]
