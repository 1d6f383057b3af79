"""An asyncio event loop whose clock is a simulated network's, and whose sockets are that network's.

Callbacks run at an instant until none is left; then the network goes on to whatever comes first, a packet for
one of its hosts or the next timer. So a run takes what its computation takes, and is the same each time.
"""

from __future__ import annotations

import asyncio
import math
import socket
import threading
from asyncio import base_events, sslproto
from contextvars import ContextVar
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, NoReturn

from slantpath.errors import StuckError
from slantpath.testing.transports import DatagramEnd, Listener, StreamEnd
from slantpath.testing.waiting import who_waits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from slantpath._native import LiveEndpoint, Testbed
    from slantpath.testing.network import Host, Network

    Address = tuple[str, int]

NANOSECONDS = 10**9
MOST_TURNS = 1_000_000
"""How often callbacks may follow each other without that time goes on."""
ENDS_WITHIN_S = 60
"""How long what is cancelled at the end may go on, in simulated time."""
ANY_ADDRESS = ("", "0.0.0.0", "::")  # noqa: S104 - nothing of this machine is bound

current_host: ContextVar[Host | None] = ContextVar("current_host", default=None)
"""The host at which the running task's sockets are."""


class _Waiter:
    """What the loop calls to wait: it has the network go on."""

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop
        self._turns = 0

    def select(self, timeout: float | None) -> Sequence[tuple[Any, ...]]:
        """Wait at most so long for events."""
        if timeout == 0:
            self._turns += 1
            if self._turns > MOST_TURNS:
                self._loop.stuck(f"{MOST_TURNS} callbacks have followed each other and no time has passed")
            return ()
        self._turns = 0
        return self._loop.wait()


