"""The aims of the project for long paths, and what our runs say to them: claims L1 to L15."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Protocol

from slantpath_studies.claims import Claim, Estimate, Finding, Part, Role, at_least, at_most, none
from slantpath_studies.long_paths import cases

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator

    from slantpath_studies.long_paths.measures import RunFigures

CHOICE = "backlog"
"""The controller that is held to the aims, since it was made for them."""
MEASURE = "bbr"
"""The controller whose queue losses are the measure of those allowed."""

GOODPUT_AIMS = {"geo": (95.0, 94.0, 90.0), "leo": (96.0, 95.0, 90.0)}
"""Goodput in % of the link, for each loss of the table."""
QUEUE_LOSSES_AIM = 0.1
"""Of what BBR loses to the queue."""
RAMP_AIM = 8.0
"""Round trips from the start to nine tenths."""
NOTHING = 0.5
"""Packets in 120 s: fewer are none."""
NO_WORSE = 0.95
"""What another may have beside a controller, of what it has beside CUBIC, before that is called worse."""


class Observed(Protocol):
    """What was measured, case by case."""

    def estimate(self, case: str, of: Callable[[RunFigures], float], /) -> Estimate:
        """Estimate a figure of a case."""


def findings(observed: Observed) -> list[Finding]:
    """Hold the runs against the aims."""
    return [*of_the_table(observed), _needless(observed), _others(observed), _default(observed)]


def of_the_table(observed: Observed, numbers: Container[int] = range(1, 13)) -> list[Finding]:
    """Hold the runs of the table of goodput against the aims of these numbers."""
    cells = product((_goodput, _queue_losses, _ramp), cases.TRANSPORTS, cases.PATHS.values())
    return [
        _numbered(number, of(observed, transport, path))
        for number, (of, transport, path) in enumerate(cells, start=1)
        if number in numbers
    ]


def goodput(observed: Observed, path: cases.Path, transport: str, profile: str) -> list[Estimate]:
    """Estimate the goodput for each loss of the table."""
    return _over_losses(observed, path, transport, profile, lambda run: run.steady(path))


def queue_losses(observed: Observed, path: cases.Path, transport: str, profile: str) -> list[Estimate]:
    """Estimate the packets lost to the queue for each loss of the table."""
    return _over_losses(observed, path, transport, profile, lambda run: run.queue_losses)


def ramp(observed: Observed, path: cases.Path, transport: str, profile: str) -> list[Estimate]:
    """Estimate the ramp for each loss of the table."""
    return _over_losses(observed, path, transport, profile, lambda run: run.ramp(path))


def _over_losses(
    observed: Observed,
    path: cases.Path,
    transport: str,
    profile: str,
    of: Callable[[RunFigures], float],
) -> list[Estimate]:
    return [observed.estimate(cases.table(path.name, transport, profile, loss), of) for loss in cases.LOSSES]


def left_and_taken(
    observed: Observed, how: cases.Sharing, controller: str, rival: str
) -> tuple[Estimate, Estimate]:
    """Estimate what a rival has beside a controller, and what the controller has, in % of the link."""
    rate, (from_s, to_s) = how.path.rate_bit_per_s, how.path.shared_s

    def share_of(flow: str) -> Estimate:
        return observed.estimate(
            cases.sharing(how, controller, rival), lambda run: run.goodput(rate, from_s, to_s, flow)
        )

    return share_of("rival"), share_of("data")


@dataclass(frozen=True, slots=True)
class Left:
    """What a controller leaves a rival, and what CUBIC leaves it in the same place, in % of the link."""

    how: cases.Sharing
    rival: str
    beside: Estimate
    beside_cubic: Estimate

    @property
    def part(self) -> float:
        """The former as a part of the latter."""
        cubic = self.beside_cubic.mean
        return self.beside.mean / cubic if cubic else math.inf

    @property
    def worse(self) -> bool:
        """Whether the rival is worse off than beside CUBIC."""
        return self.part < NO_WORSE

    def part_of_claim(self) -> Part:
        """Hold what it leaves to what counts as less."""
        figure = f"left less {NO_WORSE:.0%} of what CUBIC leaves, {self.about}"
        return Part(figure, at_least(0.0), self.beside.less(self.beside_cubic, NO_WORSE), "%")

    @property
    def about(self) -> str:
        """Say where it is."""
        return f"{self.how.about}, {cases.PROFILES[self.rival]}"


def left_by(observed: Observed, controller: str, sharings: Sequence[cases.Sharing]) -> list[Left]:
    """Compare what a controller leaves each rival with what CUBIC leaves it."""

    def left(how: cases.Sharing, rival: str) -> Left:
        beside, beside_cubic = (
            left_and_taken(observed, how, each, rival)[0] for each in (controller, "cubic")
        )
        return Left(how, rival, beside, beside_cubic)

    return [left(how, rival) for how, rival in product(sharings, cases.RIVALS)]


def slashed(estimates: Sequence[Estimate], decimals: int = 1) -> str:
    """Write the estimates for the losses of the table in a line."""
    return " / ".join(
        each.text("", 1.0, decimals).strip() if math.isfinite(each.mean) else "never" for each in estimates
    )


Unnumbered = tuple[str, str, str, Sequence[Part], str]
"""What is claimed, the aim, what we found, the figures that decide it, and a remark."""


def _numbered(number: int, row: Unnumbered) -> Finding:
    text, aim, ours, parts, remark = row
    return Finding(Claim(f"L{number}", text, aim, Role.AIM), ours, parts, remark)


def _where(transport: str, path: cases.Path) -> str:
    return f"{cases.PROFILES[CHOICE]} over {transport.upper()}, {path.name.upper()}"


def _goodput(observed: Observed, transport: str, path: cases.Path) -> Unnumbered:
    aims = GOODPUT_AIMS[path.name]
    ours = goodput(observed, path, transport, CHOICE)
    others = {
        profile: goodput(observed, path, transport, profile)
        for profile in cases.PROFILES
        if profile != CHOICE
    }
    best = [
        max(others, key=lambda profile, at=at: others[profile][at].mean)  # type: ignore[misc]
        for at in range(len(aims))
    ]
    remark = "the best of the others: " + ", ".join(
        f"{cases.PROFILES[profile]} {others[profile][at].mean:.1f} % at {loss}"
        for at, (profile, loss) in enumerate(zip(best, cases.LOSSES, strict=True))
    )
    return (
        f"{_where(transport, path)}: goodput at loss {' / '.join(cases.LOSSES)}",
        "≥ " + " / ".join(f"{aim:.0f}" for aim in aims) + " %",
        f"{slashed(ours)} %",
        [
            Part(f"goodput at loss {loss}", at_least(aim), each, "%")
            for loss, each, aim in zip(cases.LOSSES, ours, aims, strict=True)
        ],
        remark,
    )


def _queue_losses(observed: Observed, transport: str, path: cases.Path) -> Unnumbered:
    ours = queue_losses(observed, path, transport, CHOICE)
    theirs = queue_losses(observed, path, transport, MEASURE)
    return (
        f"{_where(transport, path)}: packets lost to the queue in 120 s",
        f"≤ a tenth of {cases.PROFILES[MEASURE]}'s",
        f"{slashed(ours, 0)}, {cases.PROFILES[MEASURE]} {slashed(theirs, 0)}",
        [
            Part(
                f"less a tenth of the other's, at loss {loss}",
                at_most(0.0),
                each.less(other, QUEUE_LOSSES_AIM),
            )
            for loss, each, other in zip(cases.LOSSES, ours, theirs, strict=True)
        ],
        "",
    )


def _ramp(observed: Observed, transport: str, path: cases.Path) -> Unnumbered:
    ours = ramp(observed, path, transport, CHOICE)
    return (
        f"{_where(transport, path)}: round trips until one has brought nine tenths",
        f"≤ {RAMP_AIM:.0f}",
        slashed(ours),
        [
            Part(f"round trips at loss {loss}", at_most(RAMP_AIM), each)
            for loss, each in zip(cases.LOSSES, ours, strict=True)
        ],
        "from the first segment or chunk on, without the handshake; a round trip counts where it has arrived",
    )


def _needless(observed: Observed) -> Finding:
    def in_vain(case: str) -> Estimate:
        return observed.estimate(case, lambda run: run.needless)

    places = list(product(cases.TRANSPORTS, cases.PATHS))
    counts = {
        (transport, path, controller): in_vain(cases.reordering(path, transport, controller))
        for (transport, path), controller in product(places, cases.CONTROLLERS)
    }
    in_order = {
        (transport, path, controller): in_vain(cases.table(path, transport, controller, "0"))
        for transport, path, controller in counts
    }
    means = [each.mean for each in counts.values()]
    least, most = min(means), max(means)

    def told(transport: str, path: str) -> str:
        said = (
            f"{cases.PROFILES[each]} {counts[transport, path, each].mean:.0f} "
            f"({in_order[transport, path, each].mean:.0f})"
            for each in cases.CONTROLLERS
        )
        return f"{transport.upper()}, {path.upper()}: {', '.join(said)}"

    remark = "without reordering in brackets; " + "; ".join(told(*place) for place in places)
    return _numbered(
        13,
        (
            "5 % of the packets up to 10 ms late: repeated in vain in 120 s, any controller",
            "none",
            f"{least:.0f} to {most:.0f}",
            [
                Part(
                    f"{cases.PROFILES[controller]} over {transport.upper()}, {path.upper()}",
                    none(NOTHING),
                    each,
                )
                for (transport, path, controller), each in counts.items()
            ],
            remark,
        ),
    )


def _others(observed: Observed) -> Finding:
    def told(controller: str) -> Iterator[str]:
        everywhere = left_by(observed, controller, cases.SHARINGS)
        worse = [each for each in everywhere if each.worse]
        yield f"{cases.PROFILES[controller]} in {len(everywhere) - len(worse)} of {len(everywhere)}"
        if worse:
            worst = min(worse, key=lambda each: each.part)
            yield f"at worst {worst.part:.0%} of it, {worst.about}"

    others = [
        ", ".join(told(controller))
        for controller in cases.CONTROLLERS
        if controller not in (CHOICE, cases.DEFAULT, "cubic")
    ]
    return _numbered(
        14,
        (
            f"{cases.PROFILES[CHOICE]} leaves NewReno and CUBIC no less than CUBIC does, no random loss",
            "everywhere",
            ", ".join(told(CHOICE)),
            [each.part_of_claim() for each in left_by(observed, CHOICE, cases.SHARINGS)],
            "; ".join(others),
        ),
    )


def _default(observed: Observed) -> Finding:
    everywhere = left_by(observed, cases.DEFAULT, (*cases.SHARINGS, *cases.SHARINGS_GEO))
    as_much = sum(not each.worse for each in everywhere)
    least = min(everywhere, key=lambda each: each.part)
    name = cases.PROFILES[cases.DEFAULT]
    beside, beside_cubic = (each.text("%", 1.0, 1) for each in (least.beside, least.beside_cubic))
    return _numbered(
        15,
        (
            f"{name}, the default, leaves NewReno and CUBIC no less than CUBIC does, no random loss",
            "everywhere",
            f"in {as_much} of {len(everywhere)}, least {least.part:.0%} of it, {least.about}",
            [each.part_of_claim() for each in everywhere],
            f"there {beside} by {name}, {beside_cubic} by CUBIC; less than {NO_WORSE:.0%} counts as less",
        ),
    )
