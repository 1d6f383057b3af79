"""Live SCTP for asyncio: over UDP on the loopback, which needs no privilege. Nothing here sleeps."""

from __future__ import annotations

import asyncio
import gc
import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if sys.platform != "linux":
    pytest.skip("slantpath.live drives the sockets of Linux", allow_module_level=True)

from slantpath import live, sctp_events
from slantpath.errors import ScenarioError
from slantpath.sctp_settings import SctpSettings

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping

    Settings = Mapping[str, Any]

LOOPBACK = "127.0.0.1"
SCHEMA = Path(__file__).parents[2] / "schema" / "slantpath.schema.json"
PORT = 5000


def run(test: Coroutine[None, None, None]) -> None:
    # Far more than any of these takes: nothing depends on it unless it fails.
    asyncio.run(asyncio.wait_for(test, 120))


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def endpoints(
    buffer_bytes: int = 131_072, *, client: Settings | None = None, server: Settings | None = None
) -> tuple[live.Endpoint, live.Endpoint]:
    async def bind(port: int, udp: live.Udp, settings: Settings) -> live.Endpoint:
        buffers = {"receive_buffer": buffer_bytes, "send_buffer": buffer_bytes}
        return await live.Endpoint.bind([LOOPBACK], port=port, udp=udp, **{**buffers, **settings})

    listening = await bind(PORT, live.Udp(0), server or {})
    return await bind(0, live.Udp(0, listening.addresses[0][1]), client or {}), listening


async def associate(
    client: live.Endpoint, server: live.Endpoint
) -> tuple[live.Association, live.Association]:
    return await asyncio.gather(client.connect([LOOPBACK], PORT), server.accept())


def test_messages_come_back_whole_in_order_on_their_stream() -> None:
    async def serve(association: live.Association) -> None:
        async for message in association:
            await association.send(message.stream, message.payload, payload_protocol=message.payload_protocol)

    async def test() -> None:
        client, server = await endpoints()
        async with client, server:
            call, accepted = await associate(client, server)
            assert call.peer == (LOOPBACK, PORT)
            assert accepted.peer == (LOOPBACK, client.port)
            serving = asyncio.create_task(serve(accepted))
            payloads = [bytes([number % 256]) * (1 + number * 7) for number in range(500)]

            async def send() -> None:
                for number, payload in enumerate(payloads):
                    await call.send(number % 16, payload, payload_protocol=number)

            sending = asyncio.create_task(send())
            came: dict[int, live.Message] = {}
            while len(came) < len(payloads):
                message = await call.receive()
                assert message is not None
                assert message.stream == message.payload_protocol % 16
                came[message.payload_protocol] = message
            await sending
            assert [came[number].payload for number in range(500)] == payloads
            (path,) = call.paths()
            assert (path["destination"], path["state"], path["is_primary"]) == (LOOPBACK, "Active", True)
            assert path["srtt_s"] > 0
            row = call.mib()
            assert row is not None
            assert (row["sctpAssocState"], row["sctpAssocRemPort"], row["sctpAssocInStreams"]) == (
                "established",
                PORT,
                16,
            )
            (remote,) = row["sctpAssocRemAddrTable"]
            assert (remote["sctpAssocRemAddr"], remote["sctpAssocRemAddrHBActive"]) == (LOOPBACK, True)
            assert remote["sctpAssocRemAddrRTO"] == round(path["rto_s"] * 1000)
            await call.shutdown()
            assert call.mib() is None
            await serving
            assert server.counters()["sctpPassiveEstabs"] == 1

    run(test())


