"""Tests of programs over a bad network: simulated, in virtual time, inside a unit test and without root.

An asyncio program runs as it is; its sockets are those of hosts of a simulated network::

    from slantpath import testing

    async def scene(net):
        net.host("server").run(serve())  # the program's own coroutines
        await net.host("client").run(ask("server", 8000))

    def test_an_answer_comes_over_a_satellite():
        with testing.network(delay="270 ms", loss="1 %", seed=3) as net:
            net.run(scene(net))
            net.assert_no_later_than("2 s")

Time is the network's: `asyncio.sleep`, timeouts and timers wait in it, and an hour of it takes as long as its
packets take to be computed. A run is the same each time, by its seed. Programs that are not of asyncio, or in
another language, run in real time by `relayed`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NoReturn

from slantpath.errors import StuckError, TooLateError, VoidRunError
from slantpath.testing.relay import Relayed, relayed

if TYPE_CHECKING or sys.platform == "linux":
    from slantpath.testing.loop import VirtualLoop
    from slantpath.testing.measures import Delivery
    from slantpath.testing.network import Host, Network, network

__all__ = [
    "Delivery",
    "Host",
    "Network",
    "Relayed",
    "StuckError",
    "TooLateError",
    "VirtualLoop",
    "VoidRunError",
    "network",
    "relayed",
]


def __getattr__(name: str) -> NoReturn:
    """Say why there is no virtual time on other systems."""
    if name in __all__:
        message = (
            f"slantpath.testing.{name} stands on slantpath.live, which is Linux's; relayed is everywhere"
        )
        raise ImportError(message)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
