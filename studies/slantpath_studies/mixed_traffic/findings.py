"""What is expected of each extension, and what our runs say to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from slantpath_studies.claims import Claim, Estimate, Finding, Part, Role, at_least, at_most, more_than, none
from slantpath_studies.mixed_traffic import cases
from slantpath_studies.mixed_traffic.cases import FILES, SIGNALLING, TELEMETRY
from slantpath_studies.mixed_traffic.measures import in_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from slantpath_studies.mixed_traffic.measures import RunFigures

PATH = cases.GEO_2
ONE_WAY_S = PATH.round_trip_s / 2
MESSAGE_S = 8 * cases.SIZES[FILES] / PATH.rate_bit_per_s
"""A message of a file on the link, without headers."""
NONE, MANY = "0", "1e-2"
"""The losses of the claims."""
MILLI = 1e3
QUEUED_S = 0.1
"""What Backlog lets wait in the queue of the link, sixteen packets, and a few of other streams."""
ALL_BUT_LOST = 98.0
"""Telemetry in %, at a loss of 1 %."""
INTERLEAVED = ("idata-rr", "idata-rr-packet", "idata-priority", "idata-fair", "idata-wfq")
RELIABLE = tuple(name for name, setting in cases.SETTINGS.items() if not setting.telemetry)


class Observed(Protocol):
    """What was measured, case by case."""

    def estimate(self, case: str, of: Callable[[RunFigures], float], /) -> Estimate:
        """Estimate a figure of a case."""


@dataclass(frozen=True, slots=True)
class _Of:
    """The cases of the claims, and what is asked of them."""

    observed: Observed

    def __call__(
        self,
        of: Callable[[RunFigures], float],
        setting: str,
        loss: str,
        controller: str = "backlog",
        path: str = PATH.name,
    ) -> Estimate:
        return self.observed.estimate(cases.name(path, controller, setting, loss), of)


def _p99(kind: str) -> Callable[[RunFigures], float]:
    return lambda run: run.delays[kind].p99_s


def _max(kind: str) -> Callable[[RunFigures], float]:
    return lambda run: run.delays[kind].max_s


def _median(kind: str) -> Callable[[RunFigures], float]:
    return lambda run: run.delays[kind].median_s


def _in_time(run: RunFigures) -> float:
    return run.in_time


def _wasted(run: RunFigures) -> float:
    return run.wasted


def _goodput(run: RunFigures) -> float:
    return run.goodput


def _missing(run: RunFigures) -> float:
    return float(sum(run.delays[kind].undelivered for kind in (SIGNALLING, FILES)))


def findings(observed: Observed) -> list[Finding]:
    """Hold the runs against what is expected."""
    of = _Of(observed)
    return [
        _order(of),
        _message(of),
        _scheduled(of),
        _first_come(of),
        _turns(of),
        _vain(of),
        _given_up(of),
        _overtaking(of),
        _few_losses(of),
        _network(of),
        _cost(of),
        _arrives(of),
        _window(of),
    ]


def _finding(number: int, text: str, expected: str, ours: str, *parts: Part, remark: str = "") -> Finding:
    return Finding(Claim(f"K{number}", text, expected, Role.AIM), ours, parts, remark)


def _no_more(figure: str, one: Estimate, times: float, other: Estimate, scale: float = 1.0) -> Part:
    """Hold a figure to so many times another."""
    unit = "ms" if scale == MILLI else "%"
    return Part(f"{figure}, less {times:g} of the other", at_most(0.0), one.less(other, times), unit, scale)


def _no_less(figure: str, one: Estimate, times: float, other: Estimate, scale: float = 1.0) -> Part:
    unit = "ms" if scale == MILLI else "%"
    return Part(f"{figure}, less {times:g} of the other", at_least(0.0), one.less(other, times), unit, scale)


def _ms(value: Estimate) -> str:
    return f"{in_words(value, MILLI)} ms"


def _percent(value: Estimate) -> str:
    return f"{in_words(value, 1.0, 1)} %"


def _order(of: _Of) -> Finding:
    one, each = (of(_p99(SIGNALLING), setting, NONE) for setting in ("one-stream", "streams"))
    return _finding(
        1,
        "a stream each, first come first served, no loss: 99 % of signalling, over one stream",
        "no gain: within 2 %",
        f"{_ms(each)} over {_ms(one)}",
        Part("a stream each less one stream", none(0.02 * one.mean), each.less(one), "ms", MILLI),
        remark="streams order what arrives; what waits in the sender leaves in the order of SEND",
    )


def _message(of: _Of) -> Finding:
    whole, pieces = (
        of(_max(SIGNALLING), setting, NONE) for setting in ("streams-priority", "idata-priority")
    )
    return _finding(
        2,
        "priority without loss: what I-DATA takes from the longest delay of signalling",
        f"≥ 0.7 of a message of a file on the link, {0.7 * MESSAGE_S * MILLI:.0f} ms",
        f"{_ms(whole)} to {_ms(pieces)}",
        Part("what I-DATA takes", at_least(0.7 * MESSAGE_S), whole.less(pieces), "ms", MILLI),
    )


def _scheduled(of: _Of) -> Finding:
    longest = {setting: of(_p99(SIGNALLING), setting, NONE) for setting in INTERLEAVED}
    worst = max(longest, key=lambda setting: longest[setting].mean)
    return _finding(
        3,
        "I-DATA with any scheduler but first come first served, no loss: 99 % of signalling",
        f"≤ {(ONE_WAY_S + QUEUED_S) * MILLI:.0f} ms, {QUEUED_S * MILLI:.0f} ms beyond the path's delay",
        f"at most {_ms(longest[worst])}, {cases.SETTINGS[worst].label}",
        *(
            Part(cases.SETTINGS[setting].label, at_most(ONE_WAY_S + QUEUED_S), each, "ms", MILLI)
            for setting, each in longest.items()
        ),
    )


def _first_come(of: _Of) -> Finding:
    plain, pieces = (of(_p99(SIGNALLING), setting, NONE) for setting in ("streams", "idata-fcfs"))
    return _finding(
        4,
        "I-DATA alone, first come first served, no loss: 99 % of signalling, over a stream each",
        "no gain: ≥ 0.95",
        f"{_ms(pieces)} over {_ms(plain)}",
        _no_less("with I-DATA", pieces, 0.95, plain, MILLI),
        remark="interleaving lets a scheduler choose; it does not choose by itself",
    )


def _turns(of: _Of) -> Finding:
    first, turns, pieces = (
        of(_p99(TELEMETRY), setting, NONE) for setting in ("streams", "streams-rr", "idata-rr")
    )
    return _finding(
        5,
        "round robin without I-DATA, no loss: 99 % of telemetry, over first come first served",
        "worse; with I-DATA ≤ 0.2 of it",
        f"{_ms(turns)} over {_ms(first)}; with I-DATA {_ms(pieces)}",
        Part("round robin less first come first served", more_than(0.0), turns.less(first), "ms", MILLI),
        _no_more("with I-DATA", pieces, 0.2, first, MILLI),
        remark="a turn is a message: each 200 B of telemetry wait for 64 KiB of a file, and 20 come a second",
    )


def _vain(of: _Of) -> Finding:
    kept, given_up = (of(_wasted, setting, MANY) for setting in ("streams", "pr-lifetime"))
    times = [of(_in_time, setting, MANY) for setting in ("streams", "pr-lifetime")]
    return _finding(
        6,
        "lifetime without I-DATA, loss 1 %: telemetry sent in vain, over none given up",
        "≤ a third",
        f"{_percent(given_up)} over {_percent(kept)}",
        _no_more("with a lifetime", given_up, 1 / 3, kept),
        remark=f"in time come {_percent(times[1])} and {_percent(times[0])}: behind files all is late",
    )


def _given_up(of: _Of) -> Finding:
    kept, given_up = (of(_in_time, setting, MANY) for setting in ("idata-priority", "both"))
    return _finding(
        7,
        "I-DATA and priority, loss 1 %: telemetry in time with a lifetime, over none given up",
        "no more, since what is behind waits for a FORWARD TSN in place of a retransmission",
        f"{_percent(given_up)} over {_percent(kept)}",
        _no_more("with a lifetime", given_up, 1.0, kept),
        remark="the point that it moves stops at every chunk of a file that is lost, too",
    )


def _overtaking(of: _Of) -> Finding:
    ordered, free = (of(_in_time, setting, MANY) for setting in ("both", "both-unordered"))
    return _finding(
        8,
        "the same with telemetry unordered: in time",
        f"≥ {ALL_BUT_LOST:.0f} %: all but what was lost",
        f"{_percent(free)} over {_percent(ordered)}",
        Part("in time", at_least(ALL_BUT_LOST), free, "%"),
    )


def _few_losses(of: _Of) -> Finding:
    light = cases.GEO_2_LIGHT.name
    kept, given_up = (of(_in_time, setting, MANY, path=light) for setting in ("idata-priority", "both"))
    heavy_kept, heavy = (of(_in_time, setting, MANY) for setting in ("idata-priority", "both"))
    return _finding(
        9,
        "what a lifetime costs there (K7) where files offer 10 % of the link, over 85 %",
        "≤ half: few chunks of files are lost",
        f"{kept.mean - given_up.mean:.1f} over {heavy_kept.mean - heavy.mean:.1f} points",
        _no_more("cost with few files", kept.less(given_up), 1 / 2, heavy_kept.less(heavy)),
    )


def _network(of: _Of) -> Finding:
    full, empty = (
        of(_median(SIGNALLING), "idata-priority", NONE, controller) for controller in ("rfc9260", "backlog")
    )
    return _finding(
        10,
        "I-DATA and priority, no loss: median of signalling with the controller of RFC 9260, and Backlog",
        "≥ 1.5 and ≤ 1.25 of the path's delay",
        f"{_ms(full)}, {_ms(empty)}",
        Part("controller of RFC 9260", at_least(1.5 * ONE_WAY_S), full, "ms", MILLI),
        Part("Backlog", at_most(1.25 * ONE_WAY_S), empty, "ms", MILLI),
        remark="no scheduler reaches what files have put into the queue of the link",
    )


def _cost(of: _Of) -> Finding:
    plain, all_of_it = (of(_goodput, setting, MANY) for setting in ("streams", "both-unordered"))
    return _finding(
        11,
        "all extensions together, loss 1 %: goodput of files, over a stream each",
        "≥ 0.98",
        f"{_percent(all_of_it)} over {_percent(plain)}",
        _no_less("all extensions", all_of_it, 0.98, plain),
    )


def _arrives(of: _Of) -> Finding:
    missing = {
        f"{cases.SETTINGS[setting].label}, loss {loss}": of(_missing, setting, loss)
        for setting in cases.SETTINGS
        for loss in (NONE, MANY)
    }
    late = {
        f"{cases.SETTINGS[setting].label}, telemetry": of(
            lambda run: run.delays[TELEMETRY].undelivered, setting, MANY
        )
        for setting in RELIABLE
    }
    every = {**missing, **late}
    most = max(every.values(), key=lambda each: each.mean)
    return _finding(
        12,
        "messages that are not given up and do not arrive, any setting",
        "none",
        f"{most.mean:.0f}",
        *(Part(f"missing messages, {where}", none(0.0), each) for where, each in every.items()),
    )


def _window(of: _Of) -> Finding:
    one, three = (of(_in_time, setting, MANY, "rfc9260") for setting in ("idata-priority", "three"))
    one_kept, three_kept = (of(_in_time, setting, MANY) for setting in ("idata-priority", "three"))
    return _finding(
        13,
        "loss 1 %: telemetry in time over three associations, over one with I-DATA and priority",
        "≥ 1.3 with the controller of RFC 9260, no more than 1.1 with Backlog",
        f"{_percent(three)} over {_percent(one)}; {_percent(three_kept)} over {_percent(one_kept)}",
        _no_less("three associations, RFC 9260", three, 1.3, one),
        _no_more("three associations, Backlog", three_kept, 1.1, one_kept),
        remark="an association has one window: losses of files close it for all, unless losses close none",
    )
