"""The engine of Slantpath, an extension module in Rust."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Self, final

import pandas as pd
import polars as pl

from slantpath.controllers import Controller
from slantpath.errors import Fault

VERSION: str

@final
class Ack:
    """News in an acknowledgement: all that it told for the first time."""

    @property
    def now_s(self) -> float:
        """Instant at which it came, in seconds of the run."""

    @property
    def acked_bytes(self) -> int:
        """Bytes that may open the window: those acknowledged cumulatively in TCP, all of the path in SCTP."""

    @property
    def in_flight_before_bytes(self) -> int:
        """Bytes in flight before it."""

    @property
    def in_flight_bytes(self) -> int:
        """Bytes in flight after it."""

    @property
    def advances(self) -> bool:
        """Whether everything up to a later point than before is acknowledged now."""

    @property
    def is_recovering(self) -> bool:
        """Whether a loss is being repaired, or it told of a mark: no reason to open the window."""

    @property
    def round_trip_s(self) -> float | None:
        """Round-trip time of the newest segment that it acknowledges, if that was sent once."""

    @property
    def smoothed_round_trip_s(self) -> float | None:
        """The smoothed round-trip time, once there is one."""

    @property
    def starts_round(self) -> bool:
        """Whether it is the first to acknowledge something sent after the last round began."""

    @property
    def delivery_rate_bit_per_s(self) -> int | None:
        """Rate at which data arrived lately, if it gives a sample."""

@final
class Until:
    """Precision that the mean of a measure is to have."""

    def __new__(cls, text: str) -> Self:
        """Read `failover ± 5 %`; what is no precision is a ``ValueError`` that says what would be."""

    @property
    def column(self) -> str:
        """The column of `flows` and `signalling_service` that is measured."""

    @property
    def words(self) -> str:
        """The question in words."""

    def unmeasured(self, runs: int) -> str:
        """Tell that nothing has the measure in so many runs, and what would give it one."""

    def wanted(self, made: int, flows: Sequence[Sequence[float]]) -> int | None:
        """Give how many runs are wanted in all; None if no flow has the measure.

        ``made`` runs are there, and ``flows`` has the values of each flow in them.
        """

@final
class Within:
    """Limit that a measure is to keep."""

    def __new__(cls, text: str) -> Self:
        """Read `failover 2 s`; what is no limit is a ``ValueError`` that says what would be."""

    @property
    def column(self) -> str:
        """The column of `flows` and `signalling_service` that is limited."""

    @property
    def words(self) -> str:
        """The question in words."""

    def unmeasured(self, runs: int) -> str:
        """Tell that nothing has the measure in so many runs, and what would give it one."""

    def share(self, runs: Sequence[tuple[float | None, bool]]) -> tuple[int, int, float, float] | None:
        """Give runs that keep the limit, those that count, and the least and greatest share they allow.

        A run is the value of a flow, and whether the flow failed.
        """

@final
class DirectoryLock:
    """The right of this process to write into a directory."""

    def __new__(cls, directory: str | PathLike[str], stores: Sequence[str]) -> Self:
        """Lock a directory, which is made if it is not there, and remove what killed processes left in it."""

    def release(self) -> None:
        """Give it back."""

    def release_copy(self) -> None:
        """Let a forked process go of its copy."""

@final
class Scenario:
    """A scenario in which every value is in place and nothing contradicts."""

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        *,
        controllers: dict[str, type[Controller]] | None = None,
        progress: Callable[[int, int], object] | None = None,
    ) -> Self:
        """Read a file. Traces that it names are looked for beside it.

        ``controllers`` are classes that derive from ``slantpath.Controller``, by the names that it may have
        for them in ``congestion_control``.

        What is doubtful about it is told as a `slantpath.ScenarioWarning`. ``progress`` is called with how
        many sites of its sky have their contacts, and how many there are; of a scenario without a sky, never.
        """

    @classmethod
    def parse(
        cls,
        text: str,
        file_name: str = "<text>",
        directory: str | PathLike[str] | None = None,
        *,
        controllers: dict[str, type[Controller]] | None = None,
        progress: Callable[[int, int], object] | None = None,
    ) -> Self:
        """Read a string. Errors call it `file_name`; traces that it names are looked for in `directory`.

        ``controllers`` and ``progress`` are those of `load`.
        """

    def with_values(
        self, values: Mapping[str, object], *, progress: Callable[[int, int], object] | None = None
    ) -> Self:
        """Give the scenario with other values: `{"links.satellite.loss": "2 %"}`.

        ``progress`` is that of `load`, for contacts that these values change.
        """

    def with_controllers(self, controllers: dict[str, type[Controller]]) -> Self:
        """Give the scenario with these controllers for it to name, as those of `load`."""

    @property
    def warnings(self) -> list[Fault]:
        """What runs, and is probably a mistake, such as a timer that expires at the first lost packet."""

    def merged(self) -> str:
        """Give the merged scenario as TOML: every value written out, with a comment where nobody wrote it."""

    @property
    def hash(self) -> str:
        """The hash of the merged scenario, which names its runs."""

    @property
    def name(self) -> str:
        """What the scenario is called."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Sweep:
    """A checked grid over a scenario, whose jobs are the runs of each point, in the order of the grid."""

    def __new__(
        cls,
        base: Scenario,
        grid: Mapping[str, Sequence[object]],
        runs: int,
        first_run: int,
        tables: Sequence[str] | None,
    ) -> Self:
        """Check every point of a grid; the tables are those that are joined, all if None."""

    def __len__(self) -> int:
        """Count the runs."""

    def job(self, job: int) -> tuple[Scenario, int]:
        """Give the scenario of a job, which can be sent to another process, and the number of its run."""

    @property
    def tables(self) -> list[str]:
        """The tables that are joined."""

    def join(self, runs: Sequence[bytes]) -> list[Table]:
        """Join runs that `made` gave, by their jobs."""

