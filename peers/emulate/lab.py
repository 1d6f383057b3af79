"""One emulation that a proof starts, watches and reads."""

import contextlib
import csv
import json
import socket
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

HERE = Path(__file__).resolve().parent
SCENARIOS = HERE.parent.parent / "scenarios"
ANSWERS = 5
VOID = 3
"""Exit status of an emulation that was late."""


class FailedError(Exception):
    """What was asked does not hold."""


def hold(condition: object, told: str) -> None:
    """Fail with these words unless it holds."""
    if not condition:
        raise FailedError(told)


def pause(process: subprocess.Popen[str] | subprocess.Popen[bytes], seconds: float) -> None:
    """Wait for so long, or until the process has ended."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=seconds)


@dataclass
class Lab:
    """An emulation by the program `slantpath`, and a directory for what its programs leave.

    with Lab(slantpath) as lab:
        lab.start(["--in", "far", "sleep 5"])
        lab.wait()
        print(lab.rows("links"))
    """

    slantpath: Path
    status: int = 0
    out: str = ""
    err: str = ""
    process: subprocess.Popen[str] | None = None
    base: float = 0.0
    """Time of the machine, in seconds since 1970, at which the run began."""
    tables: dict[str, list[dict[str, str]]] = field(default_factory=dict)

    def __enter__(self) -> Self:
        self._directory = tempfile.TemporaryDirectory()
        # Whoever becomes somebody else in the laboratory writes here as well.
        self.directory = Path(self._directory.name)
        self.directory.chmod(0o777)
        return self

    def __exit__(self, *_: object) -> None:
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._directory.cleanup()

    def start(self, arguments: Sequence[str | Path], late: str = "10 s") -> None:
        """Start it. Machines that do other things are late: where delay is not judged, that is no matter."""
        command: list[str | Path] = [
            self.slantpath,
            "emulate",
            "--late",
            late,
            "--out",
            self.directory / "out",
        ]
        command += ["--control", self.directory / "control", *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def stop_at(self, seconds: float) -> None:
        """End it at an instant of the run."""
        self.find_base()
        assert self.process is not None
        pause(self.process, max(0.0, self.base + seconds - time.time()))
        self.command({"stop": {}})
        self.wait()

    def command(self, command: dict[str, object]) -> dict[str, object]:
        """Ask the run, and give its answer."""
        with socket.socket(socket.AF_UNIX) as control:
            control.connect(str(self.directory / "control"))
            control.sendall(json.dumps(command).encode() + b"\n")
            answer = json.loads(control.makefile().readline())
        assert isinstance(answer, dict)
        return answer

    def find_base(self) -> None:
        """Ask the run for its present instant some times, of which the quickest answer counts."""
        assert self.process is not None
        until = time.monotonic() + 20
        answers: list[tuple[float, float]] = []
        while len(answers) < ANSWERS:
            if time.monotonic() > until or self.process.poll() is not None:
                raise FailedError(f"the run does not answer: {self.process.communicate()[1]}")
            asked = time.time()
            try:
                status = self.command({"status": {}})["ok"]
            except (OSError, ValueError):
                pause(self.process, 0.05)
                continue
            assert isinstance(status, dict)
            took_s = time.time() - asked
            answers.append((took_s, asked + took_s / 2 - float(status["at_s"])))
        self.base = min(answers)[1]

    def wait(self) -> None:
        """Wait for its end, and read what it has left."""
        assert self.process is not None
        self.out, self.err = self.process.communicate()
        self.status = self.process.returncode
        for file in (self.directory / "out").glob("*.csv"):
            with file.open() as rows:
                self.tables[file.stem] = list(csv.DictReader(rows))

    def hold_end(self) -> None:
        hold(self.status == 0, f"exit status {self.status}: {self.out}{self.err}")

    def told(self, node: str) -> list[str]:
        """List the lines of the programs of a node."""
        lead = f"{node}: "
        return [line.removeprefix(lead) for line in self.out.splitlines() if line.startswith(lead)]

    def rows(self, table: str, **keys: str) -> list[dict[str, str]]:
        """List rows of a table of the run that have these values."""
        return [row for row in self.tables[table] if all(row[key] == keys[key] for key in keys)]
