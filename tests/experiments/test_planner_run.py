"""Which settings of a planner count when a record is compared with its run."""

import pytest

from attribute_planner.configuration import default_config, paper_config
from attribute_planner.experiments.planner_run import used_settings
from attribute_planner.storage.settings import with_setting


@pytest.mark.parametrize(
    ("config", "setting", "counts"),
    [
        (default_config("blocks"), "forward_model.fit.updates=7", True),
        (paper_config("blocks"), "forward_model.fit.updates=7", False),
        (default_config("blocks"), "practise.inverse.fit.updates=7", True),
        (default_config("switches"), "practise.inverse.fit.updates=7", False),
        (default_config("blocks"), "detect.num_labels=7", True),
        (default_config("switches"), "detect.num_labels=7", False),
        (default_config("switches"), "practise.steps=7", True),
    ],
)
def test_a_setting_counts_if_it_has_an_effect(config, setting, counts):
    assert (used_settings(with_setting(config, setting)) != used_settings(config)) == counts
