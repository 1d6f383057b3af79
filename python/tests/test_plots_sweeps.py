"""Figures of sweeps: measures over the axes, with intervals as bars."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import slantpath
from slantpath import plots
from slantpath.plots import command

ROOT = Path(__file__).parents[2]
LOSS, RATE = "links.satellite.loss_ratio", "links.satellite.rate_bit_per_s"


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three losses, crossed with two rates."""
    out = tmp_path_factory.mktemp("sweeps") / "sweep"
    scenario = slantpath.Scenario.load(ROOT / "scenarios/first.toml").with_values(
        {"scenario.duration": "10 s"}
    )
    grid = {"links.satellite.loss": ["0 %", "5 %", "10 %"], "links.satellite.rate": ["1 Mbit/s", "2 Mbit/s"]}
    slantpath.sweep(scenario, grid, runs=3, tables=["flows", "links"], out=out)
    return out


def summary(directory: Path, measure: str) -> list[dict[str, float]]:
    rows = pq.read_table(directory / "flows_summary.parquet").to_pylist()
    return [row for row in rows if row["measure"] == measure]


def test_of_a_sweep_the_usual_measures_are_drawn(swept: Path) -> None:
    names = [plot.drawing.name for plot in plots.plots(swept)]
    assert names == [
        "flows-throughput_bit_per_s",
        "flows-delay_mean_s",
        "flows-delay_p99_s",
        "flows-messages_retransmitted",
        "flows-gap_max_s",
        "links-utilisation_ratio",
        "links-queue_mean_packets",
    ]


def test_means_and_bars_are_those_of_the_summary(swept: Path) -> None:
    (plot,) = plots.plots(swept, measures=["delay_mean_s"])
    (axes,) = plot.drawing.figure.axes
    assert axes.get_xlabel() == "links.satellite.loss / %"
    assert axes.get_ylabel() == "delay mean / ms"
    assert [each.get_label() for each in axes.containers] == ["rate 1 Mbit/s", "rate 2 Mbit/s"]
    for container, rate in zip(axes.containers, (1e6, 2e6), strict=True):
        rows = [row for row in summary(swept, "delay_mean_s") if row[RATE] == rate]
        line, _, (bars,) = container
        assert line.get_xdata().tolist() == pytest.approx([0, 5, 10])
        assert line.get_ydata().tolist() == pytest.approx([row["mean"] * 1e3 for row in rows])
        drawn = [segment[:, 1].tolist() for segment in bars.get_segments()]
        assert np.array(drawn) == pytest.approx(np.array([[row["low"], row["high"]] for row in rows]) * 1e3)
    assert "Intervals of 99 % over 3 runs of each point." in plot.drawing.caption
    assert plot.rows[0][0] == "rate 1 Mbit/s at 0 %"


def test_an_axis_is_chosen_by_its_path_or_the_end_of_it(swept: Path) -> None:
    for name in (RATE, "links.satellite.rate", "rate"):
        axes = plots.sweep(swept, "flows.delay_mean_s", over=[name])
        assert axes.get_xlabel() == "links.satellite.rate / Mbit/s"
        assert [each.get_label() for each in axes.containers] == ["loss 0 %", "loss 5 %", "loss 10 %"]


def test_over_two_axes_a_measure_is_a_map(swept: Path) -> None:
    (plot,) = plots.plots(swept, measures=["delay_mean_s"], over=["loss", "rate"])
    axes = plot.drawing.figure.axes[0]
    (mesh,) = axes.collections
    means = np.asarray(mesh.get_array()).ravel()
    rows = sorted(summary(swept, "delay_mean_s"), key=lambda row: (row[RATE], row[LOSS]))
    assert means.tolist() == pytest.approx([row["mean"] * 1e3 for row in rows])
    assert len(axes.texts) == 6
    assert "±" in axes.texts[-1].get_text()
    with pytest.raises(
        plots.NothingToDrawError, match="a map over two axes has no lines for the values of direct"
    ):
        plots.plots(swept, measures=["utilisation_ratio"], over=["loss", "rate"])
    assert plots.sweep(swept, "utilisation_ratio", over=["loss", "rate"], only=[("direction", "forward")])


def test_paths_that_change_together_are_one_axis() -> None:
    rows = {
        "links.a.rate_bit_per_s": [1e6, 2e6],
        "links.a.queue_packets": [50, 100],
        "flow": ["data"] * 2,
        "measure": ["gap_max_s"] * 2,
        "mean": [1.0, 2.0],
        "half_width": pa.nulls(2, pa.float64()),
        "low": pa.nulls(2, pa.float64()),
        "high": pa.nulls(2, pa.float64()),
        "runs": [1, 1],
    }
    axes = plots.sweep({"flows_summary": pa.table(rows)}, "gap_max_s")
    assert axes.get_xlabel() == "links.a.rate / Mbit/s"
    (container,) = axes.containers
    assert container[0].get_ydata().tolist() == [1000.0, 2000.0]


