"""The web server: one page, its files, and a WebSocket for each tab. It answers on this machine only."""

import json
import logging
import secrets
import socket
from functools import partial

import anyio
import uvicorn
from anyio import CapacityLimiter, Lock, Semaphore, to_thread
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from attribute_planner.errors import AttributePlannerError, ConfigurationError
from attribute_planner.viewer.messages import MAX_BYTES, read_message
from attribute_planner.viewer.runs import Runs
from attribute_planner.viewer.security import LOOPBACK, App, Guard
from attribute_planner.viewer.sessions import Session
from attribute_planner.viewer.static_files import static_files

MAX_TABS = 32
"""Tabs that are connected at the same time; each may hold an environment."""
TRY_AGAIN_LATER = 1013
AT_ONCE = 4
"""Messages of one tab that are answered at the same time."""
THREADS = 4
"""Threads in which the messages of all tabs are answered."""


def application(runs: Runs, *, token: str, port: int) -> App:
    """The viewer as an ASGI application."""
    tabs = Tabs(runs)
    routes = [Route("/", _file), Route("/{name}", _file), WebSocketRoute("/socket", tabs.connect)]
    app = Starlette(routes=routes)
    app.router.redirect_slashes = False
    return Guard(app, token=token, port=port)


async def _file(request: Request) -> Response:
    found = static_files().get(request.path_params.get("name", "index.html"))
    if found is None:
        return PlainTextResponse("There is no such file.\n", status_code=404)
    return Response(found.content, media_type=found.media_type)


class Tabs:
    """The tabs that are connected."""

    def __init__(self, runs: Runs) -> None:
        self._runs, self._open = runs, 0
        self._threads: CapacityLimiter | None = None

    async def connect(self, websocket: WebSocket) -> None:
        """Answer the messages of a tab until it is closed."""
        await websocket.accept()
        if self._open >= MAX_TABS:
            await websocket.close(TRY_AGAIN_LATER, f"The viewer is open in {MAX_TABS} tabs; close one of them.")
            return
        self._open += 1
        self._threads = self._threads or CapacityLimiter(THREADS)
        session = Session(self._runs)
        try:
            await self._converse(websocket, session, self._threads)
        finally:
            self._open -= 1
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(session.close)

    async def _converse(self, websocket: WebSocket, session: Session, threads: CapacityLimiter) -> None:
        sending, at_once = Lock(), Semaphore(AT_ONCE)

        async def answer(text: str) -> None:
            try:
                answered = await to_thread.run_sync(partial(_answer, session, text), limiter=threads)
                async with sending:
                    if websocket.application_state == WebSocketState.CONNECTED:
                        await websocket.send_text(answered)
            except (WebSocketDisconnect, RuntimeError):  # the tab was closed in the meantime
                return
            finally:
                at_once.release()

        async with anyio.create_task_group() as group:
            while (received := await websocket.receive())["type"] != "websocket.disconnect":
                await at_once.acquire()
                group.start_soon(answer, received.get("text") or "")
            group.cancel_scope.cancel()


def _answer(session: Session, text: str) -> str:
    try:
        message = read_message(text)
    except AttributePlannerError as mistake:
        return json.dumps({"error": str(mistake)})
    return json.dumps({"id": message.get("id"), **session.answer(message)}, allow_nan=False)


class Server:
    """The viewer on a port of this machine.

    port: 0 for one that is free.
    address: where the page is; it contains the token.
    """

    def __init__(self, runs: Runs, port: int = 0) -> None:
        self._listening = _listen(port)
        port, token = self._listening.getsockname()[1], secrets.token_urlsafe(24)
        config = uvicorn.Config(
            application(runs, token=token, port=port),
            log_level=logging.WARNING,
            access_log=False,
            server_header=False,
            lifespan="off",
            ws="websockets-sansio",
            ws_max_size=MAX_BYTES,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self.address = f"http://{LOOPBACK}:{port}/{token}/"

    def run(self) -> None:
        """Answer until `stop` is called or the program is interrupted."""
        self._server.run(sockets=[self._listening])

    def stop(self) -> None:
        """End `run`, which may be called in another thread."""
        self._server.should_exit = True


def _listen(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((LOOPBACK, port))
        listening.listen()
    except (OSError, OverflowError) as error:
        listening.close()
        raise ConfigurationError(f"Port {port} cannot be used: {error}. Choose another one with --port.") from error
    return listening
