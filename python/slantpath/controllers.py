"""Congestion controllers of one's own, as classes, and a comparison of them with those of Slantpath."""

from __future__ import annotations

import hashlib
import inspect
import linecache
import sys
import types
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from slantpath._native import Scenario
from slantpath.errors import warn

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    from slantpath._native import Ack, Table


@dataclass(frozen=True, slots=True)
class Terms:
    """Terms on which a transport has a path governed."""

    segment_bytes: int
    """The longest segment."""
    initial_cwnd_bytes: int
    """The window before the first acknowledgement."""
    initial_ssthresh_bytes: int | None
    """The slow start threshold before the first loss; None is arbitrarily high."""
    max_cwnd_bytes: int
    """The window never exceeds this."""
    known_capacity_bit_per_s: int | None = None
    """Rate that the path is known to carry, if it is."""


class Controller:
    """A congestion controller of one path: derive from it, and say what events do to ``cwnd``.

    After each event Slantpath reads ``cwnd``, ``ssthresh`` and ``pacing_rate``. An exception, a value that is
    no number, and a window that is negative or nothing end the run with a ``RunError``, whose cause is the
    exception. An instance governs one path, and keeps its state in its attributes.
    """

    parameters: ClassVar[Mapping[str, bool | float | int | str]] = {}
    """Parameters that scenarios may give, with their defaults: they become attributes."""
    needs_loss_times: ClassVar[bool] = False
    """Whether it has to learn of each loss at its time: scenarios need ``loss_detection = "rack"`` then."""
    rules_recovery: ClassVar[bool] = False
    """Whether ``cwnd`` holds while a loss is repaired, too: the transport has its own window then if not."""

    cwnd: float
    """The congestion window in bytes."""
    ssthresh: float | None
    """The slow start threshold in bytes; None is arbitrarily high."""
    pacing_rate: float | None
    """Rate in bit/s at which the data that the window allows leaves, two segments together; None: at once."""

    def __init__(self, terms: Terms, **parameters: bool | float | str) -> None:
        """Begin with the window that the transport's settings give."""
        self.segment_bytes = terms.segment_bytes
        self.initial_cwnd_bytes = terms.initial_cwnd_bytes
        self.max_cwnd_bytes = terms.max_cwnd_bytes
        self.cwnd = terms.initial_cwnd_bytes
        self.ssthresh = terms.initial_ssthresh_bytes
        self.pacing_rate = None
        for name, value in parameters.items():
            setattr(self, name, value)

    def on_ack(self, ack: Ack) -> None:
        """Take in an acknowledgement that told of something for the first time."""

    def on_loss(self, in_flight_bytes: int) -> None:
        """Take in a loss, found from acknowledgements outside of any recovery: one begins."""

    def on_timeout(self, in_flight_bytes: int, is_new: bool) -> None:  # noqa: FBT001 - it comes by position
        """Take in an expiry of the retransmission timer. ``is_new``: the window was not reduced for it."""
        if is_new:
            self.on_loss(in_flight_bytes)
        self.cwnd = self.segment_bytes

    def on_mark(self, in_flight_bytes: int) -> None:
        """Take in a mark of congestion, outside of any recovery. As a loss, unless it is overridden."""
        self.on_loss(in_flight_bytes)

    def on_idle(self, timeouts: int) -> None:  # noqa: ARG002 - for those that want it
        """Nothing was sent for so many retransmission timeouts, and something will be now."""
        self.cwnd = min(self.cwnd, self.initial_cwnd_bytes)

    def on_recovered(self, now_s: float) -> None:
        """Everything is acknowledged that was in flight when a recovery began."""

    def on_sent(self, now_s: float, sent_bytes: int, in_flight_before_bytes: int) -> None:
        """Bytes were sent, for the first time or again."""

    def on_spurious(self, now_s: float) -> None:
        """Hear that data which was taken for lost has arrived after all."""


Declared = tuple[str, str, list[tuple[str, bool | float | int | str]], bool, bool]


def declared(name: object, controller: object) -> Declared:
    """Tell of a class what a scenario has to know: words, code, parameters, and what it wants."""
    if not isinstance(name, str):
        message = f"controllers are named by strings, not by {name!r}"
        raise TypeError(message)
    if not (isinstance(controller, type) and issubclass(controller, Controller)):
        message = f"`{name}`: {controller!r} is no class that derives from slantpath.Controller"
        raise TypeError(message)
    for parameter, value in controller.parameters.items():
        if not isinstance(value, bool | int | float | str):
            message = f"`{name}`: parameter `{parameter}` is {value!r}; write a boolean, a number or a string"
            raise TypeError(message)
    code = code_of(controller)
    if code is None:
        warn(f"the source of `{name}` cannot be had as it runs: what is kept of it is never found again")
        # Never equal to another: nothing that was kept is taken for it.
        code = f"unknown-{uuid.uuid4().hex}"
    about = (inspect.getdoc(controller) or "A controller in Python.").partition("\n")[0]
    wants = (bool(controller.needs_loss_times), bool(controller.rules_recovery))
    return about, code, list(controller.parameters.items()), *wants


