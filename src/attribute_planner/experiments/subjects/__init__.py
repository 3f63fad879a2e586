"""Everything that is trained for the tables, by name."""

from attribute_planner.experiments.cells import Subject
from attribute_planner.experiments.subjects import baselines, blocks, grid_worlds, starcraft

SUBJECTS: dict[str, Subject] = {
    subject.name: subject for module in (grid_worlds, blocks, starcraft, baselines) for subject in module.SUBJECTS
}
