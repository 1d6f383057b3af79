"""Programs of asyncio over a simulated network, in virtual time."""

from __future__ import annotations

import asyncio
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

if sys.platform != "linux":
    pytest.skip("slantpath.testing stands on slantpath.live, which is Linux's", allow_module_level=True)

from slantpath import testing
from slantpath.testing import StuckError, TooLateError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    Scene = Callable[[testing.Network], Coroutine[Any, Any, Any]]

GEO: dict[str, Any] = {"rate": "2 Mbit/s", "delay": "250 ms", "loss": "1 %"}


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65_536):
        writer.write(data)
        await writer.drain()
    writer.close()


async def serve(port: int = 7) -> None:
    server = await asyncio.start_server(echo, port=port)
    async with server:
        await server.serve_forever()


class Datagrams(asyncio.DatagramProtocol):
    def __init__(self) -> None:
        self.came: list[tuple[float, bytes, tuple[str, int]]] = []
        self.failures: list[Exception] = []

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self.came.append((asyncio.get_running_loop().time(), data, addr))

    def error_received(self, exc: Exception) -> None:
        self.failures.append(exc)


def test_an_answer_over_tcp_takes_two_round_trips_of_the_network_and_no_time_of_ours() -> None:
    async def scene(net: testing.Network) -> float:
        net.host("server").run(serve())

        async def ask() -> float:
            reader, writer = await asyncio.open_connection("server", 7)
            up = asyncio.get_running_loop().time()
            writer.write(b"are you there?")
            assert await reader.readexactly(14) == b"are you there?"
            assert writer.get_extra_info("peername")[1] == 7
            writer.close()
            await writer.wait_closed()
            return asyncio.get_running_loop().time() - up

        return await net.host("client").run(ask())

    with testing.network(delay="250 ms") as net:
        assert net.run(scene(net)) == pytest.approx(0.5, abs=1e-5)
        net.assert_no_later_than("251 ms")
        with pytest.raises(
            TooLateError, match=r"2 of 2 came later than 0.249 s:\n  14 bytes of tcp from 10\."
        ):
            net.assert_no_later_than("249 ms")


def test_a_datagram_comes_after_the_delay_and_others_are_lost_as_the_seed_says() -> None:
    async def scene(net: testing.Network) -> list[tuple[float, bytes]]:
        loop = asyncio.get_running_loop()
        with net.host("server"):
            _, receiver = await loop.create_datagram_endpoint(Datagrams, ("server", 53))
        with net.host("client"):
            sender, _ = await loop.create_datagram_endpoint(Datagrams, remote_addr=("server", 53))
        for number in range(100):
            sender.sendto(b"%d" % number)
            await asyncio.sleep(0.01)
        await asyncio.sleep(1)
        return [(time, data) for time, data, _ in receiver.came]

    def run(seed: int) -> list[tuple[float, bytes]]:
        with testing.network(delay="300 ms", loss="20 %", seed=seed) as net:
            return net.run(scene(net))

    one, another = run(3), run(4)
    assert one == run(3)
    assert one != another
    assert 60 < len(one) < 95
    assert one[0][0] == pytest.approx(0.3 + 0.01 * int(one[0][1]), abs=1e-6)


def test_a_datagram_is_answered_and_its_sender_is_known() -> None:
    async def scene(net: testing.Network) -> None:
        class Answering(Datagrams):
            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                assert isinstance(transport, asyncio.DatagramTransport)
                self.transport = transport

            def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
                self.transport.sendto(data.upper(), addr)

        loop = asyncio.get_running_loop()
        with net.host("server"):
            await loop.create_datagram_endpoint(Answering, ("", 53))
        with net.host("client"):
            sender, asked = await loop.create_datagram_endpoint(Datagrams, ("", 0))
        sender.sendto(b"who?", ("server", 53))
        sender.sendto(bytes(70_000), ("server", 53))
        await asyncio.sleep(1)
        ((time, data, addr),) = asked.came
        assert (data, addr) == (b"WHO?", (net.host("server").address, 53))
        assert time == pytest.approx(0.1, abs=1e-5)
        assert isinstance(asked.failures[0], OSError)

    with testing.network(delay="50 ms") as net:
        net.run(scene(net))


def test_an_hour_over_a_geostationary_satellite_is_the_same_in_each_run() -> None:
    async def scene(net: testing.Network) -> list[float]:
        net.host("server").run(serve())

        async def ask() -> list[float]:
            loop, waits = asyncio.get_running_loop(), []
            reader, writer = await asyncio.open_connection("server", 7)
            for _ in range(720):
                begun = loop.time()
                writer.write(bytes(200))
                await reader.readexactly(200)
                waits.append(loop.time() - begun)
                await asyncio.sleep(5 - waits[-1])
            writer.close()
            return waits

        return await net.host("client").run(ask())

    def run() -> tuple[list[float], str]:
        with testing.network(**GEO, seed=5) as net:
            waits = net.run(scene(net))
            assert net.now > 3_600
        assert net.output is not None
        return waits, net.output.digest

    first = run()
    assert first == run()
    assert min(first[0]) > 0.5
    assert max(first[0]) > 1.5


