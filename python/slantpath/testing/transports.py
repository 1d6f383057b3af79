"""asyncio's transports over the sockets of a simulated network: TCP, UDP and servers."""

from __future__ import annotations

import asyncio
import contextvars
import errno
import os
import socket
from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from slantpath.testing.loop import VirtualLoop
    from slantpath.testing.network import Host

    Address = tuple[str, int]

HIGH_WATER = 65_536
"""Bytes that wait in a transport before its protocol is asked to pause, as asyncio has it."""


def failure_of(cause: str) -> OSError:
    """Give the error that the operating system would raise for a connection that broke."""
    number = {"by peer": errno.ECONNRESET, "refused": errno.ECONNREFUSED, "timed out": errno.ETIMEDOUT}[cause]
    return OSError(number, os.strerror(number))


class SimulatedSocket:
    """What `get_extra_info("socket")` gives: addresses, and options that change nothing."""

    def __init__(self, kind: int, local: Address, remote: Address | None = None) -> None:
        """Stand for a socket of the network."""
        self.type = kind
        self.proto = 0
        self.family = socket.AF_INET6 if ":" in local[0] else socket.AF_INET
        self._names = (local, remote)

    def getsockname(self) -> Address:
        """Give the own address and port."""
        return self._names[0]

    def getpeername(self) -> Address:
        """Give the peer's address and port."""
        if self._names[1] is None:
            raise OSError(errno.ENOTCONN, os.strerror(errno.ENOTCONN))
        return self._names[1]

    def setsockopt(self, *_: object) -> None:
        """Change nothing."""

    def getsockopt(self, *_: object) -> int:
        """Give what nobody has set."""
        return 0

    def fileno(self) -> int:
        """Give what is no descriptor."""
        return -1


