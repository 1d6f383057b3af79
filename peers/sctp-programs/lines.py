"""The command lines that are tried: how the two ends of each start, and how what came is judged."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
BOTH = ("preload", "notify")


class FailedError(Exception):
    """What was asked does not hold."""


def hold(condition: object, told: str) -> None:
    """Fail with these words unless it holds."""
    if not condition:
        raise FailedError(told)


def nothing(_where: Path, _words: dict[str, str]) -> None:
    """Write no file."""


@dataclass(frozen=True)
class Line:
    """A command line of two ends. Words in braces are replaced: addresses, the port, this directory."""

    name: str
    package: str
    """Debian's, or what else brings it."""
    program: str
    """Without it the line is left out: a command, or a file."""
    client: str
    server: str
    """Empty: the client holds both ends."""
    judge: Callable[[Path], str]
    """Reads what the ends have written, in their directory."""
    prepare: Callable[[Path, dict[str, str]], None] = nothing
    """Writes files of the ends there."""
    doors: tuple[str, ...] = BOTH
    is_stopped: bool = False
    """The server does not end by itself."""

    def lacks(self) -> str | None:
        """Say what is missing here."""
        if shutil.which(self.program) or Path(self.program).exists():
            return None
        return f"no {self.program} ({self.package})"

    def applies(self, client: str, server: str) -> bool:
        """Tell if it can run between these ends."""
        ends = {client, server} - {"kernel"}
        is_alone = not self.server and client != server
        return not is_alone and ends <= set(self.doors)


def said(where: Path, who: str) -> str:
    return (where / f"{who}.out").read_text(errors="replace")


def file_came(where: Path) -> str:
    """Hold a file that came to the one that was sent."""
    sent, came = (where / "sent").read_bytes(), where / "came"
    hold(came.exists(), f"nothing came: {said(where, 'server')[-200:]}")
    bytes_came = came.read_bytes()
    hold(bytes_came == sent, f"{len(bytes_came)} of {len(sent)} bytes came, or others")
    return f"{len(sent)} bytes"


def whole(where: Path) -> str:
    """Have the client say that all came back."""
    told = re.search(r"^whole: (.*)$", said(where, "client"), re.MULTILINE)
    hold(told, f"it was not whole: {said(where, 'client')[-200:]}")
    assert told is not None
    return told.group(1)


def iperf3(where: Path) -> str:
    """Hold what iperf3 counted at both ends to each other."""
    text = said(where, "client")
    told = json.loads(text[text.index("{") :])
    hold("error" not in told, told.get("error", ""))
    for way in ("", "_bidir_reverse"):
        if f"sum_sent{way}" not in told["end"]:
            continue
        sent, came = (told["end"][f"sum_{one}{way}"]["bytes"] for one in ("sent", "received"))
        # What is on its way at the end is not read.
        hold(0 < came <= sent, f"{came} of {sent} bytes came")
    return "both ends count the same, up to what was on its way at the end"


def iperf3_file(where: Path) -> str:
    """Hold the file that iperf3 wrote to the beginning of that which it sent."""
    iperf3(where)
    sent, came = (where / "sent").read_bytes(), (where / "came").read_bytes()
    hold(came and sent.startswith(came), f"{len(came)} bytes came, or others")
    return "the file, as far as it was read at the end"


def iperf3_line(name: str, flags: str, judge: Callable[[Path], str] = iperf3, server: str = "") -> Line:
    return Line(
        name=f"iperf3 {name}".strip(),
        package="iperf3",
        program="iperf3",
        server=f"exec iperf3 -s -1 -p {{port}} {server}",
        # It ends in order even if nobody is there yet.
        client=(
            f"iperf3 --sctp -c {{server}} -p {{port}} --json {flags} && ! grep -q '\"error\"' client.out"
        ),
        judge=judge,
    )


def counted(pattern: str, who: str, least: int) -> Callable[[Path], str]:
    """Judge by how often an end has said something."""

    def judge(where: Path) -> str:
        count = len(re.findall(pattern, said(where, who)))
        hold(count >= least, f"{count} of {least}: {said(where, who)[-300:]}")
        return f"{count} times `{pattern}`"

    return judge


