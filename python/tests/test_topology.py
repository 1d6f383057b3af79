"""Topologies from Python: the tables of an answer, its figures, and the errors."""

from __future__ import annotations

import json
import pickle
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.path import Path as Outline

import slantpath
from slantpath import ScenarioError, Topology, _native, sky_dome, sky_figures, sky_map
from slantpath.command import draw
from slantpath.figures import numbers, render

ROOT = Path(__file__).parents[2]
IRIDIUM = ROOT / "scenarios/iridium-london-boston.toml"
TABLES = {
    "access",
    "contacts",
    "coverage",
    "coverage_map",
    "delay",
    "gaps",
    "handovers",
    "hops",
    "legs",
    "map_journeys",
    "map_links",
    "map_nodes",
    "map_tracks",
    "passes",
    "positions",
    "sky_limits",
    "sky_tracks",
    "summary",
}


def two_hours(**values: object) -> Topology:
    return Topology.load(IRIDIUM).with_values({"topology.span": "2 h", **values})


def test_an_answer_is_tables() -> None:
    output = slantpath.topology(two_hours())
    assert set(output.tables) == TABLES
    assert output.name == "iridium-london-boston"
    legs = pa.table(output["legs"])
    assert legs.column("nodes")[0].as_py() == "london > iridium-6-2 > iridium-5-2 > iridium-4-2 > boston"
    starts, ends = numbers(legs, "start_s"), numbers(legs, "end_s")
    assert starts[0] == 0.0
    assert ends[-1] == 7200.0
    assert np.array_equal(starts[1:], ends[:-1])


def test_the_delay_of_a_leg_is_the_sum_of_its_hops() -> None:
    output = slantpath.topology(two_hours())
    legs, hops = pa.table(output["legs"]), pa.table(output["hops"])
    sums = hops.group_by("leg").aggregate([("delay_start_s", "sum")]).sort_by("leg")
    assert np.allclose(numbers(sums, "delay_start_s_sum"), numbers(legs, "delay_start_s"), atol=2e-9)


def test_a_topology_is_taken_as_a_file_a_text_or_itself() -> None:
    text = two_hours().merged()
    assert slantpath.topology(text) == slantpath.topology(two_hours())
    assert slantpath.topology(Topology.parse(text)).hash == two_hours().hash
    path = str(ROOT / "scenarios/geo-london-boston.toml")
    assert slantpath.topology(path).name == slantpath.topology(Path(path)).name == "geo-london-boston"


def test_workers_change_nothing() -> None:
    first, second = (slantpath.topology(two_hours(), workers=workers) for workers in (1, 3))
    assert first == second


def test_a_topology_survives_a_journey() -> None:
    sent = two_hours(**{"ground.min_elevation": "12 deg"})
    received = pickle.loads(pickle.dumps(sent))
    assert received == sent
    assert hash(received) == hash(sent)
    assert repr(received).startswith("<Topology iridium-london-boston ")


def test_what_is_wrong_is_told_with_its_place() -> None:
    text = IRIDIUM.read_text().replace('"51.5 deg"', '"151.5 deg"')
    with pytest.raises(ScenarioError, match="there is no latitude") as caught:
        Topology.parse(text, "sky.toml")
    assert caught.value.file == "sky.toml"
    assert caught.value.line == text[: text.index("151.5")].count("\n") + 1
    blind = 'satellites = { kind = "slots", longitudes = ["150 deg"] }\n[ground]\nmin_elevation = "5 deg"'
    text = IRIDIUM.read_text().replace('satellites = { kind = "preset", preset = "iridium" }', blind)
    with pytest.raises(ScenarioError, match="never sees a satellite"):
        slantpath.topology(text)


def test_look_angles_of_what_is_not_there_are_refused() -> None:
    sky = two_hours()
    for arguments in (
        ("paris", "iridium-1-1", [0.0]),
        ("london", "iridium-7-1", [0.0]),
        ("london", "iridium-1-1", [-1.0]),
        ("london", "iridium-1-1", [float("nan")]),
    ):
        with pytest.raises(ValueError, match=r"there is no|is no time"):
            sky.look_angles(*arguments)