class StreamEnd(asyncio.Transport):
    """One end of a connection of TCP."""

    # TLS may be put above it (`loop.start_tls`).
    _start_tls_compatible = True

    def __init__(self, loop: VirtualLoop, host: Host, stream: int, local: Address, remote: Address) -> None:
        """Stand at an end that is being opened, or has come."""
        kind = SimulatedSocket(socket.SOCK_STREAM, local, remote)
        super().__init__({"socket": kind, "sockname": local, "peername": remote})
        self.loop = loop
        self.host = host
        self.stream = stream
        self.is_up: asyncio.Future[None] = loop.create_future()
        self.context = contextvars.copy_context()
        self.server: Listener | None = None
        self._protocol: asyncio.BaseProtocol | None = None
        self._came: deque[bytes | None] = deque()
        self._waiting = bytearray()
        self._low, self._high = HIGH_WATER // 4, HIGH_WATER
        self._is_writing_paused = self._is_paused = self._is_closing = self._has_ended = False
        self._is_lost = self._is_eof_written = self._is_eof_sent = False
        loop.streams[stream] = self

    def __repr__(self) -> str:
        """Say between whom it is."""
        local, remote = self.get_extra_info("sockname"), self.get_extra_info("peername")
        state = "closed" if self._is_lost else "closing" if self._is_closing else "open"
        return f"<TCP {local[0]}:{local[1]} - {remote[0]}:{remote[1]}, {state}>"

    def begin(self, protocol: asyncio.BaseProtocol) -> None:
        """Give it to its protocol."""
        self._protocol = protocol
        self.loop.call_soon(self._made, context=self.context)

    def _made(self) -> None:
        if self._protocol is not None and not self._is_lost:
            self._protocol.connection_made(self)
            self._deliver()

    def happened(self, kind: str, *rest: Any) -> None:  # noqa: ANN401 - what the kind has
        """Take what has happened to the connection."""
        if kind == "connected":
            if not self.is_up.done():
                self.is_up.set_result(None)
        elif kind == "data":
            if self._is_closing:
                # As a kernel does with what nobody will read.
                self._break(None)
            else:
                self._came.append(rest[0])
                self._deliver()
        elif kind == "peer closed":
            self._came.append(None)
            self._deliver()
        elif kind == "writable":
            self._flush()
        elif kind == "reset":
            self._broke(failure_of(rest[0]))
        elif kind == "closed":
            self.loop.streams.pop(self.stream, None)

    def _broke(self, failure: OSError) -> None:
        self.loop.streams.pop(self.stream, None)
        if not self.is_up.done():
            self.is_up.set_exception(failure)
        elif not self._is_lost:
            self._lose(failure)

    def give_up(self) -> None:
        """Break it off before its protocol has it."""
        self._is_lost = True
        self.loop.streams.pop(self.stream, None)
        self.loop.native.abort(self.stream)
        self.is_up.cancel()

    # Reading.

    def _deliver(self) -> None:
        while self._came and not self._is_paused and not self._is_closing and self._protocol is not None:
            if (data := self._came.popleft()) is None:
                self._has_ended = True
                keeps_open = self._protocol.eof_received()  # type: ignore[attr-defined]
                if not keeps_open:
                    self.close()
                continue
            self.loop.measures.read(*self._names_inward(), len(data))
            if isinstance(self._protocol, asyncio.BufferedProtocol):
                feed(self._protocol, data)
            else:
                self._protocol.data_received(data)  # type: ignore[attr-defined]

    def _names_inward(self) -> tuple[Address, Address]:
        return self.get_extra_info("peername"), self.get_extra_info("sockname")

    def is_reading(self) -> bool:
        """Tell if data is delivered."""
        return not self._is_paused and not self._is_closing

    def pause_reading(self) -> None:
        """Deliver no more, so that the receive window closes."""
        if not self._is_paused and not self._is_closing:
            self._is_paused = True
            self.loop.native.hold(self.stream, True)  # noqa: FBT003

    def resume_reading(self) -> None:
        """Deliver once more."""
        if self._is_paused and not self._is_closing:
            self._is_paused = False
            self.loop.native.hold(self.stream, False)  # noqa: FBT003
            self.loop.call_soon(self._deliver, context=self.context)

    # Writing.

    def write(self, data: Any) -> None:  # noqa: ANN401 - bytes, or what has some
        """Send, after what was written before."""
        if self._is_eof_written:
            message = "Cannot call write() after write_eof()"
            raise RuntimeError(message)
        if self._is_lost or self._is_closing:
            return
        self._waiting += data
        self._flush()

    def _flush(self) -> None:
        if self._is_lost:
            return
        while self._waiting and (room := self.loop.native.room(self.stream)) > 0:
            taken = bytes(self._waiting[:room])
            self.loop.measures.wrote(self.get_extra_info("sockname"), self.get_extra_info("peername"), taken)
            self.loop.native.write(self.stream, taken)
            del self._waiting[:room]
        if len(self._waiting) > self._high and not self._is_writing_paused and self._protocol is not None:
            self._is_writing_paused = True
            self._protocol.pause_writing()
        elif len(self._waiting) <= self._low and self._is_writing_paused and self._protocol is not None:
            self._is_writing_paused = False
            self._protocol.resume_writing()
        if not self._waiting:
            if self._is_eof_written and not self._is_eof_sent:
                self._is_eof_sent = True
                self.loop.native.close(self.stream)
            if self._is_closing:
                self._end()

    def get_write_buffer_size(self) -> int:
        """Give how many bytes wait for room in the send buffer."""
        return len(self._waiting)

    def get_write_buffer_limits(self) -> tuple[int, int]:
        """Give from when on the protocol is to pause, and until when."""
        return (self._low, self._high)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Set them."""
        high = (4 * low if low is not None else HIGH_WATER) if high is None else high
        low = high // 4 if low is None else low
        if not high >= low >= 0:
            message = f"high ({high!r}) must be >= low ({low!r}) must be >= 0"
            raise ValueError(message)
        self._low, self._high = low, high
        self._flush()

    def can_write_eof(self) -> bool:
        """Halves of TCP end by themselves."""
        return True

    def write_eof(self) -> None:
        """End the own half behind what was written."""
        if not self._is_eof_written and not self._is_closing:
            self._is_eof_written = True
            self._flush()

    # The end.

    def is_closing(self) -> bool:
        """Tell if it has been closed."""
        return self._is_closing or self._is_lost

    def close(self) -> None:
        """Send what waits, then end it."""
        if self._is_closing or self._is_lost:
            return
        self._is_closing = True
        if any(self._came):
            self._break(None)
        elif not self._waiting:
            self._end()

    def _end(self) -> None:
        if not self._is_eof_sent:
            self._is_eof_sent = True
            self.loop.native.close(self.stream)
        if self._is_paused:
            # What comes is seen, and answered.
            self._is_paused = False
            self.loop.native.hold(self.stream, False)  # noqa: FBT003
        self._lose(None)

    def abort(self) -> None:
        """Break it off, unless it was closed and TCP has all: a kernel, too, then ends it by itself."""
        self._force_close(None)

    def drop(self) -> None:
        """Break it off, also if TCP is still ending it."""
        self._break(None)

    def _force_close(self, failure: Exception | None) -> None:
        # What asyncio's TLS breaks a connection off by.
        if not self._is_lost:
            self._break(failure)

    def _break(self, failure: Exception | None) -> None:
        self._is_closing = True
        self._waiting.clear()
        self.loop.native.abort(self.stream)
        self.loop.streams.pop(self.stream, None)
        self._lose(failure)

    def _lose(self, failure: Exception | None) -> None:
        if self._is_lost:
            return
        self._is_lost = self._is_closing = True
        self.loop.call_soon(self._lost, failure, context=self.context)

    def _lost(self, failure: Exception | None) -> None:
        try:
            if self._protocol is not None:
                self._protocol.connection_lost(failure)
        finally:
            if self.server is not None:
                self.server.left(self)
            self.server = None

    def get_protocol(self) -> asyncio.BaseProtocol:
        """Give the protocol."""
        if self._protocol is None:
            message = "the connection has no protocol yet"
            raise RuntimeError(message)
        return self._protocol

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Give it to another protocol."""
        self._protocol = protocol


