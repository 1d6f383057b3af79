"""What a map of the Earth needs: coastlines, great circles, a sheet, and lines that stop at its edge."""

from __future__ import annotations

from functools import cache
from importlib import resources
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Points = NDArray[np.float64]

LAND = "land-110m.txt"
EDGE = 180.0
"""How far the edge of a sheet lies from its middle, degrees of longitude."""
MARGIN = 8.0
LEAST_SPAN = 30.0
MOST_SPAN = 270.0
"""What spans more of the Earth is shown on a map of all of it."""
FLATTEST = 0.4
"""A sheet is at least so high for its width."""
TURN = 30
"""A map of the whole Earth is turned by so many degrees at a time."""
CLEAR = 10.0
"""Sites lie at least so far from the edge of it, if they can."""


class Sheet(NamedTuple):
    """The part of the Earth that a map shows, degrees; the east may lie beyond the antimeridian."""

    west: float = -EDGE
    east: float = EDGE
    south: float = -90.0
    north: float = 90.0

    @property
    def middle(self) -> float:
        """The longitude in the middle."""
        return (self.west + self.east) / 2

    @property
    def width(self) -> float:
        """How many degrees of longitude it shows."""
        return self.east - self.west

    @property
    def zoom(self) -> float:
        """How much smaller than on a map of the whole Earth a degree is."""
        return self.width / (2 * EDGE)

    def longitudes(self, longitude_deg: Points) -> Points:
        """Give longitudes as they are counted on this sheet, at most half a turn from its middle."""
        return np.asarray(longitude_deg - 2 * EDGE * np.round((longitude_deg - self.middle) / (2 * EDGE)))

    def ticks(self) -> tuple[list[int], list[int]]:
        """Give the meridians and the parallels to draw."""
        step = next(step for step in (2, 5, 10, 15, 30) if step * 12 >= self.width)
        meridians = range(int(np.ceil(self.west / step)) * step, int(self.east) + 1, step)
        return list(meridians), list(range(int(np.ceil(self.south / step)) * step, int(self.north) + 1, step))


WORLD = Sheet()


def turned(sites_deg: Points) -> Sheet:
    """Give a map of the whole Earth, turned from Greenwich no further than its edge cuts no site."""
    for turn in sorted(range(-150, 181, TURN), key=lambda turn: (abs(turn), -turn)):
        sheet = Sheet(turn - EDGE, turn + EDGE)
        if np.all(np.abs(sheet.longitudes(sites_deg) - turn) <= EDGE - CLEAR):
            return sheet
    return WORLD


def sheet_of(longitude_deg: Points, latitude_deg: Points, sites_deg: Points) -> Sheet:
    """Give the sheet that shows some places, sites among them; the whole Earth if they are all over it."""
    if len(longitude_deg) == 0:
        return WORLD
    # The widest stretch of longitude in which nothing lies is left out.
    around = np.sort(np.mod(longitude_deg, 2 * EDGE))
    empty = np.diff(np.append(around, around[0] + 2 * EDGE))
    before = int(np.argmax(empty))
    span = 2 * EDGE - float(empty[before])
    if span > MOST_SPAN:
        return turned(sites_deg)
    middle = float(around[(before + 1) % len(around)]) + span / 2
    middle -= 2 * EDGE * np.round(middle / (2 * EDGE))
    south, north = float(np.min(latitude_deg)) - MARGIN, float(np.max(latitude_deg)) + MARGIN
    width = max(span + 2 * MARGIN, LEAST_SPAN, north - south)
    spare = max(0.0, FLATTEST * width - (north - south)) / 2
    south, north = max(south - spare, -90.0), min(north + spare, 90.0)
    return Sheet(float(middle - width / 2), float(middle + width / 2), south, north)


@cache
def land(middle: float = 0.0) -> tuple[Points, ...]:
    """Give the rings of the land on a sheet with that middle: rows of longitude and latitude in degrees.

    A ring that runs on over the edge is there twice, once for each side of the sheet.
    """
    text = (resources.files("slantpath") / "coastline" / LAND).read_text(encoding="ascii")
    rings: list[Points] = []
    for line in text.splitlines():
        steps = np.array(line.split(), dtype=np.int64).reshape(-1, 2)
        ring = np.cumsum(steps, axis=0) / 10.0
        low, high = ring[:, 0].min(), ring[:, 0].max()
        west, east = middle - EDGE, middle + EDGE
        turns = [turn for turn in (-2.0 * EDGE, 0.0, 2.0 * EDGE) if low + turn < east and high + turn > west]
        rings.extend(np.add(ring, [turn, 0.0]) for turn in turns)
    return tuple(rings)


def directions(latitude_deg: Points, longitude_deg: Points) -> Points:
    """Give unit vectors of places, one a row: x through Greenwich, z along the axis."""
    latitude, longitude = np.radians(latitude_deg), np.radians(longitude_deg)
    return np.stack(
        [np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)],
        axis=-1,
    )


def places(vectors: Points) -> Points:
    """Give longitude and latitude in degrees of vectors of any length, one a row."""
    level = np.hypot(vectors[..., 0], vectors[..., 1])
    longitude = np.degrees(np.arctan2(vectors[..., 1], vectors[..., 0]))
    return np.stack([longitude, np.degrees(np.arctan2(vectors[..., 2], level))], axis=-1)


def chord(start: Points, end: Points, points: int = 24) -> Points:
    """Give the ground below a straight line between two directions, as longitude and latitude."""
    share = np.linspace(0.0, 1.0, points)[:, None]
    angle = float(np.arccos(np.clip(start @ end, -1.0, 1.0)))
    if angle < 1e-9:  # noqa: PLR2004 - nearer than anything on a map
        return places(np.stack([start, end]))
    return places((np.sin((1 - share) * angle) * start + np.sin(share * angle) * end) / np.sin(angle))


def great_circle(normal: Points, points: int = 181) -> Points:
    """Give the circle whose plane has that normal, as longitude and latitude."""
    normal = normal / np.linalg.norm(normal)
    aside = np.array([0.0, 0.0, 1.0]) if abs(normal[2]) < 0.9 else np.array([1.0, 0.0, 0.0])  # noqa: PLR2004
    first = np.cross(normal, aside)
    first /= np.linalg.norm(first)
    second = np.cross(normal, first)
    angle = np.linspace(0.0, 2.0 * np.pi, points)[:, None]
    return places(np.cos(angle) * first + np.sin(angle) * second)


def on_sheet(line: Points, sheet: Sheet = WORLD) -> list[Points]:
    """Cut a line of longitude and latitude at the edge of a sheet, and lead each part there."""
    if sheet.middle:
        middle = np.array([sheet.middle, 0.0])
        turned_line = np.column_stack([sheet.longitudes(line[:, 0]), line[:, 1]]) - middle
        return [part + middle for part in on_sheet(turned_line)]
    parts: list[Points] = []
    part = [line[0]]
    for before, after in pairwise(line):
        step = after[0] - before[0]
        if abs(step) <= EDGE:
            part.append(after)
            continue
        # From east to west over +180, or back: the crossing lies where the short way meets the edge.
        edge = EDGE if before[0] > 0 else -EDGE
        unwrapped = after[0] + 2.0 * edge
        share = (edge - before[0]) / (unwrapped - before[0]) if unwrapped != before[0] else 0.0
        latitude = before[1] + share * (after[1] - before[1])
        part.append(np.array([edge, latitude]))
        parts.append(np.array(part))
        part = [np.array([-edge, latitude]), after]
    parts.append(np.array(part))
    return parts
