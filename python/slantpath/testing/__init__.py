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

from slantpath.errors import StuckError, TooLateError, VoidRunError
from slantpath.testing.loop import VirtualLoop
from slantpath.testing.measures import Delivery
from slantpath.testing.network import Host, Network, network
from slantpath.testing.relay import Relayed, relayed

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