def test_a_message_goes_to_the_address_that_it_names() -> None:
    async def test() -> None:
        both = [LOOPBACK, "127.0.0.2"]
        server = await live.Endpoint.bind(both, port=PORT, udp=live.Udp(0))
        udp = live.Udp(0, server.addresses[0][1])
        client = await live.Endpoint.bind([LOOPBACK], udp=udp)
        async with client, server:
            call, accepted = await asyncio.gather(client.connect(both, PORT), server.accept())
            # Each answer is a round trip, in the first of which the second address is confirmed.
            for _ in range(20):
                await call.send(0, b"over there", destination=both[1])
                assert await accepted.receive() is not None
            chunks = {path["destination"]: path["data_chunks"] for path in call.paths()}
            assert chunks[both[1]] > 10
            assert sum(chunks.values()) == 20
            with pytest.raises(live.LiveError, match=r"127\.0\.0\.9 is none of the peer's addresses"):
                await call.send(0, b"nowhere", destination="127.0.0.9")

    run(test())


def test_two_ports_share_the_sockets_of_one_endpoint() -> None:
    async def test() -> None:
        client, server = await endpoints()
        beside = await server.bind_beside(port=PORT + 1, inbound_streams=3)
        assert (beside.port, beside.addresses) == (PORT + 1, server.addresses)
        with pytest.raises(live.LiveError, match=r"SCTP port 5000 at 127\.0\.0\.1 is in use"):
            await beside.bind_beside(port=PORT)
        with pytest.raises(ValueError, match="socket_buffer_bytes"):
            await server.bind_beside(socket_buffer_bytes=65536)
        first = await associate(client, server)
        second = await asyncio.gather(client.connect([LOOPBACK], PORT + 1), beside.accept())
        assert [call.outbound_streams for call, _ in (first, second)] == [16, 3]
        for call, accepted in (first, second):
            await call.send(0, b"to a port")
            message = await accepted.receive()
            assert message is not None
            assert message.payload == b"to a port"
        # What is closed first leaves the other be.
        await server.close()
        with pytest.raises(live.LiveError, match="has been closed"):
            await server.accept()
        call, accepted = second
        await accepted.send(2, b"still here")
        message = await call.receive()
        assert message is not None
        assert message.payload == b"still here"
        udp_port = beside.addresses[0][1]
        await beside.close()
        await client.close()
        assert await call.receive() is None
        # The sockets go with the last that holds something of them.
        del call, accepted, first, second
        gc.collect()
        await asyncio.sleep(0)
        again = await live.Endpoint.bind([LOOPBACK], port=PORT, udp=live.Udp(udp_port))
        await again.close()

    run(test())


def test_a_sender_waits_for_a_slow_reader() -> None:
    async def test() -> None:
        client, server = await endpoints(buffer_bytes=20_000)
        async with client, server:
            call, accepted = await associate(client, server)
            sent = 0

            async def send() -> None:
                nonlocal sent
                for _ in range(300):
                    await call.send(0, bytes(1000))
                    sent += 1

            sending = asyncio.create_task(send())
            # 64 KiB are read ahead, and the buffers hold 40 kB.
            while sent < 100:  # noqa: ASYNC110 - it is the loop's turn, not a time
                await asyncio.sleep(0)
            for _ in range(100):
                message = await accepted.receive()
                assert message is not None
                assert len(message.payload) == 1000
            assert sent < 250
            for _ in range(200):
                await accepted.receive()
            await sending

    run(test())


def test_what_is_cancelled_takes_nothing_and_gives_up() -> None:
    async def test() -> None:
        client, server = await endpoints()
        async with client, server:
            call, accepted = await associate(client, server)
            receiving = asyncio.create_task(accepted.receive())
            await asyncio.sleep(0)
            receiving.cancel()
            with pytest.raises(asyncio.CancelledError):
                await receiving
            await call.send(0, b"kept")
            message = await accepted.receive()
            assert message is not None
            assert message == live.Message(
                0, b"kept", 0, unordered=False, hop_limit=64, dscp=0, ecn=message.ecn
            )
            assert message.ecn in (0, 2)
            # Of an association that nobody refers to any more what was sent is delivered.
            await call.send(0, b"last")
            del call
            gc.collect()
            message = await accepted.receive()
            assert message is not None
            assert message.payload == b"last"
            assert await accepted.receive() is None
            assert await accepted.notification() is None

    run(test())


