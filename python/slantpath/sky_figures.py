"""Figures of a topology: delay over time, and the map of one instant. Each takes Arrow tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import matplotlib.patheffects
import matplotlib.ticker
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure

from slantpath import sky_dome, sky_map
from slantpath.figures import STYLE, numbers, plain, render
from slantpath.files import write_whole
from slantpath.page import Drawing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from slantpath.sky_map import Sheet

    Tables = Mapping[str, Any]
    Points = NDArray[np.float64]

__all__ = ["delay_figure", "map_figure"]

PATH = "#c1121f"
GAP = "#f2a39b"
GAP_EDGE = "#9d2b22"
INK = "#1d3557"
TABLES = (
    "coverage_map",
    "delay",
    "handovers",
    "legs",
    "map_journeys",
    "map_links",
    "map_nodes",
    "map_tracks",
    "sky_limits",
    "sky_tracks",
    "summary",
)
HALO = [mpl.patheffects.withStroke(linewidth=2.4, foreground="white")]
FEW_SATELLITES = 200
FEW_HANDOVERS = 60
FAR_EAST = 150.0
HOUR_S = 3600.0
CROWDED_EAST, CROWDED_NORTH = 22.0, 3.5
CROWDED_SITE = 5.0
LINE_POINTS, LINE_DEGREES = 11, 5.5
MANY_RELAYS = 8


def texts(table: Any, column: str) -> list[str | None]:  # noqa: ANN401 - whatever speaks Arrow
    """Take a column of texts, None where a cell is missing."""
    cells: list[str | None] = pa.table(table).column(column).to_pylist()
    return cells


def rows(table: Any, path: str) -> pa.Table:  # noqa: ANN401 - whatever speaks Arrow
    """Take the rows of one path."""
    whole = pa.table(table)
    return whole.filter(pa.array([name == path for name in texts(whole, "path")], pa.bool_()))


def delay_figure(tables: Tables, path: str, title: str) -> Figure:
    """Draw delay and hops of a path over time, its handovers and its gaps."""
    legs, handovers = rows(tables["legs"], path), rows(tables["handovers"], path)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10.0, 5.6))
        upper, lower, strip = figure.subplots(
            3, 1, sharex=True, gridspec_kw={"height_ratios": [5.0, 1.6, 0.9], "hspace": 0.04}
        )
        start, end = numbers(legs, "start_s"), numbers(legs, "end_s")
        connected = ~np.isnan(numbers(legs, "delay_min_s"))
        unit, name = time_unit(float(end[-1]))
        draw_delay(upper, rows(tables["delay"], path), legs, unit)
        draw_hops(lower, legs, unit)
        draw_handovers(strip, handovers, (float(start[0]) / unit, float(end[-1]) / unit), unit)
        for index, (left, right) in enumerate(zip(start[~connected], end[~connected], strict=True)):
            for axes in (upper, lower):
                label = "no path" if index == 0 and axes is upper else None
                # A line around it, so that the shortest gap is seen, and its sample in the legend.
                axes.axvspan(
                    left / unit,
                    right / unit,
                    facecolor=GAP,
                    edgecolor=GAP_EDGE,
                    linewidth=0.6,
                    label=label,
                    zorder=0,
                )
        upper.set_title(plain(title), loc="left", fontsize=11, fontweight="bold")
        # Where most of the time has no path, the legend lies on the bands whose sample it shows.
        upper.legend(
            loc="upper right",
            ncols=3,
            fontsize=8.5,
            frameon=True,
            facecolor="white",
            framealpha=1.0,
            edgecolor="0.8",
        )
        strip.set_xlabel(f"time after the start / {name}")
        strip.set_xlim(start[0] / unit, end[-1] / unit)
        if unit == HOUR_S and end[-1] >= 12 * HOUR_S:
            strip.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(12, steps=[1, 2, 3, 6, 10]))
        figure.align_ylabels([upper, lower])
        return figure


def time_unit(seconds: float) -> tuple[float, str]:
    """Choose the unit in which so long a time is read best."""
    for unit, name, least in ((86400.0, "d", 3.0), (HOUR_S, "h", 3.0), (60.0, "min", 3.0)):
        if seconds >= least * unit:
            return unit, name
    return 1.0, "s"


def draw_delay(axes: Axes, delay: pa.Table, legs: pa.Table, unit: float) -> None:
    """Draw each leg as a line of its own: a change of path is a jump, and no line leads over it."""
    at, values = numbers(delay, "at_s"), numbers(delay, "delay_s") * 1e3
    lines = []
    columns = ("start_s", "end_s", "delay_start_s", "delay_end_s")
    for start, end, first, last in zip(*(numbers(legs, column) for column in columns), strict=True):
        if np.isnan(first):
            continue
        inside = (at > start) & (at < end)
        times = np.concatenate([[start], at[inside], [end]]) / unit
        lines.append(np.column_stack([times, np.concatenate([[first * 1e3], values[inside], [last * 1e3]])]))
    # Jumps are a thin line, so that the eye can follow without taking them for delays.
    ends = [line[-1] for line in lines[:-1]]
    jumps = [
        np.stack([end, line[0]]) for end, line in zip(ends, lines[1:], strict=True) if end[0] == line[0][0]
    ]
    axes.add_collection(LineCollection(jumps, colors="0.75", linewidths=0.5, zorder=2))
    axes.add_collection(LineCollection(lines, colors=INK, linewidths=1.4, zorder=3, label="one-way delay"))
    axes.autoscale_view()
    low, high = axes.get_ylim()
    axes.set_ylim(max(0.0, low - 0.05 * (high - low)), high + 0.16 * (high - low))
    if not np.all(np.isnan(values)):
        mean = float(np.nanmean(values))
        axes.axhline(
            mean, color="0.4", linewidth=0.8, linestyle=(0, (5, 3)), label=f"mean {mean:.1f} ms", zorder=1
        )
    axes.set_ylabel("one-way delay / ms")


def draw_hops(axes: Axes, legs: pa.Table, unit: float) -> None:
    """Draw the number of hops as steps."""
    start, end, hops = (numbers(legs, column) for column in ("start_s", "end_s", "hops"))
    edges = np.append(start, end[-1]) / unit
    axes.stairs(hops, edges, baseline=None, color=INK, linewidth=1.0)
    axes.set_ylabel("hops")
    axes.yaxis.set_major_locator(matplotlib.ticker.MaxNLocator(4, integer=True))
    if not np.all(np.isnan(hops)):
        axes.set_ylim(np.nanmin(hops) - 0.8, np.nanmax(hops) + 0.8)


def draw_handovers(axes: Axes, handovers: pa.Table, span: tuple[float, float], unit: float) -> None:
    """Mark the handovers of each end on a line of its own."""
    at, sites = numbers(handovers, "at_s") / unit, texts(handovers, "site")
    names = sorted({site for site in sites if site is not None})
    thin = 0.6 if len(at) > FEW_HANDOVERS else 1.2
    for row, name in enumerate(names):
        own = at[[site == name for site in sites]]
        axes.eventplot([own], lineoffsets=[row], linelengths=0.7, linewidths=thin, colors=[PATH])
        axes.annotate(
            f"{len(own)}",
            (1.005, row),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize=8.5,
            color=PATH,
        )
    if not names:
        axes.text(sum(span) / 2, 0, "no handover", ha="center", va="center", fontsize=9, color="0.4")
    axes.set_yticks(range(len(names)), [f"handovers\n{name}" if len(names) == 1 else name for name in names])
    axes.set_ylim(-0.6, max(len(names) - 1, 0) + 0.6)
    axes.grid(visible=False, axis="y")
    if len(names) > 1:
        axes.set_ylabel("handovers", fontsize=9)


def map_figure(tables: Tables, path: str, title: str) -> Figure:
    """Draw the Earth with satellites, links, ground tracks and a path, at the instant of the map."""
    nodes = pa.table(tables["map_nodes"])
    sheet = sheet_of(tables)
    with mpl.rc_context(STYLE):
        high = 12.0 * (sheet.north - sheet.south) / sheet.width + 0.6
        figure = Figure(figsize=(12.0, min(high, 9.0)))
        axes = figure.subplots()
        draw_earth(axes, sheet)
        draw_seams(axes, nodes, sheet)
        draw_links(axes, nodes, pa.table(tables["map_links"]), path, sheet)
        draw_tracks(axes, nodes, pa.table(tables["map_tracks"]), path, sheet)
        draw_journeys(axes, pa.table(tables["map_journeys"]), sheet)
        draw_nodes(axes, nodes, path, sheet)
        lost = "" if not path or any(on_path(nodes, path)) else ", no path"
        axes.set_title(plain(title + lost), loc="left", fontsize=11, fontweight="bold")
        handles, labels = axes.get_legend_handles_labels()
        if handles:
            axes.legend(
                handles,
                labels,
                loc="upper center",
                bbox_to_anchor=(0.5, -0.055),
                ncols=len(labels),
                fontsize=8.5,
            )
        return figure


def sheet_of(tables: Tables) -> Sheet:
    """Give the sheet that shows all nodes, and the ways of what travels and of the satellites of a path."""
    nodes = pa.table(tables["map_nodes"])
    shown = [nodes, *(pa.table(tables[name]) for name in ("map_journeys", "map_tracks"))]
    columns = ("longitude_deg", "latitude_deg")
    longitude, latitude = (np.concatenate([numbers(table, column) for table in shown]) for column in columns)
    known = np.isfinite(longitude) & np.isfinite(latitude)
    is_site = np.array([kind == "site" for kind in texts(nodes, "kind")], dtype=bool)
    return sky_map.sheet_of(longitude[known], latitude[known], numbers(nodes, "longitude_deg")[is_site])


def draw_earth(axes: Axes, sheet: Sheet = sky_map.WORLD) -> None:
    """Draw sea, land and graticule."""
    axes.set_facecolor("#eef3f7")
    axes.add_collection(
        PolyCollection(
            list(sky_map.land(sheet.middle)),
            facecolors="#dcd8cc",
            edgecolors="#a9a490",
            linewidths=0.4,
            zorder=0.5,
        )
    )
    axes.set_xlim(sheet.west, sheet.east)
    axes.set_ylim(sheet.south, sheet.north)
    axes.set_aspect("equal")
    meridians, parallels = sheet.ticks()
    axes.set_xticks(meridians, [degrees((value + 180) % 360 - 180, "W", "E") for value in meridians])
    axes.set_yticks(parallels, [degrees(value, "S", "N") for value in parallels])
    axes.tick_params(length=0, labelsize=8.5)
    axes.grid(color="white", linewidth=0.8, alpha=1.0, zorder=0.6)
    for spine in axes.spines.values():
        spine.set_visible(True)
        spine.set_color("0.6")


def degrees(value: int, negative: str, positive: str) -> str:
    """Write an angle as a map does."""
    side = "" if value in {0, 180, -180} else negative if value < 0 else positive
    return f"{abs(value)}°{side}"


def place_of_nodes(nodes: pa.Table) -> dict[str, Points]:
    """Give the direction of each node from the middle of the Earth."""
    vectors = sky_map.directions(numbers(nodes, "latitude_deg"), numbers(nodes, "longitude_deg"))
    names = texts(nodes, "node")
    return {name: vector for name, vector in zip(names, vectors, strict=True) if name is not None}


def draw_seams(axes: Axes, nodes: pa.Table, sheet: Sheet = sky_map.WORLD) -> None:
    """Draw, for each star, the circle halfway between its last plane and the other side of its first."""
    arrangements, constellations = texts(nodes, "arrangement"), texts(nodes, "constellation")
    planes, where = numbers(nodes, "plane"), place_of_nodes(nodes)
    names = texts(nodes, "node")
    stars = sorted(
        {
            name
            for name, kind in zip(constellations, arrangements, strict=True)
            if kind == "star" and name is not None
        }
    )
    for number, star in enumerate(stars):
        # A constellation may have other shells, which have no seam.
        pairs = enumerate(zip(constellations, arrangements, strict=True))
        members = [index for index, pair in pairs if pair == (star, "star")]
        normals = {}
        for plane in (planes[members].min(), planes[members].max()):
            points = np.array([where[str(names[index])] for index in members if planes[index] == plane])
            following = np.roll(points, -1, axis=0)
            normals[plane] = np.cross(points, following).mean(axis=0)
        if len(normals) < 2:  # noqa: PLR2004 - one plane has no neighbour
            continue
        first, last = normals[min(normals)], normals[max(normals)]
        circle = last / np.linalg.norm(last) - first / np.linalg.norm(first)
        parts = sky_map.on_sheet(sky_map.great_circle(circle), sheet)
        label = "seam" if number == 0 else None
        axes.add_collection(
            LineCollection(parts, colors="#e09f3e", linewidths=5.0, alpha=0.35, zorder=1.0, label=label)
        )


def draw_links(axes: Axes, nodes: pa.Table, links: pa.Table, path: str, sheet: Sheet) -> None:
    """Draw the links between satellites thin, those of sites dotted, and those of the path thick."""
    where = place_of_nodes(nodes)
    kinds: dict[str, list[Points]] = {
        "inter-satellite": [],
        "ground": [],
        "terrestrial": [],
        "seam": [],
        "path": [],
    }
    columns = (texts(links, "kind"), texts(links, "a"), texts(links, "b"), texts(links, "path"))
    seams = pa.table(links).column("seam").to_pylist()
    for kind, a, b, paths, seam in zip(*columns, seams, strict=True):
        parts = sky_map.on_sheet(sky_map.chord(where[str(a)], where[str(b)]), sheet)
        taken = paths is not None and path in paths.split()
        kinds["path" if taken else "seam" if seam else str(kind)].extend(parts)
    many = len(kinds["inter-satellite"]) > FEW_SATELLITES
    styles: dict[str, dict[str, Any]] = {
        "inter-satellite": {
            "colors": "#6c8ead",
            "linewidths": 0.35 if many else 0.9,
            "alpha": 0.55 if many else 0.8,
            "zorder": 1.5,
        },
        "seam": {"colors": "#e09f3e", "linewidths": 1.1, "linestyles": (0, (6, 2, 1, 2)), "zorder": 1.6},
        "ground": {"colors": "#2a9d8f", "linewidths": 1.0, "linestyles": (0, (1, 1.5)), "zorder": 2.0},
        "terrestrial": {"colors": "#5c4d7d", "linewidths": 1.2, "zorder": 2.0},
        "path": {"colors": PATH, "linewidths": 2.6, "zorder": 4.0, "capstyle": "round"},
    }
    labels = {
        "inter-satellite": "inter-satellite link",
        "seam": "link over the seam",
        "ground": "other access link",
        "terrestrial": "other cable",
        "path": plain(f"path {path}"),
    }
    if kinds["path"]:
        axes.add_collection(
            LineCollection(
                kinds["path"], colors="white", linewidths=5.0, zorder=3.9, capstyle="round", alpha=0.9
            )
        )
    for kind, parts in kinds.items():
        if parts:
            axes.add_collection(LineCollection(parts, label=labels[kind], **styles[kind]))


def on_path(nodes: pa.Table, path: str) -> list[bool]:
    """Tell of each node whether the path leads over it."""
    return [paths is not None and path in paths.split() for paths in texts(nodes, "path")]


def draw_tracks(axes: Axes, nodes: pa.Table, tracks: pa.Table, path: str, sheet: Sheet) -> None:
    """Draw the ground tracks of the path's satellites, with an arrow in the direction of flight."""
    names = texts(nodes, "node")
    taken = np.array(on_path(nodes, path))
    is_site = np.array([kind == "site" for kind in texts(nodes, "kind")])
    relays = np.flatnonzero(taken & ~is_site)
    if len(relays) > MANY_RELAYS:
        # So many tracks would hide the path: those of its ends say which way the satellites fly.
        longitude = sheet.longitudes(numbers(nodes, "longitude_deg"))
        where = np.column_stack([longitude, numbers(nodes, "latitude_deg")])
        relays = np.array(ends_of_path(where, taken & ~is_site, taken & is_site))
    wanted = {names[index] for index in relays}
    satellites = texts(tracks, "satellite")
    track = np.column_stack([numbers(tracks, "longitude_deg"), numbers(tracks, "latitude_deg")])
    parts: list[Points] = []
    for satellite in sorted(
        {name for name in satellites if name is not None} & {str(name) for name in wanted}
    ):
        own = track[[name == satellite for name in satellites]]
        if np.ptp(own, axis=0).max() < 0.5:  # noqa: PLR2004 - it stands still
            continue
        cut = sky_map.on_sheet(own, sheet)
        parts.extend(cut)
        tail, head = cut[-1][-2:] if len(cut[-1]) > 1 else own[-2:]
        axes.annotate(
            "",
            xy=head,
            xytext=tail,
            arrowprops={
                "arrowstyle": "-|>",
                "color": PATH,
                "linewidth": 0.7,
                "alpha": 0.8,
                "mutation_scale": 8,
            },
            zorder=3.0,
        )
    if parts:
        axes.add_collection(
            LineCollection(
                parts,
                colors=PATH,
                linewidths=0.8,
                linestyles=(0, (4, 3)),
                alpha=0.6,
                zorder=3.0,
                label="ground track",
            )
        )


