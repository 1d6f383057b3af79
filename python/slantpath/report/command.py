"""The command ``slantpath report DIR [DIR]``."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from slantpath.files import write_whole
from slantpath.report import ReportError, report

if TYPE_CHECKING:
    from collections.abc import Sequence

DONE, FAILED, MISUSED, INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str]) -> int:
    """Write a report with the arguments behind ``slantpath report``; give the exit status."""
    options = _options(arguments)
    out = options.out or _default(options.directory, options.other)
    try:
        if out.is_dir():
            return _refuse(f"{out} is a directory: name a file by --out")
        if out.exists() and not options.force:
            whose = ", the study's own page," if _is_of_study(options.directory, out) else ""
            return _refuse(f"{out}{whose} is there: --force overwrites it, --out names another file")
        text = report(options.directory, options.other)
        write_whole(out, text.encode())
    except ReportError as error:
        return _refuse(str(error))
    except OSError as error:
        print(f"slantpath report: {' '.join(str(error).split())}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("interrupted: nothing is written", file=sys.stderr)
        return INTERRUPTED
    print(out)
    return DONE


def _refuse(why: str) -> int:
    print(f"slantpath report: {why}", file=sys.stderr)
    return MISUSED


def _is_of_study(directory: Path, out: Path) -> bool:
    """Tell if a page is the one that a study wrote, which has more than a report of its directory."""
    return out == _default(directory, None) and (directory / "claims.txt").is_file()


def _default(directory: Path, other: Path | None) -> Path:
    if other is None:
        return directory / "report.html"
    name = re.sub(r"[^\w.-]+", "-", other.resolve().name)
    return directory / f"report-and-{name}.html"


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="slantpath report",
        description="Write a report of a result directory as one HTML file, or of two with what differs.",
        epilog="Runs of one number and seed are paired: differences then have intervals of 99 %%.",
    )
    parser.add_argument(
        "directory",
        type=Path,
        metavar="DIR",
        help="what `--out` of `slantpath run`, `sweep`, `topology`, `plan` or `load` wrote, or a study",
    )
    parser.add_argument(
        "other", nargs="?", type=Path, metavar="DIR", help="another one, with which the first is compared"
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="where to write; DIR/report.html if absent, of two DIR/report-and-OTHER.html",
    )
    parser.add_argument("--force", action="store_true", help="overwrite a file that is there")
    return parser.parse_args(arguments)
