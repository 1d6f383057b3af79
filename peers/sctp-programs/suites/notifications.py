"""Notifications and their order at both ends: `notifications.c`, held against Linux line by line."""

import subprocess
from pathlib import Path

from grounds import HERE, Ground, Guest
from table import PASSED, Case


def build(directory: Path, *, is_static: bool) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    linked = ["-static"] if is_static else []
    warnings = ["-Wall", "-Wextra", "-Werror"]
    line = ["cc", "-O1", *warnings, *linked, HERE / "notifications.c", "-o", "notifications"]
    subprocess.run(line, cwd=directory, check=True)
    return directory


def run(ground: Ground, directory: Path) -> dict[str, list[str]]:
    """Give the lines of each scenario."""
    named = subprocess.run(["./notifications"], cwd=directory, capture_output=True, text=True, check=True)
    if isinstance(ground, Guest):
        ground.allow_extensions(are_on=True)
    told = {}
    for name in named.stdout.split():
        said = ground.run(["./notifications", name], directory, patience_s=60).said.splitlines()
        told[name] = [line for line in said if not line.startswith("slantpath")]
    if isinstance(ground, Guest):
        ground.allow_extensions(are_on=False)
    return told


def results(told: dict[str, list[str]], linux: dict[str, list[str]]) -> dict[Case, str]:
    """Hold the lines of each scenario against those of Linux, one by one."""
    found: dict[Case, str] = {}
    for name, lines in linux.items():
        own = told.get(name, [])
        for number, line in enumerate(lines):
            ours = own[number] if number < len(own) else "nothing"
            found[Case(name, f"{number:02} {line}")] = PASSED if ours == line else f"told: {ours}"
        more = own[len(lines) :]
        found[Case(name, f"{len(lines):02} nothing more")] = PASSED if not more else f"told: {more[0]}"
    return found
