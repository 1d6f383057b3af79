"""Voice, video, pages and files together: the future work under balancing, admission and classes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from slantpath.figures import numbers
from slantpath_studies.claims import Estimate
from slantpath_studies.ftp_qos.cases import ADMISSIONS, BALANCES, Case, Sky, cell, two_antennas

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from slantpath.running import Value

PLACE = ("1e-7", 1_000, 6)
"""Files of 1 MB, six a minute: with the other services some nine tenths of one link."""
VOICE_LATE_S = 0.4
"""One-way delay beyond which speech is hardly usable (ITU-T G.114)."""
LOAD: Mapping[str, Value] = {
    # G.711 in packets of 20 ms with the header of RTP.
    "flows.voice": {
        "transport": "sctp",
        "from": "server",
        "to": "client",
        "dscp": "EF",
        "unordered": True,
        "max_retransmissions": 0,
        "when_blocked": "queue",
        "application": {"kind": "constant-rate", "message_size": "172 B", "interval": "20 ms"},
    },
    # Twenty-five frames a second.
    "flows.video": {
        "transport": "sctp",
        "from": "server",
        "to": "client",
        "dscp": "AF41",
        "unordered": True,
        "when_blocked": "queue",
        "application": {"kind": "constant-rate", "message_size": "2400 B", "interval": "40 ms"},
    },
    # A reader opens a page, reads it, and goes on: ten pages on average.
    "sessions.web": {
        "transport": "tcp",
        "from": "client",
        "to": "server",
        "dscp": "AF21",
        "arrivals": {"kind": "poisson", "mean_interval": "30 s"},
        "sizes": {"kind": "pareto", "mean": "60 kB", "shape": 1.2},
        "requests": {
            "count": {"kind": "geometric", "mean": 10},
            "think": {"kind": "exponential", "mean": "8 s"},
        },
    },
    "links.edge.forward.conditioners.ftp.dscp": ["CS0"],
    "probes.delays": "1 %",
}
"""Beside the files. Only these are metered."""

SCHEDULERS = {"one-queue": "one queue", "classes": "classes by DSCP"}
LINKS = {"one": "one link", "per-flow": "two, by connection", "by-backlog": "two, by backlog"}
RULES = {"all": "all begin", "by-delay": "by delay", "by-throughput": "by throughput"}
"""What holds files back."""
FLOWS = ("voice", "video")


def name_of(sky: Sky, scheduler: str, links: str, rule: str) -> str:
    """Name a case."""
    return f"services/{sky.value}/{scheduler}/{links}/{rule}"


def every() -> Iterator[Case]:
    """Give every case."""
    for sky, scheduler, links, rule in product(Sky, SCHEDULERS, LINKS, RULES):
        values: dict[str, Value] = {**cell(sky, PLACE).values(), **LOAD}
        if scheduler == "classes":
            values["links.edge.forward.discipline"] = {"kind": "priority"}
            values[f"sky.access.{sky.constellation}.uplink"] = {
                "bit_error_rate": 0.0,
                "queue": "99 packets",
                "discipline": {"kind": "priority"},
            }
        if links in BALANCES:
            values |= {
                "nodes.terminal.balance": links,
                "nodes.client.balance": links,
                "links.edge.rate": "4 Mbit/s",
            }
        if rule in ADMISSIONS:
            values["sessions.ftp.admission"] = ADMISSIONS[rule][1][sky]
        topology = two_antennas(sky) if links in BALANCES else {}
        yield Case(name_of(sky, scheduler, links, rule), sky, values, topology=topology)


@dataclass(frozen=True, slots=True)
class Shown:
    """A figure as tables and figures show it."""

    of: Callable[[ServiceFigures], float]
    scale: float
    decimals: int


TABLES = ("delays", "requests", "sessions")
"""The tables of a run that these cases need."""


@dataclass(frozen=True, slots=True)
class ServiceFigures:
    """What is kept of a run."""

    delay_99_s: Mapping[str, float]
    """Of each flow: the delay below which are 99 % of its messages, from SEND to delivery."""
    page_s: float
    """The median time from a request to the end of its page."""
    page_95_s: float
    file_bit_per_s: float
    """The mean over completed files of size over time, with the wait for admission."""
    files: int
    """Files that were completed."""

    @classmethod
    def of(cls, delays: pa.Table, requests: pa.Table, sessions: pa.Table) -> ServiceFigures:
        """Take them from the tables of a run."""
        names = delays.column("flow").cast(pa.string()).to_pylist()
        late = dict(zip(names, numbers(delays, "delay_p99_s"), strict=True))
        response_s = numbers(requests, "response_s")
        answered = response_s[~np.isnan(response_s)]
        is_file = np.array(sessions.column("sessions").cast(pa.string()).to_pylist(), dtype=object) == "ftp"
        lasted_s = (numbers(sessions, "ended_s") - numbers(sessions, "begun_s"))[is_file]
        whole = numbers(sessions, "delivered_bytes")[is_file] >= numbers(sessions, "size_bytes")[is_file]
        done = whole & ~np.isnan(lasted_s)
        rates = 8 * numbers(sessions, "size_bytes")[is_file][done] / lasted_s[done]
        return cls(
            delay_99_s={flow: float(late.get(flow, math.nan)) for flow in FLOWS},
            page_s=float(np.median(answered)) if answered.size else math.nan,
            page_95_s=float(np.quantile(answered, 0.95)) if answered.size else math.nan,
            file_bit_per_s=float(rates.mean()) if rates.size else math.nan,
            files=int(done.sum()),
        )


SHOWN: Mapping[str, Shown] = {
    "voice, 99 % below / ms": Shown(lambda run: run.delay_99_s["voice"], 1e3, 0),
    "video, 99 % below / ms": Shown(lambda run: run.delay_99_s["video"], 1e3, 0),
    "page, median / s": Shown(lambda run: run.page_s, 1.0, 2),
    "page, 95 % below / s": Shown(lambda run: run.page_95_s, 1.0, 1),
    "file / kbit/s": Shown(lambda run: run.file_bit_per_s, 1e-3, 0),
    "files in an hour": Shown(lambda run: run.files, 1.0, 0),
}
"""What is told of a case."""


def estimates(runs: Sequence[ServiceFigures]) -> Mapping[str, Estimate]:
    """Estimate each figure of a case."""
    return {name: Estimate.of([shown.of(run) for run in runs]) for name, shown in SHOWN.items()}
