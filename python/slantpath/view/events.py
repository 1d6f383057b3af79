"""Events in sentences: of scripts, handovers, failovers, outages, drops, and what was retransmitted."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc

from slantpath.plots.results import Source, printable
from slantpath.report.results import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import pyarrow as pa

    from slantpath.report.results import Results
    from slantpath.view.blocks import Blocks

    Row = Mapping[str, Any]
    Told = Iterator[tuple[float | None, str, str]]

MOST = 5_000
"""Events of a kind that are listed."""
LONGEST = 300
"""Letters of a sentence."""
MILLI = 1e3


@dataclass(slots=True)
class Events:
    """Events by their kinds."""

    until_s: float = float("inf")
    """End of the time that is shown: what is later, or earlier than the start, is none of its events."""
    traced: frozenset[str] = frozenset()
    """Flows whose traces tell of what was retransmitted, with the reason."""
    listed: list[tuple[float, str, str]] = field(default_factory=list)
    count: dict[str, int] = field(default_factory=dict)

    def add(self, at_s: float | None, kind: str, words: str) -> None:
        """Add one; what has no instant is none. Those beyond what is listed are counted."""
        if at_s is None or not math.isfinite(at_s) or not 0 <= at_s <= self.until_s:
            return
        self.count[kind] = self.count.get(kind, 0) + 1
        if self.count[kind] <= MOST:
            self.listed.append((float(at_s), kind, printable(words)[:LONGEST]))

    def read(self, results: Results, offset_s: float = 0.0) -> None:
        """Take those of the tables of a directory, of its first run."""
        tellers = _SKY if results.kind is Kind.TOPOLOGY else _RUN
        has_drops = results.shape("drops")[0] > 0
        for name, (columns, tell) in tellers.items():
            rows, there = results.shape(name)
            # Drops that are told one by one are not counted by interval, too.
            if not rows or (has_drops and name == "link_intervals"):
                continue
            # A table of another program may be called so, too.
            if not set(columns) <= set(there):
                continue
            run: Any = None
            source = Source(results.path / f"{name}.parquet")
            for read in source.batches({*columns, "run"}):
                for row in _telling(name, read).to_pylist():
                    run = row.get("run") if run is None else run
                    is_told = name == "messages" and row.get("flow") in self.traced
                    if row.get("run") == run and not is_told:
                        for at_s, kind, words in tell(row):
                            self.add(None if at_s is None else at_s + offset_s, kind, words)

    def embed(self, blocks: Blocks, notes: list[str]) -> dict[str, Any] | None:
        """Embed them in the order of time; give what the page is told of them."""
        if not self.listed:
            return None
        self.listed.sort(key=lambda event: event[0])
        kinds = sorted(self.count)
        blocks.add(
            "events",
            {
                "at": np.array([at_s for at_s, _, _ in self.listed]),
                "kind": np.array([float(kinds.index(kind)) for _, kind, _ in self.listed]),
                "words": [words for _, _, words in self.listed],
            },
        )
        notes += [
            f"Events: the first {MOST:,} of {count:,} of the kind `{kind}` are listed."
            for kind, count in sorted(self.count.items())
            if count > MOST
        ]
        return {
            "rows": len(self.listed),
            "kinds": [{"name": kind, "count": self.count[kind]} for kind in kinds],
        }


def _telling(name: str, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Leave out rows of large tables that tell of no event."""
    needed = {"messages": ("transmissions", 1), "link_intervals": ("dropped_packets", 0)}.get(name)
    if needed is None or needed[0] not in batch.schema.names:
        return batch
    return batch.filter(pc.fill_null(pc.greater(batch.column(needed[0]), needed[1]), False))  # noqa: FBT003


def _ms(value_s: float | None) -> str:
    return "an unknown time" if value_s is None else f"{value_s * MILLI:,.4g} ms"


def _packets(count: int) -> str:
    return "1 packet" if count == 1 else f"{count:,} packets"


def _why(cause: object) -> str:
    return f" ({cause})" if cause else ""


def _script(row: Row) -> Told:
    of = " ".join(str(row[key]) for key in ("kind", "name", "part") if row.get(key))
    yield row["at_s"], "script", f"{of}: {row['event']}"


def _handover(row: Row) -> Told:
    before, after = row.get("from") or "no satellite", row.get("to") or "no satellite"
    lost = (row.get("uplink_lost_packets") or 0) + (row.get("downlink_lost_packets") or 0)
    cost = f", {_packets(lost)} lost" if lost else ""
    yield row["at_s"], "handover", f"{row['link']}: from {before} to {after}{_why(row.get('cause'))}{cost}"


def _sky_handover(row: Row) -> Told:
    before, after = row.get("from_satellite") or "no satellite", row.get("to_satellite") or "no satellite"
    delays = f"delay {_ms(row.get('delay_before_s'))} to {_ms(row.get('delay_after_s'))}"
    words = f"{row['path']}, {row['site']}: from {before} to {after}, {delays}{_why(row.get('reasons'))}"
    yield row["at_s"], "handover", words


def _gap(row: Row) -> Told:
    yield (
        row["start_s"],
        "gap",
        f"{row['of']} {row['name']}: none from now on, for {row['duration_s']:,.4g} s",
    )


