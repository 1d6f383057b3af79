"""Sentences of ``slantpath explain`` as events: each step, and each message that was retransmitted."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

from slantpath.plots.results import printable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from slantpath.view.events import Events

STEP = re.compile(r"  (\d+\.\d+) s  (\S.*)")
MESSAGE = re.compile(r"  (message \d+)")
SENT = re.compile(r"    (sent at .*)")
RETRANSMITTED = re.compile(r"retransmitted at (\d+\.\d+) s")
KINDS = (
    ("T3-rtx expired", "time-out"),
    ("HEARTBEAT", "heartbeat"),
    ("to be retransmitted", "loss"),
)
"""Words of a step, and the kind that it then has; of others it is `path`."""


def tell(path: Path, about: str, events: Events, notes: list[str]) -> None:
    """Add what is said of a trace to the events; note why if it cannot be told."""
    words = [sys.executable, "-m", "slantpath", "explain", "--all", str(path)]
    with subprocess.Popen(  # noqa: S603 - our own program
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace"
    ) as told:
        take(told.stdout or (), about, events)
        why = told.stderr.read() if told.stderr else ""
    if told.returncode:
        notes.append(f"{about}: `slantpath explain` tells no events of its trace: {_first_line(why)}")


def take(lines: Iterable[str], about: str, events: Events) -> None:
    """Take the lines that ``explain`` prints."""
    message = ""
    for line in lines:
        if step := STEP.match(line):
            sentence = step[2]
            kind = next((kind for said, kind in KINDS if said in sentence), "path")
            events.add(float(step[1]), kind, f"{about}, {sentence}")
        elif named := MESSAGE.match(line):
            message = named[1]
        elif message and (sent := SENT.match(line)):
            if at := RETRANSMITTED.search(line):
                events.add(float(at[1]), "retransmission", f"{about}, {message}: {sent[1]}")
            message = ""


def _first_line(text: str) -> str:
    return printable(next((line.strip() for line in text.splitlines() if line.strip()), "it ended"))
