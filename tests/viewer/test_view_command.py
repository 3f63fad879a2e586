import socket

import pytest

from attribute_planner.command_line.main import main

pytest.importorskip("uvicorn")


def test_a_run_that_does_not_exist_is_one_clear_line(capsys: pytest.CaptureFixture[str]):
    assert main(["view", "nowhere"]) == 1
    assert capsys.readouterr().err.startswith("attribute-planner: There is no run directory 'nowhere'")


@pytest.mark.parametrize("port", [None, 70_000])
def test_a_port_that_cannot_be_used_is_one_clear_line(port: int | None, capsys: pytest.CaptureFixture[str]):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = port or taken.getsockname()[1]
        assert main(["view", "--no-browser", "--port", str(port)]) == 1
    printed = capsys.readouterr().err.splitlines()
    assert len(printed) == 1
    assert f"Port {port} cannot be used" in printed[0]