def test_other_threads_go_on_meanwhile() -> None:
    beats = 0
    done = threading.Event()

    def beat() -> None:
        nonlocal beats
        while not done.wait(0.001):
            beats += 1

    thread = threading.Thread(target=beat)
    thread.start()
    slantpath.topology(IRIDIUM)
    done.set()
    thread.join()
    assert beats > 5


def test_the_command_draws_into_its_directory(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    arguments = ["slantpath", "topology", str(IRIDIUM), "--set", "topology.span=2 h", "--out", str(tmp_path)]
    assert _native.main(arguments, draw) == 0
    figures = ("coverage", "delay-main", "map-main", "sky-boston", "sky-london")
    names = {f"{figure}.{kind}" for figure in figures for kind in ("png", "svg")}
    assert names <= set(json.loads((tmp_path / "manifest.json").read_text())["files"])
    assert all((tmp_path / name).stat().st_size > 10_000 for name in names)
    assert b"One-way delay from london to boston over time: " in (tmp_path / "delay-main.svg").read_bytes()
    told = capfd.readouterr().out
    assert f"48 files in {tmp_path}" in told
    guide = (ROOT / "docs/topology.md").read_text(encoding="utf-8")
    assert "\nInstalled with pip, as here, the command writes 48 files. The program alone writes 38" in guide
    assert "Python package" not in told


def test_equal_topologies_have_equal_figures() -> None:
    def drawn() -> list[bytes]:
        tables = slantpath.topology(two_hours()).tables
        return [render(drawing.figure, "png") for drawing in sky_figures.drawings(tables, "x", "y")]

    assert drawn() == drawn()


def test_a_path_with_gaps_can_be_drawn() -> None:
    sky = two_hours(**{"ground.min_elevation": "40 deg", "topology.span": "20 h"})
    output = slantpath.topology(sky)
    assert "path" in output["gaps"]["of"]
    delay, *_ = sky_figures.drawings(output.tables, "x", "y")
    gaps = pa.table(output["summary"]).column("gaps")[0].as_py()
    assert gaps > 0
    assert f"{gaps} gaps; there is a path in " in delay.words


def test_figures_say_what_they_show() -> None:
    drawings = list(sky_figures.drawings(slantpath.topology(two_hours()).tables, "iridium", "now"))
    names = ["delay-main", "map-main", "sky-boston", "sky-london", "coverage"]
    assert [drawing.name for drawing in drawings] == names
    delay, sky, boston, _, coverage = drawings
    assert boston.words.startswith("Sky over boston: ")
    assert "iridium-4-2 held by its antennas" in boston.words
    assert coverage.words.startswith("Map of how many satellites are in sight: 100 % of the Earth")
    assert delay.words.startswith("One-way delay from london to boston over time: ")
    assert "66 satellites" in sky.words
    assert "over the satellites iridium-" in sky.words


def test_a_line_over_the_antimeridian_ends_at_both_edges() -> None:
    parts = sky_map.on_sheet(np.array([[170.0, 0.0], [-170.0, 10.0], [-160.0, 20.0]]))
    assert [part.tolist() for part in parts] == [
        [[170.0, 0.0], [180.0, 5.0]],
        [[-180.0, 5.0], [-170.0, 10.0], [-160.0, 20.0]],
    ]
    back = sky_map.on_sheet(np.array([[-170.0, 0.0], [170.0, 10.0]]))
    assert [part.tolist() for part in back] == [[[-170.0, 0.0], [-180.0, 5.0]], [[180.0, 5.0], [170.0, 10.0]]]


def test_the_land_is_on_the_sheet_and_closed() -> None:
    rings = sky_map.land()
    assert len(rings) > 100
    for ring in rings:
        assert np.allclose(ring[0], ring[-1])
        assert np.abs(ring[:, 1]).max() <= 90.0


def test_a_seam_is_that_of_the_star_whatever_else_its_constellation_has() -> None:
    def node(shell: str, plane: int, slot: int, tilt: float, planes: int) -> dict[str, object]:
        turn, node = 2 * np.pi * slot / 8, np.pi * plane / planes * (1.0 if shell == "star" else 2.0)
        x, y, z = np.cos(turn), np.sin(turn) * np.cos(tilt), np.sin(turn) * np.sin(tilt)
        east, north = sky_map.places(
            np.array([x * np.cos(node) - y * np.sin(node), x * np.sin(node) + y * np.cos(node), z])
        )
        return {
            "node": f"{shell}-{plane}-{slot}", "constellation": "both", "arrangement": shell,
            "plane": plane + 1, "slot": slot + 1, "latitude_deg": north, "longitude_deg": east,
        }  # fmt: skip

    star = [node("star", plane, slot, 1.5, 4) for plane in range(4) for slot in range(8)]
    delta = [node("delta", plane, slot, 0.9, 6) for plane in range(6) for slot in range(8)]

    def seam(rows: list[dict[str, object]]) -> np.ndarray:
        axes = Figure().subplots()
        sky_figures.draw_seams(axes, pa.Table.from_pylist(rows))
        (circle,) = axes.collections
        return np.concatenate([part.vertices for part in circle.get_paths()])

    assert np.allclose(seam(star + delta), seam(star))


def test_a_gap_is_seen_in_the_figure_and_in_its_legend() -> None:
    sky = two_hours(**{"ground.min_elevation": "40 deg"})
    delay, *_ = sky_figures.drawings(slantpath.topology(sky).tables, "x", "y")
    legend = delay.figure.axes[0].get_legend()
    assert legend is not None
    samples = dict(zip((text.get_text() for text in legend.get_texts()), legend.legend_handles, strict=True))
    patch = samples["no path"]
    assert isinstance(patch, Patch)
    red, green, blue, alpha = to_rgba(patch.get_facecolor())
    assert alpha == 1.0
    assert min(red, green, blue) < 0.7
    assert patch.get_linewidth() > 0.5
    # What it lies on shows through neither the sample nor its name.
    frame = legend.get_frame()
    assert legend.get_frame_on()
    assert to_rgba(frame.get_facecolor()) == (1.0, 1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    "sites",
    [
        [("hague", 52.1, 4.3), ("delft", 52.0, 4.4), ("leiden", 52.2, 4.5)],
        # The third lies between the first two.
        [("boston", 42.30, -71.06), ("cambridge", 42.37, -71.11), ("newton", 42.33, -71.21)],
        [
            ("a", 42.30, -71.06),
            ("b", 42.37, -71.11),
            ("c", 42.33, -71.21),
            ("d", 42.2, -71.0),
            ("e", 42.4, -71.1),
        ],
        # Some are apart, and yet their names would meet in the lines to which they give way.
        [("south", 40.0, 10.0), ("north", 43.5, 10.0), ("between", 42.0, 10.0), ("middle", 41.0, 10.0)],
    ],
    ids=["three", "one between two", "five", "lines that meet"],
)
def test_names_of_near_sites_do_not_lie_on_each_other(sites: list[tuple[str, float, float]]) -> None:
    nodes = pa.Table.from_pylist(
        [
            {"node": name, "kind": "site", "path": None, "latitude_deg": north, "longitude_deg": east}
            for name, north, east in sites
        ]
    )
    figure = Figure(figsize=(12.0, 6.6))
    axes = figure.subplots()
    axes.set_xlim(-180, 180)
    axes.set_ylim(-90, 90)
    sky_figures.draw_nodes(axes, nodes, "")
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in axes.texts]
    assert len(boxes) == len(sites)
    for index, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:index]), sites[index]


