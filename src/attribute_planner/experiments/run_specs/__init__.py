"""All run specifications, by name."""

from attribute_planner.experiments.run_specs import baselines, blocks, grid_worlds, starcraft
from attribute_planner.experiments.runs import RunSpec

RUN_SPECS: dict[str, RunSpec] = {
    spec.name: spec for module in (grid_worlds, blocks, starcraft, baselines) for spec in module.RUN_SPECS
}
