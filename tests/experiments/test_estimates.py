import pytest

from attribute_planner.experiments.estimates import RATES, Rates, seconds_of
from attribute_planner.experiments.run_specs import SUBJECTS
from attribute_planner.experiments.runs import Cell


def test_larger_pictures_take_longer_and_what_has_none_does_not():
    rates = Rates(start=10, practise=100, pictures=400, collect=50, image_size=32)
    larger = rates.for_pictures_of(64)
    assert (larger.pictures, larger.practise, larger.collect, larger.start) == (100, 25, 50, 10)
    plain = Rates(start=10, practise=100)
    assert plain.for_pictures_of(64) == plain


@pytest.mark.parametrize("device", RATES)
def test_every_cell_has_an_estimate(device: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("jax.default_backend", lambda: device)
    for subject in SUBJECTS.values():
        small, full = (seconds_of(Cell(subject, 0, scale)) for scale in ("small", "paper"))
        assert 0 < small < full
