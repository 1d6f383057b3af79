"""What a map of the Earth needs: coastlines, great circles, and lines that stop at the edge of the sheet."""

from __future__ import annotations

from functools import cache
from importlib import resources
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Points = NDArray[np.float64]

LAND = "land-110m.txt"
EDGE = 180.0
"""Longitude of the edge of the sheet."""


@cache
def land() -> tuple[Points, ...]:
    """Give the rings of the land, each as rows of longitude and latitude in degrees.

    A ring that runs on over the antimeridian is there twice, once for each edge of the sheet.
    """
    text = (resources.files("slantpath") / "coastline" / LAND).read_text(encoding="ascii")
    rings: list[Points] = []
    for line in text.splitlines():
        steps = np.array(line.split(), dtype=np.int64).reshape(-1, 2)
        ring = np.cumsum(steps, axis=0) / 10.0
        low, high = ring[:, 0].min(), ring[:, 0].max()
        turns = [turn for turn in (-2.0 * EDGE, 0.0, 2.0 * EDGE) if low + turn < EDGE and high + turn > -EDGE]
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


def on_sheet(line: Points) -> list[Points]:
    """Cut a line of longitude and latitude at the antimeridian, and lead each part to the edge."""
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
