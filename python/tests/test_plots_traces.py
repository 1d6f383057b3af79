"""Figures of traces: TSNs, windows and timers over time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from slantpath import _native, plots
from slantpath.command import draw
from slantpath.plots import command

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROOT = Path(__file__).parents[2]
HEADER = {
    "slantpath_trace": 1,
    "program": "9.8.7",
    "origin": {
        "kind": "simulated",
        "scenario": "a/geo.toml",
        "hash": "abc",
        "seed": 7,
        "run": 0,
        "flow": "data",
    },
}
S = 1_000_000_000


def path(at_s: float, cwnd: int, ssthresh: int = 0xFFFF_FFFF, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    fields = {"path": "10.0.0.2", "cwnd_bytes": cwnd, "ssthresh_bytes": ssthresh, "flight_bytes": 500}
    return record(at_s, "path", **fields, srtt_ns=S // 2, rto_ns=S, **more)


def record(at_s: float, event: str, **fields: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"t_ns": int(at_s * S), "association": 0, "event": event, **fields}


def sent(at_s: float, tsn: int, message: int, transmission: int = 1) -> dict[str, Any]:
    return record(at_s, "sent", message=message, tsn=tsn % 2**32, path="10.0.0.2", transmission=transmission)


def trace(file: Path, *records: dict[str, Any]) -> Path:
    lines = [HEADER, *records, record(100, "end")]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A trace whose TSNs begin anew, with a loss, a failover and a time for which a path was inactive."""
    last = 2**32 - 1
    return trace(
        tmp_path / "small.trace",
        path(1, 4_000),
        sent(1, last, 0),
        sent(2, last + 1, 1),
        record(3, "lost", message=0, tsn=last, path="10.0.0.2", evidence="miss-indications", reports=3),
        sent(3, last, 0, 2),
        record(4, "acknowledged", message=1),
        record(4, "acknowledged", message=0),
        record(5, "t3_rtx", path="10.0.0.2", change="expired", rto_ns=2 * S),
        path(6, 1_500, 2_000),
        record(7, "path_changed", path="10.0.0.2", state="inactive"),
        record(8, "failed_over", path="10.0.1.2", former="10.0.0.2"),
        record(9, "path_changed", path="10.0.0.2", state="active"),
        {**sent(9, 5, 0), "association": 1},
        sent(20, last + 2, 2),
    )


def lines(axes: Axes) -> dict[str, tuple[list[float], list[float]]]:
    found = {}
    for line in axes.lines:
        across, up = (np.asarray(data, dtype=np.float64).tolist() for data in line.get_data())
        found[str(line.get_label())] = (across, up)
    return found


def test_tsns_are_counted_from_the_first_also_where_they_begin_anew(small: Path) -> None:
    found = lines(plots.tsn(small))
    assert found["sent"] == ([1, 2, 20], [0, 1, 2])
    assert found["lost: 1"] == ([3], [0])
    assert found["retransmitted: 1"] == ([3], [0])
    assert found["highest acknowledged"] == ([4, 4], [1, 1])


def sack(at_s: float, cumulative_tsn: int, gap_blocks: int, a_rwnd: int) -> dict[str, Any]:
    fields = {"cumulative_tsn": cumulative_tsn % 2**32, "gap_blocks": gap_blocks, "a_rwnd_bytes": a_rwnd}
    return record(at_s, "sack", path="10.0.0.2", **fields)


@pytest.fixture
def with_sacks(tmp_path: Path) -> Path:
    """A trace with SACKs, whose TSNs begin anew."""
    last = 2**32 - 1
    return trace(
        tmp_path / "sacks.trace",
        path(1, 4_000),
        sent(1, last, 0),
        sent(1, last + 1, 1),
        sent(1, last + 2, 2),
        sack(2, last, 0, 9_000),
        sack(3, last, 2, 6_000),
        sent(4, last + 1, 1, 2),
        sack(5, last + 2, 0, 9_000),
        record(5, "acknowledged", message=2),
    )


def test_the_cumulative_tsn_of_sacks_is_a_line_and_gap_blocks_are_marked_on_it(with_sacks: Path) -> None:
    found = lines(plots.tsn(with_sacks))
    assert found["cumulative TSN of SACKs"] == ([2, 3, 5, 100], [0, 0, 2, 2])
    assert found["SACKs with gap blocks: 1"] == ([3], [0])
    assert "highest acknowledged" not in found
    assert lines(plots.tsn(with_sacks, span=(0.5, 4)))["cumulative TSN of SACKs"] == ([2, 3, 4], [0, 0, 0])
    (plot,) = plots.trace_plots(with_sacks, ["tsn"])
    told = dict(zip(plot.head, plot.rows[0], strict=True))
    assert (told["SACKs"], told["with gap blocks"], told["most gap blocks of one"]) == ("3", "1", "2")


def test_the_window_of_the_peer_is_drawn_unless_it_would_press_others_flat(
    with_sacks: Path, tmp_path: Path
) -> None:
    assert lines(plots.window(with_sacks))["window of the peer"] == ([2, 3, 5, 100], [9, 6, 9, 9])
    far = trace(tmp_path / "far.trace", path(1, 4_000), sent(1, 1, 0), sack(2, 1, 0, 9_000))
    (plot,) = plots.trace_plots(far, ["window"])
    (axes,) = plot.drawing.figure.axes
    assert "window of the peer" not in lines(axes)
    assert plot.drawing.caption == "The window of the peer is above the axis: 9 kB at least."