def draw_journeys(axes: Axes, journeys: pa.Table, sheet: Sheet = sky_map.WORLD) -> None:
    """Draw the ways of the sites that travel."""
    sites = texts(journeys, "site")
    way = np.column_stack([numbers(journeys, "longitude_deg"), numbers(journeys, "latitude_deg")])
    parts: list[Points] = []
    for site in sorted({name for name in sites if name is not None}):
        parts.extend(sky_map.on_sheet(way[[name == site for name in sites]], sheet))
    if parts:
        axes.add_collection(
            LineCollection(
                parts, colors="#2a9d8f", linewidths=1.6, alpha=0.8, zorder=2.5, label="journey of a site"
            )
        )


def draw_nodes(axes: Axes, nodes: pa.Table, path: str, sheet: Sheet = sky_map.WORLD) -> None:
    """Draw satellites as dots, those of the path with their names, and sites."""
    names, kinds, taken = texts(nodes, "node"), texts(nodes, "kind"), np.array(on_path(nodes, path))
    longitude, latitude = sheet.longitudes(numbers(nodes, "longitude_deg")), numbers(nodes, "latitude_deg")
    is_site = np.array([kind == "site" for kind in kinds])
    others = ~is_site & ~taken
    size = 4.0 if others.sum() > FEW_SATELLITES else 16.0
    axes.scatter(
        longitude[others], latitude[others], s=size, color=INK, linewidths=0, zorder=3.5, label="satellite"
    )
    relays = ~is_site & taken
    axes.scatter(
        longitude[relays], latitude[relays], s=44, color=PATH, edgecolors="white", linewidths=1, zorder=5
    )
    axes.scatter(
        longitude[is_site],
        latitude[is_site],
        s=64,
        marker="^",
        color="#2a9d8f",
        edgecolors="white",
        linewidths=1,
        zorder=5.5,
        label="site",
    )
    shown = is_site if is_site.sum() <= FEW_HANDOVERS else is_site & taken
    # Names are as large on any sheet: where they stand is reckoned in degrees of a map of the whole Earth.
    where = np.column_stack([longitude - sheet.middle, latitude]) / sheet.zoom
    ends = ends_of_path(where, relays, is_site & taken)
    named: list[Points] = []
    lines: list[int] = []
    for index in [*np.flatnonzero(shown), *ends, *np.flatnonzero(relays)]:
        site = bool(is_site[index])
        # Names that would lie on each other are left out, but those of the ends of the path.
        near = [np.abs(where[index] - other) for other in named]
        crowded = any(east < CROWDED_EAST and north < CROWDED_NORTH for east, north in near)
        if not site and (named_twice(where[index], named) or (crowded and index not in ends)):
            continue
        line = free_line(where[index], named, lines) if site else 0
        named.append(where[index])
        lines.append(line)
        # A site's name stands away from its satellite, a satellite's above it; none leaves the sheet.
        left = where[index][0] > FAR_EAST
        if site and relays.any():
            nearest = np.argmin(np.abs(where[relays] - where[index]).sum(axis=1))
            left = left or longitude[index] < longitude[relays][nearest]
        left = left and where[index][0] > -FAR_EAST
        axes.annotate(
            plain(str(names[index])),
            (longitude[index], latitude[index]),
            xytext=(-8 if left else 8, LINE_POINTS * line - 4 if site else 5),
            textcoords="offset points",
            ha="right" if left else "left",
            fontsize=9 if site else 7.5,
            fontweight="bold" if site else "normal",
            color="#17594f" if site else PATH,
            path_effects=HALO,
            zorder=6,
        )


