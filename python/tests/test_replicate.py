"""Runs to a precision: as many as the command makes, with the shares that it tells."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import slantpath

ROOT = Path(__file__).parents[2]
FIRST = ROOT / "scenarios/first.toml"
SHORT = {"scenario.duration": "10 s", "links.satellite.loss": "3 %"}


def short() -> slantpath.Scenario:
    return slantpath.Scenario.load(FIRST).with_values(SHORT)


def test_as_many_runs_are_made_as_the_command_makes_and_limits_are_kept_in_as_many() -> None:
    until, limit = "gap ± 8 %", "delay 300 ms"
    words = [word for path, value in SHORT.items() for word in ("--set", f"{path}={value}")]
    command = ["run", str(FIRST), *words, "--until", until, "--within", limit, "--json"]
    code = "import sys; from slantpath import _native; _native.main(['slantpath', *sys.argv[1:]], list)"
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-c", code, *command], check=False, capture_output=True, encoding="utf-8"
    )
    theirs = json.loads(done.stdout)
    ours = slantpath.replicate(short(), until, within=limit, tables="links")
    assert theirs["until"]["reached"]
    assert ours.is_reached
    assert ours.until == theirs["until"]["precision"]
    assert ours.runs == theirs["until"]["runs"] > 30
    (kept,) = ours.within
    (told,) = theirs["within"]
    assert (kept.flow, kept.runs_within, kept.runs) == (told["flow"], told["runs_within"], told["runs"])
    assert (kept.share, kept.low, kept.high) == (told["share"], told["low"], told["high"])
    assert kept.limit == limit
    assert set(ours.tables) == {"links", "links_summary"}
    assert set(ours["links"]["run"]) == set(range(ours.runs))


def test_runs_end_at_the_most_that_is_allowed_and_a_warning_says_how_many_would_do() -> None:
    with pytest.warns(slantpath.ScenarioWarning, match="`gap ± 0.1 %` is not reached by 31 runs: some 248"):
        found = slantpath.replicate(short(), "gap ± 0.1 %", most=31, first_run=5)
    assert (found.runs, found.is_reached) == (31, False)
    assert set(found["flows"]["run"]) == set(range(5, 36))


def test_runs_of_one_seed_are_those_of_a_sweep_whoever_is_first() -> None:
    calls: list[tuple[int, int]] = []
    found = slantpath.replicate(
        short(), "delay ± 50 %", seed=7, workers=2, progress=lambda done, of: calls.append((done, of))
    )
    assert found.runs == 30
    assert calls[-1] == (30, 30)
    swept = slantpath.sweep(short(), runs=30, seed=7)
    assert found["flows"] == swept["flows"]
    assert found["flows_summary"] == swept["flows_summary"]


def test_a_measure_that_nothing_has_is_told_with_the_cure_after_the_first_runs() -> None:
    with pytest.warns(slantpath.ScenarioWarning) as told:
        found = slantpath.replicate(short(), "failover ± 5 %", within=("failover 2 s",))
    assert (found.runs, found.is_reached, found.within) == (30, False, ())
    words = [str(warning.message) for warning in told]
    for question in ("failover ± 5 %", "failover 2 s"):
        (word,) = (word for word in words if word.startswith(f"`{question}`: nothing fails over in 30 runs"))
        assert "`[[script]]` with `action" in word


TRUNK = """
[scenario]
name = "trunk"
duration = "45 s"

[nodes]
london = { kind = "host" }
boston = { kind = "host" }

[links]
cable = { ends = ["london", "boston"], rate = "1 Mbit/s", delay = "30 ms" }
satellite = { ends = ["london", "boston"], rate = "1 Mbit/s", delay = "270 ms" }

[sctp.quick]
rto_min = "150 ms"
rto_initial = "300 ms"
sack_delay = "20 ms"
potentially_failed_max_retrans = 0

[signalling.points]
london = { point_code = "1-1-1", restart = "omitted" }
boston = { point_code = "1-1-2", restart = "omitted" }

[signalling.links.trunk]
between = ["london", "boston"]
carrier = { kind = "m2pa", profile = "quick", primary = "cable" }

[signalling.load.calls]
from = "london"
to = ["boston"]
links = 4
lengths = [60]
erlang_per_link = 0.02
start = "10 s"

[[script]]
at = "20 s"
link = "cable"
action = "down"
"""


@pytest.mark.filterwarnings("ignore::slantpath.errors.ScenarioWarning")
def test_failovers_of_signalling_are_measured_as_those_of_flows_are() -> None:
    found = slantpath.replicate(TRUNK, "failover ± 90 %", within="failover 5 s", tables="failovers")
    assert found.is_reached
    assert found.runs == 30
    kept = {each.flow: (each.runs_within, each.runs) for each in found.within}
    assert kept == {"path trunk@london": (30, 30), "path trunk@boston": (30, 30)}
    assert set(found.tables) == {"failovers"}


def test_what_is_no_precision_or_no_limit_is_refused_before_a_run_is_made() -> None:
    for until, within, why in (
        ("failover", (), "is no precision; write for example `failover ± 5 %`"),
        ("nothing ± 5 %", (), "`nothing` is no measure; write one of delay, failover"),
        ("gap ± 5 %", "gap", "is no limit; write for example `failover 2 s`"),
    ):
        with pytest.raises(ValueError, match=why):
            slantpath.replicate(short(), until, within=within)
    with pytest.raises(ValueError, match="0 runs are none"):
        slantpath.replicate(short(), "gap ± 5 %", most=0)
