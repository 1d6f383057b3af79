"""Traces of TheaterQ: what a line says at an instant is what the tables of the topology say then."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from slantpath import Scenario, Table, Topology, run, topology
from slantpath.running import RunOutput
from slantpath.sky import TopologyOutput
from slantpath.theaterq import theaterq, theaterq_link

ROOT = Path(__file__).parents[2]
U32_MAX = 2**32 - 1


def read(text: str) -> list[tuple[int, ...]]:
    """Read the simple format as its kernel module does: lines that begin with no digit are left out."""
    lines = [line for line in text.splitlines() if line[:1].isdigit()]
    return [tuple(int(word) for word in line.split(",")) for line in lines]


def answer(
    legs: list[tuple[str, float, float, float | None]], samples: list[tuple[str, float, float | None]]
) -> TopologyOutput:
    names = ["path", "start_s", "end_s", "delay_start_s"]
    columns = zip(names, ["text", "f64", "f64", "f64"], zip(*legs, strict=True), strict=True)
    of_samples = zip(
        ["path", "at_s", "delay_s"], ["text", "f64", "f64"], zip(*samples, strict=True), strict=True
    )
    tables = {"legs": Table.of("legs", list(columns)), "delay": Table.of("delay", list(of_samples))}
    return TopologyOutput("x", "0", tables)


def test_a_line_holds_from_a_change_to_the_next() -> None:
    output = answer(
        [("a", 0.0, 10.5, 0.02), ("a", 10.5, 12.0, None), ("a", 12.0, 20.0, 0.03), ("b", 0.0, 20.0, 0.5)],
        [("a", 0.0, 0.02), ("a", 10.0, 0.021), ("a", 20.0, 0.04), ("b", 0.0, 0.5), ("b", 10.0, 0.6)],
    )
    assert read(theaterq(output, "a", rate_bit_per_s=1_000_000, loss=0.01, limit=50)) == [
        (10_000_000, 20_000_000, 1_000_000, 42_949_673, 50),
        (500_000, 21_000_000, 1_000_000, 42_949_673, 50),
        (1_500_000, 21_000_000, 1_000_000, U32_MAX, 50),
        (8_000_000, 30_000_000, 1_000_000, 42_949_673, 50),
    ]
    lines = read(theaterq(output, "b", rate_bit_per_s=1))
    assert lines == [(10_000_000, 500_000_000, 1, 0, 1000), (10_000_000, 600_000_000, 1, 0, 1000)]


def test_a_trace_is_as_long_as_its_answer_whatever_the_instants() -> None:
    chance = random.Random(7)  # noqa: S311 - a test
    for _ in range(200):
        cuts = sorted({0.0, 100.0, *(chance.uniform(0, 100) for _ in range(chance.randrange(20)))})
        delays = [chance.choice([None, chance.uniform(0, 0.5)]) for _ in cuts[1:]]
        pairs = zip(cuts, cuts[1:], delays, strict=False)
        output = answer([("a", *pair) for pair in pairs], [("a", 0.0, None)])
        lines = read(theaterq(output, "a", rate_bit_per_s=9, loss=1e-3))
        assert sum(line[0] for line in lines) == 100_000_000
        assert all(line[0] > 0 for line in lines)
        at = 0
        for keep, latency, _, loss, _ in lines:
            middle = (at + keep / 2) / 1e6
            delay = delays[max(place for place, cut in enumerate(cuts) if cut <= middle)]
            assert loss == (U32_MAX if delay is None else 4_294_967)
            assert delay is None or latency == round(delay * 1e9)
            at += keep


def test_a_sky_is_played_as_its_tables_say() -> None:
    sky = Topology.load(ROOT / "scenarios/iridium-london-boston.toml").with_values(
        {"topology.span": "10 min"}
    )
    output = topology(sky)
    lines = read(theaterq(output, "main", rate_bit_per_s=2_000_000))
    assert sum(line[0] for line in lines) == 600_000_000
    delays = [delay for delay in output["legs"]["delay_start_s"] if isinstance(delay, float)]
    assert lines[0][1] == round(delays[0] * 1e9)
    changes = {latency for _, latency, *_ in lines}
    assert {round(delay * 1e9) for delay in delays} <= changes


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"rate_bit_per_s": 0}, "a rate of 0 bit/s: give 1 or more"),
        ({"loss": 1.5}, "a loss of 1.5: give a share from 0 to 1"),
        ({"limit": 2**32}, "a limit of 4294967296 packets: give 1 to 4294967295"),
        ({"path": "c"}, "there is no path 'c': paths: a"),
    ],
)
def test_what_cannot_be_is_told(wrong: dict[str, object], told: str) -> None:
    output = answer([("a", 0.0, 1.0, 0.1)], [("a", 0.0, 0.1)])
    values: dict[str, object] = {"path": "a", "rate_bit_per_s": 1} | wrong
    with pytest.raises(ValueError, match="^" + told.replace(".", r"\.")):
        theaterq(output, values.pop("path"), **values)  # type: ignore[arg-type]


def test_a_number_with_a_point_is_told_and_one_of_numpy_is_taken() -> None:
    output = answer([("a", 0.0, 1.0, 0.1)], [("a", 0.0, 0.1)])
    with pytest.raises(TypeError, match=r"a rate of 2000000\.0: give a whole number, like 20_000_000"):
        theaterq(output, "a", rate_bit_per_s=2e6)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"a limit of 1000\.0: give a whole number, like 1000"):
        theaterq(output, "a", rate_bit_per_s=1, limit=1e3)  # type: ignore[arg-type]
    assert read(theaterq(output, "a", rate_bit_per_s=np.int64(7)))[0][2] == 7  # type: ignore[arg-type]


CHANGED = """
scenario = { name = "changed", duration = "5 s" }
probes = { intervals = "1 s" }
nodes = { here = { kind = "host" }, there = { kind = "host" } }
links.satellite = { ends = ["here", "there"], rate = "2 Mbit/s", delay = "250 ms", loss = "1 %" }
script = [
    { at = "2 s", link = "satellite", action = "set", rate = "500 kbit/s", delay = "20 ms" },
    { at = "3 s", link = "satellite", action = "down" },
    { at = "4 s", link = "satellite", action = "up" },
]
[flows.data]
transport = "sctp"
from = "here"
to = "there"
application = { kind = "bulk", total = "1 kB" }
"""


def test_a_link_of_a_run_is_played_as_its_intervals_say() -> None:
    output = run(Scenario.parse(CHANGED))
    loss = round(0.01 * U32_MAX)
    assert read(theaterq_link(output, "satellite", limit=50)) == [
        (1_000_000, 250_000_000, 2_000_000, loss, 50),
        (1_000_000, 250_000_000, 2_000_000, loss, 50),
        (1_000_000, 20_000_000, 500_000, loss, 50),
        (1_000_000, 20_000_000, 500_000, U32_MAX, 50),
        (1_000_000, 20_000_000, 500_000, loss, 50),
    ]


def test_a_link_without_a_rate_is_told() -> None:
    cells: dict[str, tuple[str, list[object]]] = {
        "link": ("text", ["satellite"]),
        "direction": ("text", ["forward"]),
        "start_s": ("f64", [0.0]),
        "end_s": ("f64", [1.0]),
        "rate_bit_per_s": ("f64", [None]),
        "delay_s": ("f64", [0.25]),
        "loss_ratio": ("f64", [0.0]),
    }
    shared = Table.of("link_intervals", [(name, kind, values) for name, (kind, values) in cells.items()])
    with pytest.raises(ValueError, match=r"^satellite forward has no transmitter of its own"):
        theaterq_link(RunOutput(1, 0, "0", {"link_intervals": shared}), "satellite")
    quiet = CHANGED.replace("probes = ", "# ")
    with pytest.raises(ValueError, match=r"^the run has no table of intervals: set probes\.intervals"):
        theaterq_link(run(Scenario.parse(quiet)), "satellite")
    with pytest.raises(ValueError, match=r"there are satellite forward, satellite reverse$"):
        theaterq_link(run(Scenario.parse(CHANGED)), "satellite", "back")
