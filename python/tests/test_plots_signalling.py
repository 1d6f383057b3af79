"""Figures of signalling, and the events that are marked on every axis of time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from matplotlib.figure import Figure

import slantpath
from slantpath import _native, plots
from slantpath.command import draw
from slantpath.figures import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROOT = Path(__file__).parents[2]


def run(scenario: str, out: Path, *settings: str) -> Path:
    words = [word for setting in settings for word in ("--set", setting)]
    assert _native.main(["slantpath", "run", str(ROOT / scenario), *words, "--out", str(out)], draw) == 0
    return out


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with links of MTP2, associations of M3UA and an application server."""
    out = tmp_path_factory.mktemp("signalling") / "gateway"
    return run("scenarios/sigtran-gateway-over-geo.toml", out, "probes.intervals=1 s", "probes.paths=1 s")


def labels(axes: Axes) -> list[str]:
    return axes.get_legend_handles_labels()[1]


def number(cell: str) -> float:
    return float(cell.replace(",", ""))


def test_a_run_of_signalling_alone_has_its_figures(tmp_path: Path) -> None:
    drawn = plots.plots(run("scenarios/ss7-over-geo.toml", tmp_path / "ss7"))
    assert [plot.drawing.name for plot in drawn] == ["load-delay", "load-fate", "signalling-outages"]


def test_probes_give_waits_queues_and_throughput(gateway: Path) -> None:
    names = [plot.drawing.name for plot in plots.plots(gateway)]
    wanted = [f"{what}-{which}" for what in ("link", "association") for which in ("wait", "queue", "load")]
    assert names == ["load-delay", "load-fate", *wanted, "association-cwnd", "signalling-outages"]


def test_times_out_of_service_are_those_of_the_tables(gateway: Path) -> None:
    (plot,) = plots.plots(gateway, ["signalling-outages"])
    told = {row[0]: row[1:] for row in plot.rows}
    links = pq.read_table(gateway / "signalling_links.parquet").to_pylist()
    servers = pq.read_table(gateway / "signalling_servers.parquet").to_pylist()
    wanted = {f"{row['link']}, {row['point']}": row["outage_s"] for row in links}
    wanted |= {f"{row['application_server']}, {row['gateway']}": row["outage_s"] for row in servers}
    assert wanted
    for name, outage_s in wanted.items():
        assert number(told[name][1]) == pytest.approx(outage_s, rel=0.005), name
    ends = pq.read_table(gateway / "signalling_associations.parquet").to_pylist()
    for row in ends:
        assert told[f"{row['association']}, {row['at']}"][0] == str(row["times_lost"])


def test_delays_and_fates_of_loads_are_those_of_the_table(gateway: Path) -> None:
    table = pq.read_table(gateway / "signalling_load.parquet").to_pandas()
    delay, fate = plots.plots(gateway, ["load-delay", "load-fate"])
    for row in delay.rows:
        load = table[table["load"] == row[0]]
        assert row[1:3] == (str(len(load)), f"{load['delivered_messages'].sum():,}")
        mean = (load["delay_mean_s"] * load["delivered_messages"]).sum() / load["delivered_messages"].sum()
        assert number(row[3]) == pytest.approx(mean * 1e3, rel=0.005)
        assert number(row[5]) == pytest.approx(load["delay_max_s"].max() * 1e3, rel=0.005)
    for row in fate.rows:
        load = table[table["load"] == row[0]]
        counts = ("sent", "delivered", "late", "lost", "outstanding", "refused")
        assert [number(cell) for cell in row[1:]] == [load[f"{name}_messages"].sum() for name in counts]
    (axes,) = fate.drawing.figure.axes
    tops = [patch.get_y() + patch.get_height() for patch in axes.patches]  # type: ignore[attr-defined]
    assert max(tops) == pytest.approx(100)


def test_the_mean_over_links_counts_their_messages() -> None:
    names = ("min", "mean", "p50", "p95", "p99", "max")
    delays = {f"delay_{name}_s": [0.1, 0.3] for name in names}
    table = {"load": ["isup"] * 2, "link": [0, 1], "delivered_messages": [300, 100], **delays}
    (plot,) = plots.plots({"signalling_load": pa.table(table)}, ["load-delay"])
    assert plot.rows == [("isup", "2", "400", "150", "300", "300")]


