"""Notices when the head of a Ray cluster is lost. Ray itself ends this process a minute later, and saves nothing."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from attribute_planner.errors import ClusterLostError
from attribute_planner.interruption import end_program

SECONDS_TO_CONNECT = 5.0

SECONDS_BETWEEN_LOOKS = 3.0

SECONDS_TO_ANSWER = 15.0
"""A head that has not answered for so long is lost."""

SECONDS_TO_END = 15.0
"""A program that has not ended so long after the loss, because it is busy, is ended by the thread that looks."""


class HeadWatch:
    """Looks from time to time whether somebody listens at the address of the head."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.is_lost = False
        self._over = threading.Event()

    def require(self) -> None:
        """An error if the head is lost."""
        if self.is_lost:
            raise ClusterLostError(self._line())

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Look while the block runs."""
        thread = threading.Thread(target=self._look, name="head of the cluster", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._over.set()

    def _look(self) -> None:
        heard = time.monotonic()
        while not self._over.wait(SECONDS_BETWEEN_LOOKS):
            if answers(self.address):
                heard = time.monotonic()
            elif time.monotonic() - heard > SECONDS_TO_ANSWER:
                self.is_lost = True
                if not self._over.wait(SECONDS_TO_END):
                    end_program(self._line())
                return

    def _line(self) -> str:
        return (
            f"The head of the Ray cluster does not answer any more at {self.address}. Start it again, and continue: "
            "train with resume, reproduce as before."
        )


def answers(address: str) -> bool:
    """Whether somebody listens at an address `HOST:PORT`."""
    return why_no_answer(address) is None


def why_no_answer(address: str) -> OSError | None:
    """Why nobody listens at an address `HOST:PORT`; `None` if somebody does."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), SECONDS_TO_CONNECT).close()
    except OSError as error:
        return error
    return None