def test_a_journey_is_drawn_over_the_antimeridian() -> None:
    axes = Figure().subplots()
    journeys = pa.Table.from_pylist(
        [
            {"site": "ship", "latitude_deg": 50.0, "longitude_deg": 170.0},
            {"site": "ship", "latitude_deg": 51.0, "longitude_deg": -170.0},
        ]
    )
    sky_figures.draw_journeys(axes, journeys)
    assert len(axes.collections[-1].get_paths()) == 2, "it crosses the antimeridian"


def test_a_map_fits_what_it_shows_and_cuts_no_site_in_two() -> None:
    def sheet(*places: tuple[float, float], sites: tuple[float, ...] = ()) -> tuple[float, ...]:
        east, north = (np.array(column, dtype=np.float64) for column in zip(*places, strict=True))
        return tuple(sky_map.sheet_of(east, north, np.array(sites)))

    # A margin of 8 degrees all round.
    assert sheet((-20.0, -10.0), (30.0, 40.0)) == (-28.0, 38.0, -18.0, 48.0)
    # Over the antimeridian in one piece.
    west, east, south, north = sheet((180.0, -18.0), (-157.0, 21.0))
    assert (west + east) / 2 == -168.5
    assert (east - west, south, north) == (55.0, -26.0, 29.0)
    # One place alone has some of the Earth around it.
    assert sheet((10.0, 50.0)) == (-5.0, 25.0, 42.0, 58.0)
    # What is all over the Earth has a map of it, whose edge keeps clear of sites.
    over_all = [(float(longitude), 0.0) for longitude in range(-180, 180, 30)]
    assert sheet(*over_all, sites=(0.0, 169.0)) == (-180.0, 180.0, -90.0, 90.0)
    assert sheet(*over_all, sites=(0.0, 180.0)) == (-150.0, 210.0, -90.0, 90.0)
    assert sheet(*over_all, sites=(-149.0, 180.0)) == (-210.0, 150.0, -90.0, 90.0)
    assert sheet(*over_all, sites=tuple(range(-180, 180, 15))) == (-180.0, 180.0, -90.0, 90.0)


