import os

import pytest

from attribute_planner.command_line import main as module


@pytest.mark.parametrize(("status", "ended"), [(0, []), (2, []), (130, [130]), (143, [143])])
def test_a_signal_ends_the_process_without_taking_the_interpreter_down(
    monkeypatch: pytest.MonkeyPatch, status: int, ended: list[int]
):
    statuses: list[int] = []
    monkeypatch.setattr(module, "main", lambda arguments: status)
    monkeypatch.setattr(os, "_exit", statuses.append)
    assert module.program() == status and statuses == ended


def test_output_that_nobody_reads_any_more_is_no_mistake(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def closed(*arguments: object, **options: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("builtins.print", closed)
    assert module.main(["envs", "--json"]) == module.BROKEN_PIPE
    assert capsys.readouterr().err == ""
