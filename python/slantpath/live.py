"""Live SCTP for asyncio: the stack that Slantpath simulates, on this machine's sockets.

An `Endpoint` is one SCTP port on one or more addresses; an `Association` carries messages between it
and another::

    import asyncio
    from slantpath import live

    async def main() -> None:
        async with await live.Endpoint.bind(["127.0.0.1"], port=5000, udp=live.Udp(0)) as server:
            udp_port = server.addresses[0][1]
            async with await live.Endpoint.bind(["127.0.0.1"], udp=live.Udp(0, udp_port)) as client:
                call, accepted = await asyncio.gather(client.connect(["127.0.0.1"], 5000), server.accept())
                await call.send(3, b"a message")
                print(await accepted.receive())
                await call.shutdown()

    asyncio.run(main())

An endpoint belongs to the event loop in which it was bound, which waits for one descriptor of it: there
is no thread, and no timer for each association. Whatever works on sockets runs with the interpreter
free for other threads.

`Association.send` waits while the send buffer is full. Who reads slowly closes the receive window, and
halts the sender. Everything that waits can be cancelled without losing what was received: a message, a
caller or a notification is taken in the same step in which the call returns. A send that is cancelled
has sent nothing, a connect that is cancelled gives the association up; a shutdown goes on.

An association that is not used any more is shut down in order: what was sent is delivered. Linux only.
"""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Self, Unpack

from slantpath.bells import Bells, T
from slantpath.errors import AssociationLost, LiveError
from slantpath.live_arguments import addresses_of, sendable
from slantpath.live_sockets import Sockets
from slantpath.sctp_settings import SctpSettings

if sys.platform != "linux":
    message = "slantpath.live drives the sockets of Linux"
    raise ImportError(message)

from slantpath._native import LiveEndpoint

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence
    from types import TracebackType

    from slantpath.controllers import Controller

__all__ = [
    "Association",
    "AssociationLost",
    "Endpoint",
    "LiveError",
    "Message",
    "Notification",
    "Settings",
    "Udp",
]

ENCAPSULATION_PORT = 9899
"""The UDP port of SCTP in UDP, by IANA."""

# It has 16 bits on the wire.
MOST_STREAM = 0xFFFF


@dataclass(frozen=True)
class Udp:
    """SCTP in UDP (RFC 6951), which needs no privilege: the own UDP port, zero for any, and that of peers."""

    local_port: int = ENCAPSULATION_PORT
    remote_port: int = ENCAPSULATION_PORT


class Settings(SctpSettings, total=False):
    """The settings of an endpoint: those of SCTP that a scenario has, by its names, and these."""

    outbound_streams: int
    """How many streams an association asks for to send on; 16 if absent."""
    stream_values: Mapping[int, int]
    """The priority or weight of a stream by its number, where `stream_scheduling` reads them."""
    total_send_buffer_bytes: int
    """What all associations together hold to be sent; 256 MiB, or four send buffers, if absent."""
    dscp: str
    """The DSCP of every packet: "EF", "CS0" to "CS7", "AF11" to "AF43"."""
    max_associations: int
    """How many associations it has at most; 65,536 if absent."""
    socket_buffer_bytes: int
    """The receive buffer of each socket, as far as the system permits; 4 MiB if absent."""
    keys: Mapping[int, bytes]
    """Secrets by their numbers, of which `active_key` names one; without it the first is used."""


@dataclass(frozen=True)
class Message:
    """A message that has come."""

    stream: int
    """On which stream."""
    payload: bytes
    """Its bytes."""
    payload_protocol: int
    """What the peer says that it is: its Payload Protocol Identifier."""
    unordered: bool
    """Whether it may have overtaken others of its stream."""
    hop_limit: int
    """The hop limit (IPv4: time to live) of the packet that brought the last of it."""
    dscp: int
    """That packet's differentiated services code point (RFC 2474)."""
    ecn: int
    """That packet's ECN field (RFC 3168): 0 not capable, 1 or 2 capable, 3 congestion experienced."""