def test_what_is_drawn_is_cut_at_the_edge_of_its_sheet() -> None:
    sheet = sky_map.Sheet(-150.0, 210.0)
    (whole,) = sky_map.on_sheet(np.array([[170.0, 0.0], [-170.0, 10.0]]), sheet)
    assert whole.tolist() == [[170.0, 0.0], [190.0, 10.0]]
    left, right = sky_map.on_sheet(np.array([[-155.0, 0.0], [-145.0, 10.0]]), sheet)
    assert left.tolist() == [[205.0, 0.0], [210.0, 5.0]]
    assert right.tolist() == [[-150.0, 5.0], [-145.0, 10.0]]
    for middle in (0.0, 30.0, 180.0):
        rings = sky_map.land(middle)
        assert all(ring[:, 0].min() < middle + 180.0 and ring[:, 0].max() > middle - 180.0 for ring in rings)
        # Greenland is on every sheet.
        greenland = middle + (-40.0 - middle + 180.0) % 360.0 - 180.0
        assert any(Outline(ring).contains_point((greenland, 72.0)) for ring in rings), middle


def test_a_sky_plot_shows_the_mask_and_the_minimum_elevation() -> None:
    figure = Figure()
    axes: Any = figure.add_subplot(projection="polar")
    columns = ("site", "constellation", "min_elevation_deg", "azimuth_deg", "mask_deg")
    rows = [
        ("here", "low", 25.0, 90.0, 10.0),
        ("here", "low", 25.0, 270.0, 30.0),
        ("here", "high", 5.0, 90.0, 10.0),
        ("here", "high", 5.0, 270.0, 30.0),
    ]
    limits = pa.Table.from_pylist([dict(zip(columns, row, strict=True)) for row in rows])
    sky_dome.draw_limits(axes, limits)
    (mask,) = axes.collections
    edge = np.asarray(mask.get_paths()[0].vertices, dtype=np.float64)
    # From the zenith; straight between its corners, also over the north.
    at = {0: 70.0, 90: 80.0, 180: 70.0, 270: 60.0}
    for azimuth, zenith in at.items():
        (found,) = {
            round(float(r), 9) for angle, r in edge if abs(np.degrees(angle) - azimuth) < 0.01 and r < 89.0
        }
        assert found == zenith, azimuth
    lines = [(line.get_label(), set(np.asarray(line.get_ydata()).tolist())) for line in axes.lines]
    assert lines == [("minimum elevation of high, 5°", {85.0}), ("minimum elevation of low, 25°", {65.0})]
    # A site without a mask has the line alone.
    plain = pa.Table.from_pylist([dict(zip(columns, ("here", None, 10.0, None, None), strict=True))])
    axes = Figure().add_subplot(projection="polar")
    sky_dome.draw_limits(axes, plain)
    assert not axes.collections
    assert [line.get_label() for line in axes.lines] == ["minimum elevation, 10°"]