def test_each_status_of_congestion_has_its_colour(tmp_path: Path) -> None:
    events = {
        "run": [0] * 4,
        "at_s": [1.0, 3.0, 7.0, 8.0],
        "point": ["a", "a", "a", "b"],
        "link": ["line"] * 4,
        "event": ["congestion", "congestion", "congestion", "available"],
        "congestion_status": pa.array([1, 3, 0, None], pa.uint64()),
    }
    pq.write_table(pa.table(events), tmp_path / "signalling_events.parquet")
    (tmp_path / "scenario.toml").write_text('[scenario]\nduration = "2 min"\n')
    (congestion,) = plots.plots(tmp_path, ["congestion"])
    assert congestion.rows == [("a", "3", "3", "6")]
    (axes,) = congestion.drawing.figure.axes
    assert labels(axes) == ["status or level 1", "status or level 3"]
    assert axes.get_xlim() == (0.0, 120.0)


def test_levels_of_m3ua_s_congestion_are_drawn_beside_those_of_links() -> None:
    events = {
        "run": [0] * 2,
        "at_s": [1.0, 2.0],
        "point": ["a"] * 2,
        "link": ["line"] * 2,
        "event": ["congestion"] * 2,
        "congestion_status": pa.array([1, 0], pa.uint64()),
    }
    told = {
        "run": [0] * 5,
        "at_s": [0.5, 2.0, 4.0, 4.5, 6.0],
        "process": ["asp", "asp", "asp", "sgp", "asp"],
        "destination": pa.array([None, "far", "far", "far", "far"]),
        "event": ["association-up", "congestion", "congestion", "congestion", "congestion"],
        "congestion_level": pa.array([None, 1, 2, 3, 0], pa.uint64()),
    }
    tables = {"signalling_events": pa.table(events), "signalling_server_events": pa.table(told)}
    (congestion,) = plots.plots(tables, ["congestion"])
    assert congestion.rows == [
        ("line", "2", "1", "1"),
        ("far, asp", "3", "2", "4"),
        ("far, sgp", "1", "3", "1.5"),
    ]
    (axes,) = congestion.drawing.figure.axes
    assert labels(axes) == [f"status or level {number}" for number in (1, 2, 3)]
    (alone,) = plots.plots({"signalling_server_events": pa.table(told)}, ["congestion"])
    assert [row[0] for row in alone.rows] == ["far, asp", "far, sgp"]


def test_of_many_links_those_are_drawn_that_reach_highest() -> None:
    rows = {
        "link": [f"link-{number:02}" for number in range(20)],
        "point": ["a"] * 20,
        "start_s": [0.0] * 20,
        "end_s": [1.0] * 20,
        "queued_messages": [(number * 7) % 20 for number in range(20)],
    }
    axes = plots.link_queue({"signalling_link_intervals": pa.table(rows)})
    highest = sorted(range(20), key=lambda number: -((number * 7) % 20))[:8]
    assert labels(axes) == [f"link-{number:02}" for number in sorted(highest)]


def test_a_figure_can_be_drawn_into_axes_of_one_s_own_from_a_run_in_memory(gateway: Path) -> None:
    scenario = slantpath.Scenario.load(ROOT / "scenarios/sigtran-gateway-over-geo.toml")
    output = slantpath.run(scenario.with_values({"probes.intervals": "1 s"}))
    _, axes = new_figure()
    assert plots.link_load(output, axes, only=[("point", "london")]) is axes
    line = axes.lines[0]
    (own,) = plots.plots(gateway, ["link-load"], only=[("point", "london")])
    wanted = own.drawing.figure.axes[0].lines[0]
    assert np.array_equal(np.asarray(line.get_ydata()), np.asarray(wanted.get_ydata()))
    (load,) = plots.plots(output, ["load-fate"])
    assert load.drawing.words.startswith("What became of the messages of signalling loads. back: sent 1,729,")
    with pytest.raises(plots.NothingToDrawError, match=r"the scenario's `probes.queues` asks for"):
        plots.queue(output)


def test_a_legend_lies_within_axes_that_others_stand_beside(gateway: Path) -> None:
    alone = plots.link_load(gateway).get_legend()
    figure, _ = new_figure()
    figure.clear()
    above, below = figure.subplots(2)
    plots.link_load(gateway, above)
    beside = above.get_legend()
    assert alone is not None
    assert beside is not None
    heights = []
    for legend in (alone, beside):
        axes = legend.axes
        assert axes is not None
        assert isinstance(axes.figure, Figure)
        axes.figure.draw_without_rendering()
        heights.append(axes.transAxes.inverted().transform(legend.get_window_extent())[:, 1])
    assert heights[0].max() < 0
    assert heights[1].min() > 0
    assert below.get_legend() is None


