"""The command ``slantpath`` as pip installs it: the Rust program and what stands beside it.

``plot``, ``report``, ``study`` and ``view`` are Python's own.

The studies are a distribution of their own, ``slantpath-studies``, which the extra ``studies`` asks for.
"""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from slantpath import _native

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

DONE, FAILED, MISUSED = 0, 1, 2
SHOWING = {
    "plot": "slantpath.plots.command",
    "report": "slantpath.report.command",
    "view": "slantpath.view.command",
}
"""Commands that show results, and the modules that have them."""
OWN = (*SHOWING, "study")
"""Commands that Python adds."""
NO_STUDIES = (
    "slantpath study: the studies are not installed: pip install 'slantpath[studies]', "
    "or pip install ./studies in a checkout"
)


def main() -> int:
    """Run the command with the arguments of the process; give its exit status."""
    name, arguments = "".join(sys.argv[1:2]), sys.argv[2:]
    if name == "help" and arguments and arguments[0] in OWN:
        # The Rust program knows nothing of them.
        name, arguments = arguments[0], ["--help"]
    if name == "man" and arguments and arguments[0] in OWN:
        print(
            f"slantpath man: no page of {arguments[0]}: `slantpath {arguments[0]} --help` tells all of it",
            file=sys.stderr,
        )
        return MISUSED
    if name == "study":
        if find_spec("slantpath_studies") is None:
            print(NO_STUDIES, file=sys.stderr)
            return MISUSED
        # Not at the top: matplotlib is slow to load, and few commands draw.
        from slantpath_studies import command  # noqa: PLC0415

        return printing("slantpath study", command.main, arguments)
    if name in SHOWING:
        # Not at the top, for the same reason.
        return printing(f"slantpath {name}", import_module(SHOWING[name]).main, arguments)
    # Ctrl-C ends the Rust program as it would without Python around it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.main(["slantpath", *sys.argv[1:]], draw)


def printing(name: str, command: Callable[[Sequence[str]], int], arguments: Sequence[str]) -> int:
    """Run a command that prints, and hears of Ctrl-C as Python does; give its exit status.

    Whoever reads what it prints may have read enough; a stream that cannot be written is an error.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        status = command(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        give_up_output()
        return DONE
    except OSError as error:
        give_up_output()
        print(f"{name}: the output cannot be written: {error.strerror or error}", file=sys.stderr)
        return FAILED
    return status


def give_up_output() -> None:
    """Have what Python flushes when it ends go nowhere: it would be a second error."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def draw(directory: Path, is_stopped: Callable[[], bool]) -> list[str]:
    """Draw the figures of the topology whose tables lie in a directory; give the names of the files."""
    # Not at the top: matplotlib is slow to load, and only some commands draw.
    from slantpath.sky_figures import draw_directory  # noqa: PLC0415

    return draw_directory(directory, is_stopped)
