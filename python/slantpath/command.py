"""The command ``slantpath`` as pip installs it: the Rust program, with ``study`` and ``plot`` beside it."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

from slantpath import _native

if TYPE_CHECKING:
    from pathlib import Path


def main() -> int:
    """Run the command with the arguments of the process; give its exit status."""
    if sys.argv[1:2] == ["study"]:
        # Not at the top: matplotlib is slow to load, and few commands draw.
        from slantpath.studies import command  # noqa: PLC0415

        return command.main(sys.argv[2:])
    if sys.argv[1:2] == ["plot"]:
        from slantpath.plots import command as plot_command  # noqa: PLC0415

        return plot_command.main(sys.argv[2:])
    # Ctrl-C ends the Rust program as it would without Python around it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.main(["slantpath", *sys.argv[1:]], draw)


def draw(directory: Path) -> list[str]:
    """Draw the figures of the topology whose tables lie in a directory; give the names of the files."""
    # Not at the top: matplotlib is slow to load, and only some commands draw.
    from slantpath.sky_figures import draw_directory  # noqa: PLC0415

    return draw_directory(directory)