def events(directory: Path) -> Path:
    """Write the tables of a run with each kind of event, and another run."""
    directory.mkdir()
    pq.write_table(
        pa.table(
            {
                "run": [0, 0, 1],
                "flow": ["data"] * 3,
                "sent_s": [0.0, 100.0, 0.0],
                "delay_s": [0.1, 0.2, 0.3],
            }
        ),
        directory / "messages.parquet",
    )
    outages = {
        "run": [0, 0, 1],
        "path": ["geo"] * 3,
        "begin_s": [10.0, 90.0, 50.0],
        "end_s": [20.0, None, 60.0],
    }
    pq.write_table(pa.table(outages), directory / "outages.parquet")
    pq.write_table(pa.table({"run": [0, 1], "at_s": [12.5, 55.0]}), directory / "failovers.parquet")
    handovers = {"run": [0, 0, 0], "at_s": [0.0, 30.0, 40.0]}
    pq.write_table(pa.table(handovers), directory / "handovers.parquet")
    script = {
        "at_s": [10.0, 20.0],
        "kind": ["link", "link"],
        "name": ["geo", "geo"],
        "part": [None, "forward"],
        "event": ["down", "loss 0.05"],
    }
    pq.write_table(pa.table(script), directory / "script.parquet")
    return directory


def test_events_are_marked_on_the_axis_of_time(tmp_path: Path) -> None:
    directory = events(tmp_path / "events")
    (plot,) = plots.plots(directory, ["delay"])
    (axes,) = plot.drawing.figure.axes
    marks = ["1 failover", "2 events of the script", "2 handovers", "data", "outage of geo"]
    assert sorted(labels(axes)) == marks
    spans = [(patch.get_x(), patch.get_x() + patch.get_width()) for patch in axes.patches]  # type: ignore[attr-defined]
    assert spans[0] == (10.0, 20.0)
    assert spans[1][0] == 90.0
    assert spans[1][1] >= 100.0
    lines = [tuple(np.asarray(data).tolist() for data in line.get_data()) for line in axes.lines]
    assert sorted(across[0] for across, up in lines if up == [0, 1]) == [10.0, 12.5, 20.0]
    assert [across for across, up in lines if up[0] == 0.985] == [[30.0, 40.0]]
    assert [text.get_text() for text in axes.texts] == ["geo: down", "geo forward: loss 0.05"]
    told = "2 outages of geo; 1 failover; 2 handovers; geo: down at 10 s; geo forward: loss 0.05 at 20 s"
    assert f"Marked: {told}." in plot.drawing.words


def test_names_of_events_do_not_hide_each_other(tmp_path: Path) -> None:
    directory = events(tmp_path / "events")
    script = {"at_s": [50.0, 50.5, 51.0, 70.0], "name": list("abcd"), "part": [None] * 4}
    pq.write_table(pa.table({**script, "event": ["down"] * 4}), directory / "script.parquet")
    (plot,) = plots.plots(directory, ["delay"])
    texts = plot.drawing.figure.axes[0].texts
    sides = [(text.get_text(), text.get_horizontalalignment()) for text in texts]
    assert sides == [("a: down", "right"), ("b: down", "left"), ("d: down", "right")]
    assert "c: down at 51 s" in plot.drawing.words


def test_failovers_of_signalling_are_marked_as_such(tmp_path: Path) -> None:
    directory = events(tmp_path / "events")
    failovers = {"run": [0, 0], "at_s": [60.0, 61.0], "point": ["a", "b"]}
    pq.write_table(pa.table(failovers), directory / "signalling_failovers.parquet")
    (plot,) = plots.plots(directory, ["delay"])
    assert "2 failovers of signalling" in labels(plot.drawing.figure.axes[0])
    assert "1 failover; 2 failovers of signalling" in plot.drawing.words


def test_events_of_another_run_are_not_marked(tmp_path: Path) -> None:
    (plot,) = plots.plots(events(tmp_path / "events"), ["delay"], only=[("run", "1")])
    (axes,) = plot.drawing.figure.axes
    (span,) = axes.patches
    assert span.get_x() == 50.0  # type: ignore[attr-defined]


def test_events_of_several_points_of_a_sweep_are_not_marked(tmp_path: Path) -> None:
    directory = events(tmp_path / "events")
    failovers = {"links.geo.loss_ratio": [0.0, 0.1], "run": [0, 0], "at_s": [12.5, 55.0]}
    pq.write_table(pa.table(failovers), directory / "failovers.parquet")
    (plot,) = plots.plots(directory, ["delay"])
    assert not [label for label in labels(plot.drawing.figure.axes[0]) if "failover" in label]
    (plot,) = plots.plots(directory, ["delay"], only=[("links.geo.loss_ratio", "0.1")])
    assert "1 failover" in labels(plot.drawing.figure.axes[0])


def test_no_events_are_marked_on_another_axis(tmp_path: Path) -> None:
    (plot,) = plots.plots(events(tmp_path / "events"), ["cdf"])
    assert labels(plot.drawing.figure.axes[0]) == ["data"]
    assert "Marked" not in plot.drawing.words