def test_who_goes_on_to_the_next_server_gets_there() -> None:
    async def test() -> None:
        client, server = await endpoints()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
            silent.bind((LOOPBACK, 0))
            udp_port = silent.getsockname()[1]
            for _ in range(3):
                dead = asyncio.ensure_future(client.connect([LOOPBACK], PORT + 1, udp_port=udp_port))
                await asyncio.sleep(0)
                dead.cancel()
                # To the same peer, and to the next one, before the loop has had another turn.
                again = asyncio.ensure_future(client.connect([LOOPBACK], PORT + 1, udp_port=udp_port))
                call, accepted = await associate(client, server)
                again.cancel()
                await asyncio.gather(dead, again, return_exceptions=True)
                # It is on its way to its end when the same peer is called again.
                call.abort()
                call, accepted = await associate(client, server)
                await asyncio.gather(call.shutdown(), accepted.ended())
        await asyncio.gather(client.close(), server.close())

    run(test())


def test_what_is_closed_gives_its_descriptors_back_and_keeps_what_has_come() -> None:
    async def test() -> None:
        kept: list[object] = []
        before = descriptors()
        for at_once in [False, True]:
            client, server = await endpoints()
            call, accepted = await associate(client, server)
            await call.send(3, b"before")
            # Its acknowledgement.
            while not call.paths()[0]["data_chunks"] or call.paths()[0]["flight_bytes"]:  # noqa: ASYNC110
                await asyncio.sleep(0)
            if at_once:
                await asyncio.gather(client.abort(), server.abort())
            else:
                await asyncio.gather(client.close(), server.close())
            assert descriptors() == before
            message = await accepted.receive()
            assert message is not None
            assert (message.stream, message.payload) == (3, b"before")
            with pytest.raises(live.LiveError, match="has been closed"):
                await client.connect([LOOPBACK], PORT)
            kept += [client, server, call, accepted]
            nobody = await live.Endpoint.bind([LOOPBACK], udp=live.Udp(0, 1))
            with pytest.raises(live.AssociationLost) as lost:
                await nobody.connect([LOOPBACK], PORT)
            await nobody.abort()
            kept += [nobody, lost]
            assert descriptors() == before

    run(test())


def test_what_cannot_be_sent_is_said() -> None:
    async def test() -> None:
        client, server = await endpoints()
        async with client, server:
            call, accepted = await associate(client, server)
            no_bytes: list[Any] = [5, "text", [1, 2]]
            for payload in no_bytes:
                with pytest.raises(TypeError, match=r"bytes-like object is required|a payload is bytes"):
                    await call.send(0, payload)
            with pytest.raises(live.LiveError, match='not agreed to "partial-reliability"'):
                await call.send(0, b"never", lifetime=0.1)
            with pytest.raises(ValueError, match="nowhere is no IP address"):
                await call.send(0, b"there", destination="nowhere")
            with pytest.raises(ValueError, match="localhost is no IP address"):
                await client.connect(["localhost"], PORT)
            await call.send(0, b"one")
            await call.send(0, b"two")
            received = [await accepted.receive() for _ in range(2)]
            assert [message and message.payload for message in received] == [b"one", b"two"]

    run(test())


def test_arguments_of_a_wrong_type_say_what_would_be_right() -> None:
    # What a checker of types would refuse.
    port: Any = 29998
    text: Any = "text"
    swapped: tuple[Any, Any] = (b"text", 0)
    misspelt: Any = {"rto_mn": 0.2}

    async def test() -> None:
        with pytest.raises(TypeError, match=r"live.Udp\(0, 29998\) that of peers"):
            await live.Endpoint.bind(LOOPBACK, udp=port)
        with pytest.raises(ScenarioError, match="did you mean `rto_min`"):
            await live.Endpoint.bind(LOOPBACK, udp=live.Udp(0), **misspelt)
        client, server = await endpoints()
        # An address may stand alone.
        call, accepted = await asyncio.gather(client.connect(LOOPBACK, PORT), server.accept())
        with pytest.raises(TypeError, match="a payload is bytes"):
            await call.send(0, text)
        with pytest.raises(TypeError, match="the stream comes first"):
            await call.send(*swapped)
        with pytest.raises(TypeError, match="a lifetime is a number of seconds"):
            await call.send(0, b"text", lifetime=text)
        for stream in (-1, call.outbound_streams, 99_999):
            with pytest.raises(live.LiveError, match=f"stream {stream} is not one of the 16 outbound"):
                await call.send(stream, b"text")
        assert repr(call) == f"<Association with {LOOPBACK} port {PORT}: alive>"
        assert repr(server) == f"<Endpoint port {PORT}: {LOOPBACK}>"
        await call.shutdown()
        await accepted.ended()
        assert repr(call).endswith(": ended>")
        await client.close()
        await server.close()
        assert repr(server) == f"<Endpoint port {PORT}: closed>"

    run(test())


