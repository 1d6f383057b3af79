"""`slantpath plot`: figures of any result directory, and what is said where there are none."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from slantpath import _native
from slantpath.command import draw
from slantpath.figures import new_figure, render
from slantpath.files import locked
from slantpath.plots import KINDS, MOST_LINES, Plot, command, plots, write
from slantpath.plots.drawing import MOST_POINTS
from slantpath.plots.results import NothingToDrawError, Source

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

ROOT = Path(__file__).parents[2]
PLOT = """
import sys
from slantpath.plots import command
sys.exit(command.main([sys.argv[1], "--out", sys.argv[2]]))
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the command leaves of two runs, with every probe."""
    out = tmp_path_factory.mktemp("results") / "run=3"
    values = ("scenario.duration=20 s", "probes.paths=100 ms", "probes.queues=on change")
    settings = [word for value in values for word in ("--set", value)]
    scenario = str(ROOT / "studies/multi-link/scenario.toml")
    assert (
        _native.main(["slantpath", "run", scenario, *settings, "--reps", "2", "--out", str(out)], draw) == 0
    )
    return out


def messages(directory: Path, rows: Sequence[tuple[str, float, float | None]], **keys: list[str]) -> Path:
    """Write a table of messages as a sweep does: flow, time sent, delay in seconds."""
    flows, sent_s, delays_s = zip(*rows, strict=True)
    columns = {
        **keys,
        "run": [0] * len(rows),
        "flow": list(flows),
        "size_bytes": [1_000] * len(rows),
        "sent_s": list(sent_s),
        "delivered_s": [None if delay is None else at + delay for _, at, delay in rows],
        "delay_s": list(delays_s),
    }
    directory.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), directory / "messages.parquet")
    return directory


def plot(drawn: list[Plot], name: str) -> Plot:
    (found,) = [each for each in drawn if each.drawing.name == name]
    return found


def test_a_run_s_directory_gives_every_figure_in_every_format(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main([str(results), "--out", str(tmp_path)]) == command.DONE
    told = capsys.readouterr().out
    of_flows = [name for name, kind in KINDS.items() if not kind.of_signalling and name != "outages"]
    for name in of_flows:
        for kind in ("png", "svg"):
            assert (tmp_path / f"{name}.{kind}").stat().st_size > 10_000
            assert f"{name}.{kind}" in told
    assert len(list(tmp_path.iterdir())) == 2 * len(of_flows)
    assert "Run 0 of 2 runs." in told
    assert "All 2 runs together." in told


def test_delays_and_throughput_need_no_record_of_messages(tmp_path: Path) -> None:
    scenario = str(ROOT / "scenarios/first.toml")
    probes = ("messages=false", "delays=1 %", "intervals=1 s")
    settings = [word for probe in probes for word in ("--set", f"probes.{probe}")]
    words = ["slantpath", "run", scenario, *settings, "--reps", "2", "--out"]
    assert _native.main([*words, str(tmp_path / "few")], draw) == 0
    drawn = plots(tmp_path / "few")
    assert [each.drawing.name for each in drawn] == ["cdf", "throughput", "cwnd"]
    assert _native.main([*words[:3], *words[-3:], str(tmp_path / "all")], draw) == 0
    exact = plots(tmp_path / "all", ["cdf", "throughput"])
    for name, columns in (("cdf", slice(1, None)), ("throughput", slice(1, 2))):
        (ours,), (wanted,) = plot(drawn, name).rows, plot(exact, name).rows
        told = [float(cell.replace(",", "")) for cell in ours[columns]]
        # A percentile lies within 1 %, and is told to three digits.
        assert told == pytest.approx([float(cell.replace(",", "")) for cell in wanted[columns]], rel=0.02)


def test_without_an_option_the_figures_lie_beside_the_results(results: Path) -> None:
    assert command.main([str(results), "--figure", "cdf", "--format", "svg"]) == command.DONE
    assert [path.name for path in (results / "plots").iterdir()] == ["cdf.svg"]


def test_equal_results_give_equal_files(results: Path, tmp_path: Path) -> None:
    for name in ("one", "other"):
        write(plots(results), tmp_path / name)
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "other" / file.name).read_bytes()


def test_equal_results_give_equal_files_in_every_process(results: Path, tmp_path: Path) -> None:
    """What sets and layouts are made by differs from one process to the next."""
    for seed in "12":
        ended = subprocess.run(  # noqa: S603 - our own interpreter
            [sys.executable, "-c", PLOT, str(results), str(tmp_path / seed)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=False,
        )
        assert ended.returncode == 0
    files = [path.name for path in (tmp_path / "1").iterdir()]
    assert "delay.svg" in files
    for file in files:
        assert (tmp_path / "1" / file).read_bytes() == (tmp_path / "2" / file).read_bytes(), file


def test_a_figure_is_laid_out_once_for_all_its_files() -> None:
    drawn = {}
    for kinds in (("png", "svg"), ("svg", "png"), ("svg", "svg")):
        figure, axes = new_figure()
        axes.plot([0.0, 1.0], [3e6, 2e6], label="of a long name")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14))
        files = {kind: render(figure, kind) for kind in kinds}
        drawn[kinds] = files["svg"]
        # To the sixth digit, behind which they differ from one process to the next.
        places = [side for axes in figure.axes for side in axes.get_position(original=True).bounds]
        assert places == [pytest.approx(round(side, 6), abs=1e-12) for side in places]
    assert len(set(drawn.values())) == 1


def test_results_that_are_being_written_are_not_drawn(results: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(results, copy)
    manifest = json.loads((copy / "manifest.json").read_text())
    (copy / "manifest.json").write_text(json.dumps({**manifest, "state": "being written"}))
    with pytest.raises(NothingToDrawError, match=r"is not whole \(being written\)"):
        plots(copy)


def test_figures_are_not_written_where_another_command_writes(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with locked(tmp_path):
        assert command.main([str(results), "--out", str(tmp_path)]) == command.MISUSED
    assert capsys.readouterr().err == f"slantpath plot: {tmp_path}: another command writes into it\n"
    assert list(tmp_path.iterdir()) == []


def test_of_a_sweep_the_tables_are_named_that_it_keeps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = {"program": "slantpath", "sweep_of": "first", "tables": ["flows", "links"]}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    assert command.main([str(tmp_path), "--figure", "cwnd"]) == command.MISUSED
    wanted = (
        "slantpath plot: cwnd cannot be drawn: the sweep keeps no table `paths`, nor `flow_intervals` of "
        "`probes.intervals`, but `flows`, `links`: "
        "name it in `tables` of the sweep's file, and have its scenario ask for it by `probes.paths`\n"
    )
    assert capsys.readouterr().err == wanted
    messages(tmp_path, [("data", 1.0, 0.1)])
    assert [each.drawing.name for each in plots(tmp_path)] == ["delay", "cdf", "throughput"]


def test_figures_show_the_numbers_of_the_tables(tmp_path: Path) -> None:
    voice = [("voice", number / 10, 0.25 if number else 0.75) for number in range(100)]
    data = [("data", 0.0, 1.0), ("data", 5.0, None)]
    drawn = plots(messages(tmp_path, [*voice, *data]))
    delay = plot(drawn, "delay")
    (axes,) = delay.drawing.figure.axes
    assert np.asarray(axes.lines[0].get_ydata()).tolist() == [750.0] + [250.0] * 99
    assert delay.rows[0] == ("voice", "100", "100", "255", "250", "255", "750")
    assert delay.rows[1][:3] == ("data", "2", "1")
    assert "data: messages 2, delivered 1, mean 1,000 ms" in delay.drawing.words
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["voice", "data", "not delivered: 1"]
    assert plot(drawn, "cdf").rows[0][1:4] == ("100", "250", "250")
    # 101 messages of 8,000 bits arrive within 10.15 s.
    throughput = plot(drawn, "throughput")
    assert throughput.head[1] == "mean / kbit/s"
    assert float(throughput.rows[0][1]) == pytest.approx(100 * 8 / 10.15, abs=0.05)


def test_lines_of_one_figure_differ_by_their_marks(tmp_path: Path) -> None:
    rows = [(f"flow-{place}", 1.0, 0.1) for place in range(20)]
    drawn = plots(messages(tmp_path, rows))
    (axes,) = plot(drawn, "delay").drawing.figure.axes
    assert len({line.get_marker() for line in axes.lines}) == len(axes.lines) == MOST_LINES
    assert "The first 8 of 20 lines." in plot(drawn, "delay").drawing.caption
    assert [row[0] for row in plot(plots(tmp_path, only=[("flow", "flow-19")]), "delay").rows] == ["flow-19"]


def test_the_points_of_a_sweep_are_lines_of_their_own(tmp_path: Path) -> None:
    rows = [("data", 1.0, 0.1), ("data", 1.0, 0.2)]
    drawn = plots(messages(tmp_path, rows, **{"links.satellite.loss": ["0 %", "1 %"]}))
    assert [row[0] for row in plot(drawn, "delay").rows] == ["loss 0 %", "loss 1 %"]


def test_names_are_drawn_and_printed_as_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["_hidden", "a $5 b $6_{x", "\x1b[31mred", "\N{RIGHT-TO-LEFT OVERRIDE}x"]
    messages(tmp_path, [(name, 1.0, 0.1) for name in names])
    assert command.main([str(tmp_path)]) == command.DONE
    told = capsys.readouterr().out
    assert all(letter.isprintable() or letter == "\n" for letter in told)
    (axes,) = plot(plots(tmp_path), "delay").drawing.figure.axes
    legend = axes.get_legend()
    assert legend is not None
    shown = [text.get_text() for text in legend.get_texts()]
    assert shown == [" _hidden", r"a \$5 b \$6_{x", r"\x1b[31mred", r"\u202ex"]


def test_what_cannot_be_drawn_is_told_with_what_would_help(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(*arguments: str) -> str:
        assert command.main(arguments) == command.MISUSED
        return capsys.readouterr().err

    assert "no directory of results" in refused(str(tmp_path / "nowhere"))
    (tmp_path / "scenario.toml").write_text("[scenario]\n")
    assert "is no result: run it with `--out DIR`" in refused(str(tmp_path / "scenario.toml"))
    (tmp_path / "scenario.toml").unlink()
    assert "holds no results" in refused(str(tmp_path))
    directory = str(messages(tmp_path, [("data", 1.0, 0.1)]))
    assert "the scenario's `probes.paths` asks for" in refused(directory, "--figure", "cwnd")
    assert "no table has a column `flw`" in refused(directory, "--only", "flw=data")
    told = refused(directory, "--only", "flow=voice")
    assert "`messages` has no such rows with flow=voice: leave `--only` out, or name another value" in told
    (tmp_path / "messages.parquet").write_bytes(b"PAR1")
    assert "messages.parquet is not whole" in refused(directory)
    (tmp_path / "begun" / "unfinished").mkdir(parents=True)
    assert "were interrupted, and the same command goes on" in refused(str(tmp_path / "begun"))
    (tmp_path / "study" / "runs").mkdir(parents=True)
    (tmp_path / "study" / "claims.txt").write_text("")
    assert "is of a study, which has drawn its figures" in refused(str(tmp_path / "study"))
    (tmp_path / "plan").mkdir()
    (tmp_path / "plan" / "plan.json").write_text("{}")
    told = refused(str(tmp_path / "plan"))
    assert f"is of `slantpath plan`: `slantpath report {tmp_path / 'plan'}` has all" in told
    (tmp_path / "manifest.json").write_text('{"topology": "sky"}')
    assert "`slantpath topology`" in refused(directory)
    with pytest.raises(NothingToDrawError, match="there is no figure `dely`; there are delay, cdf"):
        plots(messages(tmp_path / "whole", [("data", 1.0, 0.1)]), ["dely"])


def test_nothing_is_said_of_signalling_where_there_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    messages(tmp_path, [("data", 1.0, 0.5)])
    assert command.main([str(tmp_path), "--format", "svg"]) == command.DONE
    told = [line for line in capsys.readouterr().out.splitlines() if line.startswith("No figure")]
    assert [line.partition(":")[0] for line in told] == [
        "No figure `cwnd`",
        "No figure `queue`",
        "No figure `outages`",
    ]


def test_the_upward_axis_begins_at_zero_and_leaves_room_above(tmp_path: Path) -> None:
    rows: list[tuple[str, float, float | None]]
    rows = [("data", number / 10, 0.5 + number % 2 / 1_000) for number in range(100)]
    (delay,) = plots(messages(tmp_path, rows), ["delay"])
    low, high = delay.drawing.figure.axes[0].get_ylim()
    assert low == 0
    assert high > 1.04 * 501


def test_a_file_that_no_figure_needs_may_be_broken(tmp_path: Path) -> None:
    messages(tmp_path, [("data", 1.0, 0.1)])
    (tmp_path / "own.parquet").write_bytes(b"PAR1")
    assert [each.drawing.name for each in plots(tmp_path)] == ["delay", "cdf", "throughput"]


def test_a_run_that_asked_for_nothing_is_told_what_to_ask_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "few")
    scenario = str(ROOT / "scenarios/first.toml")
    words = ["slantpath", "run", scenario, "--set", "scenario.duration=1 s", "--set", "probes.messages=false"]
    assert _native.main([*words, "--out", out], draw) == 0
    capsys.readouterr()
    assert command.main([out]) == command.MISUSED
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    asked = "`probes.messages` for delay, cdf, throughput; `probes.paths` for cwnd, association-cwnd; "
    assert f"nothing can be drawn: it has no table of any figure; a scenario asks for them by {asked}" in told


def test_a_run_that_delivered_nothing_can_be_drawn(tmp_path: Path) -> None:
    drawn = plots(messages(tmp_path, [("data", 1.0, None)]))
    assert [each.drawing.name for each in drawn] == ["delay"]
    assert drawn[0].rows == [("data", "1", "0", "–", "–", "–", "–")]


def test_of_a_long_line_what_can_be_seen_is_drawn(tmp_path: Path) -> None:
    rows: list[tuple[str, float, float | None]]
    rows = [("data", number / 100, 0.1 + number % 7 / 100) for number in range(30_000)]
    rows[12_350] = ("data", 123.5, 9.0)
    rows[12_352] = ("data", 123.52, 0.001)
    rows[-1] = ("data", 299.99, 0.5)
    drawn = plots(messages(tmp_path, rows), ["delay"])
    write(drawn, tmp_path, ["svg"])
    assert (tmp_path / "delay.svg").stat().st_size < 300_000
    (axes,) = drawn[0].drawing.figure.axes
    across, up = (np.asarray(data).tolist() for data in axes.lines[0].get_data())
    assert len(up) < MOST_POINTS
    assert max(up) == 9_000
    assert min(up) == 1
    assert (across[0], across[-1], up[-1]) == (0, 299.99, 500)
    assert drawn[0].rows[0][1] == "30,000"


def test_messages_are_read_a_few_columns_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: set[str] = set()
    batches = Source.batches

    def noted(source: Source, columns: Collection[str]) -> Iterator[pa.RecordBatch]:
        asked.update(columns)
        for batch in batches(source, columns):
            assert batch.num_rows <= 1_000
            yield batch

    monkeypatch.setattr(Source, "batches", noted)
    monkeypatch.setattr("slantpath.plots.results.ROWS", 1_000)
    rows = [(f"flow-{number % 3}", number / 100, 0.1) for number in range(5_000)]
    (delay,) = plots(messages(tmp_path, rows), ["delay"])
    assert asked == {"run", "flow", "sent_s", "delay_s"}
    assert [row[:2] for row in delay.rows] == [("flow-0", "1,667"), ("flow-1", "1,667"), ("flow-2", "1,666")]
