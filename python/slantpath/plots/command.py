"""The command ``slantpath plot DIR``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from slantpath.errors import InUseError
from slantpath.files import locked
from slantpath.plots import FORMATS, KINDS, missing, plots, write
from slantpath.plots.results import NothingToDrawError, ResultDirectory

if TYPE_CHECKING:
    from collections.abc import Sequence

DONE, FAILED, MISUSED, INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str]) -> int:
    """Draw with the arguments behind ``slantpath plot``; give the exit status."""
    options = _options(arguments)
    out: Path = options.out or options.directory / "plots"
    try:
        results = ResultDirectory.read(options.directory)
        drawn = plots(options.directory, options.figure, only=options.only)
        with locked(out):
            files = write(drawn, out, options.format or FORMATS)
    except (InUseError, NothingToDrawError) as error:
        print(f"slantpath plot: {error}", file=sys.stderr)
        return MISUSED
    except OSError as error:
        print(f"slantpath plot: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("interrupted: every file that is there is whole", file=sys.stderr)
        return INTERRUPTED
    for plot in drawn:
        print(plot.drawing.words)
    names = {plot.drawing.name for plot in drawn}
    for name in KINDS if options.figure is None else ():
        if name not in names:
            print(f"No figure `{name}`: {missing(results, name)}.")
    print(f"\n{', '.join(file.name for file in files)} in {out}")
    return DONE


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="slantpath plot",
        description="Draw what a result directory shows, as PNG and as SVG.",
        epilog="A run writes such a directory with `slantpath run SCENARIO --out DIR`.",
    )
    parser.add_argument("directory", type=Path, metavar="DIR", help="what `slantpath run --out` wrote")
    parser.add_argument(
        "--figure",
        action="append",
        choices=list(KINDS),
        metavar="NAME",
        help=f"draw this one: {', '.join(KINDS)}; may be given several times; all if absent",
    )
    parser.add_argument(
        "--only",
        action="append",
        type=_column_and_value,
        default=[],
        metavar="COLUMN=VALUE",
        help="draw only rows like `flow=voice` or `run=3`; may be given several times",
    )
    parser.add_argument(
        "--format",
        action="append",
        choices=FORMATS,
        metavar="FORMAT",
        help=f"write this: {', '.join(FORMATS)}; may be given several times; all if absent",
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="where to write; DIR/plots if absent")
    return parser.parse_args(arguments)


def _column_and_value(text: str) -> tuple[str, str]:
    column, equals, value = text.partition("=")
    if not column or not equals:
        message = f"`{text}` names no column and value: write it like flow=voice"
        raise argparse.ArgumentTypeError(message)
    return column, value