def free_line(place: Points, named: list[Points], lines: list[int]) -> int:
    """Give the line, from that of its own place upwards, on which a site's name lies on no other.

    It is the next free one above the first of the names in its way, or below it if the site is more southern.
    """
    beside = [
        (other[1], other[1] + LINE_DEGREES * line)
        for other, line in zip(named, lines, strict=True)
        if abs(place[0] - other[0]) < CROWDED_EAST
    ]

    def in_the_way(line: int) -> list[float]:
        height = place[1] + LINE_DEGREES * line
        return [north for north, other in beside if abs(height - other) < CROWDED_SITE]

    rivals = in_the_way(0)
    step = -1 if rivals and place[1] < rivals[0] else 1
    line = 0
    while in_the_way(line):
        line += step
    return line


def ends_of_path(where: Points, relays: NDArray[np.bool_], sites: NDArray[np.bool_]) -> list[int]:
    """Give the satellites that are nearest to the sites of a path."""
    if not relays.any():
        return []
    candidates = np.flatnonzero(relays)
    distances = [np.hypot(*(where[candidates] - where[site]).T) for site in np.flatnonzero(sites)]
    return [int(candidates[np.argmin(distance)]) for distance in distances]


def named_twice(place: Points, named: list[Points]) -> bool:
    """Tell whether exactly this place has its name already."""
    return any(np.array_equal(place, other) for other in named)


