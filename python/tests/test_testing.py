"""Programs of asyncio over a simulated network, in virtual time."""

from __future__ import annotations

import asyncio
import math
import ssl
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if sys.platform != "linux":
    pytest.skip("slantpath.testing stands on slantpath.live, which is Linux's", allow_module_level=True)

from slantpath import live, testing
from slantpath.testing import StuckError, TooLateError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine


ROOT = Path(__file__).parents[2]
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
            TooLateError,
            match=r"2 of 2 came later than 0.249 s, 0 have not come:\n  14 bytes of tcp from 10\.",
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


def test_a_server_that_is_closed_serves_no_longer_and_resets_who_comes_too_late() -> None:
    async def scene(net: testing.Network) -> None:
        with net.host("server"):
            server = await asyncio.start_server(echo, port=80)
        serving = net.host("server").run(server.serve_forever())
        with net.host("client"):
            calling = asyncio.create_task(asyncio.open_connection("server", 80))
        # Its SYN came after 50 ms, and its handshake ends 100 ms later.
        await asyncio.sleep(0.1)
        server.close()
        with pytest.raises(asyncio.CancelledError):
            await serving
        reader, writer = await calling
        with pytest.raises(ConnectionResetError):
            await reader.read()
        writer.close()

    with testing.network(delay="50 ms") as net:
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


def test_a_connection_that_was_closed_gives_all_of_it_though_it_is_broken_off_behind_that() -> None:
    async def scene(net: testing.Network) -> bytes:
        came = asyncio.get_running_loop().create_future()

        async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            came.set_result(await reader.read())
            writer.close()

        with net.host("server"):
            await asyncio.start_server(take, port=7)
        with net.host("client"):
            _, writer = await asyncio.open_connection("server", 7)
        writer.write(b"all")
        writer.close()
        writer.transport.abort()
        words: bytes = await came
        return words

    with testing.network(delay="5 ms") as net:
        assert net.run(scene(net)) == b"all"


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


def test_a_network_of_ipv6_carries_all_three_protocols() -> None:
    async def scene(net: testing.Network) -> None:
        client, server = net.host("client"), net.host("server")
        assert ":" in server.address
        server.run(serve())
        loop = asyncio.get_running_loop()
        with server:
            _, datagrams = await loop.create_datagram_endpoint(Datagrams, ("server", 53))
            listening = await live.Endpoint.bind(port=5000)
        with client:
            reader, writer = await asyncio.open_connection("server", 7)
            sender, _ = await loop.create_datagram_endpoint(Datagrams, remote_addr=("server", 53))
            calling = await live.Endpoint.bind(udp=None)
        writer.write(b"stream")
        assert await reader.readexactly(6) == b"stream"
        sender.sendto(b"x" * 3000)
        call, accepted = await asyncio.gather(calling.connect(server.addresses, 5000), listening.accept())
        await call.send(0, b"message")
        message = await accepted.receive()
        assert message is not None
        assert message.payload == b"message"
        assert [len(data) for _, data, _ in datagrams.came] == [3000]
        assert sorted(one.protocol for one in net.deliveries) == ["sctp", "tcp", "tcp", "udp"]
        writer.close()
        await asyncio.gather(calling.close(), listening.close())

    with testing.network(delay="20 ms", family="ipv6") as net:
        net.run(scene(net))
        net.assert_no_later_than("21 ms")


def test_a_network_is_no_asynchronous_context_and_says_what_is() -> None:
    async def main() -> None:
        async with testing.network():
            pass

    with pytest.raises(TypeError, match="`with network"):
        asyncio.run(main())


def test_the_end_cancels_what_still_runs_and_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    ended: list[str] = []

    async def holds() -> None:
        _, writer = await asyncio.open_connection("server", 7)
        try:
            await asyncio.sleep(10**6)
        finally:
            await asyncio.sleep(1)
            writer.close()
            await writer.wait_closed()
            ended.append("in order")

    async def scene(net: testing.Network) -> None:
        net.host("server").run(serve())
        net.host("client").run(holds())
        await asyncio.sleep(10)

    with testing.network(delay="10 ms") as net:
        net.run(scene(net))
    assert ended == ["in order"]
    assert caplog.messages == []


