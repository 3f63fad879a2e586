import pytest

from attribute_planner.experiments.estimates import RATES, Rates, seconds_of
from attribute_planner.experiments.run_specs import RUN_SPECS
from attribute_planner.experiments.runs import Run


def test_larger_images_take_longer():
    rates = Rates(start=10, practise=100, images=400, collect=50, image_size=32)
    larger = rates.for_images_of(64)
    assert (larger.images, larger.practise, larger.collect, larger.start) == (100, 25, 50, 10)
    plain = Rates(start=10, practise=100)
    assert plain.for_images_of(64) == plain


@pytest.mark.parametrize("device", RATES)
def test_every_run_has_an_estimate(device: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("jax.default_backend", lambda: device)
    for run_spec in RUN_SPECS.values():
        small, full = (seconds_of(Run(run_spec, 0, scale)) for scale in ("small", "paper"))
        assert 0 < small < full