def test_points_without_a_mean_are_left_out() -> None:
    rows = {
        "links.a.loss_ratio": [0.0, 0.01, 0.02],
        "flow": ["data"] * 3,
        "measure": ["failover_max_s"] * 3,
        **{name: [None, 2.0, 3.0] for name in ("mean", "low", "high")},
        "half_width": [None, 0.0, 0.0],
        "runs": [0, 5, 5],
    }
    axes = plots.sweep({"flows_summary": pa.table(rows)}, "failover_max_s")
    (container,) = axes.containers
    assert container[0].get_xdata().tolist() == [1.0, 2.0]


def test_values_without_a_unit_stand_side_by_side() -> None:
    rows = {
        "flows.data.profile": ["standard", "modified"],
        "flow": ["data"] * 2,
        "measure": ["delay_mean_s"] * 2,
        "mean": [20.0, 10.0],
        "half_width": [1.0, 2.0],
        "low": [19.0, 8.0],
        "high": [21.0, 12.0],
        "runs": [5, 5],
        "median": [20.5, 10.5],
    }
    axes = plots.sweep({"flows_summary": pa.table(rows)}, "delay_mean_s")
    assert [label.get_text() for label in axes.get_xticklabels()] == ["standard", "modified"]
    assert axes.get_ylabel() == "delay mean / s"
    # What else a summary tells of each point is none of its keys.
    assert len(axes.containers) == 1


def test_what_a_sweep_does_not_have_is_told_in_one_line(
    swept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(*arguments: str) -> str:
        assert command.main([*arguments, "--out", str(tmp_path / "out")]) == command.MISUSED
        told = capsys.readouterr().err
        assert told.count("\n") == 1
        return told

    assert "`flows.delay_men_s` is no measure: did you mean delay_mean_s or delay_median_s" in refused(
        str(swept), "--measure", "flows.delay_men_s"
    )
    assert "`qqq` is no measure: name one of flows.messages_sent," in refused(str(swept), "--measure", "qqq")
    assert (
        "`throughput_bit_per_s` is one of several: name one of flows.throughput_bit_per_s, links."
        in refused(str(swept), "--measure", "throughput_bit_per_s")
    )
    told = refused(str(swept), "--measure", "delay_mean_s", "--over", "los")
    assert "`los` is no axis that varies: name one of links.satellite.loss, links.satellite.rate" in told
    pq.write_table(pa.table({"flow": ["data"], "sent_s": [1.0]}), tmp_path / "messages.parquet")
    assert "there are no means over the points of a sweep" in refused(
        str(tmp_path), "--measure", "delay_mean_s"
    )
    assert not (tmp_path / "out").exists()


def test_the_command_draws_a_sweep(swept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main([str(swept), "--out", str(tmp_path), "--format", "svg"]) == command.DONE
    told = capsys.readouterr().out
    assert "Delay mean of flows of first. Intervals of 99 % over 3 runs of each point." in told
    assert "Figures of single runs need `messages`, `paths`, `queues`" in told
    assert len(list(tmp_path.glob("*.svg"))) == 7


def test_points_over_names_are_not_joined_and_stand_beside_each_other(tmp_path: Path) -> None:
    scenario = slantpath.Scenario.load(ROOT / "scenarios/first.toml").with_values(
        {"scenario.duration": "10 s"}
    )
    grid = {
        "sctp.default.congestion_control": ["rfc9260", "cubic"],
        "links.satellite.loss": ["0 %", "5 %"],
    }
    slantpath.sweep(scenario, grid, tables=["flows"], out=tmp_path)
    axes = plots.sweep(tmp_path, "flows.delay_mean_s", over=["congestion_control"])
    assert [label.get_text() for label in axes.get_xticklabels()] == ["rfc9260", "cubic"]
    lines = [container[0] for container in axes.containers]
    assert [line.get_linestyle() for line in lines] == ["None", "None"]
    assert [line.get_xdata().tolist() for line in lines] == [[-0.075, 0.925], [0.075, 1.075]]
    joined = plots.sweep(tmp_path, "flows.delay_mean_s", over=["loss"])
    assert all(container[0].get_linestyle() != "None" for container in joined.containers)
