"""Writes skyfield_look_angles.csv and skyfield_events.csv with Skyfield (1.55): where satellites are seen, and when.

Run it in this folder with Skyfield installed; it needs no download. UT1 is taken for UTC (delta T of 69.184 s)
and the pole is not moved, as in the crate. The element sets are made up: elements.tle, from the crate's writer.
"""

import random
from pathlib import Path

from skyfield.api import EarthSatellite, load, wgs84

HERE = Path(__file__).parent
ts = load.timescale(delta_t=69.184, builtin=True)
lines = (HERE / "elements.tle").read_text().splitlines()
satellites = [EarthSatellite(lines[i + 1], lines[i + 2], lines[i], ts) for i in range(0, len(lines), 3)]
rng = random.Random(20260301)

with (HERE / "skyfield_look_angles.csv").open("w") as out:
    out.write("satellite,seconds,latitude_deg,longitude_deg,height_m,azimuth_deg,elevation_deg,range_km\n")
    for _ in range(300):
        satellite = rng.choice(satellites)
        seconds = rng.randrange(0, 3 * 86_400)
        lat, lon, height = rng.uniform(-89, 89), rng.uniform(-180, 180), rng.uniform(-100, 9000)
        t = ts.utc(2026, 3, 1, 0, 0, seconds)
        elevation, azimuth, distance = (satellite - wgs84.latlon(lat, lon, height)).at(t).altaz()
        out.write(
            f"{satellite.name},{seconds},{lat!r},{lon!r},{height!r},"
            f"{azimuth.degrees:.9f},{elevation.degrees:.9f},{distance.km:.9f}\n"
        )

start, end = ts.utc(2026, 3, 1), ts.utc(2026, 3, 2)
with (HERE / "skyfield_events.csv").open("w") as out:
    out.write("satellite,latitude_deg,longitude_deg,min_elevation_deg,event,seconds\n")
    for _ in range(12):
        satellite = rng.choice(satellites[:3])
        lat, lon, low = rng.uniform(-60, 60), rng.uniform(-180, 180), rng.choice([5.0, 10.0, 25.0])
        times, events = satellite.find_events(wgs84.latlon(lat, lon), start, end, altitude_degrees=low)
        above = (satellite - wgs84.latlon(lat, lon)).at

        def is_up(seconds: float) -> bool:
            return above(ts.utc(2026, 3, 1, 0, 0, seconds)).altaz()[0].degrees >= low

        for t, event in zip(times, events):
            if event != 1:
                # The search stops at half a second: halve on.
                left, right = (t - start) * 86_400 - 1, (t - start) * 86_400 + 1
                while right - left > 1e-5:
                    middle = (left + right) / 2
                    if is_up(middle) == (event == 0):
                        right = middle
                    else:
                        left = middle
                seconds = (left + right) / 2
                out.write(f"{satellite.name},{lat!r},{lon!r},{low},{'rise' if event == 0 else 'set'},{seconds:.4f}\n")
