"""Who may talk to the viewer: this machine, a page of the viewer itself, and only with the token of its address."""

from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from hmac import compare_digest
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = "127.0.0.1"
POLICY_VIOLATION = 1008
"""The code with which a WebSocket is refused."""

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""Sent with every answer: nothing is loaded from elsewhere, no script stands in a page, and no other page shows it."""


@dataclass(frozen=True)
class Refusal:
    """Why a request is not answered: an HTTP status and a sentence."""

    status: int
    reason: str


class Guard:
    """Refuses what does not come from a page of the viewer; what remains is passed on without the token.

    The token is the first part of the path. The Host header must name this machine, so that a name of someone else's
    that resolves to it (DNS rebinding) is of no use. A WebSocket must come from a page of the viewer.
    """

    def __init__(self, app: App, *, token: str, port: int) -> None:
        self._app, self._token = app, token
        self._hosts = {f"{name}:{port}" for name in (LOOPBACK, "localhost")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return
        refusal = self.refusal(scope)
        if refusal is not None:
            await _refuse(scope, receive, send, refusal)
            return
        path = scope["path"].removeprefix(f"/{self._token}")
        await self._app({**scope, "path": path, "raw_path": path.encode()}, receive, _with_headers(send))

    def refusal(self, scope: Scope) -> Refusal | None:
        """Why a request is refused; `None` if it is not."""
        if scope["type"] == "http" and scope["method"] != "GET":
            return Refusal(405, "Only GET is allowed.")
        hosts, origins = (_values(scope, name) for name in (b"host", b"origin"))
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return Refusal(421, "The viewer answers to this machine only.")
        if origins != [] and origins != [f"http://{hosts[0]}"]:
            return Refusal(403, "Another page may not use the viewer.")
        if scope["type"] == "websocket" and not origins:
            return Refusal(403, "Only a page of the viewer may connect.")
        _, token, *rest = [*scope["path"].split("/"), ""]
        if not rest[:-1] or not compare_digest(token.encode(), self._token.encode()):
            return Refusal(404, "There is nothing here; the address of the viewer contains a token.")
        return None


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key.lower() == name]


def _with_headers(send: Send) -> Send:
    async def guarded(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            added = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            message = {**message, "headers": [*message.get("headers", []), *added]}
        await send(message)

    return guarded


async def _refuse(scope: Scope, receive: Receive, send: Send, refusal: Refusal) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": refusal.reason})
        return
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    answer = _with_headers(send)
    await answer({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await answer({"type": "http.response.body", "body": f"{refusal.reason}\n".encode()})
