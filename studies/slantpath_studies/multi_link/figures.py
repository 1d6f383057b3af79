"""Figures 7 to 10 of the paper, each a function of the messages of one run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from slantpath.figures import delivery_delay, new_figure, numbers, short

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STRETCH = 160
"""Messages that figure 8 shows."""
SETTLED = 200
"""The messages before are of slow start."""

MARKED_EVERY = 120
"""Messages from one mark of a line to the next."""

TCP_LINE: dict[str, Any] = {"color": "#b3541e", "linewidth": 0.7, "marker": "s", "markersize": 4}
SCTP_LINE: dict[str, Any] = {"color": "#1f4e79", "linewidth": 0.7, "marker": "o", "markersize": 4}
ALL_LINE: dict[str, Any] = {"color": "#1f4e79", "linewidth": 0.7}
RETRANSMITTED = {"marker": "o", "markersize": 3.2, "color": "#c22f2f"}


def delay_of_tcp_and_sctp(tcp: pa.Table, sctp: pa.Table) -> Figure:
    """Figure 7: the delivery delay of each message over TCP and over SCTP."""
    figure, axes = new_figure()
    delivery_delay(axes, tcp, "TCP", markevery=MARKED_EVERY, **TCP_LINE)
    delivery_delay(axes, sctp, "SCTP", markevery=(MARKED_EVERY // 2, MARKED_EVERY), **SCTP_LINE)
    axes.set_title("Delivery delay over TCP and SCTP")
    return _finished(figure)


def detail_of_tcp_and_sctp(tcp: pa.Table, sctp: pa.Table) -> Figure:
    """Figure 8: the stretch of figure 7 around the message that TCP delivered fastest."""
    figure, axes = new_figure()
    first = first_of_detail(tcp)
    for messages, label, line in ((tcp, "TCP", TCP_LINE), (sctp, "SCTP", SCTP_LINE)):
        shown = messages.slice(first, STRETCH)
        delivery_delay(axes, shown, label, markevery=8, **line)
    axes.set_title(f"Delivery delay over TCP and SCTP, messages {first} to {first + STRETCH - 1}")
    return _finished(figure)


def first_of_detail(tcp: pa.Table) -> int:
    """Give the first message that figure 8 shows."""
    calmest = SETTLED + int(np.nanargmin(numbers(tcp, "delay_s")[SETTLED:]))
    return calmest - STRETCH // 2


def delay_of_standard_sctp(sctp: pa.Table) -> Figure:
    """Figure 9: standard SCTP with its retransmitted messages marked."""
    return _with_retransmissions("Standard SCTP", sctp)


def delay_of_modified_sctp(modified: pa.Table, standard: pa.Table) -> Figure:
    """Figure 10: SCTP with gap reports over the backup, and the mean of standard SCTP for comparison."""
    figure = _with_retransmissions("SCTP with gap reports over the backup link", modified)
    axes = figure.axes[0]
    mean_ms = retransmitted_mean_s(standard) * 1e3
    label = f"mean of those, standard SCTP: {mean_ms:.0f} ms"
    axes.axhline(mean_ms, linestyle="--", linewidth=1, color="#555555", label=label)
    return _finished(figure)


def _with_retransmissions(title: str, messages: pa.Table) -> Figure:
    figure, axes = new_figure()
    delivery_delay(axes, messages, "all messages", **ALL_LINE)
    _mark_retransmitted(axes, messages, "retransmitted", **RETRANSMITTED)
    mean_ms = retransmitted_mean_s(messages) * 1e3
    axes.axhline(mean_ms, linewidth=1, color="#c22f2f", label=f"mean of those: {mean_ms:.0f} ms")
    axes.set_title(title)
    return _finished(figure)


def _mark_retransmitted(axes: Axes, messages: pa.Table, label: str, **marker: Any) -> None:  # noqa: ANN401
    again = numbers(messages, "transmissions") > 1
    axes.plot(
        numbers(messages, "number")[again],
        numbers(messages, "delay_s")[again] * 1e3,
        linestyle="none",
        label=label,
        **marker,
    )


def _finished(figure: Figure) -> Figure:
    """Set what all four share: delays from zero on, and a legend that hides no message."""
    axes = figure.axes[0]
    axes.set_ylim(bottom=0)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=4, frameon=False, fontsize="small")
    return figure


def delays_in_words(label: str, messages: pa.Table) -> str:
    """Say what a line of delivery delays shows."""
    delay_s = numbers(messages, "delay_s")
    delivered_ms = delay_s[~np.isnan(delay_s)] * 1e3
    if not delivered_ms.size:
        return f"{label}: {len(delay_s):,} messages, none delivered."
    lost = len(delay_s) - delivered_ms.size
    return (
        f"{label}: {len(delay_s):,} messages{f', {lost:,} not delivered' if lost else ''}, delays from "
        f"{short(delivered_ms.min())} to {short(delivered_ms.max())} ms, half of them below "
        f"{short(float(np.median(delivered_ms)))} ms and 99 % below "
        f"{short(float(np.quantile(delivered_ms, 0.99)))} ms."
    )


def retransmitted_mean_s(messages: pa.Table) -> float:
    """Give the mean delay of the messages that were sent more than once."""
    delay_s = numbers(messages, "delay_s")
    again = (numbers(messages, "transmissions") > 1) & ~np.isnan(delay_s)
    return float(delay_s[again].mean()) if again.any() else float("nan")
