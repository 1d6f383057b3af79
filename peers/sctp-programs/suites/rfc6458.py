"""The two programs of RFC 6458's appendices: a client (A) sends to a discard server (B)."""

import re
import subprocess
from pathlib import Path

from grounds import HERE, Ground, MissingError
from table import PASSED, Case

TEXT = HERE.parents[2] / "shared/rfc/rfc6458.txt"
LINES = """
#include <stdio.h>
__attribute__((constructor)) static void by_lines(void) { setvbuf(stdout, NULL, _IOLBF, 0); }
"""
"""The server never ends, so that each line of its output has to leave at once."""
SCRIPT = """
./server >told & server=$!
until ./client 2>why; do tries=$((tries + 1)); [ $tries -lt 50 ] || break; sleep 0.1; done
for wait in $(seq 100); do grep -q completed told && break; sleep 0.1; done
kill $server
cat why told
"""
EXPECTED_LINES = 14


def extract(text: str) -> list[str]:
    """Cut the two programs out of the RFC's text, without the heads and feet of its pages."""
    lines = [
        line.removeprefix("   ")
        for line in text.replace("\f", "").splitlines()
        if not re.match(r"^(Stewart, et al\..*\[Page \d+\]|RFC 6458 .*December 2011)$", line)
    ]
    found = re.findall(r"<CODE BEGINS>\n(.*?)\n<CODE ENDS>", "\n".join(lines), re.DOTALL)
    return [code for code in found if "main(void)" in code]


def build(directory: Path, *, is_static: bool) -> Path:
    """Compile both from the RFC's text."""
    if not TEXT.exists():
        raise MissingError("there is no shared rfc/rfc6458.txt here")
    if not Path("/usr/include/netinet/sctp.h").exists():
        raise MissingError("apt-get install libsctp-dev")
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "lines.c").write_text(LINES)
    for name, code in zip(("client", "server"), extract(TEXT.read_text()), strict=True):
        (directory / f"{name}.c").write_text(code)
        linked = ["-static"] if is_static else []
        line = ["cc", "-O1", "-w", *linked, f"{name}.c", "lines.c", "-o", name, "-lsctp"]
        subprocess.run(line, cwd=directory, check=True)
    return directory


def plain(line: str) -> str:
    """Leave out of a line what chance has chosen."""
    return re.sub(r"tsn=\d+", "tsn=T", re.sub(r"(127\.0\.0\.1|::1):\d+", r"\1:PORT", line))


def run(ground: Ground, directory: Path) -> list[str]:
    """Give the lines that the server has told, without those of the command itself."""
    said = ground.run(["sh", "-c", SCRIPT], directory).said.splitlines()
    return [plain(line) for line in said if not line.startswith("slantpath")]


def results(told: list[str], linux: list[str]) -> dict[Case, str]:
    """Hold the lines of a ground against those of Linux, or where that was not asked, only count them."""
    if not linux:
        whole = len(told) >= EXPECTED_LINES and "completed" in told[-1]
        return {Case("discard", "whole"): PASSED if whole else f"{len(told)} lines: {told[-1:]}"}
    width = len(str(len(linux)))
    lines = {
        Case("discard", f"{number:0{width}} {line}"): PASSED
        if told[number : number + 1] == [line]
        else f"told: {told[number] if number < len(told) else 'nothing'}"
        for number, line in enumerate(linux)
    }
    more = told[len(linux) :]
    return {**lines, Case("discard", "nothing more"): PASSED if not more else f"told: {more[0]}"}
