"""Python's own tests of its sockets over SCTP: `test.test_socket` of the system's interpreter."""

import subprocess
from pathlib import Path

from grounds import Ground, MissingError
from table import PASSED, Case

PYTHON = "/usr/bin/python3"
RUNNER = """
import unittest
from test import support, test_socket

support.use_resources = ["network"]

class Result(unittest.TestResult):
    def addSuccess(self, test): tell(test, "pass")
    def addFailure(self, test, error): tell(test, "failed: " + words(error))
    def addError(self, test, error): tell(test, "error: " + words(error))
    def addSkip(self, test, reason): tell(test, "skipped: " + reason)

def words(error):
    return " ".join(str(error[1]).split())[:120]

def tell(test, result):
    name = test.id().rsplit(".", 2)[-2:] if hasattr(test, "_testMethodName") else [str(test), "setup"]
    print("CASE", *name, result, sep="\\t", flush=True)

names = [name for name in dir(test_socket) if "SCTP" in name and not name.endswith("Base")]
test_socket.setUpModule()
for name in names:
    unittest.defaultTestLoader.loadTestsFromTestCase(getattr(test_socket, name)).run(Result())
"""


def prepare(directory: Path) -> Path:
    """Write the runner, if the interpreter has its tests."""
    has_tests = [PYTHON, "-c", "import test.test_socket"]
    if not Path(PYTHON).exists() or subprocess.run(has_tests, capture_output=True, check=False).returncode:
        raise MissingError("apt-get install libpython3.11-testsuite")
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "socket_tests.py").write_text(RUNNER)
    return directory


def run(ground: Ground, directory: Path) -> dict[Case, str]:
    outcome = ground.run([PYTHON, "-B", "socket_tests.py"], directory, patience_s=400)
    results: dict[Case, str] = {}
    for line in outcome.said.splitlines():
        match line.split("\t"):
            case ["CASE", program, name, result]:
                results[Case(program, name)] = result
    ended = PASSED if outcome.status == 0 else f"status {outcome.status}: {outcome.said[-300:]}"
    results[Case("socket_tests.py", "exit")] = ended
    return results
