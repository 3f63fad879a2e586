"""Everything that is trained for the tables, by name."""

from attribute_planner.experiments.cells import Subject
from attribute_planner.experiments.subjects import blocks, grid_worlds, starcraft

SUBJECTS: dict[str, Subject] = {
    subject.name: subject for subject in (*grid_worlds.SUBJECTS, *blocks.SUBJECTS, *starcraft.SUBJECTS)
}
