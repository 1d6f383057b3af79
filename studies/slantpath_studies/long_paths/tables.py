"""The tables of the report: the numbers, what happens beside them, changes, several flows, and shares."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING

from slantpath_studies.long_paths import cases
from slantpath_studies.long_paths.findings import (
    GOODPUT_AIMS,
    goodput,
    left_and_taken,
    queue_losses,
    ramp,
    slashed,
)
from slantpath_studies.report import Grid

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from slantpath_studies.claims import Estimate
    from slantpath_studies.long_paths.findings import Observed

ELSEWHERE: Sequence[tuple[str, Mapping[str, str]]] = (
    ("before: SCTP, 1,024 bytes, from 0 s", {"geo": "87 / 9.7 / 2.4", "leo": "95 / 16.5 / 4.9"}),
    ("before: TCP, use of the link, from 0 s", {"geo": "58 / 12 / 2.8", "leo": "99.7 / 20 / 5.5"}),
    ("before: a fixed window of 1.5 products", {"geo": "91.5 / 91 / 70", "leo": "95 / 95 / 75"}),
    ("the best public SCTP stack", {"geo": "41 / 10 / 2", "leo": ""}),
    ("Linux 6.18, TCP cubic, whole run", {"geo": "93 / 22 / 4", "leo": "96 / 16 / 4"}),
    ("Linux 6.18, TCP bbr, whole run", {"geo": "86 / 88 / 84", "leo": "94 / 75 / 73"}),
)
"""What stands beside our table: goodput in % of the link."""
ELSEWHERE_LOST = {
    "Linux 6.18, TCP bbr, whole run": {"geo": "850 to 1,230", "leo": "450"},
}

NUMBERS_HEAD = ("controller", "transport", "goodput / %", "ramp / round trips", "lost to the queue")


def grids(observed: Observed) -> Iterator[tuple[str, Grid]]:
    """Give each table with the name of its file."""
    for path in cases.PATHS.values():
        yield f"numbers-{path.name}", numbers(observed, path)
    for path in cases.PATHS.values():
        yield f"beside-{path.name}", beside(observed, path)
    yield "changes", changes(observed)
    for path in cases.PATHS.values():
        yield f"flows-{path.name}", flows(observed, path)
    for path, rival in product((cases.LEO, cases.GEO), cases.RIVALS):
        where = "" if path is cases.LEO else f"{path.name}-"
        yield f"shares-{where}{rival}", shares(observed, path, rival)


def numbers(observed: Observed, path: cases.Path) -> Grid:
    """Give the table of the aims for a path."""
    aims = " / ".join(f"{aim:.0f}" for aim in GOODPUT_AIMS[path.name])
    rows = [("aim", "", f"≥ {aims}", "≤ 8", "a tenth of BBR's")]
    rows += [
        (about, "", figures[path.name], "", ELSEWHERE_LOST.get(about, {}).get(path.name, ""))
        for about, figures in ELSEWHERE
        if figures[path.name]
    ]
    rows += [
        (
            cases.PROFILES[profile],
            transport.upper(),
            slashed(goodput(observed, path, transport, profile)),
            slashed(ramp(observed, path, transport, profile)),
            slashed(queue_losses(observed, path, transport, profile), 0),
        )
        for transport, profile in product(cases.TRANSPORTS, cases.PROFILES)
    ]
    return Grid(
        f"{path.label}: loss {' / '.join(cases.LOSSES)}",
        "Goodput from 20 to 120 s in % of the link; round trips from the first segment until one has brought "
        "nine tenths of what the link carries; packets lost to the queue in 120 s. Loss in both directions, "
        "a queue of one product, windows of 8 MiB. Headers leave 96.8 % to SCTP and 97.3 % to TCP. A ramp of "
        "more than some twenty round trips is none: what has waited for a gap came at once.",
        NUMBERS_HEAD,
        rows,
    )


def beside(observed: Observed, path: cases.Path) -> Grid:
    """Give what bursts, reordering and other queues do to each controller."""

    def row(transport: str, controller: str) -> Sequence[str]:
        named = (path.name, transport, controller)
        bursts, reordering = cases.bursts(*named), cases.reordering(*named)
        random = cases.table(*named, cases.BURST_LOSS)
        cells = [
            observed.estimate(random, lambda run: run.steady(path)).text("", 1.0, 1),
            observed.estimate(bursts, lambda run: run.steady(path)).text("", 1.0, 1),
            observed.estimate(reordering, lambda run: run.steady(path)).text("", 1.0, 1),
            observed.estimate(reordering, lambda run: run.needless).text(""),
        ]
        for products in cases.QUEUES:
            queue = cases.queue(*named, products)
            cells.append(observed.estimate(queue, lambda run: run.steady(path)).text("", 1.0, 1))
            cells.append(observed.estimate(queue, lambda run: run.queue_losses).text(""))
        return (cases.PROFILES[controller], transport.upper(), *(cell.strip() for cell in cells))

    return Grid(
        f"{path.name.upper()}: bursts, reordering, other queues",
        "Goodput from 20 to 120 s in % of the link. Losses of 1 % one by one, and in bursts of ten packets "
        "(Gilbert and Elliott); 5 % of the packets up to 10 ms late, and how many were repeated in vain in "
        "120 s; without loss, queues of a tenth of the product and of four, and what these lost.",
        (
            "controller",
            "transport",
            "loss 1 %",
            "in bursts",
            "reordering",
            "in vain",
            *(f"queue {products}{what}" for products in cases.QUEUES for what in ("", ", lost")),
        ),
        [
            row(transport, controller)
            for transport, controller in product(cases.TRANSPORTS, cases.CONTROLLERS)
        ],
    )


def changes(observed: Observed) -> Grid:
    """Give how each controller follows what changes under it."""

    def cell(change: cases.Change, transport: str, controller: str) -> str:
        named = cases.change(change.name, transport, controller)
        until_s = (*change.at_s[1:], cases.DURATION_S)
        said = []
        for at_s, end_s, rate in zip(change.at_s, until_s, change.rates_bit_per_s, strict=True):
            if not rate:
                continue
            # The functions are called at once, in this turn of the loop.
            brought = observed.estimate(
                named,
                lambda run: run.goodput(rate, at_s, at_s + cases.AFTER_S),  # noqa: B023
            )
            full = observed.estimate(
                named,
                lambda run: run.recovered_s(rate, at_s, end_s - at_s),  # noqa: B023
            )
            said.append(f"{brought.mean:.0f} ({_seconds(full)})")
        lost = observed.estimate(named, lambda run: run.queue_losses)
        return f"{', '.join(said)}; {lost.mean:.0f} lost"

    return Grid(
        "Changes: how soon the link is full again",
        "Goodput in the 20 s after each change (after the fade: after its end) in % of what the link carries "
        "by then; in brackets how long it took until a second brought nine tenths of that, one at best; "
        "what has waited for a gap may come at once. Packets lost to the queue in 120 s. No random loss.",
        ("controller", "transport", *(change.about for change in cases.CHANGES)),
        [
            (
                cases.PROFILES[controller],
                transport.upper(),
                *(cell(change, transport, controller) for change in cases.CHANGES),
            )
            for transport, controller in product(cases.TRANSPORTS, cases.CONTROLLERS)
        ],
    )


def flows(observed: Observed, path: cases.Path) -> Grid:
    """Give how flows of one controller share a path."""

    def cells(transport: str, controller: str, count: int) -> Iterator[str]:
        named = cases.flows(path.name, transport, controller, count)
        rate = path.rate_bit_per_s
        used = observed.estimate(named, lambda run: run.goodput(rate, cases.FLOWS_FROM_S, cases.DURATION_S))
        index = observed.estimate(named, lambda run: run.fairness(rate, cases.FLOWS_FROM_S)[0])
        least = observed.estimate(named, lambda run: run.fairness(rate, cases.FLOWS_FROM_S)[1])
        lost = observed.estimate(named, lambda run: run.queue_losses)
        yield f"{used.mean:.1f}"
        yield f"{index.mean:.2f}; {least.mean:.0f}"
        yield f"{lost.mean:.0f}"

    return Grid(
        f"{path.name.upper()}: flows of a kind",
        "All of them together from 60 to 120 s in % of the link; Jain's index of their shares, and the least "
        "share in % of an equal one; packets lost to the queue in 120 s. Without random loss, queue of one "
        "product, starts within 5 s.",
        (
            "controller",
            "transport",
            *(f"{count} flows{what}" for count in cases.FLOWS for what in ("", ": index; least", ", lost")),
        ),
        [
            (
                cases.PROFILES[controller],
                transport.upper(),
                *(cell for count in cases.FLOWS for cell in cells(transport, controller, count)),
            )
            for transport, controller in product(cases.TRANSPORTS, cases.CONTROLLERS)
        ],
    )


def shares(observed: Observed, path: cases.Path, rival: str) -> Grid:
    """Give what each controller leaves to a rival on a path."""
    from_s, to_s = path.shared_s

    def cell(how: cases.Sharing, controller: str) -> str:
        left, taken = left_and_taken(observed, how, controller, rival)
        return f"{left.mean:.0f} / {taken.mean:.0f}"

    return Grid(
        f"{path.name.upper()}: {cases.PROFILES[rival]} and another: who has what",
        f"{path.label}, without random loss: what the {cases.PROFILES[rival]} flow has / what the other has, "
        f"in % of the link from {from_s:g} to {to_s:g} s; the other begins 10 s later. Queues in products.",
        ("setting", *(cases.PROFILES[controller] for controller in cases.CONTROLLERS)),
        [
            (how.about, *(cell(how, controller) for controller in cases.CONTROLLERS))
            for how in cases.SHARINGS_OF[path.name]
        ],
    )


def _seconds(estimate: Estimate) -> str:
    return f"{estimate.mean:.1f} s" if math.isfinite(estimate.mean) else "never"