def code_of(controller: type[Controller]) -> str | None:
    """Hash the code of a class and of its bases: the whole modules where they stand, else the classes.

    None if the source cannot be had, or is another by now than what runs.
    """
    digest = hashlib.sha256()
    for part in controller.__mro__:
        if part in (Controller, object):
            continue
        source = _source(part)
        if source is None:
            return None
        digest.update(f"{part.__qualname__}\n{source}\0".encode())
        # What was set from outside stands in no source.
        digest.update(repr(sorted(part.__dict__.get("parameters", {}).items())).encode())
    return digest.hexdigest()[:32]


def _source(part: type) -> str | None:
    """Give the source of the module of a class, or of the class itself in a notebook."""
    module = sys.modules.get(part.__module__)
    file = getattr(module, "__file__", None)
    linecache.checkcache()
    try:
        source = inspect.getsource(module) if module is not None and file else inspect.getsource(part)
    except (OSError, TypeError):
        return None
    return source if _runs(part, source, file) else None


def _runs(part: type, source: str, file: str | None) -> bool:
    """Tell if the functions of a class are those of this source, and not of an older state of its file."""
    if not file:
        # A cell of a notebook keeps its source with the code.
        return True
    try:
        compiled = compile(source, file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    known = set(_codes(compiled))
    functions = (_function(member) for member in vars(part).values())
    own = (
        function for function in functions if function is not None and function.__module__ == part.__module__
    )
    return all(function.__code__ in known for function in own if function.__code__.co_filename == file)


def _function(member: Any) -> types.FunctionType | None:  # noqa: ANN401 - whatever stands in a class
    """Give the function that a member of a class is, or is made of."""
    member = getattr(member, "__func__", getattr(member, "fget", member))
    return member if isinstance(member, types.FunctionType) else None


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Give all code objects that a code object holds."""
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _codes(constant)


BUILT_IN = ("new-reno", "cubic", "hybla", "westwood", "bbr", "bbr3", "backlog")
"""Controllers of Slantpath that TCP may have, by their names in scenarios."""

CASES: Mapping[str, Mapping[str, str]] = {
    "geo": {"links.path.delay": "280 ms", "links.path.queue": "700 kB"},
    "leo": {"links.path.delay": "25 ms", "links.path.queue": "62 kB"},
}
"""Paths of `compare_controllers`: those of the scenarios controllers-over-geo and westwood-over-lossy-leo."""

_PATH = """
[scenario]
name = "controllers-compared"
duration = "60 s"

[nodes]
left = { kind = "host" }
right = { kind = "host" }

[links.path]
ends = ["left", "right"]
rate = "10 Mbit/s"
delay = "280 ms"
queue = "700 kB"

[tcp.tested]
receive_buffer = "8 MiB"
send_buffer = "8 MiB"
loss_detection = "rack"
duplicate_reports = true
sack_recovery = "prr"
rtt_sampling = "every-ack"

[flows.tested]
transport = "tcp"
profile = "tested"
from = "left"
to = "right"
application = { kind = "bulk", total = "unlimited" }
"""


def compare_controllers(
    controllers: Mapping[str, type[Controller]],
    out: str | os.PathLike[str],
    *,
    runs: int = 3,
    duration: str = "60 s",
    workers: int | None = None,
) -> dict[str, dict[str, Table]]:
    """Run controllers and all of Slantpath's over a GEO and a LEO path, with and without losses.

    Each path is a sweep of its own, in ``out/geo`` and ``out/leo``, with the figures of throughput and delay
    beside its tables. What is there already is not made again, unless the code of a controller has changed.
    """
    from slantpath import plots  # noqa: PLC0415 - it loads Matplotlib
    from slantpath.running import sweep  # noqa: PLC0415 - it knows this module

    compared = {}
    for case, values in CASES.items():
        directory = Path(out) / case
        base = Scenario.parse(_PATH, f"{case}.toml", controllers=dict(controllers))
        grid = {CONTROLLER: [*controllers, *BUILT_IN], "links.path.loss": ["0 %", "1 %"]}
        compared[case] = sweep(
            base.with_values({**values, "scenario.duration": duration}),
            grid,
            runs=runs,
            tables=["flows", "links"],
            out=directory,
            workers=workers,
        )
        measures = ["flows.throughput_bit_per_s", "flows.delay_mean_s"]
        plots.write(plots.plots(directory, measures=measures, over=[CONTROLLER]), directory)
    return compared


CONTROLLER = "tcp.tested.congestion_control"
"""Path of the value that `compare_controllers` varies."""
