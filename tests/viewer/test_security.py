"""The viewer answers this machine, its own page, and nobody else; and nothing of the disk but its own files."""

import asyncio
import itertools
import random
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest

pytest.importorskip("starlette")

from attribute_planner.viewer import server
from attribute_planner.viewer.runs import Entry, Runs
from attribute_planner.viewer.security import HEADERS
from attribute_planner.viewer.server import application
from attribute_planner.viewer.static_files import static_files

TOKEN, PORT = "a-token-of-the-tests", 8123
HOST = {"host": f"127.0.0.1:{PORT}"}
ORIGIN = {"origin": f"http://127.0.0.1:{PORT}"}


@pytest.fixture
def app(tmp_path: Path) -> Any:
    return application(Runs({"secret": Entry("secret", tmp_path)}), token=TOKEN, port=PORT)


async def ask(app: Any, path: str, headers: dict[str, str] = HOST, method: str = "GET") -> tuple[int, dict, bytes]:
    """Status, headers and body of the answer, as the server would call the application."""
    raw = path.encode("latin-1", "replace")
    scope = {
        "type": "http",
        "method": method,
        "path": unquote_to_bytes(raw.partition(b"?")[0]).decode("latin-1"),
        "raw_path": raw,
        "query_string": raw.partition(b"?")[2],
        "root_path": "",
        "scheme": "http",
        "http_version": "1.1",
        "headers": [(name.encode(), value.encode("latin-1", "replace")) for name, value in headers.items()],
    }
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, receive, send)
    start = sent[0]
    body = b"".join(each.get("body", b"") for each in sent[1:])
    return start["status"], {name.decode(): value.decode() for name, value in start["headers"]}, body


def get(app: Any, path: str, **options: Any) -> tuple[int, dict, bytes]:
    return asyncio.run(ask(app, path, **options))


def test_the_page_and_its_files_are_served_with_a_strict_policy(app: Any):
    for name, (content, _) in static_files().items():
        status, headers, body = get(app, f"/{TOKEN}/{name}")
        assert (status, body) == (200, content)
        assert {name: headers[name] for name in HEADERS} == HEADERS
    assert get(app, f"/{TOKEN}/")[2] == static_files()["index.html"].content


def test_the_page_loads_nothing_from_elsewhere():
    for name, (content, _) in static_files().items():
        text = content.decode().replace("http://www.w3.org/2000/svg", "")
        assert "http:" not in text.replace('"https:" ? "wss:"', "") and "//cdn" not in text, name
        assert "innerHTML" not in text and "eval(" not in text, name


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (HOST, 200),
        ({"host": f"localhost:{PORT}"}, 200),
        (HOST | ORIGIN, 200),
        ({}, 421),
        ({"host": "evil.example"}, 421),
        ({"host": f"evil.example:{PORT}"}, 421),
        ({"host": f"127.0.0.1.evil.example:{PORT}"}, 421),
        ({"host": "127.0.0.1:1"}, 421),
        (HOST | {"origin": "http://evil.example"}, 403),
        (HOST | {"origin": "null"}, 403),
        (HOST | {"origin": f"http://localhost:{PORT}"}, 403),
    ],
)
def test_foreign_hosts_and_origins_are_refused(app: Any, headers: dict[str, str], status: int):
    assert get(app, f"/{TOKEN}/", headers=headers)[0] == status


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "TRACE"])
def test_other_methods_than_get_are_refused(app: Any, method: str):
    assert get(app, f"/{TOKEN}/", method=method)[0] == 405


@pytest.mark.parametrize(
    "path", ["/", "/index.html", "//", f"/{TOKEN}", f"/{TOKEN[:-1]}/", f"/{TOKEN}x/", "/x/main.js"]
)
def test_without_the_token_there_is_nothing(app: Any, path: str):
    assert get(app, path)[0] == 404


def connect(app: Any, headers: dict[str, str], path: str = f"/{TOKEN}/socket", last: bool = False) -> str:
    """Whether the application accepts a WebSocket: the type of its first message, or of its last."""
    scope = {
        "type": "websocket",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "scheme": "ws",
        "subprotocols": [],
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    arriving, sent = iter([{"type": "websocket.connect"}, {"type": "websocket.disconnect", "code": 1000}]), []

    async def receive() -> dict[str, Any]:
        return next(arriving)

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    return sent[-1 if last else 0]["type"]


def test_a_websocket_is_for_the_page_of_the_viewer_only(app: Any):
    assert connect(app, HOST | ORIGIN) == "websocket.accept"
    assert connect(app, HOST) == "websocket.close"
    assert connect(app, HOST | {"origin": "http://evil.example"}) == "websocket.close"
    assert connect(app, {"host": "evil.example", "origin": "http://evil.example"}) == "websocket.close"
    assert connect(app, HOST | ORIGIN, "/wrong/socket") == "websocket.close"


def test_there_is_a_limit_for_tabs(app: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(server, "MAX_TABS", 0)
    assert connect(app, HOST | ORIGIN) == "websocket.accept"
    assert connect(app, HOST | ORIGIN, last=True) == "websocket.close"


def traversals(count: int, secret: Path) -> list[str]:
    """Paths that try to leave the folder of the page."""
    ups = [
        "..",
        "%2e%2e",
        "%2E%2E",
        ".%2e",
        "%252e%252e",
        "..%00",
        "..;",
        "...",
        "%c0%ae%c0%ae",
        "..%5c",
        "\\..",
        "%uff0e",
    ]
    joints = ["/", "%2f", "%2F", "%252f", "\\", "%5c", "//", "/./", "%c0%af"]
    files = [
        "config.json",
        "agent.safetensors",
        "metrics.jsonl",
        "server.py",
        "__init__.py",
        "etc/passwd",
        "proc/self/environ",
    ]
    files += [
        str(secret),
        f"file://{secret}",
        "secret/config.json",
        "socket",
        "main.js%00.json",
        "~/.ssh/id_rsa",
        "C:\\boot.ini",
    ]
    every = itertools.product(ups, joints, range(1, 12), files, (f"/{TOKEN}/", "/", f"/{TOKEN}/static/", f"/{TOKEN}"))
    paths = [start + joint.join([up] * depth + [file]) for up, joint, depth, file, start in every]
    return random.Random(0).sample(paths, count)


def test_thousands_of_ways_out_of_the_folder_lead_nowhere(app: Any, tmp_path: Path):
    secret = tmp_path / "config.json"
    secret.write_text("the secret of the tests")
    known = {content for content, _ in static_files().values()}

    async def leaks() -> list[str]:
        found = []
        for path in traversals(5_000, secret):
            status, _, body = await ask(app, path)
            if status not in (404, 421) or b"secret of the tests" in body or b"root:" in body or body in known:
                found.append(path)
        return found

    assert asyncio.run(leaks()) == []
