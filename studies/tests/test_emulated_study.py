"""The study with a real kernel: captures are read as the tables of a run say, and claims are judged."""

from __future__ import annotations

import json
import re
import socket
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import slantpath
from slantpath.figures import numbers
from slantpath_studies.claims import Verdict
from slantpath_studies.emulated import cases, ends, runs
from slantpath_studies.emulated.captured import Association, packets
from slantpath_studies.emulated.findings import Failover, Observations, Transfer, findings

SOURCES = {socket.inet_aton(address) for address in cases.NEAR}


def captured(cell: cases.Cell, directory: Path, duration: str) -> tuple[Association, slantpath.RunOutput]:
    """Run a cell's twin with the captures that an emulation of it makes."""
    links = [*cell.near.links, *cell.far.links]
    scenario = cell.twin().with_values({"probes.captures": links, "scenario.duration": duration})
    output = slantpath.run(scenario)
    for link in links:
        (directory / f"{link}.pcapng").write_bytes(output.captures[link])
    near, far = (
        {path: directory / f"{link}.pcapng" for path, link in zip(cases.PATHS, machine.links, strict=True)}
        for machine in (cell.near, cell.far)
    )
    return Association.of(near, far, SOURCES), output


def test_the_failover_time_of_a_capture_is_that_of_the_run(tmp_path: Path) -> None:
    association, output = captured(cases.FAILOVERS[cases.BEST], tmp_path, "20 s")
    expected = Failover.simulated(output.tables["failovers"])
    assert expected.failover_s > 0.3
    assert Failover.emulated(association).failover_s == pytest.approx(expected.failover_s, abs=1e-9)


def test_delay_and_throughput_of_a_capture_are_those_of_the_run(tmp_path: Path) -> None:
    cell = cases.CELLS[cases.LOSSY]
    association, output = captured(cell, tmp_path, f"{cell.seconds:g} s")
    expected = Transfer.simulated(pa.table(output.tables["messages"]))
    found = Transfer.emulated(association, cell)
    assert len(association.retransmitted()) == (numbers(output.tables["messages"], "transmissions") > 1).sum()
    # A message is due at the sender a header's time before its packet is on the first link.
    assert found.retransmitted_mean_s == pytest.approx(expected.retransmitted_mean_s, abs=0.002)
    assert found.throughput_bytes_per_s == pytest.approx(expected.throughput_bytes_per_s, rel=0.02)


def test_a_capture_that_is_cut_gives_what_is_whole(tmp_path: Path) -> None:
    association, _ = captured(cases.FAILOVERS[cases.BEST], tmp_path, "16 s")
    whole = tmp_path / "entry1.pcapng"
    octets = whole.read_bytes()
    count = sum(1 for _ in packets(whole))
    assert count > len(association.sent) > 100
    for length in range(len(octets) - 400, len(octets), 7):
        whole.write_bytes(octets[:length])
        assert count - 5 <= sum(1 for _ in packets(whole)) < count


def test_what_is_no_capture_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "no.pcapng"
    file.write_bytes(b"something else altogether")
    with pytest.raises(ValueError, match="no pcapng"):
        list(packets(file))


def test_without_a_failover_there_is_no_time() -> None:
    assert str(Failover.emulated(Association([], {})).failover_s) == "nan"


def observed(failover_s: float, delay_s: float, rate: float) -> Observations:
    """Five runs of each cell that hardly deviate."""
    times = [Failover(failover_s + place * 1e-4) for place in range(5)]
    cells = {cell: [Failover(0.91 + place * 1e-4) for place in range(5)] for cell in (cases.WORST,)}
    small = {cell: times for cell in cases.FAILOVERS if cell != cases.WORST}
    return Observations({**cells, **small}, [Transfer(delay_s + n * 1e-4, rate + n) for n in range(5)])


def test_numbers_like_the_papers_agree_and_others_differ() -> None:
    near = findings(observed(0.555, 0.760, 29_000), observed(0.6, 0.7, 28_000))
    assert [found.verdict for found in near] == [Verdict.AGREES] * 5
    far = findings(observed(0.900, 0.300, 10_000), observed(0.6, 0.7, 28_000))
    assert [found.verdict for found in far] == [Verdict.AGREES, *[Verdict.DIFFERS] * 4]
    assert "simulated 600 ± 0 ms" in near[1].remark


def test_every_lab_attaches_both_machines() -> None:
    for cell in cases.CELLS.values():
        devices = {link: f"tap{n}" for n, link in enumerate((*cell.near.links, *cell.far.links))}
        merged = cell.lab(devices).merged()
        assert merged.count('kind = "attached"') == 2
        for address in (*cases.NEAR, *cases.FAR):
            assert f'"{address}"' in merged


def test_finished_runs_are_not_made_again(tmp_path: Path) -> None:
    results = runs.Results(1, None)
    (tmp_path / "emulated").mkdir()
    for name in cases.CELLS:
        figures = (
            {"retransmitted_mean_s": 0.7, "throughput_bytes_per_s": 29e3}
            if name == cases.LOSSY
            else {"failover_s": 0.5}
        )
        (tmp_path / "emulated" / f"{runs.file_of(name, 0)}.json").write_text(json.dumps(figures))
    # No guest is started: there is no directory of scripts.
    results.emulate(tmp_path, tmp_path / "none")
    assert results.real().failover(cases.WORST).mean == 0.5
    assert results.real().throughput().mean == 29e3


def test_the_program_in_the_guests_needs_nothing_but_python() -> None:
    imported = re.findall(r"^(?:import|from) (\w+)", Path(ends.__file__).read_text(), re.MULTILINE)
    assert imported
    assert set(imported) <= sys.stdlib_module_names