def test_how_an_association_was_lost_is_told() -> None:
    async def test() -> None:
        client, server = await endpoints()
        async with client, server:
            call, accepted = await associate(client, server)
            accepted.abort(b"no room")
            with pytest.raises(live.AssociationLost, match="by its user: no room"):
                await call.receive()
            with pytest.raises(live.AssociationLost, match="nobody takes associations"):
                await client.connect([LOOPBACK], PORT + 1)
            call, accepted = await associate(client, server)
            with pytest.raises(live.LiveError, match="stream 16 is not one of the 16"):
                await call.send(16, b"x")
        with pytest.raises(live.LiveError, match="closed"):
            await server.accept()
        # It ended in order with its endpoint, and can still be asked.
        assert await accepted.receive() is None

    run(test())


def test_extensions_are_used_that_both_ends_offer() -> None:
    offered = ["authentication", "partial-reliability", "stream-reconfiguration"]

    async def test() -> None:
        keys = {1: b"of the first year", 2: b"of the second"}
        client, server = await endpoints(
            client={"extensions": [*offered, "interleaving"], "keys": keys, "active_key": 2},
            server={"extensions": offered, "keys": keys, "active_key": 1},
        )
        async with client, server:
            call, accepted = await associate(client, server)
            assert set(call.extensions) == set(accepted.extensions) == set(offered)
            await call.send(0, b"by the second key")
            message = await accepted.receive()
            assert message is not None
            assert message.payload == b"by the second key"

    run(test())


def test_streams_are_added_and_reset_and_paths_are_commanded() -> None:
    async def test() -> None:
        offered = {"extensions": ["stream-reconfiguration"]}
        client, server = await endpoints(client=offered, server=offered)
        async with client, server:
            call, accepted = await associate(client, server)
            with pytest.raises(live.LiveError, match="stream 19 is not one of the 16"):
                await call.send(19, b"too early")
            call.add_streams(4)
            streams = {
                call: {"outbound_streams": 20, "inbound_streams": 16},
                accepted: {"outbound_streams": 16, "inbound_streams": 20},
            }
            for association in (call, accepted):
                told = await association.notification()
                assert told is not None
                assert told.what == "streams added"
                assert told.fields == {"change": "added", **streams[association]}
                assert set(told.fields) <= set(sctp_events.EVENTS[told.what].__annotations__)
            await call.send(19, b"on one that was added")
            message = await accepted.receive()
            assert message is not None
            assert message.stream == 19
            call.reset_streams([19])
            told = await accepted.notification()
            assert told is not None
            assert told.what == "streams reset"
            assert call.request_heartbeat(LOOPBACK)
            assert not call.request_heartbeat("192.0.2.1")
            assert call.set_primary(LOOPBACK)
            assert not call.set_primary("192.0.2.1")
        with pytest.raises(live.LiveError):
            call.add_streams(1)

    run(test())


async def told(association: live.Association, what: str) -> str | None:
    """Wait until a notification says this, and give the address that it is about."""
    while (notification := await association.notification()) is not None:
        if notification.what == what:
            return notification.address
    pytest.fail(f"the association has ended without {what}")