@final
class SweepDirectory:
    """Directory of a sweep's finished runs and results. Its caller holds the lock on it."""

    def __new__(cls, path: str | PathLike[str]) -> Self:
        """Refuse a directory with files of others that results may be called like."""

    def is_kept(self, sweep: Sweep, job: int) -> bool:
        """Tell if the run of a job is finished, with the tables that are joined."""

    def keep(self, sweep: Sweep, job: int, run: bytes) -> None:
        """Keep the run of a job, from the bytes that `made` gave."""

    def write(self, sweep: Sweep) -> list[Table]:
        """Join the runs, which are all kept, and write the files of the command."""

def made(scenario: Scenario, number: int, tables: Sequence[str], stop: Stop | None) -> bytes:
    """Make a run and give it as bytes, with those of the tables that it has."""

@final
class LiveEndpoint:
    """One SCTP port on some of the machine's addresses. Linux only; ``slantpath.live`` waits for it."""

    def __new__(
        cls,
        addresses: list[str],
        port: int,
        udp: tuple[int, int] | None,
        settings: Mapping[str, object],
        backlog: int,
        read_ahead_bytes: int,
    ) -> Self:
        """Open the sockets; ``udp`` is the own UDP port and that of peers, None is IP."""

    def beside(
        self, port: int, settings: Mapping[str, object], backlog: int, read_ahead_bytes: int
    ) -> LiveEndpoint:
        """Open another SCTP port on the same sockets."""

    @property
    def port(self) -> int:
        """The SCTP port."""

    def settings(self) -> str:
        """Return the settings of SCTP by their names in scenarios, without secrets, as JSON."""

    def fileno(self) -> int:
        """Return the descriptor that can be read when there is something to do."""

    def addresses(self) -> list[tuple[str, int]]:
        """Return the address of each socket, with its UDP port, or zero."""

    def turn(self) -> tuple[bool, bool, list[tuple[int, str]]]:
        """Do some of it; return whether there may be more, whether some ended, and whom what concerns."""

    def is_touched(self) -> bool:
        """Return whether a command has left something to do, which the descriptor does not tell."""

    def connect(self, addresses: list[str], port: int, udp_port: int | None) -> int | None:
        """Begin an association."""

    def accept(self) -> int | None:
        """Return the next association that has come."""

    def is_settled(self, number: int) -> bool:
        """Return whether an association is up or has ended; raise how it was lost."""

    def is_ended(self, number: int) -> bool:
        """Return whether an association has ended; raise how it was lost."""

    def peer(self, number: int) -> tuple[str, int] | None:
        """Return the peer's first address and its port."""

    def extensions(self, number: int) -> list[str]:
        """Return the names of the extensions that an association uses."""

    def unacknowledged(self, number: int) -> int:
        """Return how many messages had not been acknowledged when an association ended."""

    def outbound_streams(self, number: int) -> int:
        """Return how many streams can be sent on."""

    def send(
        self,
        number: int,
        stream: int,
        payload: bytes,
        payload_protocol: int,
        unordered: bool,
        lifetime_s: float | None,
        sack_immediately: bool,
        destination: str | None,
    ) -> bool:
        """Hand a message over; return False if the send buffer has no room."""

    def receive(self, number: int) -> tuple[tuple[int, int, bool, bytes, list[int]] | None, bool]:
        """Return the next message, and whether there will be others; raise how the association was lost."""

    def notification(
        self, number: int
    ) -> tuple[str, str | None, int, str | None, list[int] | None, dict[str, object]] | None:
        """Return the next notification: what, which address, how many missed, direction, streams, fields."""

    def reset_streams(self, number: int, streams: Sequence[int]) -> None:
        """Have streams begin anew: those listed, or all."""

    def add_streams(self, number: int, outbound: int, inbound: int) -> None:
        """Ask for more streams."""

    def add_address(self, number: int, address: str) -> None:
        """Tell the peer of another address of the endpoint's."""

    def delete_address(self, number: int, address: str) -> None:
        """Tell the peer that an address of the endpoint's is none of the association's any more."""

    def request_peer_primary(self, number: int, address: str) -> None:
        """Ask the peer to send to this address of the endpoint's."""

    def add_key(self, number: int, key: int, secret: bytes) -> None:
        """Add a key by which chunks may be authenticated, or replace it."""

    def activate_key(self, number: int, key: int) -> None:
        """Authenticate what is sent by another key."""

    def delete_key(self, number: int, key: int) -> None:
        """Take a key away."""

    def set_primary(self, number: int, address: str) -> bool:
        """Make an address of the peer's the primary one; return False if it is none, or not confirmed."""

    def request_heartbeat(self, number: int, address: str) -> bool:
        """Probe an address of the peer's now; return False if it is none."""

    def paths(self, number: int) -> list[dict[str, Any]]:
        """Return the paths of an association."""

    def mib(self) -> dict[str, int]:
        """Return the counters of the SCTP MIB (RFC 3873), by name."""

    def mib_association(self, number: int) -> dict[str, Any] | None:
        """Return what the tables of the SCTP MIB have of an association; None once it has ended."""

    def shut_down(self, number: int) -> None:
        """End an association in order."""

    def abort(self, number: int, reason: bytes) -> None:
        """End an association at once."""

    def release(self, number: int) -> None:
        """Have an association end in order, of which its user knows nothing any more."""

    def close(self, at_once: bool) -> None:
        """Begin nothing more, and end all associations: in order, or at once."""

    def alive(self) -> int:
        """Return how many associations are not over."""

    def close_sockets(self) -> None:
        """Give the sockets back."""

