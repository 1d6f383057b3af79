#!/usr/bin/env python3
"""Prove what `make wheel` built: sizes and symbols, and that it starts where nothing else is.

`packaging/prove.py out/dist` checks the files. As root with `debootstrap` it then follows the
Containerfile's steps in an empty tree of Debian 12, and with `qemu-user` it runs the package for aarch64:
five scenarios give the digests of x86-64. The command as one binary is started in an empty tree of Debian 11,
where there is no Python, and for aarch64 under qemu. What cannot be tried here is told, with what would
bring it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
INSTALLED_MAX = 25_000_000
"""Bytes installed beside the dependencies, at most."""
GLIBC_MAX = (2, 28)
"""The C library of Debian 10 and RHEL 8: nothing newer may be asked for."""
SCENARIOS = ("first", "ecn", "multi-link", "ss7-over-geo", "voice-over-leo")
"""Scenarios whose digests are compared."""
RECORDED = ROOT / "crates/runner/tests/digests.txt"
"""Digests that the tests hold, of programs for the machine that builds."""
DEPENDENCIES = ("matplotlib>=3.8", "pyarrow>=15")
DEBIAN = "bookworm"
OLD_DEBIAN = "bullseye"
"""A system of five years ago, for the command as one binary."""
LACKS = "lacks `plot`, `report`, `study` and `view`"
"""Words of its help: parts that Python has."""


def main() -> int:
    """Check everything that can be checked here; 1 if something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dist", type=Path, help="the directory of `make wheel`")
    parser.add_argument("--trees", type=Path, help="keep trees of Debian here, for a next time")
    parser.add_argument("--files-only", action="store_true", help="start nothing")
    options = parser.parse_args()
    wheels = sorted(options.dist.glob("slantpath-*.whl"))
    commands = sorted(options.dist.glob("slantpath-linux-*"))
    faults = [fault for wheel in wheels for fault in wheel_faults(wheel)]
    faults += [fault for command in commands for fault in symbol_faults(command.name, command.read_bytes())]
    if not wheels:
        faults.append(f"{options.dist} has no wheel: make wheel")
    if not commands:
        faults.append(f"{options.dist} has no command as one binary: make wheel")
    if not faults and not options.files_only:
        trees = options.trees or Path(tempfile.mkdtemp(prefix="slantpath-trees-"))
        try:
            faults += started(wheels, commands, trees)
        finally:
            if options.trees is None:
                shutil.rmtree(trees)
    for fault in faults:
        print(f"prove: {fault}", file=sys.stderr)
    return 1 if faults else 0


def wheel_faults(wheel: Path) -> list[str]:
    """Tell what is wrong with the files of a wheel: their sizes, their C library, the name."""
    faults = [] if "-abi3-manylinux_2_28_" in wheel.name else [f"{wheel.name} is no wheel of manylinux_2_28"]
    with zipfile.ZipFile(wheel) as archive:
        size = sum(file.file_size for file in archive.infolist())
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, {size / 1e6:.1f} MB installed")
        if size > INSTALLED_MAX:
            faults.append(f"{wheel.name}: {size:,} bytes installed, more than {INSTALLED_MAX:,}")
        for name in archive.namelist():
            if name.endswith(".so"):
                faults += symbol_faults(f"{wheel.name}: {name}", archive.read(name))
    return faults


def symbol_faults(name: str, program: bytes) -> list[str]:
    """Tell if a program asks for a newer C library than that of manylinux_2_28."""
    versions = {
        tuple(map(int, found.split(b"."))) for found in re.findall(rb"\0GLIBC_(\d+(?:\.\d+)+)(?=\0)", program)
    }
    newest = max(versions, default=(0,))
    print(f"{name}: {len(program) / 1e6:.1f} MB, glibc {'.'.join(map(str, newest))}")
    return [f"{name}: needs glibc {'.'.join(map(str, newest))}"] if newest[:2] > GLIBC_MAX else []