def feed(protocol: asyncio.BufferedProtocol, data: bytes) -> None:
    """Write data into the buffers that a protocol gives."""
    rest = memoryview(data)
    while rest:
        buffer = memoryview(protocol.get_buffer(len(rest)))
        if not buffer:
            message = "get_buffer() returned an empty buffer"
            raise RuntimeError(message)
        taken = min(len(buffer), len(rest))
        buffer[:taken] = rest[:taken]
        protocol.buffer_updated(taken)
        rest = rest[taken:]


class Listener(asyncio.AbstractServer):
    """A server at a port of TCP."""

    def __init__(
        self,
        loop: VirtualLoop,
        host: Host,
        port: int,
        factory: Callable[[], asyncio.BaseProtocol],
        ssl: Any,  # noqa: ANN401
        timeouts: tuple[float | None, float | None],
    ) -> None:
        """Serve nobody yet."""
        self._loop = loop
        self._host = host
        self._port = port
        self._factory = factory
        self._ssl = ssl
        self._timeouts = timeouts
        self._context = contextvars.copy_context()
        self._is_serving = self._is_closed = False
        self._ends: dict[StreamEnd, None] = {}
        self._waiters: list[asyncio.Future[None]] = []
        self._forever: asyncio.Future[None] | None = None

    def __repr__(self) -> str:
        """Say where it is."""
        return f"<Server of `{self._host.name}`, port {self._port}>"

    @property
    def sockets(self) -> tuple[SimulatedSocket, ...]:
        """What it listens at."""
        if not self._is_serving:
            return ()
        kind = socket.SOCK_STREAM
        return tuple(SimulatedSocket(kind, (address, self._port)) for address in self._host.addresses)

    def get_loop(self) -> asyncio.AbstractEventLoop:
        """Give the loop."""
        return self._loop

    def is_serving(self) -> bool:
        """Tell if it accepts connections."""
        return self._is_serving

    async def start_serving(self) -> None:
        """Accept connections."""
        if self._is_serving:
            return
        if self._is_closed:
            message = f"server {self!r} is closed"
            raise RuntimeError(message)
        self._port = self._loop.native.listen(self._host.place, self._port)
        self._loop.listeners[self._host.place, self._port] = self
        self._is_serving = True

    async def serve_forever(self) -> None:
        """Accept connections until it is cancelled, or closed."""
        if self._forever is not None:
            message = f"server {self!r} is already being awaited on serve_forever()"
            raise RuntimeError(message)
        await self.start_serving()
        self._forever = self._loop.create_future()
        try:
            await self._forever
        except asyncio.CancelledError:
            self.close()
            await self.wait_closed()
            raise
        finally:
            self._forever = None

    def accept(self, stream: int, local: Address, remote: Address) -> None:
        """Take a connection that has come."""
        end = self._context.copy().run(StreamEnd, self._loop, self._host, stream, local, remote)
        end.is_up.set_result(None)
        end.server = self
        self._ends[end] = None
        protocol = end.context.run(self._factory)
        if self._ssl:
            self._loop.over_tls(end, protocol, self._ssl, None, server_side=True, timeouts=self._timeouts)
        else:
            end.begin(protocol)

    def left(self, end: StreamEnd) -> None:
        """Take a connection off that is over."""
        self._ends.pop(end, None)
        self._settle()

    def close(self) -> None:
        """Accept no more connections; those that there are go on."""
        self._is_closed = True
        if self._is_serving:
            self._is_serving = False
            self._loop.native.stop_listening(self._host.place, self._port)
            self._loop.listeners.pop((self._host.place, self._port), None)
        if self._forever is not None:
            self._forever.cancel()
        self._settle()

    def close_clients(self) -> None:
        """Close all connections."""
        for end in list(self._ends):
            end.close()

    def abort_clients(self) -> None:
        """Break all connections off."""
        for end in list(self._ends):
            end.abort()

    def _settle(self) -> None:
        if self._is_closed and not self._ends:
            waiters, self._waiters = self._waiters, []
            for waiter in waiters:
                if not waiter.done():
                    waiter.set_result(None)

    async def wait_closed(self) -> None:
        """Wait until it is closed and its connections are over."""
        if self._is_closed and not self._ends:
            return
        waiter: asyncio.Future[None] = self._loop.create_future()
        self._waiters.append(waiter)
        await waiter


