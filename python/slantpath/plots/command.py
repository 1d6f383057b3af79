"""The command ``slantpath plot DIR``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from slantpath.errors import InUseError
from slantpath.figures import WIDTHS, Look
from slantpath.files import locked
from slantpath.plots import FORMATS, KINDS, ON_REQUEST, TRACE_KINDS, Plot, plots, trace_plots, write
from slantpath.plots.kinds import left_out
from slantpath.plots.results import NothingToDrawError, ResultDirectory

if TYPE_CHECKING:
    from collections.abc import Sequence

DONE, FAILED, MISUSED, INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str]) -> int:
    """Draw with the arguments behind ``slantpath plot``; give the exit status."""
    options = _options(arguments)
    is_trace = options.directory.is_file()
    out: Path = options.out or _beside(options.directory)
    try:
        drawn = _drawn(options)
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
    if options.figure is None and options.measure is None and not is_trace:
        names = {plot.drawing.name for plot in drawn}
        print(*left_out(ResultDirectory.read(options.directory), names), sep="\n")
    print(f"\n{', '.join(file.name for file in files)} in {out}")
    return DONE


def _drawn(options: argparse.Namespace) -> list[Plot]:
    look = _look(options.width, options.style)
    if options.directory.is_file():
        if options.directory.suffix == ".toml":
            message = f"{options.directory} is no result: run it with `--out DIR`, then draw DIR"
            raise NothingToDrawError(message)
        return trace_plots(
            options.directory,
            options.figure,
            association=_association(options),
            span=options.span,
            look=look,
        )
    if options.span is not None:
        message = f"--span is for the file of a `--trace`, and {options.directory} is none"
        raise NothingToDrawError(message)
    return plots(
        options.directory,
        options.figure,
        only=options.only,
        look=look,
        measures=options.measure,
        over=options.over,
    )


def _beside(path: Path) -> Path:
    """Give the directory of figures that is taken if none is named."""
    return path.with_name(f"{path.stem}-plots") if path.is_file() else path / "plots"


def _association(options: argparse.Namespace) -> int | None:
    """Take the association of a trace that is to be drawn."""
    if options.measure or options.over:
        message = "a trace has no measures of a sweep: --measure and --over are for directories"
        raise NothingToDrawError(message)
    chosen = None
    for column, value in options.only:
        if column != "association" or not value.isdecimal():
            message = f"of a trace `--only association=NUMBER` can be chosen, not `{column}={value}`"
            raise NothingToDrawError(message)
        chosen = int(value)
    return chosen


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
        description="Draw what a result directory shows, as PNG and as SVG.",
        epilog="A run writes such a directory with `slantpath run SCENARIO --out DIR`.",
    )
    parser.add_argument(
        "directory",
        type=Path,
        metavar="DIR",
        help="what `slantpath run --out` or `sweep --out` wrote, or the file of a `--trace`",
    )
    parser.add_argument(
        "--figure",
        action="append",
        choices=[*KINDS, *TRACE_KINDS],
        metavar="NAME",
        help=f"draw this one: {', '.join(KINDS)}; of a trace {', '.join(TRACE_KINDS)}; "
        "may be given several times; all if absent",
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
        "--span",
        type=_seconds,
        metavar="FROM:TO",
        help="of a trace, draw this part, in seconds: `100:110`",
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
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="where to write; DIR/plots if absent, of a trace TRACE-plots beside it",
    )
    return parser.parse_args(arguments)


def _column_and_value(text: str) -> tuple[str, str]:
    column, equals, value = text.partition("=")
    if not column or not equals:
        message = f"`{text}` names no column and value: write it like flow=voice"
        raise argparse.ArgumentTypeError(message)
    return column, value


def _seconds(text: str) -> tuple[float, float]:
    try:
        begin, end = (float(part) for part in text.split(":"))
    except ValueError:
        begin = end = 0.0
    if not 0 <= begin < end:
        message = f"`{text}` is no span of time: write it in seconds like 100:110"
        raise argparse.ArgumentTypeError(message)
    return begin, end