def started(wheels: list[Path], commands: list[Path], trees: Path) -> list[str]:
    """Start what there is for both machines, and compare digests."""
    if platform.machine() != "x86_64":
        return skipped("this machine is no x86-64", "a machine that is one")
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        return skipped("no tree of Debian can be made", "root, and apt-get install debootstrap")
    found: dict[str, dict[str, str]] = {RECORDED.name: recorded()}
    for wheel in wheels:
        if wheel.name.endswith("x86_64.whl"):
            found[wheel.name] = in_container(wheel, trees)
        elif shutil.which("qemu-aarch64"):
            found[wheel.name] = emulated(wheel, trees)
        else:
            skipped(f"{wheel.name} is not started", "apt-get install qemu-user")
    for command in commands:
        if command.name.endswith("x86_64"):
            found[command.name] = alone(command, trees)
        elif shutil.which("qemu-aarch64"):
            tree = aarch64_tree(trees)
            found[command.name] = of_command(["qemu-aarch64", "-L", str(tree), str(command)], command.name)
        else:
            skipped(f"{command.name} is not started", "apt-get install qemu-user")
    return differences(found)


def recorded() -> dict[str, str]:
    """Read the digests that the tests hold: each line has one, the number of events and the scenario."""
    lines = (line.split() for line in RECORDED.read_text().splitlines())
    digests = {file.removesuffix(".toml"): digest for digest, _events, file in lines}
    return {name: digests[name] for name in SCENARIOS}


def differences(found: dict[str, dict[str, str]]) -> list[str]:
    """Compare the digests of each with those of the first."""
    (first, wanted), *others = found.items()
    faults = [
        f"{name}: {other} has digest {digests[name]}, {first} {wanted[name]}"
        for other, digests in others
        for name in SCENARIOS
        if digests[name] != wanted[name]
    ]
    if not others:
        skipped(f"nothing is compared with {first}", "a wheel or a command that can be started")
    elif not faults:
        print(f"{len(SCENARIOS)} digests, equal in {', '.join(found)}: {', '.join(wanted.values())}")
    return faults


def skipped(what: str, cure: str) -> list[str]:
    """Tell loudly what is not tried, and what would bring it."""
    print(f"NOT PROVED: {what}: {cure}", file=sys.stderr)
    return []


def in_container(wheel: Path, trees: Path) -> dict[str, str]:
    """Follow the Containerfile in an empty Debian 12; give the digests of runs in it."""
    tree = trees / "container"
    if not (tree / "usr/bin/apt-get").exists():
        run(["debootstrap", "--variant=minbase", DEBIAN, str(tree)])
    # Whoever builds the container has an index; here its packages are handed in.
    settings = ["PIP_NO_INDEX=1"]
    if Path("/etc/resolv.conf").exists():
        shutil.copy("/etc/resolv.conf", tree / "etc")
    shutil.rmtree(tree / "opt/slantpath", ignore_errors=True)
    entry: list[str] = []
    user = "0"
    for word, rest in instructions(ROOT / "packaging/Containerfile"):
        if word == "COPY":
            target = tree / rest.split()[-1].strip("/")
            target.mkdir(exist_ok=True)
            shutil.copy(wheel, target)
            pip("download", f"--dest={target}", *of_machine("x86_64"), *DEPENDENCIES)
        elif word == "RUN" and rest.startswith("useradd"):
            run(["chroot", str(tree), "/bin/sh", "-c", f"id slantpath >/dev/null 2>&1 || {rest}"])
        elif word == "RUN":
            run(["chroot", str(tree), "/usr/bin/env", *settings, "/bin/sh", "-c", rest])
        elif word == "USER":
            user = rest
        elif word == "ENTRYPOINT":
            entry = json.loads(rest)
    shutil.rmtree(tree / "scenarios", ignore_errors=True)
    shutil.copytree(ROOT / "scenarios", tree / "scenarios")
    inside = ["chroot", f"--userspec={user}", str(tree), *entry]
    version = subprocess.run([*inside, "--version"], check=True, capture_output=True, text=True).stdout
    print(f"in an empty Debian 12: {version.strip()}, of {wheel.name}")
    subprocess.run([*inside, "plot", "--help"], check=True, capture_output=True)
    return {name: of_run(inside, name, Path("/scenarios")) for name in SCENARIOS}


def instructions(containerfile: Path) -> list[tuple[str, str]]:
    """Read the instructions of a Containerfile, each with what is behind its word."""
    lines = containerfile.read_text().replace("\\\n", " ").splitlines()
    split = [line.split(" ", 1) for line in lines if line and not line.startswith("#")]
    known = {"FROM", "COPY", "RUN", "USER", "WORKDIR", "ENTRYPOINT"}
    for word, *_ in split:
        if word not in known:
            sys.exit(f"prove: {containerfile.name} has {word}, which is none of {', '.join(sorted(known))}")
    return [(word, rest) for word, rest in split]