@dataclass(frozen=True)
class Notification:
    """What has happened to an association besides messages and its end."""

    what: str
    """The name of the event: ``missed``, or one of `slantpath.sctp_events.EVENTS`, which has the meaning
    of each. Those of paths are ``active``, ``inactive``, ``potentially failed`` and ``primary``."""
    address: str | None
    """The address that it is about."""
    missed: int
    """How many older notifications were dropped, since nobody had asked for them."""
    direction: str | None = None
    """``outbound``: it is about streams that this end sends on; ``inbound``: that the peer sends on."""
    streams: tuple[int, ...] | None = None
    """Those streams; none: all of the direction. A channel that the peer closes (RFC 8831, section 6.7) is
    ``streams reset`` with ``inbound``, and is closed by `Association.reset_streams` of the same."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """What the event says, by the names that `slantpath.sctp_events` and traces have. A value that there
    is not is left out. Of ``abandoned`` there are none here: only a trace tells which message it was."""


def _given(
    settings: Settings,
    profile: str | PathLike[str] | None,
    controllers: Mapping[str, type[Controller]] | None,
) -> dict[str, object]:
    given: dict[str, object] = {**settings}
    if profile is not None:
        given["profile"] = fspath(profile)
    if controllers is not None:
        given["controllers"] = dict(controllers)
    return given


class Endpoint:
    """One SCTP port on one or more of the machine's addresses: it calls others, and accepts who calls."""

    def __init__(self, native: LiveEndpoint, sockets: Sockets | None = None) -> None:
        """Serve what has been opened, in the running loop: `Endpoint.bind` opens it."""
        self._native = native
        self._sockets = sockets or Sockets(native)
        self._bells = Bells(self._sockets.loop)
        self._associations: dict[int, Bells] = {}
        self._failure: Exception | None = None
        # What a controller has raised: why all associations have ended.
        self._broken: LiveError | None = None
        self._is_closing = False
        self._sockets.endpoints.append(self)
        self._poke()

    @classmethod
    async def bind(  # noqa: PLR0913 - each is what an endpoint has
        cls,
        addresses: str | Sequence[str] = (),
        *,
        port: int = 0,
        udp: Udp | None = None,
        backlog: int = 128,
        read_ahead_bytes: int = 65536,
        profile: str | PathLike[str] | None = None,
        controllers: Mapping[str, type[Controller]] | None = None,
        **settings: Unpack[Settings],
    ) -> Self:
        """Open the sockets of an SCTP port; zero is any from 49152 on.

        ``addresses`` are those of the machine's that it has; a string is one. Without them it has all that
        others can use, and those that come later.

        ``udp`` carries SCTP in UDP; in IP it needs ``CAP_NET_RAW``. ``backlog`` callers may wait to be
        accepted; with zero nobody may call. From ``read_ahead_bytes`` of messages on that nobody has
        received, an association takes no more, and its receive window closes.

        ``profile`` is ``FILE[:NAME]``: the settings of SCTP are those of a scenario's ``[sctp.NAME]``; the
        name may be left out where the file has one. Settings that are given stand above it.

        ``settings`` are `Settings`. Those of SCTP have the names, bounds and defaults that ``[sctp.NAME]``
        of a scenario has: ``rto_min=0.2``. Times are numbers of seconds, sizes numbers of bytes; or either
        is text with its unit, as in a scenario: ``rto_min="200 ms"``. None is ``"off"``. A setting that
        cannot be is a `ScenarioError`, which says what would be right.

        ``extensions`` lists what is offered; each is used if the other end offers it, too. With
        "authentication" among them, and without a profile, DATA is taken only if it is authenticated, by the
        secret of ``keys`` that ``active_key`` names, or by the first; without keys by an empty one.
        ``required_extensions`` are offered, and a peer that does not offer them, too, is aborted.

        ``controllers`` are classes that derive from ``slantpath.Controller``, by the names that
        ``congestion_control`` may have, as `slantpath.run` takes them. What one raises ends the endpoint, and
        all on the same sockets: peers are told by an ABORT, and whoever waits gets a `LiveError`, whose
        cause it is. A controller calls no method of its endpoint.
        """
        if udp is not None and not isinstance(udp, Udp):
            ports = f"live.Udp({udp!r}) has that local port, live.Udp(0, {udp!r}) that of peers"
            message = f"udp is a live.Udp: {ports}"
            raise TypeError(message)
        carriage = (udp.local_port, udp.remote_port) if udp else None
        given = _given(settings, profile, controllers)
        own = addresses_of(addresses)
        # A loop in virtual time has ports of its network.
        of_loop = getattr(asyncio.get_running_loop(), "open_live_endpoint", LiveEndpoint)
        return cls(of_loop(own, port, carriage, given, backlog, read_ahead_bytes))

    async def bind_beside(
        self,
        *,
        port: int = 0,
        backlog: int = 128,
        read_ahead_bytes: int = 65536,
        profile: str | PathLike[str] | None = None,
        controllers: Mapping[str, type[Controller]] | None = None,
        **settings: Unpack[Settings],
    ) -> Self:
        """Open another SCTP port on the sockets of this endpoint, with settings of its own.

        Over UDP both have the same UDP port, which two sockets could not (RFC 6951). The sockets stay open,
        and the port is in use, until all endpoints on them are closed.
        """
        self._check()
        beside = self._native.beside(port, _given(settings, profile, controllers), backlog, read_ahead_bytes)
        return type(self)(beside, self._sockets)

    def __repr__(self) -> str:
        """Say where it is."""
        is_closed = self._failure is not None or self._is_closing
        state = "closed" if is_closed else ", ".join(address for address, _ in self.addresses)
        return f"<Endpoint port {self.port}: {state}>"

    @property
    def port(self) -> int:
        """The SCTP port."""
        return self._native.port

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of SCTP, all of them, by their names in scenarios; secrets are left out."""
        settings: dict[str, Any] = json.loads(self._native.settings())
        return settings

    @property
    def addresses(self) -> list[tuple[str, int]]:
        """The address of each socket, with its UDP port, or zero in IP."""
        return self._native.addresses()

    def counters(self) -> dict[str, int]:
        """Return the counters of the SCTP MIB (RFC 3873), by name."""
        return self._native.mib()

    async def connect(
        self, addresses: str | Sequence[str], port: int, *, udp_port: int | None = None
    ) -> Association:
        """Open an association with a peer of which some addresses are known, and wait until it is up.

        ``udp_port`` says behind which UDP port this peer's SCTP is, if not behind that of `Udp`. An
        association with this peer that is on its way to its end is waited for. Cancelled, it gives the new
        one up.
        """

        def attempt() -> Association | None:
            self._check()
            number = self._native.connect(addresses_of(addresses), port, udp_port)
            return None if number is None else Association(self, number)

        association = await self._bells.wait_for("ended", attempt)
        self._poke()
        try:
            await association._established()  # noqa: SLF001 - they are one
        except BaseException:
            association._give_up()  # noqa: SLF001
            raise
        return association

    async def accept(self) -> Association:
        """Wait for the next association that a peer has opened."""

        def attempt() -> Association | None:
            self._check()
            number = self._native.accept()
            return None if number is None else Association(self, number)

        return await self._bells.wait_for("caller", attempt)

    async def close(self) -> None:
        """Accept nobody any more, shut all associations down in order, and close the sockets after them.

        Those whose peer does not read or answer end by the timers of SCTP, which may take minutes; `abort`
        ends them at once. Sockets that other endpoints use stay open.
        """
        await self._end(at_once=False)

    async def abort(self) -> None:
        """Accept nobody any more, end all associations at once and close the sockets."""
        await self._end(at_once=True)

    async def __aenter__(self) -> Self:
        """Close it at the end of the block: in order, or at once if an exception leaves it."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        await (self.close() if kind is None else self.abort())

    async def _end(self, *, at_once: bool) -> None:
        if self not in self._sockets.endpoints:
            return
        self._is_closing = True
        self._native.close(at_once=at_once)
        self._poke()
        self._bells.ring("caller", "ended")
        await self._bells.wait_for(
            "ended", lambda: True if self._failure or not self._native.alive() else None
        )
        self._sockets.turn()
        self._sockets.leave(self, LiveError("the endpoint has been closed"))

    def _check(self) -> None:
        if self._failure:
            raise self._failure
        if self._is_closing:
            message = "the endpoint has been closed"
            raise LiveError(message)

    def _poke(self) -> None:
        self._sockets.poke()

    def _stop(self, failure: Exception) -> None:
        """Wait for nothing any more."""
        self._failure = failure
        for bells in (self._bells, *self._associations.values()):
            bells.ring(*list(bells.waiting))

    def _hold(self, number: int, bells: Bells) -> None:
        """Have an association's bells rung."""
        self._associations[number] = self._sockets.associations[number] = bells

    def _release(self, number: int) -> None:
        """Have an association end that is not used any more."""
        self._associations.pop(number, None)
        self._sockets.release(number)


