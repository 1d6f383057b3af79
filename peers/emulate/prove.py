#!/usr/bin/env python3
"""Programs of others on emulated networks, judged.

    peers/emulate/prove.py --out acceptance.csv     all of it, about twenty minutes
    peers/emulate/prove.py --short                  what every change passes, about a minute
    peers/emulate/prove.py --only frr-isis          those whose name begins so

The machine may be busy: how late packets were is told, and where delay is judged it is judged by that.
"""

import argparse
import csv
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import paths
import routing
from lab import HERE, FailedError

Row = tuple[str, str, str]
Proof = Callable[[Path], list[Row]]

SHORT: dict[str, Proof] = {
    "ping": lambda slantpath: paths.pings(slantpath, 500, 2.0),
    "frr-ospf": lambda slantpath: routing.prove(slantpath, "frr-ospf", 0),
    "mptcp": lambda slantpath: paths.mptcp(slantpath, 6),
    "starts": lambda slantpath: paths.starts(slantpath, 50, 2),
    "flood": lambda slantpath: paths.flood(slantpath, 20),
}
WHOLE: dict[str, Proof] = {
    "ping": lambda slantpath: paths.pings(slantpath, 10_000, 0.5),
    "bird-ospf": lambda slantpath: routing.prove(slantpath, "bird-ospf", 12),
    "frr-ospf": lambda slantpath: routing.prove(slantpath, "frr-ospf", 12),
    "frr-isis": lambda slantpath: routing.prove(slantpath, "frr-isis", 12),
    "mptcp": lambda slantpath: paths.mptcp(slantpath, 30),
    "starts": lambda slantpath: paths.starts(slantpath, 1_000, 2),
    "flood": lambda slantpath: paths.flood(slantpath, 600),
}
ALONE = ("ping", "flood")
"""Proofs beside which nothing else runs: one judges delay, and the other leaves no time to others."""


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--slantpath", type=Path, default=HERE / "../../target/release/slantpath")
    arguments.add_argument("--short", action="store_true", help="fewer, and shorter")
    arguments.add_argument("--only", default="", help="the beginning of names of proofs")
    arguments.add_argument("--out", type=Path, help="the table of what was found, written anew")
    options = arguments.parse_args()
    proofs = SHORT if options.short else WHOLE
    chosen = [name for name in proofs if name.startswith(options.only)]
    found: dict[str, list[Row]] = {}
    failed = []

    def one(name: str) -> None:
        try:
            found[name] = proofs[name](options.slantpath)
        except FailedError as error:
            failed.append(name)
            print(f"{name}: FAILED: {error}", file=sys.stderr)
        for measure, asked, what in found.get(name, []):
            print(f"{measure}: {what} (asked: {asked})", flush=True)

    for name in chosen:
        if name in ALONE:
            one(name)
    together = [name for name in chosen if name not in ALONE]
    with ThreadPoolExecutor(len(together) or 1) as pool:
        list(pool.map(one, together))
    if options.out:
        with options.out.open("w", newline="") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(["measure", "asked", "found"])
            rows.writerows(row for name in chosen for row in found.get(name, []))
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
