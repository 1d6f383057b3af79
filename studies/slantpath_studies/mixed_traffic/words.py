"""What the study's figures show, in words and numbers, for those who cannot see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from slantpath_studies.mixed_traffic import cases
from slantpath_studies.mixed_traffic.measures import in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from slantpath_studies.mixed_traffic.measures import RunFigures
    from slantpath_studies.mixed_traffic.runs import Results


def by_setting(
    results: Results, parts: Sequence[cases.Part], of: Callable[[RunFigures], float], unit: str
) -> str:
    """Say what each setting has at the losses of a part."""
    said = [f"A chart with a mark for each loss and setting, in {unit}."]
    for part in parts:
        lines = []
        for setting in part.settings:
            named = (cases.name(part.path, part.controller, setting, loss) for loss in part.losses)
            values = ", ".join(in_words(results.estimate(case, of), 1.0, 3) for case in named)
            lines.append(f"{cases.SETTINGS[setting].label} {values}")
        where = f"{cases.PATHS[part.path].label}, {cases.CONTROLLERS[part.controller][0]}"
        losses = ", ".join(cases.LOSSES[loss] for loss in part.losses)
        said.append(f"{where}, losses {losses}: {'; '.join(lines)}.")
    return " ".join(said)


def spread(delays: Mapping[str, NDArray[np.float64]]) -> str:
    """Say how the delays of signalling spread."""
    said = []
    for setting, delay_s in delays.items():
        quarters = np.quantile(delay_s, (0.25, 0.5, 0.75, 0.99), method="higher")
        said.append(f"{cases.SETTINGS[setting].label} {', '.join(f'{each:.2f}' for each in quarters)}")
    return (
        "A line chart of the share of signalling that was delivered after a time. Seconds within which a "
        f"quarter, half, three quarters and 99 % were: {'; '.join(said)}."
    )