def draw_directory(directory: Path, is_stopped: Callable[[], bool] = lambda: False) -> list[str]:
    """Draw the figures of every path into the directory of its tables; give the names of the files.

    ``KeyboardInterrupt`` is raised between two figures once ``is_stopped`` says so.
    """
    tables = {name: pq.read_table(directory / f"{name}.parquet", partitioning=None) for name in TABLES}
    head = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
    names = []
    for drawing in drawings(tables, head["topology"], head["map_date"]):
        for kind in ("png", "svg"):
            if is_stopped():
                raise KeyboardInterrupt
            names.append(f"{drawing.name}.{kind}")
            rendered = render(drawing.figure, kind, title=drawing.title, words=drawing.words)
            write_whole(directory / names[-1], rendered)
    return names


def drawings(tables: Tables, name: str, map_date: str) -> Iterator[Drawing]:
    """Draw all figures of a topology, by the names of their files."""
    summary = pa.table(tables["summary"]).to_pylist()
    for row in summary:
        path, ends = row["path"], f"{row['from']} to {row['to']}"
        title = f"{name}: {ends}, {row['selection']}"
        figure_of = delay_figure(tables, path, title)
        yield Drawing(f"delay-{path}", title, "", delay_in_words(row), figure_of)
        title = f"{name}: {ends} at {map_date}"
        yield Drawing(f"map-{path}", title, "", map_in_words(tables, row), map_figure(tables, path, title))
    sites = sorted({row[end] for row in summary for end in ("from", "to")})
    seen = set(texts(tables["sky_tracks"], "site"))
    for site in sites:
        if site in seen:
            title = f"{name}: the sky over {site} at {map_date}"
            words = sky_dome.sky_in_words(tables, site)
            yield Drawing(f"sky-{site}", title, "", words, sky_dome.sky_figure(tables, site, title))
    title = f"{name}: satellites in sight at {map_date}"
    words = sky_dome.coverage_in_words(tables)
    yield Drawing("coverage", title, "", words, sky_dome.coverage_figure(tables, title))
    if not summary:
        title = f"{name} at {map_date}"
        yield Drawing("map", title, "", map_in_words(tables, None), map_figure(tables, "", title))


