"""A simulated network for the tests of a program: its hosts, its links, and what came when."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import os
import random
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

from slantpath._native import Scenario, Testbed, toml_text
from slantpath.errors import RunError, StuckError
from slantpath.testing.failing import is_failure
from slantpath.testing.loop import NANOSECONDS, VirtualLoop, current_host
from slantpath.testing.measures import Delivery, Measures

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator, Mapping, Sequence
    from types import TracebackType

    from slantpath.running import RunOutput

T = TypeVar("T")

UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}
LONGEST_NS = 2**63
"""Nanoseconds that the network counts, at most: 292 years."""
LIMIT = "24 h"


def nanoseconds(time: str | float) -> int:
    """Give a time in nanoseconds: text with its unit, as in a scenario, or a number of seconds."""
    number, unit = (time, "s") if isinstance(time, int | float) else (-1, "s")
    if isinstance(time, str):
        parts = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-zµ]+)\s*", time)
        if parts is not None and parts[2] in UNITS:
            number, unit = float(parts[1]), parts[2]
    if not 0 <= number * UNITS[unit] <= LONGEST_NS:
        message = f'{time!r} is no time: write "300 ms", "1.5 s", or a number of seconds'
        raise ValueError(message)
    return round(number * UNITS[unit])


class Host:
    """A host of the network, at which tasks of the program run: their sockets are its."""

    def __init__(
        self,
        network: Network,
        place: int,
        name: str,
        own: list[tuple[str, str]],
        reaches: list[tuple[str, str]],
    ) -> None:
        """Stand for an attached node."""
        self.network = network
        self.place = place
        self.name = name
        self.addresses = [address for address, _ in own]
        """Its addresses, in the order of its links."""
        self.links = dict(own)
        """The link of each address."""
        self._reaches: dict[str, list[str]] = {}
        for address, node in reaches:
            self._reaches.setdefault(node, []).append(address)
        self._tokens: list[contextvars.Token[Host | None]] = []
        self._tasks: dict[asyncio.Task[Any], None] = {}

    def __repr__(self) -> str:
        """Say which one it is."""
        return f"<Host {self.name}: {', '.join(self.addresses)}>"

    @property
    def address(self) -> str:
        """Its first address."""
        return self.addresses[0]

    @property
    def reaches(self) -> list[str]:
        """The names of the nodes that it reaches."""
        return list(self._reaches)

    def addresses_of(self, node: str) -> list[str]:
        """Give the addresses of a node that it reaches."""
        return self._reaches.get(node, [])

    def address_as(self, text: str | None) -> str | None:
        """Give an own address by that, or by the host's name, which is no certain one."""
        return None if text is None or text == self.name else text

    def run(self, task: Coroutine[Any, Any, T], *, name: str | None = None) -> asyncio.Task[T]:
        """Run a task at this host, beside the caller's."""
        context = contextvars.copy_context()
        context.run(current_host.set, self)
        name = name or f"{self.name}-{self.network.next_task()}"
        started = self.network.loop.create_task(task, name=name, context=context)
        # A loop holds its tasks weakly, and nobody else may hold this one.
        self._tasks[started] = None
        started.add_done_callback(self._tasks.pop)
        return started

    def __enter__(self) -> Self:
        """Have what the block opens be at this host."""
        self._tokens.append(current_host.set(self))
        return self

    def __exit__(self, *_: object) -> None:
        """Go back to where the block came from."""
        current_host.reset(self._tokens.pop())


