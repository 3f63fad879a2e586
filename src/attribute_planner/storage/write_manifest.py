"""Write the manifest of run directories whose files are known to be right: older ones, or those edited by hand.

python -m attribute_planner.storage.write_manifest runs/blocks runs/switches
"""

import sys
from pathlib import Path

from attribute_planner.data.dataset import EXPERIENCE, SPEC, SUFFIX
from attribute_planner.errors import AttributePlannerError, RunDirectoryError
from attribute_planner.files.array_file import read_arrays
from attribute_planner.files.manifest import MANIFEST, Entry, entry_of, manifest_bytes
from attribute_planner.files.reading import memory_bytes, read_file
from attribute_planner.files.writing import write_bytes
from attribute_planner.storage.metrics import METRICS
from attribute_planner.storage.run_directory import AGENT, CONFIG, RunDirectory


def write_manifest(folder: Path) -> None:
    """List the files of a run as they are. An error, and no manifest, unless they describe a run."""
    names = [CONFIG, AGENT, f"{EXPERIENCE}/{SPEC}"]
    names += [f"{EXPERIENCE}/{path.name}" for path in sorted((folder / EXPERIENCE).glob(f"[0-9]*{SUFFIX}"))]
    manifest = {name: entry_of(_content(folder / name)) for name in names if (folder / name).exists()}
    if CONFIG not in manifest:
        raise RunDirectoryError(f"{folder} is not a run directory: it holds no {CONFIG}.")
    if (folder / METRICS).exists():
        manifest[METRICS] = _lines_of_checkpoint(folder)
    write_bytes(folder / MANIFEST, manifest_bytes(manifest))
    try:
        run = RunDirectory(folder)
        if AGENT in manifest:
            run.notes()
    except AttributePlannerError:
        (folder / MANIFEST).unlink()
        raise


def _content(path: Path) -> bytes:
    return read_file(path, memory_bytes() // 2)


def _lines_of_checkpoint(folder: Path) -> Entry:
    """The lines of metrics.jsonl that belong to the checkpoint: all, unless its notes say how many."""
    lines = _content(folder / METRICS).splitlines(keepends=True)
    notes = read_arrays(folder / AGENT)[1] if (folder / AGENT).exists() else {"metrics": 0}
    return entry_of(b"".join(line for line in lines[: notes.get("metrics", len(lines))] if line.endswith(b"\n")))


def main(arguments: list[str]) -> int:
    """Write the manifests of the run directories that are named; 0 if all could be written."""
    try:
        for folder in arguments:
            write_manifest(Path(folder))
            print(f"{folder}/{MANIFEST} is written.")
    except AttributePlannerError as mistake:
        print(f"write_manifest: {mistake}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
