"""The notebooks run from top to bottom."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from attribute_planner import configuration
from attribute_planner.evaluation import calibrate

FOLDER = Path(__file__).parents[1] / "examples" / "notebooks"


def cells_of(name: str) -> list[str]:
    """The code of the notebook."""
    cells = json.loads((FOLDER / name).read_text(encoding="utf-8"))["cells"]
    assert all(cell.get("outputs", []) == [] for cell in cells if cell["cell_type"] == "code"), "clear the outputs"
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def run_cells(name: str) -> tuple[dict[str, Any], list[str]]:
    """The names that a notebook defines, and what it shows as HTML: the last expression of a cell."""
    names: dict[str, Any] = {"__name__": "__main__"}
    shown = []
    for number, code in enumerate(cells_of(name)):
        tree = ast.parse(code, f"{name}, cell {number}")
        last = tree.body[-1]
        if isinstance(last, ast.Expr):
            tree.body.pop()
        exec(compile(tree, f"{name}, cell {number}", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"{name}, cell {number}", "eval"), names)
            shown.append(value._repr_html_() if hasattr(value, "_repr_html_") else repr(value))
    return names, shown


def test_first_steps():
    names, shown = run_cells("first_steps.ipynb")
    assert names["episode"].success
    assert sum("<iframe" in html for html in shown) == 2


@pytest.mark.slow
def test_own_environment_is_diagnosed_and_repaired(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(calibrate, "SHARE", 0.0)  # it would take longer than training
    monkeypatch.setattr(configuration, "replay_ratio", lambda *_: 16.0)
    names, _ = run_cells("own_environment.ipynb")
    assert [finding.kind for finding in names["diagnosis"].findings[:2]] == ["unseen-value", "noise"]
    assert names["repaired"].success > 0.9


@pytest.mark.slow
def test_blocks():
    names, _ = run_cells("blocks.ipynb")
    assert names["episode"].success and names["default"].success
    assert not names["published"].success