class Network:
    """A network in virtual time with its hosts, and the loop on which the program runs."""

    def __init__(
        self,
        scenario: Scenario,
        *,
        seed: int | None = None,
        run: int = 0,
        captures: Sequence[str] = (),
        limit: str | float = LIMIT,
        keep: str | os.PathLike[str] | None = None,
    ) -> None:
        """Stand at the start: `network` makes one."""
        self.scenario = scenario
        self.seed = seed
        self._native = Testbed(scenario, seed, run, list(captures))
        self.hosts = [
            Host(self, place, name, own, reaches)
            for place, (name, own, reaches) in enumerate(self._native.nodes())
        ]
        if not self.hosts:
            self._native.end()
            message = 'the scenario has no node for programs: give one `kind = "attached"`'
            raise ValueError(message)
        self.measures = Measures(self)
        self.random = random.Random(f"{seed}/{run}")  # noqa: S311 - it is to repeat
        """Chance for the program under test, the same for each run of a seed."""
        self.output: RunOutput | None = None
        """What the run gave, once it is over: tables, and captures."""
        self.kept: Path | None = None
        """Where the files of a run that failed are."""
        self._keep = keep
        self._limit_ns = nanoseconds(limit)
        self._tasks = 0
        self._loop: VirtualLoop | None = None
        self._runner = asyncio.Runner(loop_factory=self._make_loop)
        self._is_open = True

    def _make_loop(self) -> VirtualLoop:
        self._loop = VirtualLoop(self, self._native, self._limit_ns)
        return self._loop

    def __repr__(self) -> str:
        """Say what it is and when."""
        hosts = ", ".join(host.name for host in self.hosts)
        return f"<Network {self.scenario.name} at {self.now:.6f} s: {hosts}>"

    @property
    def loop(self) -> VirtualLoop:
        """The loop of the network."""
        return self._loop or self._opened()

    def _opened(self) -> VirtualLoop:
        self._runner.get_loop()
        if self._loop is None:
            message = "the network is over"
            raise RuntimeError(message)
        return self._loop

    @property
    def now(self) -> float:
        """The simulated time in seconds."""
        return self._native.now() / NANOSECONDS

    def next_task(self) -> int:
        """Count the tasks of hosts, for their names."""
        self._tasks += 1
        return self._tasks

    def host(self, name: str) -> Host:
        """Give the host of a name."""
        if (host := self.host_named(name)) is None:
            message = f"there is no host `{name}`; hosts: {', '.join(host.name for host in self.hosts)}"
            raise KeyError(message)
        return host

    def host_named(self, name: str) -> Host | None:
        """Give the host of a name, if there is one."""
        return next((host for host in self.hosts if host.name == name), None)

    def host_of(self, address: str) -> Host | None:
        """Give the host that has an address, or this name."""
        return next((host for host in self.hosts if address == host.name or address in host.addresses), None)

    # Running.

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the network's loop to its end, in virtual time; what it raises is raised."""
        try:
            return self._runner.run(main)
        except BaseException as failure:
            self._tell_where(failure)
            raise

    def __enter__(self) -> Self:
        """Close it at the end of the block."""
        return self

    async def __aenter__(self) -> NoReturn:
        """Refuse: whoever awaits has a loop already, whose time is real."""
        self.close()
        message = "a network has a loop of its own: `with network(…) as net: net.run(main(net))`"
        raise TypeError(message)

    async def __aexit__(self, *_: object) -> None:
        """Do nothing: nothing was entered."""

    def __exit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the run; if an exception leaves the block, keep its files."""
        self.close(failure)

    def close(self, failure: BaseException | None = None) -> None:
        """Cancel what still runs, end the run, and keep its files if it has failed."""
        if not self._is_open:
            return
        self._is_open = False
        from slantpath.running import RunOutput  # noqa: PLC0415 - it costs what a test need not pay

        try:
            # What is cancelled may wait for what never comes.
            with contextlib.suppress(StuckError):
                if self._loop is not None:
                    self._loop.begin_end()
                self._runner.close()
            seed, digest, tables, captures = self._native.end()
        except RunError:
            if failure is None:
                raise
            # The run was over when that was raised, and it is what says why.
            return
        self.output = RunOutput(seed, 0, digest, {table.name: table for table in tables}, captures)
        if failure is not None:
            self._write(failure)

    def _tell_where(self, failure: BaseException) -> None:
        if is_failure(failure):
            failure.add_note(f"slantpath: seed {self._used_seed()}, at {self.now:.6f} s of simulated time")

    def _used_seed(self) -> int | str:
        return "of the scenario" if self.seed is None else self.seed

    def _write(self, failure: BaseException) -> None:
        if not is_failure(failure) or self.output is None:
            return
        place = self._keep or os.environ.get("SLANTPATH_TESTING_KEEP")
        directory = Path(place) if place else Path(tempfile.mkdtemp(prefix="slantpath-test-"))
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "scenario.toml").write_text(self.scenario.merged(), encoding="utf-8")
        for link, packets in self.output.captures.items():
            (directory / f"{link}.pcapng").write_bytes(packets)
        (directory / "deliveries.csv").write_text(self.measures.as_csv(), encoding="utf-8")
        self.kept = directory
        files = ", ".join(sorted(path.name for path in directory.iterdir()))
        failure.add_note(f"slantpath: kept in {directory}: {files}")

    # What happens to links.

    def change(self, link: str, *, at: str | float | None = None, **event: object) -> None:
        """Have an event of the script happen to a link, by the keys of ``[[script]]``: ``action="down"``."""
        keys = [("link", toml_text(link)), *((key, toml_text(value)) for key, value in event.items())]
        self._native.change(self._native.now() if at is None else nanoseconds(at), keys)

    def down(self, link: str, *, at: str | float | None = None, lasts: str | float | None = None) -> None:
        """Have a link fail, now or at a time since the start; after ``lasts`` it returns."""
        at_ns = self._native.now() if at is None else nanoseconds(at)
        self.change(link, at=at_ns / NANOSECONDS, action="down")
        if lasts is not None:
            self.change(link, at=(at_ns + nanoseconds(lasts)) / NANOSECONDS, action="up")

    def up(self, link: str, *, at: str | float | None = None) -> None:
        """Have a link return, now or at a time since the start."""
        self.change(link, at=at, action="up")

    # What came, and when.

    @property
    def deliveries(self) -> Sequence[Delivery]:
        """What has come at hosts, in its order, with how long it took."""
        return self.measures.deliveries

    def assert_no_later_than(
        self, limit: str | float, *, to: str | None = None, protocol: str | None = None
    ) -> None:
        """Fail if anything came later than this after it was sent, or was sent so long ago and has not come.

        ``to`` names the host that it came to, ``protocol`` one of ``tcp``, ``udp`` and ``sctp``; without them
        all counts.
        """
        self.measures.check(nanoseconds(limit), to, protocol)

    def handovers(self) -> list[tuple[float, str, str | None, str | None]]:
        """Give the handovers since it was last asked: when, of which antenna, from and to which satellite."""
        return [(at / NANOSECONDS, *rest) for at, *rest in self._native.handovers()]  # type: ignore[misc]


LINES = """\
[scenario]
name = "test"
duration = "1 h"

