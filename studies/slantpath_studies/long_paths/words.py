"""What the study's figures show, in words and numbers, for those who cannot see them."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from slantpath.figures import numbers
from slantpath_studies.long_paths import cases
from slantpath_studies.long_paths.findings import goodput, left_and_taken

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from slantpath_studies.long_paths.findings import Observed
    from slantpath_studies.long_paths.runs import Course


def against_loss(observed: Observed) -> str:
    """Say how goodput goes with loss."""
    said = [f"Four line charts of goodput in % of the link at losses of {', '.join(cases.LOSSES.values())}."]
    for path, transport in product(cases.PATHS.values(), cases.TRANSPORTS):
        lines = [
            f"{label} "
            + ", ".join(f"{each.mean:.0f}" for each in goodput(observed, path, transport, profile))
            for profile, label in cases.PROFILES.items()
        ]
        said.append(f"{transport.upper()} over {path.name.upper()}: {'; '.join(lines)}.")
    return " ".join(said)


def courses(shown: Mapping[str, Course]) -> str:
    """Say how large windows were over time."""
    said = []
    for controller, course in shown.items():
        window = numbers(course.flow, "cwnd_bytes") / cases.GEO.product_bytes
        quarters = np.quantile(window[~np.isnan(window)], (0.25, 0.5, 0.75))
        said.append(f"{cases.PROFILES[controller]} {', '.join(f'{each:.2f}' for each in quarters)}")
    return (
        "Line charts of cwnd and of the queue over time. Quarters of the time cwnd was below, in "
        f"bandwidth-delay products: {'; '.join(said)}."
    )


def ramps(rounds: Mapping[tuple[str, str], NDArray[np.float64]]) -> str:
    """Say what the fourth, the eighth and the twelfth round trip brought."""
    said = []
    for transport in cases.TRANSPORTS:
        lines = [
            f"{label} " + ", ".join(f"{rounds[transport, profile][at]:.0f}" for at in (3, 7, 11))
            for profile, label in cases.PROFILES.items()
        ]
        said.append(f"{transport.upper()}: {'; '.join(lines)}.")
    return (
        "Two line charts of what each round trip brought, in % of the link. The fourth, the eighth and the "
        f"twelfth: {' '.join(said)}"
    )


def changes(delivered: Mapping[tuple[str, str], tuple[NDArray[np.float64], float]]) -> str:
    """Say what arrived in the ten seconds after each change."""
    said = []
    for change in cases.CHANGES:
        lines = []
        for controller in cases.CONTROLLERS:
            brought, interval_s = delivered[change.name, controller]
            ten_s = round(10.0 / interval_s)
            begins = [round(at_s / interval_s) for at_s in change.at_s]
            means = ", ".join(f"{brought[at : at + ten_s].sum() * 8 / 10 / 1e6:.1f}" for at in begins)
            lines.append(f"{cases.PROFILES[controller]} {means}")
        said.append(f"{change.about}: {'; '.join(lines)}.")
    return (
        "Line charts of what TCP brings over time. Mbit/s in the ten seconds after either change. "
        + " ".join(said)
    )


def shares(observed: Observed) -> str:
    """Say what each controller leaves a rival."""
    said = []
    for rival in cases.RIVALS:
        lines = []
        for how in cases.SHARINGS:
            left = (left_and_taken(observed, how, each, rival)[0].mean for each in cases.CONTROLLERS)
            lines.append(f"{how.about}: {', '.join(f'{each:.0f}' for each in left)}")
        said.append(f"To {cases.PROFILES[rival]}: {'; '.join(lines)}.")
    order = ", ".join(cases.PROFILES[each] for each in cases.CONTROLLERS)
    return f"Two charts of what is left to a rival, in % of the link, beside {order}. {' '.join(said)}"