class VirtualLoop(base_events.BaseEventLoop):
    """The loop of one network."""

    def __init__(self, network: Network, native: Testbed, limit_ns: int) -> None:
        """Stand at the network's start."""
        super().__init__()
        self.network = network
        self.measures = network.measures
        self.native = native
        self.streams: dict[int, StreamEnd] = {}
        self.datagrams: dict[tuple[int, int], DatagramEnd] = {}
        self.listeners: dict[tuple[int, int], Listener] = {}
        self._readers: dict[int, Callable[[], object]] = {}
        self._limit_ns = limit_ns
        self._is_ending = self._is_waiting = False
        self._now_ns = native.now()
        # What the base class waits with, and how exact its clock is.
        self._selector = _Waiter(self)
        self._clock_resolution = 1 / NANOSECONDS

    def time(self) -> float:
        """Give the simulated time in seconds."""
        return self._now_ns / NANOSECONDS

    def stuck(self, why: str) -> NoReturn:
        """End what cannot go on."""
        waiting = who_waits(self)
        message = f"at {self.time():.6f} s {why}{waiting}"
        raise StuckError(message)

    def begin_end(self) -> None:
        """Give what is cancelled from now on a while to end in order."""
        self._is_ending = True
        self._limit_ns = self._now_ns + ENDS_WITHIN_S * NANOSECONDS

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Tell what nobody has caught, but not that the end has cancelled a server's connections."""
        # Python before 3.12 takes the latter for a fault (gh-110378).
        if not (self._is_ending and isinstance(context.get("exception"), asyncio.CancelledError)):
            super().call_exception_handler(context)

    def _drop_all(self) -> bool:
        """Break off what nobody ends, as the end of a process does; tell if there was anything."""
        ends, listeners = list(self.streams.values()), list(self.listeners.values())
        for end in ends:
            end.drop()
        for listener in (*listeners, *(end.server for end in ends if end.server is not None)):
            listener.close()
        return bool(ends or listeners)

    def close(self) -> None:
        """Close it, and with it what is open."""
        if not self.is_closed():
            self._drop_all()
            for datagrams in list(self.datagrams.values()):
                datagrams.close()
        super().close()

    def wait(self) -> Sequence[tuple[Any, ...]]:
        """Have the network go on to the next timer or to what comes before it; give what has happened."""
        scheduled: list[asyncio.TimerHandle] = self._scheduled  # type: ignore[attr-defined]
        due = scheduled[0].when() * NANOSECONDS if scheduled else math.inf
        # Whoever sleeps for ever awaits no instant.
        due_ns = round(due) if due < math.inf else None
        until_ns = self._limit_ns if due_ns is None else min(due_ns, self._limit_ns)
        self._is_waiting = True
        try:
            reached = self.native.advance(until_ns, due_ns is not None)
        finally:
            self._is_waiting = False
        self._now_ns = self.native.now()
        # After some weeks a float is coarser than a nanosecond: what is due by it is not to be missed.
        self._clock_resolution = max(1 / NANOSECONDS, 2 * math.ulp(self.time()))
        if self._is_ending and (reached == "rest" or (reached == "until" and until_ns == self._limit_ns)):
            if self._drop_all():
                self._limit_ns += ENDS_WITHIN_S * NANOSECONDS
                return ()
            self.stuck("the program does not end")
        if reached == "rest":
            self.stuck("nothing will ever happen: no timer runs, and no packet is on its way")
        if reached == "until":
            if until_ns == self._limit_ns:
                self.stuck(f"the limit of {self._limit_ns / NANOSECONDS:g} s of simulated time is reached")
            return ()
        return self.native.events()

    def _process_events(self, event_list: Sequence[tuple[Any, ...]]) -> None:
        for kind, key, *rest in event_list:
            if kind == "associations":
                if (turn := self._readers.get(key)) is not None:
                    self.call_soon(turn)
            elif kind == "datagram":
                local, remote, number, payload = rest
                if (end := self.datagrams.get((key, local[1]))) is not None:
                    self.call_soon(end.received, payload, local, remote, number, context=end.context)
            elif kind == "accepted":
                stream, local, remote = rest
                if (listener := self.listeners.get((key, local[1]))) is not None:
                    listener.accept(stream, local, remote)
                else:
                    self.native.abort(stream)
            elif (stream_end := self.streams.get(key)) is not None:
                self.call_soon(stream_end.happened, kind, *rest, context=stream_end.context)

    def _write_to_self(self) -> None:
        """Wake the loop for a signal's handler alone: it never waits for what else is real."""
        if self._is_waiting and threading.get_ident() == self._thread_id:  # type: ignore[attr-defined]
            self.native.wake()

    # Names and addresses.

    def here(self, what: str, local_address: str | None = None) -> Host:
        """Give the host at which a socket is opened: that of its address, or the task's."""
        if local_address is not None and local_address not in ANY_ADDRESS:
            if (host := self.network.host_of(local_address)) is not None:
                return host
            hosts = ", ".join(f"`{host.name}` ({', '.join(host.addresses)})" for host in self.network.hosts)
            message = f"{what}: `{local_address}` is no address of a host of this network; hosts: {hosts}"
            raise OSError(99, message)
        if (host := current_host.get()) is not None and host.network is self.network:
            return host
        names = ", ".join(f'net.host("{host.name}")' for host in self.network.hosts)
        message = f"{what}: on which host? Run the task by `.run(…)` of one, or stand `with` one: {names}"
        raise RuntimeError(message)

    def addresses_towards(self, host: Host, name: str) -> list[str]:
        """Give the addresses of a name that a host reaches."""
        if name == "localhost":
            message = f"`{host.name}` has no loopback here: call a host by its name or address"
            raise socket.gaierror(socket.EAI_NONAME, message)
        try:
            return [str(ip_address(name))]
        except ValueError:
            pass
        addresses = host.addresses_of(name)
        if not addresses:
            reached = ", ".join(host.reaches)
            message = f"`{name}` is no node that `{host.name}` reaches; nodes: {reached}"
            raise socket.gaierror(socket.EAI_NONAME, message)
        return addresses

    async def getaddrinfo(  # type: ignore[override]
        self,
        host: str | bytes | None,
        port: str | int | None,
        *,
        family: int = 0,
        type: int = 0,  # noqa: A002 - asyncio's names
        proto: int = 0,
        flags: int = 0,  # noqa: ARG002
    ) -> list[tuple[int, int, int, str, Address]]:
        """Give the addresses of a node's name, or of an address."""
        name = host.decode() if isinstance(host, bytes) else host or ""
        if (known := self.network.host_named(name)) is not None:
            addresses: Sequence[str] = known.addresses
        else:
            addresses = self.addresses_towards(self.here("getaddrinfo"), name)
        found: list[tuple[int, int, int, str, Address]] = []
        for address in addresses:
            of = socket.AF_INET6 if ":" in address else socket.AF_INET
            if family in (0, of):
                kind = type or socket.SOCK_STREAM
                found.append((of, kind, proto, "", (address, int(port or 0))))
        return found

    async def getnameinfo(self, sockaddr: Any, flags: int = 0) -> tuple[str, str]:  # noqa: ANN401, ARG002
        """Give the name of the node that has an address."""
        known = self.network.host_of(sockaddr[0])
        return (known.name if known else sockaddr[0], str(sockaddr[1]))

    # TCP.

    async def create_connection(  # type: ignore[override]  # noqa: PLR0913
        self,
        protocol_factory: Callable[[], asyncio.BaseProtocol],
        host: str | None = None,
        port: int | None = None,
        *,
        ssl: Any = None,  # noqa: ANN401
        sock: object = None,
        local_addr: Address | None = None,
        server_hostname: str | None = None,
        ssl_handshake_timeout: float | None = None,
        ssl_shutdown_timeout: float | None = None,
        **_options: object,
    ) -> tuple[asyncio.BaseTransport, asyncio.BaseProtocol]:
        """Open a connection of TCP across the network."""
        if sock is not None:
            refuse("sockets of this machine", "give a host and a port")
        if host is None or port is None:
            message = "create_connection needs a host and a port"
            raise ValueError(message)
        own = self.here(f"create_connection to {host}:{port}", local_addr[0] if local_addr else None)
        failures: list[OSError] = []
        for address in self.addresses_towards(own, host):
            try:
                end = await self._call(own, local_addr, (address, int(port)))
            except OSError as failure:
                failures.append(failure)
                continue
            name = server_hostname if server_hostname is not None else host
            return await self._begin(
                end, protocol_factory, ssl, name, (ssl_handshake_timeout, ssl_shutdown_timeout)
            )
        raise failures[0]

    async def _call(self, own: Host, local_addr: Address | None, remote: Address) -> StreamEnd:
        address = local_addr[0] if local_addr and local_addr[0] not in ANY_ADDRESS else None
        local = (own.address_as(address), local_addr[1] if local_addr else 0)
        stream, bound = self.native.connect(own.place, local, remote)
        self.measures.began(bound, remote)
        end = StreamEnd(self, own, stream, bound, remote)
        try:
            await end.is_up
        except BaseException:
            end.give_up()
            raise
        return end

    async def _begin(
        self,
        end: StreamEnd,
        protocol_factory: Callable[[], asyncio.BaseProtocol],
        ssl: Any,  # noqa: ANN401
        server_hostname: str | None,
        timeouts: tuple[float | None, float | None],
    ) -> tuple[asyncio.BaseTransport, asyncio.BaseProtocol]:
        protocol = protocol_factory()
        if not ssl:
            end.begin(protocol)
            return end, protocol
        waiter: asyncio.Future[None] = self.create_future()
        context = None if isinstance(ssl, bool) else ssl
        transport = self.over_tls(
            end, protocol, context, waiter, server_hostname=server_hostname, timeouts=timeouts
        )
        try:
            await waiter
        except BaseException:
            transport.close()
            raise
        return transport, protocol

    def over_tls(  # noqa: PLR0913 - each is what TLS asks for
        self,
        end: StreamEnd,
        protocol: asyncio.BaseProtocol,
        context: Any,  # noqa: ANN401
        waiter: asyncio.Future[None] | None,
        *,
        server_side: bool = False,
        server_hostname: str | None = None,
        timeouts: tuple[float | None, float | None] = (None, None),
    ) -> asyncio.Transport:
        """Put TLS between a connection and its protocol."""
        tls = sslproto.SSLProtocol(
            self,
            protocol,
            context,
            waiter,  # type: ignore[arg-type]  # None is one that nobody waits for
            server_side,
            server_hostname,
            ssl_handshake_timeout=timeouts[0],  # type: ignore[arg-type]
            ssl_shutdown_timeout=timeouts[1],
        )
        end.begin(tls)
        transport: asyncio.Transport = tls._app_transport  # noqa: SLF001
        return transport

    async def create_server(  # type: ignore[override]  # noqa: PLR0913
        self,
        protocol_factory: Callable[[], asyncio.BaseProtocol],
        host: str | Sequence[str] | None = None,
        port: int | None = None,
        *,
        sock: object = None,
        ssl: Any = None,  # noqa: ANN401
        ssl_handshake_timeout: float | None = None,
        ssl_shutdown_timeout: float | None = None,
        start_serving: bool = True,
        **_options: object,
    ) -> Listener:
        """Listen at a port of TCP."""
        if sock is not None:
            refuse("sockets of this machine", "give a host and a port")
        address = host if isinstance(host, str) or host is None else host[0]
        own = self.here(f"create_server at port {port}", address)
        listener = Listener(
            self, own, int(port or 0), protocol_factory, ssl, (ssl_handshake_timeout, ssl_shutdown_timeout)
        )
        if start_serving:
            await listener.start_serving()
        return listener

    # UDP.

    async def create_datagram_endpoint(  # type: ignore[override]
        self,
        protocol_factory: Callable[[], asyncio.BaseProtocol],
        local_addr: Address | None = None,
        remote_addr: Address | None = None,
        *,
        sock: object = None,
        **_options: object,
    ) -> tuple[asyncio.BaseTransport, asyncio.BaseProtocol]:
        """Open a port of UDP."""
        if sock is not None:
            refuse("sockets of this machine", "give local_addr, remote_addr or both")
        address = local_addr[0] if local_addr else None
        own = self.here("create_datagram_endpoint", address)
        remote = None
        if remote_addr is not None:
            remote = (self.addresses_towards(own, remote_addr[0])[0], remote_addr[1])
        port = self.native.open_udp(own.place, local_addr[1] if local_addr else 0)
        bound = own.address_as(None if address in ANY_ADDRESS else address)
        protocol = protocol_factory()
        return DatagramEnd(self, own, (bound, port), remote, protocol), protocol

    # SCTP.

    def open_live_endpoint(
        self,
        addresses: list[str],
        port: int,
        carriage: tuple[int, int] | None,
        settings: dict[str, object],
        backlog: int,
        read_ahead_bytes: int,
    ) -> LiveEndpoint:
        """Open a port of SCTP of the network, as `slantpath.live` asks."""
        own = self.here("live.Endpoint.bind", addresses[0] if addresses else None)
        bound = [str(own.address_as(address)) for address in addresses if address not in ANY_ADDRESS]
        return self.native.open_sctp(own.place, bound, port, carriage, settings, backlog, read_ahead_bytes)

    def add_reader(self, fd: Any, callback: Callable[..., object], *args: object) -> None:  # noqa: ANN401
        """Have news of associations told, which come without a descriptor of the system."""
        if isinstance(fd, int) and fd <= -2:  # noqa: PLR2004 - what `LiveEndpoint.fileno` gives of them
            self._readers[-2 - fd] = lambda: callback(*args)
            return
        refuse("add_reader", "descriptors are the operating system's")

    def remove_reader(self, fd: Any) -> bool:  # noqa: ANN401
        """Have them told no more."""
        return isinstance(fd, int) and self._readers.pop(-2 - fd, None) is not None

    # What is done in place, and what is refused.

    def run_in_executor(
        self,
        executor: object,  # noqa: ARG002 - asyncio's
        func: Callable[..., Any],
        *args: object,
    ) -> asyncio.Future[Any]:
        """Call it now: a thread would finish at an instant that differs from run to run."""
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as failure:  # noqa: BLE001 - it is whoever waits who handles it
            future.set_exception(failure)
        return future

    async def subprocess_exec(self, *_: object, **__: object) -> NoReturn:
        """Refuse: a process lives in real time."""
        refuse("subprocesses", "they live in real time; slantpath.testing.relayed runs programs in it")

    async def subprocess_shell(self, *_: object, **__: object) -> NoReturn:
        """Refuse: a process lives in real time."""
        refuse("subprocesses", "they live in real time; slantpath.testing.relayed runs programs in it")

    async def connect_accepted_socket(self, *_: object, **__: object) -> NoReturn:
        """Refuse: sockets are the network's."""
        refuse("sockets of this machine", "use create_server")

    async def create_unix_connection(self, *_: object, **__: object) -> NoReturn:
        """Refuse: it crosses no network."""
        refuse("Unix sockets", "they cross no network")

    async def create_unix_server(self, *_: object, **__: object) -> NoReturn:
        """Refuse: it crosses no network."""
        refuse("Unix sockets", "they cross no network")

    async def connect_read_pipe(self, *_: object, **__: object) -> NoReturn:
        """Refuse: pipes are real."""
        refuse("pipes", "they are the operating system's")

    async def connect_write_pipe(self, *_: object, **__: object) -> NoReturn:
        """Refuse: pipes are real."""
        refuse("pipes", "they are the operating system's")

    def add_writer(self, *_: object) -> NoReturn:
        """Refuse: descriptors are real."""
        refuse("add_writer", "descriptors are the operating system's")

    def remove_writer(self, _fd: object) -> bool:
        """There is none."""
        return False

    def add_signal_handler(self, *_: object) -> NoReturn:
        """Refuse: signals come in real time."""
        refuse("signal handlers", "signals come in real time")

    def remove_signal_handler(self, _sig: object) -> bool:
        """There is none."""
        return False

    async def sock_recv(self, *_: object) -> NoReturn:
        """Refuse: sockets are the network's."""
        refuse("sockets of this machine", "use transports or streams")

    sock_recv_into = sock_recvfrom = sock_recvfrom_into = sock_recv  # type: ignore[assignment]
    sock_sendall = sock_sendto = sock_connect = sock_accept = sock_recv  # type: ignore[assignment]

    async def sock_sendfile(self, *_: object, **__: object) -> NoReturn:
        """Refuse: sockets are the network's."""
        refuse("sockets of this machine", "use transports or streams")


def refuse(what: str, why: str) -> NoReturn:
    """Say what a loop in virtual time has not, and why."""
    message = f"{what}: not in virtual time: {why}"
    raise NotImplementedError(message)
