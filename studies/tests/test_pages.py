"""The pages of the studies: every verdict is made again from the numbers that stand beside it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from slantpath import student_t_quantile
from slantpath.running import run_job
from slantpath.store import Record
from slantpath_studies import failover, ftp_qos, long_paths, multi_link, sctp_over_satellites, soip
from slantpath_studies.claims import (
    GROWS,
    Accepted,
    Estimate,
    Extreme,
    Kind,
    Role,
    SingleRuns,
    Steps,
    Verdict,
    combined,
)
from slantpath_studies.command import NAMES
from slantpath_studies.failover import cases as failover_cases
from slantpath_studies.ftp_qos import cases as ftp_qos_cases
from slantpath_studies.ftp_qos import findings as ftp_qos_findings
from slantpath_studies.long_paths import cases as long_paths_cases
from slantpath_studies.long_paths import findings as long_paths_findings
from slantpath_studies.multi_link import cases as multi_link_cases
from slantpath_studies.report import RESTS_ON
from slantpath_studies.sctp_over_satellites import cases as sctp_over_satellites_cases
from slantpath_studies.sctp_over_satellites import findings as sctp_over_satellites_findings
from slantpath_studies.soip import cases as soip_cases
from slantpath_studies.soip import findings as soip_findings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from slantpath_studies.claims import Evidence, Finding
    from slantpath_studies.command import Study

PAGES = Path(__file__).parents[1]
NUMBER = r"(-?[\d.]+|-?inf|nan|\?)"
MADE = sorted(NAMES)


def page(name: str) -> str:
    return (PAGES / name / "README.md").read_text(encoding="utf-8")


def rows(text: str, head: str) -> Iterator[list[str]]:
    """Give the rows of the table that a line of a page begins."""
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith(head):
            break
    else:
        return
    next(lines)
    for line in lines:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in line.strip().strip("|").split(" | ")]


def accepted_of(text: str) -> Accepted:
    numbers = [float(number) for number in re.findall(r"(?<![\w.])-?\d[\d.]*", text)]
    strict = text.startswith(("more than", "less than"))
    if text.startswith(("at least", "more than")):
        return Accepted(numbers[0], math.inf, strict)
    if text.startswith(("at most", "less than")):
        return Accepted(-math.inf, numbers[0], strict)
    return Accepted(numbers[0], numbers[-1])


def value(text: str) -> float:
    return math.inf if text == "?" else float(text)


def estimate_of(text: str) -> Estimate | None:
    if text == "no run has it":
        return Estimate.of([])
    if found := re.match(rf"{NUMBER}[^±(]*\(exact\)$", text):
        return Estimate.exact(value(found[1]))
    if found := re.match(rf"{NUMBER} ± {NUMBER}[^(]*\((\d+) runs?\)$", text):
        return Estimate(value(found[1]), value(found[2]), int(found[3]))
    return None


def evidence_of(text: str) -> Evidence:
    if found := re.match(rf"a single run {NUMBER} ± {NUMBER}[^(]*\((\d+) runs?", text):
        return SingleRuns(value(found[1]), value(found[2]), int(found[3]))
    if found := re.match(r"(\d+) of (\d+) certain steps \((\d+) in all\)$", text):
        return Steps(int(found[1]), int(found[2]), int(found[3]))
    if found := re.match(r"(\d+) of (\d+) runs? \([^)]*\)(?:: (.*))?$", text):
        within = estimate_of(found[3] or "no run has it")
        assert within is not None, text
        return Kind(within, int(found[1]), int(found[2]))
    if found := re.match(rf"{NUMBER}[^(]* at least \((\d+) runs?\)$", text):
        return Extreme(value(found[1]), int(found[2]))
    estimate = estimate_of(text)
    assert estimate is not None, text
    return estimate


def plain(verdict: str) -> Verdict:
    return Verdict(verdict.split(" (", maxsplit=1)[0])


def between(evidence: Evidence, held_to: Accepted, text: str, needed: int) -> tuple[int, int]:
    """Give the fewest and most runs that would decide, as far as the digits of the mean on the page say."""
    told = re.match(r"-?\d+(?:\.(\d+))? ±", text)
    if told is None or not isinstance(evidence, Estimate):
        return needed, needed
    half = 0.5 * 10.0 ** -len(told[1] or "")
    ends = [replace(evidence, mean=evidence.mean + off).judged(held_to)[1] for off in (-half, half)]
    all_of_them = [needed, *(end for end in ends if end is not None)]
    return min(all_of_them), max(all_of_them)


@pytest.mark.parametrize("name", MADE)
def test_every_verdict_of_a_page_follows_from_the_numbers_beside_it(name: str) -> None:
    figures: dict[str, list[Verdict]] = {}
    for number, figure, accepted, ours, verdict in rows(page(name), RESTS_ON):
        evidence = evidence_of(ours)
        held_to = GROWS if isinstance(evidence, Steps) else accepted_of(accepted)
        made, needed = evidence.judged(held_to)
        assert (number, figure, made) == (number, figure, plain(verdict))
        told = re.search(r"\(([\d,]+) runs would decide\)", verdict)
        assert (needed is None) == (told is None)
        if needed is not None and told is not None:
            least, most = between(evidence, held_to, ours, needed)
            assert 0.95 * least - 1 <= int(told[1].replace(",", "")) <= 1.05 * most + 1
        figures.setdefault(number, []).append(made)
    claims = list(rows(page(name), "| # | claim | "))
    assert claims
    for number, _, _, _, verdict in claims:
        role = Role.AIM if plain(verdict) in {Verdict.MET, Verdict.MISSED} else Role.MEASURED
        assert (number, plain(verdict)) == (number, combined(figures.get(number, []), role))
    assert {number for number, *_ in claims} >= set(figures)


FEW = 2
"""Runs of each case in the quick form of a study, which CI makes: they are the first of the page's."""


