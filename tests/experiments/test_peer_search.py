from attribute_planner.experiments.baseline_run import baseline_config
from attribute_planner.experiments.peer_search import CANDIDATES, ENVIRONMENTS, candidates
from attribute_planner.experiments.published_search import SEED
from attribute_planner.experiments.run_specs import RUN_SPECS
from attribute_planner.experiments.runs import SCALES, Run


def test_candidates_are_the_rows_of_the_tables_with_other_settings_and_another_seed():
    runs = candidates()
    assert len({run.name for run in runs}) == len(runs) == len(ENVIRONMENTS) * sum(map(len, CANDIDATES.values()))
    assert all(run.seed >= SEED and run.seed not in range(SCALES["paper"].seeds) for run in runs)
    for run in runs:
        name, _, candidate = run.spec.name.partition("-search-")
        is_preset = baseline_config(run) == baseline_config(Run(RUN_SPECS[name], 0, "paper"))
        assert is_preset == (candidate == "preset"), run.name
