"""Associations of ``slantpath.live`` over a simulated network, in virtual time."""

from __future__ import annotations

import asyncio
import sys

import pytest

if sys.platform != "linux":
    pytest.skip("slantpath.testing stands on slantpath.live, which is Linux's", allow_module_level=True)

from slantpath import live, testing
from slantpath.testing import TooLateError


def test_associations_of_slantpath_live_stand_at_hosts_in_ip_and_in_udp() -> None:
    async def scene(net: testing.Network, udp: list[live.Udp | None]) -> None:
        async def answer() -> None:
            async with await live.Endpoint.bind(port=5000, udp=udp[1]) as endpoint:
                association = await endpoint.accept()
                async for message in association:
                    await association.send(message.stream, message.payload.upper())

        async def ask() -> None:
            async with await live.Endpoint.bind(udp=udp[0]) as endpoint:
                association = await endpoint.connect([net.host("server").address], 5000)
                await association.send(3, b"hello")
                message = await association.receive()
                assert message is not None
                assert (message.stream, message.payload) == (3, b"HELLO")
                assert association.peer == (net.host("server").address, 5000)
                await association.shutdown()

        answering = net.host("server").run(answer())
        await net.host("client").run(ask())
        answering.cancel()
        (asked, answered) = net.deliveries
        assert (asked.protocol, asked.destination[1], answered.source[1]) == ("sctp", 5000, 5000)
        assert asked.delay == pytest.approx(0.2, abs=1e-5)
        assert answered.sent == asked.arrived

    carriages: list[list[live.Udp | None]] = [[None, None], [live.Udp(0, 9_899), live.Udp()]]
    for udp in carriages:
        with testing.network(delay="200 ms") as net:
            net.run(scene(net, udp))


def test_an_association_goes_over_to_its_other_path_when_one_fails() -> None:
    settings: live.Settings = {"rto_min": "500 ms", "rto_initial": "1 s", "path_max_retrans": 1}

    async def scene(net: testing.Network) -> None:
        async def take() -> int:
            endpoint = await live.Endpoint.bind(port=5000, **settings)
            association = await endpoint.accept()
            count = 0
            async for _ in association:
                count += 1
            return count

        async def give() -> None:
            async with await live.Endpoint.bind(**settings) as endpoint:
                association = await endpoint.connect(net.host("server").addresses, 5000)
                for number in range(300):
                    await association.send(0, b"%d" % number)
                    await asyncio.sleep(0.1)
                await association.shutdown()

        taken = net.host("server").run(take())
        await net.host("client").run(give())
        assert await taken == 300

    links = {"satellite": {"delay": "250 ms"}, "terrestrial": {"delay": "30 ms"}}
    with testing.network(links=links, rate="2 Mbit/s") as net:
        net.down("satellite", at="10 s")
        net.run(scene(net))
        net.assert_no_later_than("4 s")
        with pytest.raises(TooLateError, match="of 300 came later than 1 s"):
            net.assert_no_later_than("1 s", to="server")
        late = [one for one in net.deliveries if one.delay > 1]
        assert all(9.5 < one.sent < 14 for one in late)


def test_messages_that_were_given_up_are_not_taken_for_those_that_have_come() -> None:
    settings: live.Settings = {"extensions": ["partial-reliability"], "max_burst": 4}

    async def scene(net: testing.Network) -> int:
        async def take() -> int:
            endpoint = await live.Endpoint.bind(port=5000, **settings)
            association = await endpoint.accept()
            count = 0
            async for _ in association:
                count += 1
            return count

        async def give() -> None:
            async with await live.Endpoint.bind(**settings) as endpoint:
                association = await endpoint.connect("10.0.0.2", 5000)
                for number in range(200):
                    await association.send(0, b"%d" % number, lifetime=0.3)
                    await asyncio.sleep(0.02)
                await asyncio.sleep(5)
                await association.shutdown()

        taken = net.host("server").run(take())
        await net.host("client").run(give())
        return await taken

    with testing.network(delay="100 ms", loss="20 %", seed=2) as net:
        count = net.run(scene(net))
        assert 100 < count < 200
        came = [one for one in net.deliveries if one.protocol == "sctp"]
        assert len(came) == count
        # 14 are given up: taken for those, the last ones would be later by as many instants.
        assert max(one.delay for one in came) < 1.6
