"""Who waits for something of an endpoint, and is woken in the order in which they came."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

T = TypeVar("T")


class Bells:
    """Those who wait for something, by what they wait for."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin with nobody."""
        self.loop = loop
        # In the order in which they came, so that who is woken first is the same in every run.
        self.waiting: defaultdict[str, dict[asyncio.Future[None], None]] = defaultdict(dict)

    def ring(self, *concerns: str) -> None:
        """Wake whoever waits for one of these."""
        for concern in concerns:
            for future in self.waiting.pop(concern, ()):
                if not future.done():
                    future.set_result(None)

    async def wait_for(self, concern: str, attempt: Callable[[], T | None]) -> T:
        """Try whenever there is something to try, until there is a result."""
        while (result := attempt()) is None:
            future: asyncio.Future[None] = self.loop.create_future()
            self.waiting[concern][future] = None
            try:
                await future
            finally:
                self.waiting[concern].pop(future, None)
        return result