def test_windows_hold_until_they_change_and_until_the_end(small: Path) -> None:
    found = lines(plots.window(small))
    assert found["cwnd of 10.0.0.2"] == ([1, 6, 100], [4, 1.5, 1.5])
    threshold_s, ssthresh = found["ssthresh of 10.0.0.2"]
    assert threshold_s == [1, 6, 100]
    assert np.isnan(ssthresh[0])
    assert ssthresh[1:] == [2, 2]


def test_timers_are_drawn_with_their_expiry(small: Path) -> None:
    found = lines(plots.rto(small))
    assert found["SRTT of 10.0.0.2"] == ([1, 6, 100], [500, 500, 500])
    assert found["RTO of 10.0.0.2"] == ([1, 6, 100], [1000, 1000, 1000])
    assert found["T3-rtx of 10.0.0.2 expired: 1"] == ([5], [2000])


def test_failovers_and_inactive_paths_are_marked(small: Path) -> None:
    axes = plots.tsn(small)
    assert lines(axes)["failovers: 1"][0] == [8, 8]
    (span,) = axes.patches
    assert (span.get_x(), span.get_width()) == (7, 2)  # type: ignore[attr-defined]
    assert span.get_label() == "10.0.0.2 inactive"
    assert lines(axes)["T3-rtx expired: 1"][0] == [5]
    assert "T3-rtx expired: 1" not in lines(plots.rto(small))


def test_a_path_is_marked_in_the_state_that_it_has_until_the_next(tmp_path: Path) -> None:
    states = ("potentially-failed", "inactive", "inactive", "potentially-failed", "active", "inactive")
    changes = [
        record(2 * at, "path_changed", path="10.0.0.2", state=state) for at, state in enumerate(states, 1)
    ]
    axes = plots.tsn(trace(tmp_path / "pf.trace", sent(1, 1, 0), *changes))
    assert [(span.get_x(), span.get_width()) for span in axes.patches] == [  # type: ignore[attr-defined]
        (2, 2),
        (8, 2),
        (4, 4),
        (12, 88),
    ]
    assert axes.patches[0].get_label() == "10.0.0.2 potentially failed"
    assert axes.patches[2].get_label() == "10.0.0.2 inactive"


def test_a_part_of_a_trace_begins_with_what_held_before(small: Path) -> None:
    found = lines(plots.window(small, span=(2, 10)))
    assert found["cwnd of 10.0.0.2"] == ([2, 6, 10], [4, 1.5, 1.5])
    assert lines(plots.tsn(small, span=(2, 10)))["sent"] == ([2], [1])


def test_an_association_is_chosen_by_its_number(small: Path) -> None:
    assert lines(plots.tsn(small, association=1))["sent"] == ([9], [0])


def test_the_command_draws_a_trace_of_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "lossy.trace"
    words = ["run", str(ROOT / "scenarios/first.toml"), "--set", "scenario.duration=20 s"]
    assert _native.main(["slantpath", *words, "--trace", f"signalling={file}"], draw) == 0
    capsys.readouterr()
    assert command.main([str(file), "--format", "png", "--format", "svg"]) == command.DONE
    names = {path.name for path in (tmp_path / "lossy-plots").iterdir()}
    assert names == {f"{name}.{kind}" for name in ("tsn", "window", "rto") for kind in ("png", "svg")}
    records = [json.loads(line) for line in file.read_text().splitlines()[1:]]
    new = sum(each["event"] == "sent" and each["transmission"] == 1 for each in records)
    lost = sum(each["event"] == "lost" for each in records)
    assert lost
    assert (
        f"first, flow signalling: DATA chunks sent {new:,}, counted as lost {lost:,},"
        in capsys.readouterr().out
    )


def test_the_files_of_a_trace_tell_what_it_came_from(small: Path, tmp_path: Path) -> None:
    assert command.main([str(small), "--figure", "tsn", "--format", "svg", "--out", str(tmp_path)]) == 0
    svg = (tmp_path / "tsn.svg").read_text()
    assert "<dc:source>geo, flow data, hash abc, seed 7, run 0</dc:source>" in svg
    assert "<dc:title>Slantpath 9.8.7</dc:title>" in svg


def test_what_is_no_trace_is_told_with_its_line(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def refused(*arguments: str) -> str:
        assert command.main([str(small), *arguments]) == command.MISUSED
        told = capsys.readouterr().err
        assert told.count("\n") == 1
        return told

    assert "a trace has no figure `cwnd`; it has tsn, window, rto" in refused("--figure", "cwnd")
    assert "no record of DATA that was sent for association 9" in refused("--only", "association=9")
    assert "no record of DATA that was sent from 50 s to 60 s" in refused("--span", "50:60")
    assert "`--only association=NUMBER` can be chosen, not `flow=data`" in refused("--only", "flow=data")
    assert command.main([str(small.parent), "--span", "1:2"]) == command.MISUSED
    assert "--span is for the file of a `--trace`" in capsys.readouterr().err
    whole = small.read_text()
    small.write_text(whole + '{"t_ns":1,"association":0,"event":"sent"}\n')
    assert f"{small}:17: `sent` has not the fields of docs/trace.md: 'tsn'" in refused()
    small.write_text(whole + "{\n")
    assert f"{small}:17: no line of JSON" in refused()
    small.write_text("{}\n")
    assert "is no trace: give a file that `slantpath run --trace FLOW=FILE` wrote" in refused()
    small.write_text("")
    assert "is no trace" in refused()


def test_a_trace_without_its_end_is_said_not_to_be_whole(small: Path) -> None:
    (plot,) = plots.trace_plots(small, ["tsn"])
    assert "not whole" not in plot.drawing.caption
    small.write_text(small.read_text().rsplit("\n", 2)[0] + "\n")
    (plot,) = plots.trace_plots(small, ["tsn"])
    assert "The trace is not whole: it has no end." in plot.drawing.caption
