"""Each figure as a function that draws into Axes, and gives them back.

``results`` is a directory of ``slantpath run --out`` or ``slantpath sweep --out``, or what
``slantpath.run`` or ``slantpath.sweep`` gave. Without Axes a figure of its own is made, in our style.
``only`` keeps the rows in which a column has a value.
All raise ``NothingToDrawError`` where there is nothing to draw.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from slantpath.figures import new_figure
from slantpath.plots import kinds, sweeps
from slantpath.plots.results import NothingToDrawError, ResultDirectory
from slantpath.plots.traces import TRACE_KINDS, Trace

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from slantpath.plots.results import Results

    Only = Sequence[tuple[str, str]]


def _into(name: str, results: Results, ax: Axes | None, only: Only) -> Axes:
    found = ResultDirectory.of(results, only)
    axes = new_figure()[1] if ax is None else ax
    if kinds.draw(axes, found, kinds.known(name)) is None:
        message = f"{name} cannot be drawn: {kinds.missing(found, name)}"
        raise NothingToDrawError(message)
    return axes


def sweep(
    results: Results,
    measure: str,
    ax: Axes | None = None,
    *,
    over: Sequence[str] = (),
    only: Only = (),
) -> Axes:
    """Draw a measure of a sweep, as ``flows.delay_mean_s``, over one of its axes with bars of 99 %.

    The values of the other axes are lines. Without ``over`` the axis of numbers with most values is taken;
    over two axes the measure is a map.
    """
    found = ResultDirectory.of(results, only)
    (named,) = sweeps.named(found, [measure])
    axes = new_figure()[1] if ax is None else ax
    sweeps.draw(axes, found, named, over)
    return axes


def tsn(
    trace: str | os.PathLike[str] | Trace,
    ax: Axes | None = None,
    *,
    association: int | None = None,
    span: tuple[float, float] | None = None,
) -> Axes:
    """Draw TSNs of a trace over time: sent, lost, retransmitted, acknowledged."""
    return _of_trace("tsn", _trace(trace, association, span), ax)


def window(
    trace: str | os.PathLike[str] | Trace,
    ax: Axes | None = None,
    *,
    association: int | None = None,
    span: tuple[float, float] | None = None,
) -> Axes:
    """Draw the congestion windows and slow-start thresholds of a trace, and the room that the peer has."""
    return _of_trace("window", _trace(trace, association, span), ax)


def rto(
    trace: str | os.PathLike[str] | Trace,
    ax: Axes | None = None,
    *,
    association: int | None = None,
    span: tuple[float, float] | None = None,
) -> Axes:
    """Draw the smoothed round-trip times and the timeouts of a trace."""
    return _of_trace("rto", _trace(trace, association, span), ax)


def _trace(
    trace: str | os.PathLike[str] | Trace, association: int | None, span: tuple[float, float] | None
) -> Trace:
    return trace if isinstance(trace, Trace) else Trace.read(trace, association, span)


def _of_trace(name: str, trace: Trace, ax: Axes | None) -> Axes:
    axes = new_figure()[1] if ax is None else ax
    TRACE_KINDS[name].draw(axes, trace)
    return axes


def delay(results: Results, ax: Axes | None = None, *, only: Only = ()) -> Axes:
    """Draw the delivery delay of each message over the time at which it was sent."""
    return _into("delay", results, ax, only)


def cdf(results: Results, ax: Axes | None = None, *, only: Only = ()) -> Axes:
    """Draw the distribution of the delivery delay, over all runs."""
    return _into("cdf", results, ax, only)


def throughput(results: Results, ax: Axes | None = None, *, only: Only = ()) -> Axes:
    """Draw what was delivered over time."""
    return _into("throughput", results, ax, only)


def cwnd(results: Results, ax: Axes | None = None, *, only: Only = ()) -> Axes:
    """Draw the congestion window of each path."""
    return _into("cwnd", results, ax, only)


def queue(results: Results, ax: Axes | None = None, *, only: Only = ()) -> Axes:
    """Draw how many packets wait at each direction of a link."""
    return _into("queue", results, ax, only)


def outages(results: Results, ax: Axes | None = None, *, only: Only = ()) -> Axes:
    """Draw when each path between two hosts carried nothing."""
    return _into("outages", results, ax, only)


def load_delay(results: Results, ax: Axes | None = None, *, only: Only = ()) -> Axes:
    """Draw the delays of each signalling load, link by link."""
    return _into("load-delay", results, ax, only)


def load_fate(results: Results, ax: Axes | None = None, *, only: Only = ()) -> Axes:
    """Draw what became of the messages of each signalling load."""
    return _into("load-fate", results, ax, only)


def link_wait(results: Results, ax: Axes | None = None, *, only: Only = ()) -> Axes:
    """Draw how long messages of signalling links were not acknowledged, in each interval."""
    return _into("link-wait", results, ax, only)


def link_queue(results: Results, ax: Axes | None = None, *, only: Only = ()) -> Axes:
    """Draw how many messages wait at each end of a signalling link."""
    return _into("link-queue", results, ax, only)


def link_load(results: Results, ax: Axes | None = None, *, only: Only = ()) -> Axes:
    """Draw the throughput of each end of a signalling link."""
    return _into("link-load", results, ax, only)


def association_wait(results: Results, ax: Axes | None = None, *, only: Only = ()) -> Axes:
    """Draw how long messages of associations were not acknowledged, in each interval."""
    return _into("association-wait", results, ax, only)


def association_queue(results: Results, ax: Axes | None = None, *, only: Only = ()) -> Axes:
    """Draw how many messages wait at each end of an association that carries signalling."""
    return _into("association-queue", results, ax, only)


def association_load(results: Results, ax: Axes | None = None, *, only: Only = ()) -> Axes:
    """Draw the throughput of each end of an association that carries signalling."""
    return _into("association-load", results, ax, only)


def association_cwnd(results: Results, ax: Axes | None = None, *, only: Only = ()) -> Axes:
    """Draw the congestion window of each path of an association that carries signalling."""
    return _into("association-cwnd", results, ax, only)


def congestion(results: Results, ax: Axes | None = None, *, only: Only = ()) -> Axes:
    """Draw the congestion status of each signalling link that was congested."""
    return _into("congestion", results, ax, only)


def signalling_outages(results: Results, ax: Axes | None = None, *, only: Only = ()) -> Axes:
    """Draw when each signalling link, association and application server was out of service."""
    return _into("signalling-outages", results, ax, only)