def test_the_limit_ends_what_waits_without_end() -> None:
    async def scene() -> None:
        for _ in range(100):
            await asyncio.sleep(60)

    with testing.network(limit="1 h") as net, pytest.raises(StuckError, match="the limit of 3600 s"):
        net.run(scene())


def test_whoever_sleeps_for_ever_waits_for_nothing_and_a_year_is_slept_to_its_end() -> None:
    async def year() -> float:
        for _ in range(365):
            await asyncio.sleep(86_400.1)
        return asyncio.get_running_loop().time()

    with testing.network(limit="10000 h") as net:
        assert net.run(year()) == pytest.approx(365 * 86_400.1)
    with testing.network() as net, pytest.raises(StuckError, match="nothing will ever happen"):
        net.run(asyncio.sleep(math.inf))


@pytest.mark.parametrize("time", ["1,5 s", "5", -1, math.nan, math.inf, "10000000 h"])
def test_what_is_no_time_is_told(time: str | float) -> None:
    with testing.network() as net, pytest.raises(ValueError, match='is no time: write "300 ms"'):
        net.down("link", at=time)


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


def test_what_has_not_come_is_late_as_well() -> None:
    async def scene(net: testing.Network) -> None:
        net.host("server").run(serve())
        with net.host("client"):
            _, writer = await asyncio.open_connection("server", 7)
        net.down("link")
        writer.write(b"lost")
        await asyncio.sleep(10)
        with pytest.raises(
            TooLateError, match=r"0 of 0 came later than 5 s, 1 have not come:\n  4 bytes of tcp"
        ):
            net.assert_no_later_than("5 s")
        net.assert_no_later_than("20 s")
        writer.close()

    with testing.network() as net:
        net.run(scene(net))


