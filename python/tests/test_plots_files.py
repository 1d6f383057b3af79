"""The files of `slantpath plot`: formats, sizes, styles, and what each says of the run that it shows."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import slantpath
from slantpath import _native
from slantpath.command import draw
from slantpath.figures import Look
from slantpath.plots import command, plots, write

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
KINDS = ("png", "svg", "pdf")
PLOT = """
import sys
from slantpath.plots import command
formats = [word for kind in ("png", "svg", "pdf") for word in ("--format", kind)]
sys.exit(command.main([sys.argv[1], *formats, "--width", "column", "--out", sys.argv[2]]))
"""


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("files") / "first"
    words = ["slantpath", "run", str(ROOT / "scenarios/first.toml"), "--set", "scenario.duration=10 s"]
    assert _native.main([*words, "--out", str(out)], draw) == 0
    return out


def plotted(*arguments: object) -> int:
    return command.main([str(argument) for argument in arguments])


def size_of_png(data: bytes) -> tuple[int, int]:
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = 8
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        yield data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        at += 12 + length


def test_each_file_tells_version_and_hash_of_its_run(first: Path, tmp_path: Path) -> None:
    write(plots(first, ["cdf"]), tmp_path, KINDS)
    manifest = json.loads((first / "manifest.json").read_text())
    program, source = f"Slantpath {manifest['version']}", f"first, hash {manifest['hash']}, seed 1"
    texts = dict(
        body.split(b"\0", 1) for kind, body in chunks((tmp_path / "cdf.png").read_bytes()) if kind == b"tEXt"
    )
    assert texts[b"Software"].decode() == program
    assert texts[b"Source"].decode() == source
    svg = (tmp_path / "cdf.svg").read_text()
    assert f"<dc:source>{source}</dc:source>" in svg
    assert f"<dc:title>{program}</dc:title>" in svg
    pdf = (tmp_path / "cdf.pdf").read_bytes()
    assert f"/Creator ({program})".encode() in pdf
    assert f"/Keywords ({source})".encode() in pdf


def test_no_file_has_a_date_and_all_are_the_same_in_every_process(first: Path, tmp_path: Path) -> None:
    for seed in "12":
        ended = subprocess.run(  # noqa: S603 - our own interpreter
            [sys.executable, "-c", PLOT, str(first), str(tmp_path / seed)],
            env={**os.environ, "PYTHONHASHSEED": seed, "SOURCE_DATE_EPOCH": seed},
            check=False,
        )
        assert ended.returncode == 0
    files = sorted(path.name for path in (tmp_path / "1").iterdir())
    assert {Path(name).suffix for name in files} == {f".{kind}" for kind in KINDS}
    for file in files:
        data = (tmp_path / "1" / file).read_bytes()
        assert data == (tmp_path / "2" / file).read_bytes(), file
        assert b"CreationDate" not in data
        assert b"dc:date" not in data


@pytest.mark.parametrize(("width", "inches"), [("column", 3.5), ("page", 7.2)])
def test_a_figure_is_as_wide_as_the_page_wants_it(
    first: Path, tmp_path: Path, width: str, inches: float
) -> None:
    assert plotted(first, "--figure", "delay", "--width", width, "--out", tmp_path, "--format", "png") == 0
    assert size_of_png((tmp_path / "delay.png").read_bytes())[0] == round(inches * 300)


def test_a_style_file_is_laid_over_ours(first: Path, tmp_path: Path) -> None:
    style = tmp_path / "wide.mplstyle"
    lines = ("axes.prop_cycle: cycler('color', ['ff8800'])", "lines.linewidth: 2.5", "svg.hashsalt: other")
    style.write_text("\n".join(lines) + "\n")
    look = Look.of("column", style)
    (plot,) = plots(first, ["delay"], look=look)
    (axes,) = plot.drawing.figure.axes
    line = axes.lines[0]
    assert (line.get_color(), line.get_linewidth()) == ("#ff8800", 2.5)
    assert plot.drawing.figure.get_figwidth() == 3.5
    # Equal figures are equal files, whatever a style says.
    assert look.whole["svg.hashsalt"] == "slantpath"
    (ours,) = plots(first, ["delay"])
    assert ours.drawing.figure.axes[0].lines[0].get_color() != "#ff8800"


def test_a_style_that_cannot_be_used_is_told_in_one_line(
    first: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert plotted(first, "--style", tmp_path / "none.mplstyle") == command.MISUSED
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "No such file or directory: name a style file of Matplotlib (.mplstyle)" in told
    style = tmp_path / "broken.mplstyle"
    style.write_text("font.size: large-ish\n")
    assert plotted(first, "--style", style) == command.MISUSED
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "font.size" in told


def test_pdf_is_written_only_if_it_is_named(first: Path, tmp_path: Path) -> None:
    drawn = plots(first, ["cdf"])
    assert not [file for file in write(drawn, tmp_path / "all") if file.suffix == ".pdf"]
    (file,) = write(drawn, tmp_path / "pdf", ["pdf"])
    assert file.read_bytes().startswith(b"%PDF")


def test_slantpath_is_loaded_without_matplotlib() -> None:
    program = "import slantpath, slantpath.command, sys; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0  # noqa: S603


def test_the_citation_has_the_version_of_the_package() -> None:
    lines = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    fields = dict(line.split(": ", 1) for line in lines if ": " in line and not line.startswith((" ", "#")))
    assert fields["cff-version"] == "1.2.0"
    assert fields["title"] == "Slantpath"
    assert fields["license"] == "MIT"
    assert fields["version"] == slantpath.__version__
    assert {"message", "type", "abstract"} <= fields.keys()
    assert '  - name: "Slantpath maintainers"' in lines
