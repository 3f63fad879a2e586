"""Faults in saving and loading."""

from attribute_planner.experiments.reliability.faults.fault import Fault

MANIFEST = "files/test_manifest.py files/test_writing.py"

FAULTS = (
    Fault(
        "steps spent are lost on loading",
        "storage/table_arrays.py",
        'names = STATISTICS if f"{prefix}.spent" in arrays else STATISTICS[:3]',
        "names = STATISTICS[:3]",
        "storage/test_checkpoint.py",
        is_serious=True,
    ),
    Fault(
        "the calibration is lost on loading",
        "storage/checkpoint.py",
        'return notes.get(CALIBRATION, {"log_odds": 0.0})["log_odds"]',
        "return 0.0",
        "storage/test_checkpoint.py storage/test_run_directory.py",
        is_serious=True,
    ),
    Fault(
        "attempts are not saved",
        "storage/checkpoint.py",
        "arrays[ATTEMPT_LOG] = progress.log.rows",
        "pass",
        "storage/test_checkpoint.py",
        is_serious=True,
    ),
    Fault(
        "hashes are not compared",
        "files/manifest.py",
        "hashlib.sha256(content).hexdigest() == self.sha256",
        "len(self.sha256) == 64",
        MANIFEST,
        is_serious=True,
    ),
    Fault(
        "files take their names before the manifest lists them",
        "files/manifest.py",
        "write_synced(pending(folder, name), content)",
        "write_synced(folder / name, content)",
        MANIFEST,
        is_serious=True,
    ),
    Fault(
        "an interrupted change is not finished",
        "files/manifest.py",
        "            rename(path, folder / name)\n    return manifest",
        "            pass\n    return manifest",
        MANIFEST,
        is_serious=True,
    ),
    Fault(
        "files are written in place",
        "files/writing.py",
        "        write_synced(beside, content)\n        rename(beside, path)",
        "        write_synced(path, content)",
        MANIFEST,
        is_serious=True,
    ),
    Fault(
        "code that a file names is run",
        "storage/run_directory.py",
        "if not is_trusted(described.source):",
        "if False:",
        "storage/test_trusted_sources.py storage/test_run_directory.py",
        is_serious=True,
    ),
)
