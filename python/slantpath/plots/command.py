"""The command ``slantpath plot DIR``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from slantpath.errors import InUseError
from slantpath.figures import WIDTHS, Look
from slantpath.files import locked
from slantpath.plots import FORMATS, KINDS, ON_REQUEST, plots, write
from slantpath.plots.kinds import left_out
from slantpath.plots.results import NothingToDrawError, ResultDirectory

if TYPE_CHECKING:
    from collections.abc import Sequence

DONE, FAILED, MISUSED, INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str]) -> int:
    """Draw with the arguments behind ``slantpath plot``; give the exit status."""
    options = _options(arguments)
    out: Path = options.out or options.directory / "plots"
    try:
        look = _look(options.width, options.style)
        results = ResultDirectory.read(options.directory)
        drawn = plots(
            options.directory,
            options.figure,
            only=options.only,
            look=look,
            measures=options.measure,
            over=options.over,
        )
        with locked(out):
            files = write(drawn, out, options.format or FORMATS, source=options.directory)
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
    if options.figure is None and options.measure is None:
        print(*left_out(results, {plot.drawing.name for plot in drawn}), sep="\n")
    print(f"\n{', '.join(file.name for file in files)} in {out}")
    return DONE


def _look(width: str | None, style: str | None) -> Look:
    try:
        return Look.of(width, style)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        strerror = error.strerror if isinstance(error, OSError) else None
        reason = strerror or " ".join(str(error).split())
        message = f"--style {style}: {reason}: name a style file of Matplotlib (.mplstyle)"
        raise NothingToDrawError(message) from error


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="slantpath plot",
        description="Draw what a result directory shows, as PNG, as SVG and as one HTML page.",
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
        "--measure",
        action="append",
        metavar="TABLE.COLUMN",
        help="of a sweep, draw this measure: `flows.delay_mean_s`; may be given several times; "
        "the usual ones if absent",
    )
    parser.add_argument(
        "--over",
        action="append",
        default=[],
        metavar="PATH",
        help="of a sweep, draw over this axis: `links.satellite.loss`; given twice, a map over both",
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
        choices=(*FORMATS, *ON_REQUEST),
        metavar="FORMAT",
        help=f"write this: {', '.join((*FORMATS, *ON_REQUEST))}; may be given several times; "
        f"{', '.join(FORMATS)} if absent",
    )
    parser.add_argument(
        "--width",
        choices=tuple(WIDTHS),
        metavar="WIDTH",
        help="draw for a printed page: `column` (3.5 in) or `page` (7.2 in)",
    )
    parser.add_argument(
        "--style",
        metavar="FILE",
        help="style file of Matplotlib (.mplstyle), or the name of one of its styles",
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="where to write; DIR/plots if absent")
    return parser.parse_args(arguments)


def _column_and_value(text: str) -> tuple[str, str]:
    column, equals, value = text.partition("=")
    if not column or not equals:
        message = f"`{text}` names no column and value: write it like flow=voice"
        raise argparse.ArgumentTypeError(message)
    return column, value