class Association:
    """An association with another endpoint. Several tasks may use it: each message goes to one of them."""

    def __init__(self, endpoint: Endpoint, number: int) -> None:
        """Hold what an endpoint has opened or accepted."""
        self._endpoint = endpoint
        self._native = endpoint._native  # noqa: SLF001 - they are one
        self._number = number
        self._bells = Bells(endpoint._sockets.loop)  # noqa: SLF001
        self._turn = asyncio.Lock()
        self._is_given_up = False
        self._ends: tuple[tuple[str, int], tuple[str, int]] | None = None
        endpoint._hold(number, self._bells)  # noqa: SLF001

    def __repr__(self) -> str:
        """Say with whom it is, and what becomes of it."""
        peer = self.peer
        whom = "nobody" if peer is None else f"{peer[0]} port {peer[1]}"
        try:
            state = "ended" if self._native.is_ended(self._number) else "alive"
        except (OSError, LiveError) as lost:
            state = str(lost)
        return f"<Association with {whom}: {state}>"

    @property
    def peer(self) -> tuple[str, int] | None:
        """The peer's first address and its SCTP port."""
        return self._native.peer(self._number)

    @property
    def outbound_streams(self) -> int:
        """How many streams can be sent on."""
        return self._native.outbound_streams(self._number)

    @property
    def extensions(self) -> list[str]:
        """The extensions that both ends have agreed to."""
        return self._native.extensions(self._number)

    @property
    def unacknowledged(self) -> int:
        """How many messages had not been acknowledged when it ended, and may have arrived or not."""
        return self._native.unacknowledged(self._number)

    def paths(self) -> list[dict[str, Any]]:
        """Return the paths as they are now: addresses, state, RTT, RTO, window, path MTU, chunks sent."""
        return self._native.paths(self._number)

    def mib(self) -> dict[str, Any] | None:
        """Return what the tables of the SCTP MIB (RFC 3873) have of it, by name; None once it has ended.

        Values have the units that they have there: intervals in milliseconds, times in 1/100 of a second.
        """
        return self._native.mib_association(self._number)

    def reset_streams(self, streams: Sequence[int] = ()) -> None:
        """Have the numbers of these streams begin anew, or of all that this end sends on (RFC 6525).

        What comes of it is told by `notification`, as for `add_streams`. It waits for the requests before it;
        resets that wait together become one.
        """
        self._native.reset_streams(self._number, list(streams))
        self._endpoint._poke()  # noqa: SLF001

    def add_streams(self, outbound: int, inbound: int = 0) -> None:
        """Ask for so many more streams to send on, and for so many that the peer sends on (RFC 6525)."""
        self._native.add_streams(self._number, outbound, inbound)
        self._endpoint._poke()  # noqa: SLF001

    def add_address(self, address: str) -> None:
        """Tell the peer of another address of this end's (RFC 5061): one that its endpoint was bound to.

        What comes of it is told by `notification` as "change accepted" or "change refused", as for the next
        two; the other end is told of "address added", "address deleted" or "address preferred". All need
        "dynamic-addresses" and "authentication" at both ends.
        """
        self._native.add_address(self._number, address)
        self._endpoint._poke()  # noqa: SLF001

    def delete_address(self, address: str) -> None:
        """Tell the peer that this address is none of this end's any more: others are used at once."""
        self._native.delete_address(self._number, address)
        self._endpoint._poke()  # noqa: SLF001

    def request_peer_primary(self, address: str) -> None:
        """Ask the peer to send to this address of this end's."""
        self._native.request_peer_primary(self._number, address)
        self._endpoint._poke()  # noqa: SLF001

    def add_key(self, key: int, secret: bytes) -> None:
        """Add a key to authenticate chunks by (RFC 4895), or replace it: what comes by it is taken."""
        self._native.add_key(self._number, key, secret)

    def activate_key(self, key: int) -> None:
        """Authenticate what is sent by this key from now on: the other end has to have it by then."""
        self._native.activate_key(self._number, key)

    def delete_key(self, key: int) -> None:
        """Take a key away that is not the active one: what comes by it is dropped from now on."""
        self._native.delete_key(self._number, key)

    def set_primary(self, address: str) -> bool:
        """Make an address of the peer's the primary one; False if it is none, or not confirmed."""
        is_set = self._native.set_primary(self._number, address)
        self._endpoint._poke()  # noqa: SLF001
        return is_set

    def request_heartbeat(self, address: str) -> bool:
        """Probe an address of the peer's now; False if it is none."""
        is_one = self._native.request_heartbeat(self._number, address)
        self._endpoint._poke()  # noqa: SLF001
        return is_one

    async def send(  # noqa: PLR0913 - each is what a message asks for
        self,
        stream: int,
        payload: bytes,
        *,
        payload_protocol: int = 0,
        unordered: bool = False,
        lifetime: float | None = None,
        sack_immediately: bool = False,
        destination: str | None = None,
    ) -> None:
        """Hand a message over to be sent on a stream, and wait while the send buffer has no room for it.

        It is sent whole or not at all. After ``lifetime`` seconds it is given up; both ends have to have
        "partial-reliability" for that. It goes to ``destination``, an address of the peer's, as long as that
        is active.
        """
        payload = sendable(stream, payload, lifetime)
        if not 0 <= stream <= MOST_STREAM:
            message = f"stream {stream} is not one of the {self.outbound_streams} outbound streams"
            raise LiveError(message)

        def attempt() -> bool | None:
            self._check()
            is_taken = self._native.send(
                self._number,
                stream,
                payload,
                payload_protocol,
                unordered,
                lifetime,
                sack_immediately,
                destination,
            )
            return is_taken or None

        # Who waits for room waits in order, so that a long message finds some among short ones.
        async with self._turn:
            await self._bells.wait_for("writable", attempt)
        self._note("sent_message", stream, payload, unordered=unordered)
        self._endpoint._poke()  # noqa: SLF001

    async def receive(self) -> Message | None:
        """Wait for the next message; None once the association has ended in order and all has come."""

        def attempt() -> tuple[Message | None] | None:
            fields, goes_on = self._told(self._native.receive)
            if fields is not None:
                stream, payload_protocol, unordered, payload, ip = fields
                return (Message(stream, payload, payload_protocol, unordered, *ip),)
            if goes_on:
                self._check()
            return None if goes_on else (None,)

        (message,) = await self._bells.wait_for("readable", attempt)
        if message is not None:
            self._note("came_message", message.stream, message.payload, unordered=message.unordered)
        self._endpoint._poke()  # noqa: SLF001
        return message

    async def __aiter__(self) -> AsyncIterator[Message]:
        """Give messages until the association has ended in order."""
        while (message := await self.receive()) is not None:
            yield message

    async def notification(self) -> Notification | None:
        """Wait for the next notification; None once the association has ended."""

        def attempt() -> tuple[Notification | None] | None:
            if (fields := self._native.notification(self._number)) is not None:
                what, address, missed, direction, streams, of_event = fields
                listed = None if streams is None else tuple(streams)
                return (Notification(what, address, missed, direction, listed, of_event),)
            try:
                self._check()
                return (None,) if self._native.is_ended(self._number) else None
            except (OSError, LiveError):
                return (None,)

        (notification,) = await self._bells.wait_for("notified", attempt)
        return notification

    async def shutdown(self) -> None:
        """End the association once all that was sent has been delivered, and wait until it has ended."""
        self._native.shut_down(self._number)
        self._endpoint._poke()  # noqa: SLF001
        await self.ended()

    async def ended(self) -> None:
        """Wait until the association has ended, by whichever end; raise how it was lost."""

        def attempt() -> bool | None:
            if self._told(self._native.is_ended):
                return True
            self._check()
            return None

        await self._bells.wait_for("standing", attempt)

    def abort(self, reason: bytes = b"") -> None:
        """End the association at once, and tell the peer why: what was sent may be lost."""
        self._native.abort(self._number, reason)
        self._endpoint._poke()  # noqa: SLF001

    async def __aenter__(self) -> Self:
        """End it at the end of the block: in order, or at once if an exception leaves it."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it."""
        if kind is None:
            await self.shutdown()
        else:
            self.abort()

    async def _established(self) -> None:
        def attempt() -> bool | None:
            if self._told(self._native.is_settled):
                return True
            self._check()
            return None

        await self._bells.wait_for("standing", attempt)

    def _told(self, ask: Callable[[int], T]) -> T:
        """Ask something of the association; if a controller has failed, that is how it was lost."""
        try:
            return ask(self._number)
        except AssociationLost:
            broken = self._endpoint._broken  # noqa: SLF001
            if broken is None:
                raise
        raise broken

    def _note(self, what: str, stream: int, payload: bytes, *, unordered: bool) -> None:
        """Have a loop in virtual time note a message, between the first addresses and ports of both ends."""
        if (measures := getattr(self._bells.loop, "measures", None)) is None:
            return
        if self._ends is None:
            if not self._endpoint._sockets.is_open or self.peer is None:  # noqa: SLF001
                return
            self._ends = ((self._endpoint.addresses[0][0], self._endpoint.port), self.peer)
        ends = self._ends if what == "sent_message" else self._ends[::-1]
        getattr(measures, what)(ends, stream, payload, unordered=unordered)

    def _give_up(self) -> None:
        """Have it end now, and not when it is collected, which its name may outlive: it may be another's."""
        self._is_given_up = True
        self._endpoint._release(self._number)  # noqa: SLF001

    def _check(self) -> None:
        failure = self._endpoint._failure  # noqa: SLF001
        if failure:
            raise failure

    def __del__(self) -> None:
        """Have the endpoint shut it down in order, from whichever thread it is collected in."""
        endpoint, number = self._endpoint, self._number
        loop = endpoint._sockets.loop  # noqa: SLF001
        if not self._is_given_up and not loop.is_closed():
            loop.call_soon_threadsafe(endpoint._release, number)  # noqa: SLF001
