"""Azimuth, elevation and visibility against Skyfield, over random sites and times.

What is compared agrees as closely as the committed vectors of crates/orbit: within a centimetre across the
line of sight, and fifty microseconds for what rises and sets. Skyfield takes UT1 for UTC, as this project
does, and downloads nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import slantpath
from slantpath.figures import numbers

skyfield = pytest.importorskip("skyfield.api", reason="Skyfield is in the dev extra")

ELEMENTS = Path(__file__).parents[2] / "crates/orbit/tests/data"
SPAN_S = 6 * 3600.0
SEED = 20_260_301
LEAST_DEG = 0.0
LOW_ORBIT_RAD_PER_MIN = 0.05


def sky(sites: list[tuple[float, float, float]]) -> slantpath.Topology:
    text = f"""
[topology]
name = "skyfield"
epoch = "2026-03-01T00:00:00Z"
span = "{SPAN_S:.0f} s"
positions_every = "off"

[constellations.all]
satellites = {{ kind = "elements", file = "elements.tle", epoch_spread = "365 d" }}

[validity]
warn_after = "365 d"
refuse_after = "365 d"

[ground]
min_elevation = "0 deg"
"""
    for number, (latitude, longitude, altitude) in enumerate(sites):
        text += f"""
[sites.s{number}]
latitude = "{latitude:.6f} deg"
longitude = "{longitude:.6f} deg"
altitude = "{altitude:.3f} m"
"""
    return slantpath.Topology.parse(text, "skyfield.toml", ELEMENTS)


def random_sites(count: int) -> list[tuple[float, float, float]]:
    draw = np.random.default_rng(SEED)
    latitudes = np.degrees(np.arcsin(draw.uniform(-0.99, 0.99, count)))
    rows = zip(latitudes, draw.uniform(-180, 180, count), draw.uniform(0, 4000, count), strict=True)
    return [(round(float(a), 6), round(float(b), 6), round(float(c), 3)) for a, b, c in rows]


def skyfield_satellites() -> dict[str, Any]:
    # Built in, without a download; delta T is such that UT1 is UTC.
    scale = skyfield.load.timescale(delta_t=69.184, builtin=True)
    lines = (ELEMENTS / "elements.tle").read_text().splitlines()
    sets = [lines[index : index + 3] for index in range(0, len(lines), 3)]
    return {name: skyfield.EarthSatellite(first, second, name, scale) for name, first, second in sets}


def skyfield_look_angles(satellite: Any, site: tuple[float, float, float], at_s: Any) -> Any:  # noqa: ANN401
    times = satellite.epoch.ts.utc(2026, 3, 1, 0, 0, at_s)
    elevation, azimuth, distance = (satellite - skyfield.wgs84.latlon(*site)).at(times).altaz()
    return azimuth.degrees, elevation.degrees, distance.km


def test_azimuth_elevation_and_range_agree_within_a_centimetre() -> None:
    draw = np.random.default_rng(SEED)
    sites, compared = random_sites(8), 0
    topology = sky(sites)
    for name, satellite in skyfield_satellites().items():
        for number, site in enumerate(sites):
            at_s = np.sort(draw.uniform(0.0, SPAN_S, 25)).round(3)
            ours = topology.look_angles(f"s{number}", name, at_s.tolist())
            azimuth, elevation, range_km = skyfield_look_angles(satellite, site, at_s)
            across_m = np.maximum(range_km * 1e3, 4e5)
            turn = (numbers(ours, "azimuth_deg") - azimuth + 540.0) % 360.0 - 180.0
            level = np.cos(np.radians(elevation))
            assert np.all(np.abs(np.radians(turn)) * level * across_m < 0.01), name
            lift = np.radians(numbers(ours, "elevation_deg") - elevation)
            assert np.all(np.abs(lift) * across_m < 0.01), name
            assert np.allclose(numbers(ours, "range_km"), range_km, rtol=0, atol=1e-5), name
            compared += len(at_s)
    assert compared >= 1_000


def test_visibility_agrees_at_random_instants_and_at_every_rise_and_set() -> None:
    draw = np.random.default_rng(SEED + 1)
    sites = random_sites(12)
    passes = pa.table(slantpath.topology(sky(sites))["passes"])
    satellites, seen, edges = skyfield_satellites(), 0, 0
    for number, site in enumerate(sites):
        for name, satellite in satellites.items():
            wanted = [
                row for row in passes.to_pylist() if row["site"] == f"s{number}" and row["satellite"] == name
            ]
            at_s = draw.uniform(0.0, SPAN_S, 60)
            _, elevation, _ = skyfield_look_angles(satellite, site, at_s)
            ours = [any(row["start_s"] <= second < row["end_s"] for row in wanted) for second in at_s]
            # At the very horizon a hair decides; every other instant must agree.
            clear = np.abs(elevation) > 1e-6
            assert np.array_equal(np.array(ours)[clear], (elevation >= LEAST_DEG)[clear]), (site, name)
            seen += int(np.sum(ours))
            rises = [row["start_s"] for row in wanted if row["opens"] == "rises"]
            sets = [row["end_s"] for row in wanted if row["closes"] == "sets"]
            for events, direction in ((rises, 1.0), (sets, -1.0)):
                for event in events:
                    _, around, _ = skyfield_look_angles(
                        satellite, site, np.array([event - 5e-5, event + 5e-5])
                    )
                    low_orbit = satellite.model.no_kozai > LOW_ORBIT_RAD_PER_MIN
                    if low_orbit:
                        assert direction * around[0] < 0.0 < direction * around[1], (site, name, event)
                    assert np.all(np.abs(around) < 1e-3)
                    edges += 1
    assert seen > 500
    assert edges > 100
