"""The command ``slantpath view DIR``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from slantpath.files import write_whole
from slantpath.view import ViewError, view

if TYPE_CHECKING:
    from collections.abc import Sequence

DONE, FAILED, MISUSED, INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str]) -> int:
    """Write a view with the arguments behind ``slantpath view``; give the exit status."""
    options = _options(arguments)
    out = options.out or options.directory / "view.html"
    try:
        if out.is_dir():
            return _refuse(f"{out} is a directory: name a file by --out")
        if out.exists() and not options.force:
            return _refuse(f"{out} is there: --force overwrites it, --out names another file")
        text = view(options.directory, traces=options.trace, sky=options.sky)
        write_whole(out, text.encode())
    except ViewError as error:
        return _refuse(str(error))
    except OSError as error:
        print(f"slantpath view: {' '.join(str(error).split())}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("interrupted: nothing is written", file=sys.stderr)
        return INTERRUPTED
    print(out)
    return DONE


def _refuse(why: str) -> int:
    print(f"slantpath view: {why}", file=sys.stderr)
    return MISUSED


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="slantpath view",
        description="Write a result directory as one HTML file: globe, map, charts and events over time.",
        epilog="The file opens from disk, without a server and without the network.",
    )
    parser.add_argument(
        "directory",
        type=Path,
        metavar="DIR",
        help="what `--out` of `slantpath run`, `sweep` or `topology` wrote",
    )
    parser.add_argument(
        "--sky", type=Path, metavar="DIR", help="what `slantpath topology --out` wrote of the sky of this run"
    )
    parser.add_argument(
        "--trace",
        type=Path,
        metavar="FILE",
        action="append",
        default=[],
        help="a trace of `slantpath run --trace`, beside those in DIR; may be given several times",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="where to write; DIR/view.html if absent")
    parser.add_argument("--force", action="store_true", help="overwrite a file that is there")
    return parser.parse_args(arguments)