[nodes]
"""


def lines_of(hosts: Sequence[str], links: Mapping[str, Mapping[str, object]]) -> str:
    """Write the scenario of two hosts, or of several around a router, with these links between them."""
    text = [LINES, *(f'{_key(name)} = {{ kind = "attached" }}\n' for name in hosts)]
    named = dict(links)
    if len(hosts) > 2:  # noqa: PLR2004 - two have a link between them
        text.append('hub = { kind = "router" }\n')
    for name, keys in _ends(hosts, named):
        text.append(f"\n[links.{_key(name)}]\n")
        text.extend(f"{key} = {toml_text(value)}\n" for key, value in keys.items())
    return "".join(text)


def _ends(
    hosts: Sequence[str], links: Mapping[str, Mapping[str, object]]
) -> Iterator[tuple[str, Mapping[str, object]]]:
    usual = {"rate": "10 Gbit/s", "delay": "0 ms"}
    for name, keys in links.items():
        if len(hosts) == 2:  # noqa: PLR2004
            yield name, {"ends": list(hosts), **usual, **keys}
        else:
            for host in hosts:
                own = f"{host}-{name}" if len(links) > 1 else host
                yield own, {"ends": [host, "hub"], **usual, **keys}


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml_text(name)


def network(  # noqa: PLR0913 - each is what a network in a line has
    scenario: Scenario | str | os.PathLike[str] | None = None,
    *,
    hosts: Sequence[str] = ("client", "server"),
    links: Mapping[str, Mapping[str, object]] | None = None,
    values: Mapping[str, object] | None = None,
    seed: int | None = None,
    run: int = 0,
    capture: str | Sequence[str] | bool = True,
    limit: str | float = LIMIT,
    keep: str | os.PathLike[str] | None = None,
    **link: object,
) -> Network:
    """Make a network in virtual time, of a scenario or of a line.

    ``scenario`` is a ``Scenario``, the path of a file, or the text of one; its attached nodes are the hosts.
    Without it there are two ``hosts`` with a link ``link`` between them, whose keys are given: ``delay="300
    ms", loss="1 %", rate="2 Mbit/s"``. ``links`` names several, each with its keys; more than two hosts stand
    around a router, each with links of its own.

    ``seed`` replaces the scenario's; the same seed gives the same run. ``values`` lays others over it:
    ``{"links.satellite.loss": "2 %"}``. After ``limit`` of simulated time whoever still waits is told.
    ``capture`` names links whose packets are kept if the test fails; True: all that a host has. They are
    kept in the directory ``keep``, or in one that is made.
    """
    from slantpath.running import as_scenario  # noqa: PLC0415 - as above

    if scenario is None:
        named = links if links is not None else {"link": link}
        if links is not None and link:
            named = {name: {**link, **keys} for name, keys in links.items()}
        made = Scenario.parse(lines_of(hosts, named), "network(…)")
    elif link or links is not None:
        message = f"keys of links stand in the scenario, or in `values`: {', '.join(link) or 'links'}"
        raise TypeError(message)
    else:
        made = as_scenario(scenario)
    if values:
        made = made.with_values(values)
    return Network(made, seed=seed, run=run, captures=_captured(made, capture), limit=limit, keep=keep)


def _captured(scenario: Scenario, capture: str | Sequence[str] | bool) -> list[str]:  # noqa: FBT001
    if isinstance(capture, str):
        return [capture]
    if not isinstance(capture, bool):
        return list(capture)
    if not capture:
        return []
    # Those of hosts: the merged form has all of them, in a form that is read in a line.
    import tomllib  # noqa: PLC0415 - only here

    read = tomllib.loads(scenario.merged())
    attached = {name for name, node in read.get("nodes", {}).items() if node.get("kind") == "attached"}
    links = read.get("links", {}).items()
    return [name for name, keys in links if attached & set(keys.get("ends", ()))]
