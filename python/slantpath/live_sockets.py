"""Sockets of endpoints that one event loop serves."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from typing import TYPE_CHECKING

from slantpath.errors import LiveError

if sys.platform != "linux":
    message = "slantpath.live_sockets serves the sockets of Linux"
    raise ImportError(message)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slantpath._native import LiveEndpoint
    from slantpath.bells import Bells
    from slantpath.live import Endpoint


class Sockets:
    """The sockets of one endpoint or more, and the event loop that serves them."""

    def __init__(self, native: LiveEndpoint) -> None:
        """Have the running event loop serve them."""
        self.loop = asyncio.get_running_loop()
        self.endpoints: list[Endpoint] = []
        self.associations: dict[int, Bells] = {}
        self._native = native
        self._turn_is_due = False
        self._fileno: int | None = native.fileno()
        self.loop.add_reader(self._fileno, self.turn)

    @property
    def is_open(self) -> bool:
        """Whether they are served."""
        return self._fileno is not None

    def poke(self) -> None:
        """Have what a command has left to do done, once the loop has its turn."""
        if not self._turn_is_due and self.is_open and self._native.is_touched():
            self._turn_is_due = True
            self.loop.call_soon(self.turn)

    def turn(self) -> None:
        """Do some of what there is to do, and wake whom it concerns."""
        self._turn_is_due = False
        if not self.is_open:
            return
        try:
            may_be_more, has_ended, concerns = self._native.turn()
        except (OSError, LiveError) as error:
            self._fail(error)
            return
        if may_be_more and not self._turn_is_due:
            self._turn_is_due = True
            self.loop.call_soon(self.turn)
        self._wake(concerns, has_ended=has_ended)

    def _fail(self, error: Exception) -> None:
        """Serve nobody any more."""
        if isinstance(error, LiveError):
            # A controller has failed: the sockets are all right, and peers are told.
            for endpoint in self.endpoints:
                endpoint._broken = error  # noqa: SLF001 - they are one
                endpoint._native.close(at_once=True)  # noqa: SLF001
            with contextlib.suppress(OSError, LiveError):
                self._native.turn()
        for endpoint in list(self.endpoints):
            self.leave(endpoint, error)

    def _wake(self, concerns: Sequence[tuple[int, str]], *, has_ended: bool) -> None:
        for number, concern in concerns:
            if concern == "caller":
                for endpoint in self.endpoints:
                    endpoint._bells.ring(concern)  # noqa: SLF001 - they are one
            elif (bells := self.associations.get(number)) is not None:
                # Whatever is waited for: it may have ended.
                bells.ring(*(("standing", *list(bells.waiting)) if concern == "standing" else (concern,)))
        for endpoint in self.endpoints:
            if has_ended:
                endpoint._bells.ring("ended")  # noqa: SLF001

    def leave(self, endpoint: Endpoint, failure: Exception) -> None:
        """Serve an endpoint no more; without any, wait for nothing any more."""
        if endpoint not in self.endpoints:
            return
        self.endpoints.remove(endpoint)
        if not self.endpoints and self._fileno is not None:
            self.loop.remove_reader(self._fileno)
            self._fileno = None
            # What has come before is received from what is kept.
            self._native.close_sockets()
        endpoint._stop(failure)  # noqa: SLF001

    def release(self, number: int) -> None:
        """Have an association end that is not used any more."""
        self.associations.pop(number, None)
        if self.is_open:
            self._native.release(number)
            self.poke()