@final
class Stop:
    """Ends runs that other threads make."""

    def __new__(cls) -> Self:
        """Make one that is not set."""

    def set(self) -> None:
        """End the runs that were given this."""

@final
class Table:
    """A table of results: columns of one type each, whose unit stands last in their name."""

    @classmethod
    def of(cls, name: str, columns: Sequence[tuple[str, str, Iterable[object]]]) -> Self:
        """Make a table of `(name, type, cells)`, for example `("delay_s", "f64", [0.25, None])`."""

    @classmethod
    def stacked(cls, name: str, parts: Sequence[Table]) -> Self:
        """Lay the rows of all parts one below the other."""

    def keyed(self, keys: Sequence[tuple[str, str | int | float | bool]]) -> Self:
        """Give the table with columns in front that hold one value each."""

    @property
    def name(self) -> str:
        """What the rows are: `messages`, `links`."""

    @property
    def column_names(self) -> list[str]:
        """The names of the columns, in order."""

    @property
    def units(self) -> dict[str, str]:
        """The unit of each column that has one."""

    def write(self, path: str | PathLike[str]) -> None:
        """Write the table whole or not at all, as `.parquet`, `.csv` or `.jsonl`."""

    def to_pandas(self) -> pd.DataFrame:
        """Give the table as a `pandas.DataFrame`. Raises `ImportError` without pandas."""

    def to_polars(self) -> pl.DataFrame:
        """Give the table as a `polars.DataFrame`. Raises `ImportError` without polars."""

    def _repr_html_(self) -> str:
        """Show the first rows to a notebook."""

    def __len__(self) -> int: ...
    def __getitem__(self, column: str, /) -> list[bool | float | int | str | None]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __arrow_c_schema__(self) -> object:
        """Give the schema through the Arrow PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Give the data through the Arrow PyCapsule interface. A request for another schema is ignored."""