def delay_in_words(row: Mapping[str, Any]) -> str:
    """Say what the figure of a path's delay shows, from its row of the summary."""
    if row["delay_mean_s"] is None:
        return f"Delay from {row['from']} to {row['to']} over time: there is no path at any time."
    low, mean, high = (f"{row[f'delay_{which}_s'] * 1e3:.1f}" for which in ("min", "mean", "max"))
    return (
        f"One-way delay from {row['from']} to {row['to']} over time: {low} to {high} ms, {mean} ms on "
        f"average, over {row['hops_min']} to {row['hops_max']} hops, with {row['handovers']} handovers and "
        f"{row['gaps']} gaps; there is a path in {row['connected_ratio'] * 100:.3g} % of the time."
    )


def map_in_words(tables: Tables, row: Mapping[str, Any] | None) -> str:
    """Say what the map shows: how much there is of each, and the path from end to end."""
    nodes, links = pa.table(tables["map_nodes"]), pa.table(tables["map_links"])
    kinds, names = texts(nodes, "kind"), texts(nodes, "node")
    sites = [str(name) for name, kind in zip(names, kinds, strict=True) if kind == "site"]
    named = f": {', '.join(sites)}" if 0 < len(sites) <= MANY_RELAYS else ""
    said = (
        f"Map of the Earth with {len(kinds) - len(sites)} satellites, {links.num_rows} links and "
        f"{len(sites)} sites{named}."
    )
    if row is None:
        return said
    taken = on_path(nodes, row["path"])
    relays = [str(name) for name, on, kind in zip(names, taken, kinds, strict=True) if on and kind != "site"]
    if not any(taken):
        return f"{said} There is no path from {row['from']} to {row['to']}."
    return f"{said} The path from {row['from']} to {row['to']} leads over the satellites {', '.join(relays)}."