def test_addresses_change_while_an_association_lives() -> None:
    second = "127.0.0.2"

    async def test() -> None:
        offered = ["authentication", "dynamic-addresses"]
        client = await live.Endpoint.bind([LOOPBACK, second], udp=live.Udp(0), extensions=offered)
        # It has not heard of the second address, and so has to know its UDP port.
        udp = live.Udp(0, client.addresses[1][1])
        server = await live.Endpoint.bind([LOOPBACK], port=PORT, udp=udp, extensions=offered)
        async with client, server:
            calling = client.connect([LOOPBACK], PORT, udp_port=server.addresses[0][1])
            call, accepted = await asyncio.gather(calling, server.accept())

            def seen() -> set[str]:
                return {path["destination"] for path in accepted.paths()}

            assert seen() == {LOOPBACK, second}
            call.delete_address(second)
            assert await told(call, "change accepted") == second
            assert await told(accepted, "address deleted") == second
            assert seen() == {LOOPBACK}
            with pytest.raises(live.LiveError, match=r"127\.0\.0\.2 is no address of this association"):
                call.request_peer_primary(second)
            with pytest.raises(live.LiveError, match=r"127\.0\.0\.1 is the last address"):
                call.delete_address(LOOPBACK)
            with pytest.raises(live.LiveError, match=r"192\.0\.2\.1 cannot be added"):
                call.add_address("192.0.2.1")
            call.add_address(second)
            assert await told(accepted, "address added") == second
            assert seen() == {LOOPBACK, second}
            call.request_peer_primary(second)
            assert await told(accepted, "address preferred") == second
            (primary,) = (path["destination"] for path in accepted.paths() if path["is_primary"])
            assert primary == second

    run(test())


def test_keys_change_while_an_association_lives() -> None:
    first: Settings = {"extensions": ["authentication"], "keys": {1: b"the first"}, "active_key": 1}
    # Whoever is not understood ends soon.
    quick: Settings = {"rto_initial": 0.05, "rto_min": 0.05, "rto_max": 0.1, "sack_delay": 0.01}
    impatient: Settings = {**first, **quick, "association_max_retrans": 2, "path_max_retrans": 1}

    async def test() -> None:
        client, server = await endpoints(client=impatient, server={**first, "sack_delay": 0.01})
        async with server:
            call, accepted = await associate(client, server)
            with pytest.raises(live.LiveError, match="there is no key 2"):
                call.activate_key(2)
            for association in (call, accepted):
                association.add_key(2, b"the second")
                association.activate_key(2)
            with pytest.raises(live.LiveError, match="key 2 is the active one"):
                call.delete_key(2)
            for association in (call, accepted):
                association.delete_key(1)
            await call.send(0, b"by the second key")
            message = await accepted.receive()
            assert message is not None
            assert message.payload == b"by the second key"
            # A key that the other end does not have.
            call.add_key(3, b"the third")
            call.activate_key(3)
            await call.send(0, b"by the third key")
            with pytest.raises(live.AssociationLost, match="does not answer"):
                await call.receive()
            await client.abort()
            await server.abort()

    run(test())


def test_commands_of_extensions_that_are_not_in_use_are_refused() -> None:
    async def test() -> None:
        client, server = await endpoints()
        async with client, server:
            call, _accepted = await associate(client, server)
            with pytest.raises(live.LiveError, match="dynamic addresses were not negotiated"):
                call.delete_address(LOOPBACK)
            with pytest.raises(live.LiveError, match="no association that authenticates"):
                call.add_key(1, b"x")
        with pytest.raises(live.LiveError, match="not up"):
            call.add_key(1, b"x")

    run(test())


def test_what_is_authenticated_by_another_key_is_not_taken() -> None:
    settings = {"extensions": ["authentication"], "active_key": 1, "rto_min": 0.05, "sack_delay": 0.01}
    impatient = {**settings, "rto_initial": 0.05, "rto_max": 0.1, "association_max_retrans": 2}

    async def test() -> None:
        client, server = await endpoints(
            client={**impatient, "path_max_retrans": 1, "keys": {1: b"ours"}},
            server={**settings, "rto_initial": 0.05, "keys": {1: b"theirs"}},
        )
        async with server:
            call, _accepted = await associate(client, server)
            await call.send(0, b"by another key")
            with pytest.raises(live.AssociationLost, match="does not answer"):
                await call.receive()
            assert call.unacknowledged == 1
            await client.abort()
            await server.abort()

    run(test())


