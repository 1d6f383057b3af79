"""The study of emulations: its measures on captures made by hand, and one cell with a real kernel."""

from __future__ import annotations

import math
import os
import struct
import sys
from typing import TYPE_CHECKING

import pytest

from slantpath.errors import RunError
from slantpath_studies.emulated import cases, findings, laboratory, measures, runs, write
from slantpath_studies.emulated.cases import FAILURE_S
from slantpath_studies.emulated.measures import Figures, Message, Sent

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ASKED = "SLANTPATH_EMULATED"
"""Set by `make acceptance`: a busy machine is too slow for a run."""
SENDER, OTHER = "10.84.1.1", "10.84.1.9"


def block(kind: int, body: bytes) -> bytes:
    padded = body.ljust((len(body) + 3) // 4 * 4, b"\0")
    length = 12 + len(padded)
    return struct.pack("<II", kind, length) + padded + struct.pack("<I", length)


def data(source: str, *tsns: int, link: int = measures.RAW, kind: int = 0) -> bytes:
    chunks = b"".join(struct.pack("!BBHIHHI", kind, 3, 17, tsn, 0, 0, 0) + b"x\0\0\0" for tsn in tsns)
    addresses = bytes(map(int, f"{source}.10.84.3.1".split(".")))
    head = struct.pack("!BBHHHBBH", 0x45, 0, 32 + len(chunks), 0, 0, 64, 132, 0) + addresses
    frame = head + struct.pack("!HHII", 5_000, 5_000, 1, 0) + chunks
    return bytes(14) + frame if link == measures.ETHERNET else frame


def capture(packets: Sequence[tuple[float, bytes]], link: int = measures.RAW, digits: int = 9) -> bytes:
    resolution = struct.pack("<HHB", 9, 1, digits) + bytes(3) + struct.pack("<HH", 0, 0)
    made = block(measures.SECTION, struct.pack("<IHHq", measures.LITTLE, 1, 0, -1))
    made += block(measures.INTERFACE, struct.pack("<HHI", link, 0, 0) + resolution)
    for at_s, packet in packets:
        time = round(at_s * 10**digits)
        head = struct.pack("<IIIII", 0, time >> 32, time & 0xFFFFFFFF, len(packet), len(packet))
        made += block(measures.ENHANCED, head + packet)
    return made


@pytest.mark.parametrize("link", [measures.RAW, measures.ETHERNET])
@pytest.mark.parametrize("digits", [6, 9])
def test_data_of_one_address_is_read_with_its_instants(link: int, digits: int) -> None:
    made = capture(
        [
            (1.5, data(SENDER, 7, 8, link=link)),
            (2.0, data(OTHER, 9, link=link)),
            (2.5, data(SENDER, 10, link=link, kind=3)),
            (3.0, data(SENDER, 9, link=link)),
        ],
        link,
        digits,
    )
    found = measures.data_of(made, SENDER)
    assert [sent.tsn for sent in found] == [7, 8, 9]
    assert [sent.at_s for sent in found] == pytest.approx([1.5, 1.5, 3.0])
    assert measures.data_of(made, SENDER, 5_000) == found
    assert measures.data_of(made, SENDER, 5_001) == []


def test_what_is_cut_off_ends_a_capture() -> None:
    whole = capture([(1.0, data(SENDER, 7)), (2.0, data(SENDER, 8))])
    for end in range(len(whole)):
        assert len(measures.data_of(whole[:end], SENDER)) <= 1


def test_a_failover_ends_with_the_first_data_that_is_new_on_the_other_path() -> None:
    last = (1 << 32) - 1
    primary = [Sent(FAILURE_S - 1, last - 1), Sent(FAILURE_S + 0.1, last)]
    again = [Sent(FAILURE_S + 0.2, last - 1), Sent(FAILURE_S + 0.3, last)]
    assert measures.failover_s(primary, [*again, Sent(FAILURE_S + 0.5, 0)]) == pytest.approx(0.5)
    assert math.isnan(measures.failover_s(primary, again))
    # What the alternate path carried before the failure is none.
    early = [Sent(FAILURE_S - 0.5, last)]
    assert measures.failover_s(primary[:1], [*early, Sent(FAILURE_S + 0.7, 0)]) == pytest.approx(0.7)


def test_messages_that_were_sent_again_are_numbered_from_the_first() -> None:
    last = (1 << 32) - 1
    assert measures.sent_again([Sent(1, last), Sent(2, 0), Sent(3, 1), Sent(4, 0)]) == {1}
    assert measures.sent_again([]) == set()
    found = measures.lossy([Message(0, 0.25), Message(1, 0.75), Message(2, 0.5)], {1, 2, 9}, 1_000, 1.5)
    assert found == {"again": 2, "again_delay_s": 0.625, "throughput_byte_per_s": 2_000}


def test_figures_are_kept_as_text() -> None:
    figures = Figures(failover_s=0.5, late_max_s=0.001)
    read = Figures.of_text(figures.text())
    assert (read.failover_s, read.late_max_s, math.isnan(read.again_delay_s)) == (0.5, 0.001, True)


def test_every_cell_is_a_scenario_and_the_paper_s_numbers_agree() -> None:
    assert len({cell.scenario().hash for cell in cases.CELLS}) == len(cases.CELLS)
    published = {name: [Figures(failover_s=0.56)] * 2 for name, cell in cases.NAMES.items() if cell.fails}
    published["13/HIGH"] = [Figures(failover_s=0.92)] * 2
    published[cases.LOSSY.name] = [Figures(again_delay_s=0.765, throughput_byte_per_s=29e3)] * 2
    results = runs.Results(published, published, 1)
    assert [finding.judged() for finding in findings.findings(results)] == ["agrees"] * 5


def test_a_simulated_run_of_the_lossy_cell_is_measured_as_its_messages_say(tmp_path: Path) -> None:
    results = runs.make(tmp_path, [cases.LOSSY], runs=(0, 1))
    figures = results.simulated[cases.LOSSY.name][0]
    assert figures.again > 5
    assert 0.6 < figures.again_delay_s < 1.0
    assert 28e3 < figures.throughput_byte_per_s < 31e3


def test_what_a_machine_lacks_for_a_kernel_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laboratory, "SCRIPTS", tmp_path / "scripts")
    with pytest.raises(RunError, match="the scripts of a guest kernel at "):
        laboratory.Guest()


@pytest.mark.skipif(
    sys.platform != "linux"
    or not laboratory.SCRIPTS.exists()
    or os.geteuid() != 0
    or ASKED not in os.environ,
    reason=f"a run in real time needs an idle machine, root and a guest kernel: {ASKED}=1 asks for it",
)
def test_a_kernel_fails_over_in_an_emulated_laboratory(tmp_path: Path) -> None:
    cell = cases.NAMES["13/NONE"]
    results = runs.make(tmp_path, [cell], runs=(1, 2), late="10 s")
    kernel, simulated = results.kernel[cell.name][0], results.simulated[cell.name][0]
    # Three time-outs at their least, in either.
    assert 0.4 < simulated.failover_s < 0.9
    assert 0.4 < kernel.failover_s < 2.0 + kernel.late_max_s
    table, _ = write(tmp_path, results)
    assert "F2" in table
    # What is finished is found.
    # A figure that there is not equals nothing, itself among them.
    assert str(runs.make(tmp_path, [cell], runs=(1, 2), late="10 s")) == str(results)