def test_a_link_that_fails_halts_what_crosses_it_until_it_returns() -> None:
    async def scene(net: testing.Network) -> float:
        net.host("server").run(serve())

        async def ask() -> float:
            reader, writer = await asyncio.open_connection("server", 7)
            await asyncio.sleep(10.5 - asyncio.get_running_loop().time())
            writer.write(b"x")
            await reader.readexactly(1)
            writer.close()
            return asyncio.get_running_loop().time()

        return await net.host("client").run(ask())

    with testing.network(delay="10 ms") as net:
        net.down("link", at="10 s", lasts="5 s")
        answered = net.run(scene(net))
    assert 15 < answered < 18


def test_who_does_not_read_halts_who_writes() -> None:
    async def scene(net: testing.Network) -> tuple[int, int]:
        came = asyncio.get_running_loop().create_future()

        async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(100)
            came.set_result(len(await reader.read()))
            writer.close()

        async def listen() -> None:
            await asyncio.start_server(slow, port=9)

        await net.host("server").run(listen())

        async def push() -> int:
            _, writer = await asyncio.open_connection("server", 9)
            written = 0
            try:
                async with asyncio.timeout(90):
                    while True:
                        writer.write(bytes(100_000))
                        await writer.drain()
                        written += 100_000
            except TimeoutError:
                halted = written
            writer.close()
            return halted

        return await net.host("client").run(push()), await came

    with testing.network(rate="100 Mbit/s", delay="1 ms") as net:
        halted, came = net.run(scene(net))
    # Both buffers of TCP, and those of asyncio.
    assert 4_000_000 < halted < 10_000_000
    assert came == halted + 100_000


def test_a_port_where_nobody_listens_refuses_and_one_that_is_in_use_is_told() -> None:
    async def scene(net: testing.Network) -> None:
        client, server = net.host("client"), net.host("server")
        with client, pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("server", 80)
        with server:
            first = await asyncio.start_server(echo, port=80)
            with pytest.raises(OSError, match="port 80 of TCP is in use at `server`"):
                await asyncio.start_server(echo, port=80)
            first.close()
            await first.wait_closed()
            with client, pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection("server", 80)
            again = await asyncio.start_server(echo, port=80)
        with client:
            _, writer = await asyncio.open_connection(server.address, 80)
        writer.close()
        again.close()

    with testing.network() as net:
        net.run(scene(net))


def test_a_connection_that_is_broken_off_is_reset_at_the_other_end() -> None:
    async def scene(net: testing.Network) -> None:
        ends: asyncio.Queue[BaseException | None] = asyncio.Queue()

        async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                await reader.read()
            except ConnectionResetError as failure:
                ends.put_nowait(failure)
            writer.close()

        with net.host("server"):
            await asyncio.start_server(take, port=7)
        with net.host("client"):
            _, writer = await asyncio.open_connection("server", 7)
        writer.transport.abort()
        assert isinstance(await ends.get(), ConnectionResetError)

    with testing.network(delay="5 ms") as net:
        net.run(scene(net))


def test_one_that_waits_for_what_never_comes_is_told_with_its_line() -> None:
    async def waits_for_nothing() -> None:
        reader, _ = await asyncio.open_connection("server", 7)
        await reader.read(1)

    async def scene(net: testing.Network) -> None:
        net.host("server").run(serve(), name="the server")
        queue: asyncio.Queue[int] = asyncio.Queue()
        await asyncio.gather(net.host("client").run(waits_for_nothing(), name="the client"), queue.get())

    with testing.network(delay="1 s") as net, pytest.raises(StuckError) as stuck:
        net.run(scene(net))
    text = str(stuck.value)
    address = net.host("server").address
    assert "nothing will ever happen" in text
    assert (
        f"the client: test_testing.py:{waits_for_nothing.__code__.co_firstlineno + 2} in waits_for_nothing"
        in text
    )
    assert f"for bytes of {address}:7" in text
    assert "serves until it is cancelled (<Server of `server`, port 7>)" in text
    assert "for an item of a queue" in text


def test_the_limit_ends_what_waits_without_end() -> None:
    async def scene() -> None:
        for _ in range(100):
            await asyncio.sleep(60)

    with testing.network(limit="1 h") as net, pytest.raises(StuckError, match="the limit of 3600 s"):
        net.run(scene())


def test_what_is_real_is_refused_with_the_reason_and_executors_call_in_place() -> None:
    async def scene(net: testing.Network) -> None:
        loop = asyncio.get_running_loop()
        assert await asyncio.to_thread(threading.get_ident) == threading.get_ident()
        with pytest.raises(
            NotImplementedError, match="subprocesses: not in virtual time: they live in real time"
        ):
            await asyncio.create_subprocess_exec("true")
        with pytest.raises(NotImplementedError, match="descriptors are the operating system's"):
            loop.add_reader(0, print)
        with pytest.raises(
            RuntimeError, match=r"on which host\? .*net\.host\(\"client\"\), net\.host\(\"server\"\)"
        ):
            await asyncio.open_connection("server", 7)
        with (
            net.host("client"),
            pytest.raises(OSError, match="`nobody` is no node that `client` reaches; nodes: server"),
        ):
            await asyncio.open_connection("nobody", 7)

    with testing.network() as net:
        net.run(scene(net))