def test_an_mtu_and_a_scheduler_are_set() -> None:
    async def test() -> None:
        settings = {"initial_path_mtu": 1000, "stream_scheduling": "priority", "stream_values": {0: 2, 1: 1}}
        client, server = await endpoints(client=settings)
        async with client, server:
            call, accepted = await associate(client, server)
            assert [path["mtu_bytes"] for path in call.paths()] == [992]
            assert [path["mtu_bytes"] for path in accepted.paths()] == [1492]

    run(test())


def test_what_cannot_be_opened_is_said() -> None:
    async def test() -> None:
        with pytest.raises(live.LiveError, match=r"192\.0\.2\.1 is no address of this machine"):
            await live.Endpoint.bind(["192.0.2.1"], udp=live.Udp(0))
        misspelt: dict[str, Any] = {"rto_mim": 1}
        with pytest.raises(ValueError, match=r"^rto_mim: .* has no key `rto_mim`\n.*did you mean `rto_min`"):
            await live.Endpoint.bind([LOOPBACK], udp=live.Udp(0), **misspelt)
        with pytest.raises(ValueError, match=r"^rto_min: `-1 s` is negative"):
            await live.Endpoint.bind([LOOPBACK], udp=live.Udp(0), rto_min=-1)
        with pytest.raises(ValueError, match=r"^rto_max: `4` has no unit"):
            await live.Endpoint.bind([LOOPBACK], udp=live.Udp(0), rto_max="4")
        with pytest.raises(ValueError, match=r"`nr-sacks` is none of the choices\n.*did you mean `nr-sack`"):
            await live.Endpoint.bind([LOOPBACK], udp=live.Udp(0), extensions=["nr-sacks"])
        with pytest.raises(ValueError, match='keys needs "authentication"'):
            await live.Endpoint.bind([LOOPBACK], udp=live.Udp(0), keys={1: b"x"})
        with pytest.raises(ValueError, match="`active_key` says nothing where no chunk is authenticated"):
            await live.Endpoint.bind([LOOPBACK], udp=live.Udp(0), active_key=1)
        with pytest.raises(ValueError, match="active_key is 3, and keys has 1, 2"):
            await live.Endpoint.bind(
                [LOOPBACK],
                udp=live.Udp(0),
                extensions=["authentication"],
                keys={1: b"x", 2: b"y"},
                active_key=3,
            )
        with pytest.raises(ScenarioError, match="`initial_path_mtu` of 100 B cannot be"):
            await live.Endpoint.bind([LOOPBACK], udp=live.Udp(0), initial_path_mtu=100)
        with pytest.raises(ScenarioError, match="no time-out satisfies both"):
            await live.Endpoint.bind([LOOPBACK], udp=live.Udp(0), rto_min=90)

    run(test())


async def settings_of(**settings: Any) -> dict[str, Any]:  # noqa: ANN401 - any setting
    endpoint = await live.Endpoint.bind([LOOPBACK], udp=live.Udp(0), **settings)
    own = endpoint.settings
    await endpoint.abort()
    return own


