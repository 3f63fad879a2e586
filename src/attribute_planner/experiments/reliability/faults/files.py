"""Faults in saving and loading."""

from attribute_planner.experiments.reliability.faults.fault import Fault

FAULTS = (
    Fault(
        "steps spent are lost on loading",
        "storage/table_arrays.py",
        'names = STATISTICS if f"{prefix}.spent" in arrays else STATISTICS[:3]',
        "names = STATISTICS[:3]",
        "storage/test_checkpoint.py::test_all_statistics_of_a_table_come_back",
        is_serious=True,
    ),
    Fault(
        "the calibration is lost on loading",
        "storage/checkpoint.py",
        "for name, value in notes.get(CALIBRATION, {}).items() if name in measured",
        "for name, value in notes.get(CALIBRATION, {}).items() if name in (measured - {'log_odds'})",
        "storage/test_checkpoint.py::test_attempts_and_calibration_are_saved",
        is_serious=True,
    ),
    Fault(
        "attempts are not saved",
        "storage/checkpoint.py",
        "arrays[ATTEMPT_LOG] = progress.log.rows",
        "pass",
        "storage/test_checkpoint.py::test_attempts_and_calibration_are_saved",
        is_serious=True,
    ),
    Fault(
        "hashes are not compared",
        "files/manifest.py",
        "hashlib.sha256(content).hexdigest() == self.sha256",
        "len(self.sha256) == 64",
        "files/test_manifest.py::test_what_was_changed_is_refused",
        is_serious=True,
    ),
    Fault(
        "files take their names before the manifest lists them",
        "files/manifest.py",
        "write_synced(pending(folder, name), content)",
        "write_synced(folder / name, content)",
        "files/test_manifest.py::test_a_change_that_is_cut_short_anywhere_is_made_completely_or_not_at_all",
        is_serious=True,
    ),
    Fault(
        "an interrupted change is not finished",
        "files/manifest.py",
        "            rename(path, folder / name)\n    return manifest",
        "            pass\n    return manifest",
        "files/test_manifest.py::test_a_change_that_is_cut_short_anywhere_is_made_completely_or_not_at_all",
        is_serious=True,
    ),
    Fault(
        "files are written in place",
        "files/writing.py",
        "        write_synced(beside, content)\n        rename(beside, path)",
        "        write_synced(path, content)",
        "files/test_writing.py::test_a_write_that_is_cut_short_leaves_the_old_file",
        is_serious=True,
    ),
    Fault(
        "code that a file names is run",
        "storage/run_directory.py",
        "if not is_trusted(described.source):",
        "if False:",
        "storage/test_trusted_sources.py::test_a_module_that_a_file_names_is_not_imported",
        is_serious=True,
    ),
)
