"""Figures of what is in sight: the sky over a site, and how many satellites each part of the Earth sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import matplotlib.patheffects
import numpy as np
import pyarrow as pa
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from slantpath import sky_map
from slantpath.figures import STYLE, numbers, plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    Tables = Mapping[str, Any]
    Points = NDArray[np.float64]

HALO = [mpl.patheffects.withStroke(linewidth=2.4, foreground="white")]
HELD = "#c1121f"
SEEN = "#1d3557"
FEW_TRACKS = 24
"""So many satellites are called by their names."""


def rows_of(table: Any, column: str, value: str) -> pa.Table:  # noqa: ANN401 - whatever speaks Arrow
    """Take the rows in which a column has a value."""
    whole = pa.table(table)
    return whole.filter(pa.array([cell == value for cell in whole.column(column).to_pylist()], pa.bool_()))


def held_by(tables: Tables, site: str) -> set[str]:
    """Give the satellites that the antennas of a site hold at the instant of the map."""
    links = pa.table(tables["map_links"])
    ends = zip(*(links.column(column).to_pylist() for column in ("kind", "a", "b")), strict=True)
    return {a for kind, a, b in ends if kind == "ground" and b == site}


def sky_figure(tables: Tables, site: str, title: str) -> Figure:
    """Draw the sky over a site: the ways of the satellites in sight from rise to set, and where they are now.

    The zenith is in the middle and the horizon around it; north is up, and east right, as on a map.
    """
    tracks = rows_of(tables["sky_tracks"], "site", site)
    held = held_by(tables, site)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.0, 7.2))
        axes: Any = figure.add_subplot(projection="polar")
        axes.set_theta_zero_location("N")
        axes.set_theta_direction(-1)
        axes.set_ylim(0, 90)
        axes.set_yticks([0, 30, 60, 90], ["90°", "60°", "30°", "0°"], fontsize=8.5, color="0.45")
        axes.set_xticks(np.radians(range(0, 360, 45)), ["N", "NE", "E", "SE", "S", "SW", "W", "NW"])
        draw_limits(axes, rows_of(tables["sky_limits"], "site", site))
        number = numbers(tracks, "pass")
        few = len(np.unique(number)) <= FEW_TRACKS
        labelled: set[bool] = set()
        for each in np.unique(number):
            own = tracks.filter(pa.array(number == each))
            name = own.column("satellite")[0].as_py()
            is_held = name in held
            shown = name if few or is_held else ""
            draw_pass(axes, own, shown, is_held=is_held, new=is_held not in labelled)
            labelled.add(is_held)
        axes.set_title(plain(title), loc="left", fontsize=11, fontweight="bold", pad=18)
        handles, labels = axes.get_legend_handles_labels()
        if handles:
            axes.legend(
                handles,
                labels,
                loc="upper center",
                bbox_to_anchor=(0.5, -0.06),
                ncols=min(len(labels), 2),
                fontsize=8.5,
            )
        if not labelled:
            axes.text(0, 90, "no satellite in sight", ha="center", va="center", fontsize=10, color="0.4")
        return figure


def draw_limits(axes: Axes, limits: pa.Table) -> None:
    """Draw what the antennas of a site do not see: what the mask hides, and below each minimum elevation."""
    azimuth, mask = numbers(limits, "azimuth_deg"), numbers(limits, "mask_deg")
    known = np.isfinite(azimuth)
    round_about = np.linspace(0.0, 360.0, 361)
    if known.any():
        corners, at = np.unique(azimuth[known], return_index=True)
        hidden = np.clip(np.interp(round_about, corners, mask[known][at], period=360.0), 0.0, 90.0)
        axes.fill_between(
            np.radians(round_about),
            90.0 - hidden,
            90.0,
            color="#8d6e4f",
            alpha=0.35,
            linewidth=0,
            label="mask",
        )
    constellations = limits.column("constellation").to_pylist()
    least = numbers(limits, "min_elevation_deg")
    for elevation in np.unique(least):
        of = sorted(
            {str(name) for name, own in zip(constellations, least, strict=True) if own == elevation and name}
        )
        told = f" of {', '.join(of)}" if of and len(np.unique(least)) > 1 else ""
        axes.plot(
            np.radians(round_about),
            np.full(len(round_about), 90.0 - elevation),
            color="#b5651d",
            linewidth=1.1,
            linestyle=(0, (5, 3)),
            label=plain(f"minimum elevation{told}, {elevation:.3g}°"),
        )


def draw_pass(axes: Axes, own: pa.Table, name: str, *, is_held: bool, new: bool) -> None:
    """Draw one way over the sky, with an arrow where it leads and a dot where the satellite is now."""
    azimuth = np.unwrap(np.radians(numbers(own, "azimuth_deg")))
    zenith = 90.0 - numbers(own, "elevation_deg")
    (now,) = np.flatnonzero(own.column("now").to_pylist())
    colour = HELD if is_held else SEEN
    axes.plot(azimuth, zenith, color=colour, linewidth=1.8 if is_held else 0.8, alpha=0.9 if is_held else 0.5)
    if np.ptp(azimuth) + np.ptp(zenith) > 0.05:  # noqa: PLR2004 - it stands still
        arrow = {"arrowstyle": "-|>", "color": colour, "linewidth": 0.7, "mutation_scale": 9}
        axes.annotate("", xy=(azimuth[-1], zenith[-1]), xytext=(azimuth[-2], zenith[-2]), arrowprops=arrow)
    here = azimuth[now], zenith[now]
    label = ("held by an antenna" if is_held else "in sight") if new else None
    axes.scatter(*here, s=46 if is_held else 22, color=colour, edgecolors="white", zorder=5, label=label)
    if name:
        axes.annotate(
            plain(name),
            here,
            xytext=(6, 5),
            textcoords="offset points",
            fontsize=8.5 if is_held else 7,
            color=colour,
            path_effects=HALO,
            zorder=6,
        )


def sky_in_words(tables: Tables, site: str) -> str:
    """Say what the sky plot shows."""
    tracks = rows_of(tables["sky_tracks"], "site", site)
    seen = sorted(set(tracks.column("satellite").to_pylist()))
    held = sorted(held_by(tables, site))
    said = f"Sky over {site}: {len(seen)} satellites in sight"
    return f"{said}, and {', '.join(held)} held by its antennas." if held else f"{said}, and none held."


def coverage_figure(tables: Tables, title: str) -> Figure:
    """Draw how many satellites each cell of the Earth sees at the instant of the map."""
    nodes = pa.table(tables["map_nodes"])
    is_site = np.array([kind == "site" for kind in nodes.column("kind").to_pylist()], dtype=bool)
    sheet = sky_map.turned(numbers(nodes, "longitude_deg")[is_site])
    cells = pa.table(tables["coverage_map"])
    latitude, longitude = numbers(cells, "latitude_deg"), numbers(cells, "longitude_deg")
    count = numbers(cells, "satellites")
    size = len(np.unique(latitude)), len(np.unique(longitude))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(12.0, 6.6))
        axes = figure.subplots()
        # Nothing in sight is a colour of its own, and not the palest of the others.
        east_of_edge = np.mod(np.unique(longitude) - sheet.west, 360.0)
        shades = np.ma.masked_equal(count.reshape(size)[:, np.argsort(east_of_edge)], 0.0)
        extent = (sheet.west, sheet.east, sheet.south, sheet.north)
        colours = mpl.colormaps["viridis"].with_extremes(bad="#e8e8e8")
        image = axes.imshow(
            shades,
            origin="lower",
            extent=extent,
            cmap=colours,
            vmin=1,
            vmax=max(2.0, count.max()),
            aspect="equal",
        )
        axes.add_collection(
            PolyCollection(
                list(sky_map.land(sheet.middle)), facecolors="none", edgecolors="white", linewidths=0.6
            )
        )
        east, north = numbers(nodes, "longitude_deg")[is_site], numbers(nodes, "latitude_deg")[is_site]
        place = sheet.longitudes(east), north
        axes.scatter(*place, s=56, marker="^", color="#e63946", edgecolors="white", linewidths=1, zorder=5)
        axes.set_xlim(sheet.west, sheet.east)
        axes.set_ylim(sheet.south, sheet.north)
        meridians, parallels = sheet.ticks()
        turns = [value - 360 * round(value / 361) for value in meridians]
        axes.set_xticks(meridians, [str(value) for value in turns])
        axes.set_yticks(parallels)
        axes.set_xlabel("longitude / °")
        axes.set_ylabel("latitude / °")
        axes.grid(visible=False)
        bar = figure.colorbar(image, ax=axes, shrink=0.75, pad=0.02)
        bar.set_label("satellites in sight; none is grey")
        axes.set_title(plain(title), loc="left", fontsize=11, fontweight="bold")
        return figure


def coverage_in_words(tables: Tables) -> str:
    """Say what the map of coverage shows, weighted by the area of each cell."""
    cells = pa.table(tables["coverage_map"])
    count, area = numbers(cells, "satellites"), np.cos(np.radians(numbers(cells, "latitude_deg")))
    covered = float(np.sum(area[count > 0]) / np.sum(area))
    return (
        f"Map of how many satellites are in sight: {covered * 100:.3g} % of the Earth sees at least one, "
        f"and a place {float(np.sum(area * count) / np.sum(area)):.1f} on average."
    )
