from pathlib import Path

import numpy as np
import pytest

from attribute_planner.errors import DamagedFileError
from attribute_planner.files.array_file import read_arrays, write_arrays


def test_arrays_and_notes_come_back_as_they_were(tmp_path: Path):
    arrays = {"a": np.arange(6, dtype=np.uint32).reshape(2, 3).T, "b": np.array(0.1), "c": np.zeros((0, 2), np.int64)}
    write_arrays(tmp_path / "file", arrays, {"epoch": 3, "names": ["ü"]})
    found, notes = read_arrays(tmp_path / "file")
    assert notes == {"epoch": 3, "names": ["ü"]}
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array, strict=True)


@pytest.mark.parametrize("content", [b"", b"not safetensors", b"\x05" + bytes(7) + b"nope!"])
def test_a_damaged_file_is_one_clear_line(tmp_path: Path, content: bytes):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(DamagedFileError, match="cannot be read as a saved agent"):
        read_arrays(tmp_path / "file")
