"""The command lines that are tried: how the two ends of each start, and how what came is judged."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from line import Line, counted, hold, said, whole
from signalling_lines import SIGNALLING_LINES

HERE = Path(__file__).resolve().parent


def file_came(where: Path) -> str:
    """Hold a file that came to the one that was sent."""
    sent, came = (where / "sent").read_bytes(), where / "came"
    hold(came.exists(), f"nothing came: {said(where, 'server')[-200:]}")
    bytes_came = came.read_bytes()
    hold(bytes_came == sent, f"{len(bytes_came)} of {len(sent)} bytes came, or others")
    return f"{len(sent)} bytes"


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


MIXED = " --streams 4 --length 16 --length 1400 --length 9000"
SOCKETS = HERE.parent / "sctp-sockets"


def sockets_of_two_stacks(where: Path, _words: dict[str, str]) -> None:
    """Build a program for the sockets of Linux, and for those of usrsctp."""
    for stack, more in (("linux", ["kernel.c"]), ("usrsctp", ["-DUSRSCTP", "usrsctp.c", "-lusrsctp"])):
        build = ["cc", "-O1", "-o", where / f"peer-{stack}", "peer.c", "extensions.c", *more, "-lpthread"]
        built = subprocess.run(build, cwd=SOCKETS, capture_output=True, text=True, check=False)
        hold(built.returncode == 0, built.stderr)


def every_message(where: Path) -> str:
    """Hold both ends to all messages: their bytes, their streams and their order."""
    for who in ("client", "server"):
        lines = [json.loads(one) for one in said(where, who).splitlines() if one.startswith("{")]
        ends = [one for one in lines if one["event"] == "end"]
        hold(ends, f"no end: {said(where, who)[-200:]}")
        faults = [ends[-1][word] for word in ("wrong", "disordered", "partial")]
        hold(faults == [0, 0, 0] and ends[-1]["how"] == "shutdown", str(ends[-1]))
        hold(ends[-1]["received"] == {"client": 300, "server": 500}[who], str(ends[-1]))
    return "800 messages, each byte, in the order of their streams"


def meter(where: Path) -> str:
    """Have netperfmeter say that it has received on its flow."""
    came = re.findall(r"Received: ([0-9.]+) MiB", said(where, "client"))
    hold(came and max(float(one) for one in came) > 0, said(where, "client")[-200:])
    return "received on its flow, both ways"


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
    # It sends by a pace with streams, unless none is said.
    iperf3_line("--nstreams 5", "-n 16M --nstreams 5 -b 0"),
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
    Line(
        name="ncat",
        package="ncat",
        program="ncat",
        # It ends once its input does, which stays open.
        server="mkfifo in; exec 3<>in; rm in; exec ncat -l --sctp {server} {port} <&3 >came",
        client="exec ncat --sctp --send-only {server} {port} <sent",
        judge=file_came,
        is_stopped=True,
    ),
    Line(
        name="netperfmeter",
        package="netperfmeter",
        program="netperfmeter",
        server="exec netperfmeter {port} -quiet",
        client="exec netperfmeter {server}:{port} -runtime=2 -quiet"
        " -sctp const50:const1000:const50:const1000:description=Streams",
        judge=meter,
        is_stopped=True,
    ),
    Line(
        name="pysctp",
        package="python3-pip: pysctp, libsctp-dev",
        program=sys.executable,
        module="sctp",
        server="exec {python} {here}/messages.py serve {server} {port}",
        client="exec {python} {here}/messages.py call {server} {port}",
        judge=whole,
        is_stopped=True,
    ),
    Line(
        name="usrsctp's sockets",
        package="libusrsctp-dev, gcc",
        program="/usr/include/usrsctp.h",
        prepare=sockets_of_two_stacks,
        server="exec ./peer-usrsctp --local {server} --port {port}"
        " --udp-local {server_udp} --udp-remote {client_udp} --expect 500 --send 300" + MIXED,
        client="exec ./peer-linux --local {client} --port 0 --peer {server} --peer-port {port}"
        " --send 500 --expect 300 --close" + MIXED,
        judge=every_message,
        brings_its_own=True,
    ),
    *SIGNALLING_LINES,
)