def alone(command: Path, trees: Path) -> dict[str, str]:
    """Start the command as one binary in an empty tree of five years ago; give the digests of runs in it."""
    tree = trees / "old"
    if not (tree / "usr/bin/apt-get").exists():
        run(["debootstrap", "--variant=minbase", OLD_DEBIAN, str(tree)])
    shutil.copy(command, tree / "usr/bin/slantpath")
    shutil.rmtree(tree / "scenarios", ignore_errors=True)
    shutil.copytree(ROOT / "scenarios", tree / "scenarios")
    print(f"in an empty Debian of five years ago ({OLD_DEBIAN}): {command.name}")
    return of_command(["chroot", str(tree), "/usr/bin/slantpath"], command.name, Path("/scenarios"))


def of_command(start: list[str], name: str, scenarios: Path = ROOT / "scenarios") -> dict[str, str]:
    """Give the digests of the command as one binary, whose help has to say what it lacks."""
    told = subprocess.run([*start, "--help"], check=True, capture_output=True, text=True).stdout
    if LACKS not in told:
        sys.exit(f"prove: the help of {name} does not say what it lacks: {LACKS}")
    return {scenario: of_run(start, scenario, scenarios) for scenario in SCENARIOS}


def aarch64_tree(trees: Path) -> Path:
    """Lay out a Debian for aarch64 with Python."""
    tree = trees / "aarch64"
    if not (tree / "usr/bin/python3.11").exists():
        run(
            [
                "debootstrap",
                "--arch=arm64",
                "--foreign",
                "--variant=minbase",
                "--include=python3",
                DEBIAN,
                str(tree),
            ]
        )
        # Nothing is installed, which would run programs: packages are laid out, and that is enough.
        for package in sorted((tree / "var/cache/apt/archives").glob("*.deb")):
            run(["dpkg-deb", "--extract", str(package), str(tree)])
    return tree


def emulated(wheel: Path, trees: Path) -> dict[str, str]:
    """Run the package for aarch64 under qemu, with Debian's Python and the dependencies for aarch64."""
    tree = aarch64_tree(trees)
    site = tree / "site"
    shutil.rmtree(site, ignore_errors=True)
    pip("install", f"--target={site}", *of_machine("aarch64"), str(wheel), *DEPENDENCIES)
    start = [
        "qemu-aarch64",
        "-L",
        str(tree),
        "-E",
        f"PYTHONHOME={tree}/usr",
        "-E",
        f"PYTHONPATH={site}",
        f"{tree}/usr/bin/python3.11",
        "-m",
        "slantpath",
    ]
    subprocess.run([*start, "plot", "--help"], check=True, capture_output=True)
    print(f"under qemu-aarch64: {wheel.name}, {' '.join(DEPENDENCIES)}")
    return {name: of_run(start, name) for name in SCENARIOS}


def of_machine(machine: str) -> list[str]:
    """Give pip's options for binary packages of another machine's Python."""
    platforms = [f"--platform=manylinux_2_{minor}_{machine}" for minor in range(17, 37)]
    return [
        "--only-binary=:all:",
        "--python-version=3.11",
        "--implementation=cp",
        "--abi=cp311",
        "--abi=abi3",
        "--abi=none",
        f"--platform=manylinux2014_{machine}",
        *platforms,
    ]


def pip(*words: str) -> None:
    """Run this Python's pip."""
    run([sys.executable, "-m", "pip", "--quiet", *words])


def of_run(command: list[str], name: str, scenarios: Path = ROOT / "scenarios") -> str:
    """Run a scenario; give the digest."""
    words = [*command, "run", str(scenarios / f"{name}.toml"), "--json"]
    told = subprocess.run(words, capture_output=True, text=True, check=False)
    if told.returncode not in (0, 3):
        sys.exit(f"prove: {shlex.join(words)} failed: {told.stderr}")
    return str(json.loads(told.stdout)["runs"][0]["digest"])


def run(words: list[str]) -> None:
    """Run a command that says nothing unless it fails."""
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        sys.exit(f"prove: {shlex.join(words)} failed:\n{done.stdout[-4000:]}")


if __name__ == "__main__":
    sys.exit(main())