def test_what_has_not_come_of_a_connection_is_not_taken_for_what_a_later_one_of_its_ports_has_sent() -> None:
    async def scene(net: testing.Network) -> None:
        async def take(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
            await reader.read()

        async def write(words: bytes) -> None:
            _, writer = await asyncio.open_connection("server", 7, local_addr=("", 5000))
            writer.write(words)
            await asyncio.sleep(1)
            net.down("link", lasts="1 s")
            writer.write(b"lost")
            writer.transport.abort()
            await asyncio.sleep(10)

        with net.host("server"):
            await asyncio.start_server(take, port=7)
        with net.host("client"):
            await write(b"one")
            await write(b"three")

    with testing.network(delay="10 ms") as net:
        net.run(scene(net))
        assert [one.length for one in net.deliveries] == [3, 5]
        assert all(one.delay < 0.011 for one in net.deliveries)
        with pytest.raises(TooLateError, match=r"0 of 2 came later than 5 s, 2 have not come:\n  4 bytes"):
            net.assert_no_later_than("5 s")


def test_a_test_that_fails_keeps_its_files_and_says_where(tmp_path: Path) -> None:
    async def scene(net: testing.Network) -> None:
        with net.host("client"):
            sender, _ = await asyncio.get_running_loop().create_datagram_endpoint(
                Datagrams, remote_addr=("server", 53)
            )
        sender.sendto(b"lost")
        await asyncio.sleep(1)
        pytest.fail("as it is meant to")

    kept = tmp_path / "kept"
    network = testing.network(seed=9, keep=kept)
    with pytest.raises(pytest.fail.Exception) as failed, network as net:
        net.run(scene(net))
    notes = failed.value.__notes__
    assert notes[0] == "slantpath: seed 9, at 1.000000 s of simulated time"
    assert notes[1] == f"slantpath: kept in {kept}: deliveries.csv, link.pcapng, scenario.toml"
    assert b"lost" in (kept / "link.pcapng").read_bytes()


def test_a_scenario_s_attached_nodes_are_hosts_beside_its_simulated_ones() -> None:
    scenario = """
        [scenario]
        name = "lab"
        duration = "1 min"
        [nodes]
        phone.kind = "attached"
        server = { kind = "host", serve = "echo" }
        [links.satellite]
        ends = ["phone", "server"]
        rate = "2 Mbit/s"
        delay = "50 ms"
    """

    async def ask() -> bytes:
        reader, writer = await asyncio.open_connection("server", 7)
        writer.write(b"anybody?")
        answer = await reader.readexactly(8)
        writer.close()
        await asyncio.sleep(10)
        return answer

    with testing.network(scenario) as net:
        assert net.run(net_scene(net, ask)) == b"anybody?"
        # Nobody hears when something has come to a simulated node.
        net.assert_no_later_than("1 s")
    assert net.output is not None
    assert "attached_interfaces" in net.output.tables


async def net_scene(net: testing.Network, ask: Callable[[], Coroutine[Any, Any, bytes]]) -> bytes:
    return await net.hosts[0].run(ask())


def anonymous(side: int) -> ssl.SSLContext:
    """Give TLS that needs no certificate: nobody proves who he is."""
    context = ssl.SSLContext(side)
    if side == ssl.PROTOCOL_TLS_CLIENT:
        context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("AECDH-AES256-SHA:@SECLEVEL=0")
    return context


def test_tls_is_put_above_a_connection_of_the_network() -> None:
    async def scene(net: testing.Network) -> bytes:
        with net.host("server"):
            server = await asyncio.start_server(echo, port=443, ssl=anonymous(ssl.PROTOCOL_TLS_SERVER))

        async def ask() -> bytes:
            reader, writer = await asyncio.open_connection(
                "server", 443, ssl=anonymous(ssl.PROTOCOL_TLS_CLIENT)
            )
            writer.write(b"in secret")
            answer = await reader.readexactly(9)
            writer.close()
            await writer.wait_closed()
            return answer

        with net.host("client"), pytest.raises((ssl.SSLError, ConnectionError)):
            # They have no cipher in common.
            await asyncio.open_connection("server", 443, ssl=ssl.create_default_context())
        answer = await net.host("client").run(ask())
        server.close()
        return answer

    with testing.network(delay="50 ms") as net:
        assert net.run(scene(net)) == b"in secret"
    assert net.output is not None
    assert b"in secret" not in net.output.captures["link"]


def test_what_comes_to_a_connection_that_was_closed_is_answered_by_a_reset() -> None:
    async def scene(net: testing.Network) -> None:
        async def hangs_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readexactly(1)
            writer.close()

        with net.host("server"):
            server = await asyncio.start_server(hangs_up, port=7)
        with net.host("client"):
            reader, writer = await asyncio.open_connection("server", 7)
        writer.write(b"x")
        assert await reader.read() == b""
        writer.write(b"more")
        await asyncio.sleep(1)
        assert isinstance(reader.exception(), ConnectionResetError)
        writer.close()
        server.close()

    with testing.network(delay="5 ms") as net:
        net.run(scene(net))


def test_under_a_sky_a_run_goes_on_beyond_its_duration_and_handovers_are_told() -> None:
    async def scene(net: testing.Network) -> list[str]:
        net.host("jorge").run(serve(9000))

        async def ask() -> None:
            reader, writer = await asyncio.open_connection("jorge", 9000)
            for _ in range(30):
                writer.write(b"x")
                await reader.readexactly(1)
                await asyncio.sleep(2)
            writer.close()

        await net.host("faial").run(ask())
        return [antenna for _, antenna, _, _ in net.handovers()]

    with testing.network(ROOT / "scenarios/emulated-islands.toml", capture=False) as net:
        antennas = net.run(scene(net))
        assert net.now > 60
    assert "leo-faial" in antennas