def test_a_setting_is_a_number_or_a_text_and_stands_above_a_profile(tmp_path: Path) -> None:
    (tmp_path / "leo.toml").write_text('[sctp.leo]\nrto_min = "2 s"\ncongestion_control = "cubic"\n')
    of_file: Settings = {"profile": tmp_path / "leo.toml", "rto_initial": 3}

    async def test() -> None:
        plain = await settings_of()
        assert (plain["rto_min"], plain["hb_interval"], plain["max_burst"]) == ("1 s", "30 s", 4)
        for rto_min in (0.1 + 0.2, "300 ms"):
            assert (await settings_of(rto_min=rto_min)) == {**plain, "rto_min": "300 ms"}
        for size in (65536, "64 KiB"):
            assert (await settings_of(send_buffer=size))["send_buffer"] == "64 KiB"
        off = await settings_of(hb_interval=None, max_burst=None, ecn=True, initial_cwnd=3000)
        assert [off[key] for key in ("hb_interval", "max_burst", "ecn")] == ["off", "off", True]
        assert off["initial_cwnd"] == "3 kB"
        above = await settings_of(**of_file)
        chosen = ("rto_initial", "rto_min", "congestion_control")
        assert [above[key] for key in chosen] == ["3 s", "2 s", "cubic"]
        secret = {"extensions": ["authentication"], "shared_keys": ["a", "b"], "active_key": 1}
        kept = await settings_of(**secret)
        assert kept["authenticated_chunks"] == ["data", "i-data"]
        assert not {"shared_keys", "active_key"} & set(kept)

    run(test())


def test_a_setting_is_still_known_by_the_name_that_it_has_had() -> None:
    old: Settings = {
        "heartbeat_interval": 7,
        "receive_buffer_bytes": 20_000,
        "send_buffer_bytes": 30_000,
        "path_mtu_bytes": 1300,
        "path_mtu_discovery": "probing",
    }

    async def test() -> None:
        own = await settings_of(**old)
        renamed = ("hb_interval", "receive_buffer", "send_buffer")
        assert [own[key] for key in renamed] == ["7 s", "20 kB", "30 kB"]
        assert [own[key] for key in ("initial_path_mtu", "max_path_mtu")] == ["1300 B", "1300 B"]

    run(test())


def declared() -> dict[str, Any]:
    schema = json.loads(SCHEMA.read_text())
    keys: dict[str, Any] = whole(
        schema["properties"]["sctp"]["additionalProperties"]["properties"], schema["$defs"]
    )
    return keys


def whole(part: Any, definitions: dict[str, Any]) -> Any:  # noqa: ANN401 - a part of a schema is any JSON
    """Give a part of a schema with what it refers to in place of the references."""
    if isinstance(part, list):
        return [whole(each, definitions) for each in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return whole(definitions[part["$ref"].removeprefix("#/$defs/")], definitions)
    return {key: whole(value, definitions) for key, value in part.items()}


def test_the_settings_of_a_stub_are_those_of_the_declaration() -> None:
    assert set(SctpSettings.__annotations__) == set(declared())


def test_every_setting_of_the_declaration_is_taken_and_holds() -> None:
    def words(schema: dict[str, Any]) -> list[Any]:
        of_items = schema.get("items", {}).get("oneOf", [])
        listed = [*schema.get("oneOf", []), *schema.get("anyOf", []), *of_items]
        known = [one["const"] for one in listed if "const" in one]
        return [*known, *([word] for word in known)]

    plain = [True, False, 1, 2, 5, 20, 150, 0.01, 0.3, 90, 1300, 3000, "5 Mbit/s"]
    contexts: list[dict[str, Any]] = [
        {},
        {"path_mtu_discovery": "probing"},
        {"multipath": "concurrent"},
        {"extensions": ["authentication"]},
        {"extensions": ["dynamic-addresses"]},
        {"congestion_control": "backlog", "loss_detection": "rack"},
    ]

    async def is_set(key: str, values: list[Any]) -> bool:
        for context in contexts:
            without = await settings_of(**context)
            for value in values:
                try:
                    own = await settings_of(**{**context, key: value})
                except (ScenarioError, live.LiveError, TypeError):
                    continue
                if own.get(key) != without.get(key):
                    return True
        return False

    async def test() -> None:
        # Secrets are not told, and are used by a test above.
        for key, schema in declared().items():
            if key not in {"shared_keys", "active_key"}:
                assert await is_set(key, [*plain, *words(schema)]), key

    run(test())


def test_the_example_runs() -> None:
    example = Path(__file__).parents[1] / "examples" / "live_echo.py"
    done = subprocess.run(  # noqa: S603 - its own example
        [sys.executable, example], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "1000 messages have come back" in done.stdout
