import os
from pathlib import Path
from typing import Any

import pytest

from attribute_planner.errors import StorageError
from attribute_planner.files.writing import size_words, write_bytes


@pytest.mark.parametrize("failing", ["replace", "fsync"])
def test_a_write_that_is_cut_short_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str):
    write_bytes(tmp_path / "file", b"old")

    def killed(*args: Any) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, failing, killed)
    with pytest.raises(StorageError, match="cannot be written: no space left"):
        write_bytes(tmp_path / "file", b"new and longer")
    assert (tmp_path / "file").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_what_a_killed_process_left_is_removed(tmp_path: Path):
    (tmp_path / f".file.{2**22 + 1}").write_bytes(b"half")  # no process has this number
    (tmp_path / f".file.{os.getppid()}").write_bytes(b"of a process that is running")
    write_bytes(tmp_path / "file", b"new")
    assert sorted(path.name for path in tmp_path.iterdir()) == [f".file.{os.getppid()}", "file"]


def test_a_size_has_a_unit():
    assert [size_words(each) for each in (12, 1_500, 2_000_000, 3_250_000_000)] == [
        "12 bytes",
        "1.5 kB",
        "2.0 MB",
        "3.2 GB",
    ]