def darn(where: Path) -> str:
    """Hold the lines that sctp_darn received to those that it was given."""
    came = said(where, "server")
    for word in ("first message", "second message"):
        shown = "".join(chr(byte) for byte in word.encode())
        hold(shown in came, f"`{word}` did not come: {came[-300:]}")
    return "both lines"


def sctp_test(where: Path) -> str:
    """Hold the messages that sctp_test read to those that it sent."""
    sent = len(re.findall(r"sendmsg\(sk=", said(where, "client")))
    came = len(re.findall(r"recvmsg\(sk=", said(where, "server")))
    hold(sent and came >= sent, f"{came} of {sent} messages came: {said(where, 'client')[-200:]}")
    return f"{sent} messages"


def go_program(where: Path, _words: dict[str, str]) -> None:
    """Build a static program of Go."""
    paths = {"GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "CGO_ENABLED": "0"}
    build = ["go", "build", "-o", where / "echo", HERE / "echo.go"]
    built = subprocess.run(build, env={**os.environ, **paths}, capture_output=True, text=True, check=False)
    hold(built.returncode == 0, built.stderr)


def calls(where: Path, _words: dict[str, str]) -> None:
    """Build a program of calls."""
    build = ["cc", "-Wall", "-Wextra", "-Werror", "-O1", "-o", where / "calls", HERE / "calls.c"]
    built = subprocess.run(build, capture_output=True, text=True, check=False)
    hold(built.returncode == 0, built.stderr)


LINES = (
    Line(
        name="calls of RFC 6458",
        package="gcc",
        program="cc",
        prepare=calls,
        server="",
        client="exec ./calls {client} {client2} {port}",
        judge=whole,
    ),
    Line(
        name="Python's socket",
        package="python3",
        program=sys.executable,
        server="exec {python} {here}/echo.py serve {server} {port}",
        client="exec {python} {here}/echo.py call {server} {port}",
        judge=whole,
    ),
    Line(
        name="socat",
        package="socat",
        program="socat",
        server="exec socat -u SCTP-LISTEN:{port},bind={server} CREATE:came",
        client="exec socat -u OPEN:sent SCTP:{server}:{port}",
        judge=file_came,
    ),
    iperf3_line("", "-n 16M"),
    iperf3_line("-F", "-F sent -l 1000", iperf3_file, "-F came"),
    iperf3_line("-R", "-n 16M -R"),
    iperf3_line("--bidir", "-n 16M --bidir"),
    iperf3_line("-P 3", "-n 16M -P 3"),
    iperf3_line("--nstreams 5", "-n 16M --nstreams 5"),
    # Without -4 it looks for addresses of IPv6 alone.
    iperf3_line("-X", "-4 -n 16M -X {client} -X {client2}"),
    Line(
        name="sctp_darn",
        package="lksctp-tools",
        program="sctp_darn",
        server="exec sctp_darn -H {server} -P {port} -l",
        # At the end of its input it ends with a status of its own.
        client="until grep -q 'second message' server.out; do"
        " printf 'first message\\nsecond message\\n'"
        " | timeout 5 sctp_darn -H {client} -P 0 -h {server} -p {port} -s; sleep 0.3; done",
        judge=darn,
        is_stopped=True,
    ),
    Line(
        name="sctp_test",
        package="lksctp-tools",
        program="sctp_test",
        server="exec sctp_test -H {server} -P {port} -l",
        client="exec sctp_test -H {client} -P 0 -h {server} -p {port} -s -x 3",
        judge=sctp_test,
        is_stopped=True,
    ),
    Line(
        name="stress-ng --sctp",
        package="stress-ng",
        program="stress-ng",
        server="",
        client="exec stress-ng --sctp 1 --sctp-ops 2000 --sctp-port {port} --verify --timeout 30 --metrics",
        judge=counted(r"successful run completed", "client", 1),
    ),
    Line(
        name="a static Go program",
        package="golang-go, golang-github-ishidawataru-sctp-dev",
        program="/usr/share/gocode/src/github.com/ishidawataru/sctp",
        prepare=go_program,
        server="exec ./echo serve {server} {port}",
        client="exec ./echo call {server} {port}",
        judge=whole,
        doors=("notify",),
    ),
)