@final
class Testbed:
    """A network in virtual time with sockets at its attached nodes, for ``slantpath.testing``. Linux only.

    Nodes are named by their place in ``nodes``, connections of TCP by numbers. A local address may be None:
    that of the link that leads to the peer.
    """

    def __new__(cls, scenario: Scenario, seed: int | None, run: int, captures: Sequence[str]) -> Self:
        """Stand at the start of a run."""

    def nodes(self) -> list[tuple[str, list[tuple[str, str]], list[tuple[str, str]]]]:
        """Return name, own addresses with their links, and reached addresses with their nodes, of each."""

    def now(self) -> int:
        """Return the present in nanoseconds since the start."""

    def advance(self, until_ns: int, is_awaited: bool) -> str:
        """Run until something happens to a socket: ``event``, or until this instant: ``until``.

        ``rest``: nothing will ever happen, and nobody awaits that instant.
        """

    def wake(self) -> None:
        """Have the call of ``advance`` that is under way end as if something had happened."""

    def change(self, at_ns: int, event: Sequence[tuple[str, str]]) -> None:
        """Have links change at an instant as an event of the script does: its keys with values as TOML."""

    def events(self) -> list[tuple[Any, ...]]:
        """Return what has happened to sockets: a kind, the socket, and what belongs to the kind."""

    def handovers(self) -> list[tuple[int, str, str | None, str | None]]:
        """Return handovers since this was last asked: when, the antenna, from and to which satellite."""

    def open_udp(self, node: int, port: int) -> int:
        """Open a port of UDP; zero is any."""

    def close_udp(self, node: int, port: int) -> None:
        """Close a port of UDP."""

    def send_datagram(
        self, node: int, local: tuple[str | None, int], remote: tuple[str, int], payload: bytes
    ) -> tuple[str, int | None]:
        """Send a datagram: its address, and the number by which it is known when it comes; IPv6 has none."""

    def listen(self, node: int, port: int) -> int:
        """Accept connections to a port of TCP; zero is any."""

    def stop_listening(self, node: int, port: int) -> None:
        """Accept no more of them."""

    def connect(
        self, node: int, local: tuple[str | None, int], remote: tuple[str, int]
    ) -> tuple[int, tuple[str, int]]:
        """Call a port of TCP: the connection, and its own address and port."""

    def room(self, stream: int) -> int:
        """Return how many bytes a connection takes."""

    def write(self, stream: int, data: bytes) -> None:
        """Append to the stream of a connection."""

    def close(self, stream: int) -> None:
        """End the own stream of a connection."""

    def abort(self, stream: int) -> None:
        """Break a connection off."""

    def hold(self, stream: int, is_held: bool) -> None:
        """Deliver no more of a connection's data, or do so once more."""

    def open_sctp(
        self,
        node: int,
        addresses: Sequence[str],
        port: int,
        udp: tuple[int, int] | None,
        settings: Mapping[str, object],
        backlog: int,
        read_ahead_bytes: int,
    ) -> LiveEndpoint:
        """Open a port of SCTP with a host of its own."""

    def end(self) -> tuple[int, str, list[Table], dict[str, bytes]]:
        """End the run: the seed that was used, the digest, the tables, and pcapng files by link."""

@final
class Topology:
    """Satellites, sites and the questions about them, in which nothing contradicts."""

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a file. Files that it names are looked for beside it."""

    @classmethod
    def parse(
        cls, text: str, file_name: str = "<text>", directory: str | PathLike[str] | None = None
    ) -> Self:
        """Read a string. Errors call it `file_name`; files that it names are looked for in `directory`."""

    def with_values(self, values: Mapping[str, object]) -> Self:
        """Give the topology with other values: `{"ground.min_elevation": "20 deg"}`."""

    def merged(self) -> str:
        """Give the merged topology as TOML: every value written out, comments where nobody wrote it."""

    def look_angles(self, site: str, satellite: str, at_s: Sequence[float]) -> Table:
        """Give azimuth, elevation and range of a satellite at times in seconds after the start."""

    @property
    def hash(self) -> str:
        """The hash of the merged topology, which names its answer."""

    @property
    def name(self) -> str:
        """What the topology is called."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

def follow(topology: Topology, workers: int) -> tuple[list[Table], list[str]]:
    """Work an answer out on `workers` threads, 0 for one on each processor: tables, warnings."""

def main(args: Sequence[str], draw: Callable[[Path, Callable[[], bool]], list[str]]) -> int:
    """Run the command with its arguments, the program's name first; give its exit status.

    `draw` is called with a directory of tables to draw their figures into and with what says whether to
    stop, and gives the names of the files.
    """

def mean_interval(observations: Sequence[float], level: float = 0.99) -> tuple[float, float]:
    """Give the mean and half the width of its confidence interval, of independent observations."""

def student_t_quantile(probability: float, degrees: float) -> float:
    """Give the quantile of Student's distribution with so many degrees of freedom."""

def plan(text: str, file_name: str, values: Mapping[str, object]) -> tuple[str, str]:
    """Give the answer to a question as JSON, and as a scenario.

    Values are laid over the text: `{"band.permanent": "2048 kbit/s"}`.
    """

def quantile(observations: Sequence[float], share: float) -> float:
    """Give the value below which a share of the observations lies."""

def run(
    scenario: Scenario, number: int, seed: int | None, captures: Sequence[str], stop: Stop | None
) -> tuple[int, str, list[Table], dict[str, bytes]]:
    """Run a scenario once: the seed that was used, the digest, the tables, and pcapng files by link.

    It ends early when `stop` is set, or with Ctrl-C if there is none.
    """

def toml_text(value: object) -> str:
    """Give a value as TOML."""

def write_file(path: str | PathLike[str], data: bytes) -> None:
    """Write a file, whole or not at all; directories on the way are created."""