@dataclass(frozen=True)
class Quick:
    """The quick form of a study: the cases that it runs, and the findings that these give."""

    study: Study
    cases: frozenset[str]
    findings: Callable[[Any], list[Finding]] = lambda results: results.findings()


FAILOVER_CASES = [
    case
    for case in failover_cases.CELLS | failover_cases.CLAIMED
    if not case.startswith(f"{failover_cases.IDLE}/")
]
FTP_QOS_CELLS = [ftp_qos_cases.cell(sky, ftp_qos_cases.FEWEST) for sky in ftp_qos_cases.Sky]
LONG_PATHS_CASES = [
    long_paths_cases.table("geo", transport, profile, loss)
    for transport in long_paths_cases.TRANSPORTS
    for profile in (long_paths_findings.CHOICE, long_paths_findings.MEASURE)
    for loss in long_paths_cases.LOSSES
]
SCTP_OVER_SATELLITES_CASES = [
    sctp_over_satellites_cases.streams(sky, count, segments, "1e-5")
    for sky in sctp_over_satellites_findings.STREAMS_OVER
    for count in (1, 4)
    for segments in (4, 8)
]
SOIP_CASES = [
    *(soip_cases.stepped_up(trip) for trip in soip_cases.SAT_ROUND_TRIPS_MS),
    soip_cases.LIMITED["b"],
    soip_cases.LIMITED["c"],
]
QUICK = {
    "failover": Quick(failover, frozenset(FAILOVER_CASES)),
    "ftp-qos": Quick(
        ftp_qos,
        frozenset(name for cell in FTP_QOS_CELLS for name in (cell.name, cell.nominal)),
        lambda results: list(ftp_qos_findings.of_single_hours(results, ftp_qos_findings.LOSS_AT_LEAST)),
    ),
    "long-paths": Quick(
        long_paths,
        frozenset(LONG_PATHS_CASES),
        lambda results: long_paths_findings.of_the_table(results, (5, 7, 9, 11)),
    ),
    "multi-link": Quick(multi_link, frozenset(multi_link_cases.CASES)),
    "sctp-over-satellites": Quick(
        sctp_over_satellites,
        frozenset(SCTP_OVER_SATELLITES_CASES),
        lambda results: [sctp_over_satellites_findings.with_small_buffers(results)],
    ),
    "soip": Quick(
        soip,
        frozenset(case.name for case in SOIP_CASES),
        lambda results: [soip_findings.FINDINGS[each](results) for each in ("S6", "S8", "S9", "S10")],
    ),
}
"""The studies whose quick form is held to its page."""


@pytest.mark.parametrize("name", sorted(QUICK.keys() & set(MADE)))
def test_a_few_runs_of_a_study_lie_where_its_page_says(name: str) -> None:
    quick = QUICK[name]
    results = quick.study.Results(FEW, None)
    for case, job in quick.study.plan(FEW, None):
        if case in quick.cases and job.run < FEW:
            output = run_job(job)
            tables = {
                table: pa.table(output.tables[table]) for table in results.TABLES if table in output.tables
            }
            results.add(case, job.run, Record(output.digest, tables))
    ours = {(each.claim.number, part.figure): part for each in quick.findings(results) for part in each.parts}
    told = {(row[0], row[1]): evidence_of(row[3]) for row in rows(page(name), RESTS_ON)}
    judged = {number for number, _ in ours}
    assert set(ours) == {(number, figure) for number, figure in told if number in judged}
    for key, part in ours.items():
        few, many = evidence_of(part.told()), told[key]
        if isinstance(few, SingleRuns) and isinstance(many, SingleRuns):
            assert abs(few.mean - many.mean) <= many.half_width, key
            continue
        if not isinstance(few, Estimate) or not isinstance(many, Estimate):
            continue
        deviation = 0.0
        if many.runs > 1:
            quantile = student_t_quantile(0.995, many.runs - 1)
            deviation = many.half_width * math.sqrt(many.runs) / quantile
        # Five deviations of a mean of so few runs: what is skewed reaches three. Exact values are equal.
        assert abs(few.mean - many.mean) <= 5 * deviation / math.sqrt(FEW) + 1e-4 * abs(many.mean), key


def test_every_page_has_the_table_that_its_verdicts_rest_on() -> None:
    assert [name for name in NAMES if RESTS_ON not in page(name)] == []


def test_a_verdict_that_does_not_follow_is_found() -> None:
    text = "1274 ± 112 ms (40 runs)"
    assert evidence_of(text).judged(accepted_of("828.00 to 1012.0 ms")).verdict is Verdict.DIFFERS
    assert accepted_of("-5.0000 to 5.0000 %") == Accepted(-5, 5)
    assert accepted_of("at most 800.00 ms") == Accepted(-math.inf, 800)
    assert accepted_of("0.27240 s") == Accepted(0.2724, 0.2724)
    assert evidence_of("a single run 0.284 ± 0.112 s (35 runs; a mean 40 % off would show)") == SingleRuns(
        0.284, 0.112, 35
    )
    assert evidence_of("3 of 9 runs (4 to 78 %): 49.0 ± 5.00 % (3 runs)") == Kind(Estimate(49, 5, 3), 3, 9)
    assert evidence_of("0 of 9 runs (0 to 45 %)") == Kind(Estimate.of([]), 0, 9)
    assert evidence_of("104 of 104 certain steps (216 in all)") == Steps(104, 104, 216)
    assert evidence_of("894.44 ms at least (20 runs)") == Extreme(894.44, 20)
    assert evidence_of("2.0000 ± ? s (1 run)") == Estimate(2.0, math.inf, 1)