class DatagramEnd(asyncio.DatagramTransport):
    """A port of UDP."""

    def __init__(
        self,
        loop: VirtualLoop,
        host: Host,
        local: tuple[str | None, int],
        remote: Address | None,
        protocol: asyncio.BaseProtocol,
    ) -> None:
        """Stand at a port that is open."""
        bound = (local[0] or host.addresses[0], local[1])
        kind = SimulatedSocket(socket.SOCK_DGRAM, bound, remote)
        super().__init__({"socket": kind, "sockname": bound, "peername": remote})
        self.loop = loop
        self.host = host
        self.context = contextvars.copy_context()
        self._local = local
        self._remote = remote
        self._protocol = protocol
        self._is_closing = False
        loop.datagrams[host.place, local[1]] = self
        loop.call_soon(protocol.connection_made, self, context=self.context)

    def __repr__(self) -> str:
        """Say where it is."""
        return f"<UDP of `{self.host.name}`, port {self._local[1]}>"

    def received(self, payload: bytes, local: Address, remote: Address, number: int | None) -> None:
        """Take a datagram that has come."""
        if self._is_closing or (self._remote is not None and remote != self._remote):
            return
        self.loop.measures.came_datagram(remote, local, number, payload)
        self._protocol.datagram_received(payload, remote)  # type: ignore[attr-defined]

    def sendto(self, data: Any, addr: Any = None) -> None:  # noqa: ANN401 - bytes; an address and a port
        """Send a datagram."""
        if self._is_closing:
            return
        if self._remote is not None:
            if addr is not None and tuple(addr[:2]) != self._remote:
                message = f"Invalid address: must be None or {self._remote}"
                raise ValueError(message)
            addr = self._remote
        if addr is None:
            message = "sendto needs an address, since the endpoint has no remote_addr"
            raise ValueError(message)
        try:
            remote = (self.loop.addresses_towards(self.host, addr[0])[0], addr[1])
            payload = bytes(data)
            source, number = self.loop.native.send_datagram(self.host.place, self._local, remote, payload)
            self.loop.measures.sent_datagram((source, self._local[1]), remote, number, payload)
        except OSError as failure:
            told: Callable[[OSError], None] = self._protocol.error_received  # type: ignore[attr-defined]
            self.loop.call_soon(told, failure, context=self.context)

    def abort(self) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Close it: what comes is dropped."""
        if not self._is_closing:
            self._is_closing = True
            self.loop.datagrams.pop((self.host.place, self._local[1]), None)
            self.loop.native.close_udp(self.host.place, self._local[1])
            self.loop.call_soon(self._protocol.connection_lost, None, context=self.context)

    def is_closing(self) -> bool:
        """Tell if it has been closed."""
        return self._is_closing

    def get_write_buffer_size(self) -> int:
        """Give how many bytes wait: none does."""
        return 0

    def get_write_buffer_limits(self) -> tuple[int, int]:
        """Give from when on the protocol is to pause: never."""
        return (0, 0)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Change nothing."""

    def get_protocol(self) -> asyncio.BaseProtocol:
        """Give the protocol."""
        return self._protocol

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Give it to another protocol."""
        self._protocol = protocol

    def pause_reading(self) -> None:
        """Datagrams have no window."""

    def resume_reading(self) -> None:
        """Datagrams have no window."""
