"""The tests of the Go library github.com/ishidawataru/sctp, as a static program."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from grounds import Ground, MissingError
from table import PASSED, Case

MODULE = "github.com/ishidawataru/sctp@v0.0.0-20251114114122-19ddcbc6aae2"
LINE = re.compile(r"^\s*--- (PASS|FAIL|SKIP): (\S+)", re.MULTILINE)


def build(directory: Path) -> Path:
    """Build the tests from the module proxy's copy of the library."""
    go = shutil.which("go")
    if go is None:
        raise MissingError("the Go library's tests need go")
    directory.mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ, CGO_ENABLED="0", GOFLAGS="-mod=mod", GOPATH=str(directory / "path"))
    (directory / "go.mod").write_text("module tests\n\ngo 1.18\n")
    library, version = MODULE.split("@")
    for line in (
        ["get", f"{library}@{version}"],
        ["test", "-c", "-o", str(directory / "sctp.test"), library],
    ):
        try:
            done = subprocess.run(
                [go, *line],
                cwd=directory,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
                timeout=600,
            )
        except subprocess.TimeoutExpired as error:
            raise MissingError(f"the Go library: {error}") from error
        if done.returncode:
            raise MissingError(f"the Go library: {done.stderr.strip()[-300:]}")
    return directory


def run(ground: Ground, built: Path) -> dict[Case, str]:
    outcome = ground.run(["./sctp.test", "-test.v", "-test.timeout=300s"], built, patience_s=330)
    results: dict[Case, str] = {}
    for result, name in LINE.findall(outcome.said):
        program, _, case = name.partition("/")
        results[Case(program, case or "whole")] = PASSED if result == "PASS" else result.lower()
    results[Case("sctp.test", "exit")] = PASSED if outcome.status == 0 else f"status {outcome.status}"
    return results
