"""Everything that is trained for the tables, by name."""

from attribute_planner.experiments.run_specs import baselines, blocks, grid_worlds, starcraft
from attribute_planner.experiments.runs import Subject

SUBJECTS: dict[str, Subject] = {
    subject.name: subject for module in (grid_worlds, blocks, starcraft, baselines) for subject in module.SUBJECTS
}