def _failover(row: Row) -> Told:
    spurious = row.get("failed_s") is None
    took = "spurious" if spurious else f"after {_ms(row.get('failover_s'))}"
    words = f"{row['flow']}: from {row['from_path']} to {row['to_path']}, {took}{_why(row.get('cause'))}"
    yield row["at_s"], "failover", words


def _outage(row: Row) -> Told:
    path = f"{row['from']} to {row['to']} over {row['path']}"
    yield row["begin_s"], "outage", f"{path}: carries nothing{_why(row.get('cause'))}"
    yield row.get("end_s"), "outage", f"{path}: carries packets again"


def _signalling(row: Row) -> Told:
    of = ", ".join(str(row[key]) for key in ("point", "link", "end") if row.get(key))
    yield row["at_s"], "signalling", f"{of}: {row['event']}{_why(row.get('detail'))}"


def _server(row: Row) -> Told:
    of = ", ".join(str(row[key]) for key in ("process", "association", "application_server") if row.get(key))
    yield row["at_s"], "signalling", f"{of}: {row['event']}{_why(row.get('destination'))}"


def _signalling_failover(row: Row) -> Told:
    took = "spurious" if row.get("failed_s") is None else f"after {_ms(row.get('failover_s'))}"
    words = f"{row['point']}: from {row['from']} to {row['to']}, {took}{_why(row.get('cause'))}"
    yield row["at_s"], "failover", words


def _command(row: Row) -> Told:
    yield row["at_s"], "script", f"{row['flow']}, {row['end']}: {row['action']}{_why(row.get('outcome'))}"


def _retransmitted(row: Row) -> Told:
    if (row.get("transmissions") or 0) > 1:
        then = (
            f"delivered {_ms(row['delay_s'])} after SEND"
            if row.get("delay_s") is not None
            else "not delivered"
        )
        over = f" over {row['last_path']}" if row.get("last_path") else ""
        words = f"{row['flow']}, message {row['number']}: retransmitted{over}, {then}"
        yield row.get("retransmitted_s"), "retransmission", words


def _drop(row: Row) -> Told:
    words = f"{row['link']}, {row['direction']}: {row['packet_bytes']:,} B dropped ({row['reason']})"
    if row.get("source"):
        ends = [_end(row[end], row[f"{end}_port"]) for end in ("source", "destination")]
        words += f", {row['protocol'].upper()} {' to '.join(ends)}"
    if row.get("tsn") is not None:
        words += f", TSN {row['tsn']}"
    yield row["at_s"], "drop", words


def _end(address: str, port: int | None) -> str:
    if port is None:
        return address
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _dropped(row: Row) -> Told:
    dropped = row.get("dropped_packets") or 0
    if dropped:
        since = row["end_s"] - row["start_s"]
        words = f"{row['link']}, {row['direction']}: {_packets(dropped)} dropped within {since:.4g} s"
        yield row["end_s"], "drop", words


def _step(row: Row) -> Told:
    path = f", {row['path']}" if row.get("path") else ""
    rto = f", RTO {_ms(row['rto_s'])}" if row.get("rto_s") is not None else ""
    yield row["at_s"], "timeline", f"{row['flow']}{path}: {row['event']}{rto}"


_SKY: Mapping[str, tuple[tuple[str, ...], Callable[[Row], Told]]] = {
    "handovers": (
        (
            "path",
            "at_s",
            "site",
            "from_satellite",
            "to_satellite",
            "delay_before_s",
            "delay_after_s",
            "reasons",
        ),
        _sky_handover,
    ),
    "gaps": (("of", "name", "start_s", "duration_s"), _gap),
}
_RUN: Mapping[str, tuple[tuple[str, ...], Callable[[Row], Told]]] = {
    "script": (("at_s", "kind", "name", "part", "event"), _script),
    "association_commands": (("flow", "at_s", "end", "action", "outcome"), _command),
    "handovers": (
        ("at_s", "link", "from", "to", "cause", "uplink_lost_packets", "downlink_lost_packets"),
        _handover,
    ),
    "failovers": (
        ("flow", "at_s", "from_path", "to_path", "cause", "failed_s", "failover_s"),
        _failover,
    ),
    "outages": (("from", "to", "path", "begin_s", "end_s", "cause"), _outage),
    "signalling_events": (("at_s", "point", "link", "end", "event", "detail"), _signalling),
    "signalling_server_events": (
        ("at_s", "process", "association", "application_server", "event", "destination"),
        _server,
    ),
    "signalling_failovers": (
        ("at_s", "point", "from", "to", "cause", "failed_s", "failover_s"),
        _signalling_failover,
    ),
    "drops": (
        (
            "at_s",
            "link",
            "direction",
            "reason",
            "packet_bytes",
            "protocol",
            "source",
            "destination",
            "source_port",
            "destination_port",
            "tsn",
        ),
        _drop,
    ),
    "timelines": (("flow", "at_s", "path", "event", "rto_s"), _step),
    "messages": (
        ("flow", "number", "transmissions", "retransmitted_s", "delay_s", "last_path"),
        _retransmitted,
    ),
    "link_intervals": (("link", "direction", "start_s", "end_s", "dropped_packets"), _dropped),
}
"""Tables that tell of events, the columns that do, and the sentences."""
