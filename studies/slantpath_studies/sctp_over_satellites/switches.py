"""Tables V and VI as measured effects: each feature of SCTP with and without, all else alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from slantpath_studies.sctp_over_satellites import cases

if TYPE_CHECKING:
    from collections.abc import Callable

    from slantpath_studies.sctp_over_satellites.measures import RunFigures


@dataclass(frozen=True, slots=True)
class Switch:
    """A feature that can be had or not."""

    feature: str
    word: str
    """What the paper says of it, or nothing."""
    without: str
    having: str
    """The settings of either."""

    @property
    def is_recommended(self) -> bool:
        """Whether the paper recommends it."""
        return self.word == "recommended"

    def pair(self, environment: str, total: str) -> tuple[str, str] | None:
        """Name the case that has it, and the one without, if it can be had in an environment."""
        settings = [cases.SETTINGS[name] for name in (self.having, self.without)]
        if any(setting.sky(cases.ENVIRONMENTS[environment]) is None for setting in settings):
            return None
        return cases.setting(self.having, environment, total), cases.setting(self.without, environment, total)


MULTIHOMING = Switch("multihoming: GEO as backup, not Iridium alone", "recommended", "paper", "backed-up")
MULTISTREAMING = Switch(
    "multistreaming: 4 streams, not 1, with a receiver window of 8 segments",
    "recommended",
    "small-buffer",
    "small-buffer-4-streams",
)

SWITCHES = (
    Switch(
        "path MTU discovery by probes (RFC 8899) up to 1,500 bytes, not 576",
        "recommended",
        "fragments",
        "discovery",
    ),
    Switch("a path MTU of 1,500 bytes that is known, not 576", "", "fragments", "whole-packets"),
    Switch("probes, not a path MTU that is known", "", "whole-packets", "discovery"),
    Switch("the same with a SACK for each packet", "", "whole-packets-sack-each", "discovery-sack-each"),
    Switch(
        "slow start and congestion avoidance, not a window of 64 KiB", "required", "fixed-window", "paper"
    ),
    Switch("slow start at the beginning, not a first window of 64 KiB", "required", "whole-window", "paper"),
    Switch(
        "congestion avoidance from 20 segments on, not from the first loss",
        "required",
        "late-avoidance",
        "paper",
    ),
    Switch("fast retransmit, not time-outs alone", "recommended", "timeouts-only", "paper"),
    Switch("delayed SACK, not one for each packet", "recommended", "sack-each", "paper"),
    Switch("initial cwnd of 2 segments, not 1", "recommended", "cwnd-1", "paper"),
    Switch("initial cwnd of 4 segments, not 2", "", "paper", "cwnd-4"),
    Switch("initial cwnd of 10 segments, not 2", "", "paper", "cwnd-10"),
    Switch("byte counting limit of 2, not 1", "recommended", "paper", "limit-2"),
    MULTIHOMING,
    MULTISTREAMING,
    Switch("ECN at queues with RED, not drops", "recommended", "early-drops", "early-marks"),
    Switch("receiver window of 128 segments, not 40", "implicitly used", "buffer-40", "paper"),
    Switch("receiver window of 512 segments, not 128", "implicitly used", "paper", "buffer-512"),
    Switch("timestamps and a sample with each acknowledgement, on TCP", "", "tcp-once", "tcp-each"),
)


def measure(total: str) -> Callable[[RunFigures], float]:
    """Give what is measured: throughput, or how many transfers of the size would fit in a second."""
    return _throughput if total == cases.UNLIMITED else _pace


def _pace(run: RunFigures) -> float:
    known = run.transfer_s[~np.isnan(run.transfer_s)]
    return 1 / float(known.mean()) if known.size else 0.0


def _throughput(run: RunFigures) -> float:
    return run.mean_bit_per_s
