"""What pip installs: the licences of others, and the commands beside the Rust program."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

from slantpath import command

ROOT = Path(__file__).parents[2]


def test_the_package_carries_the_licences_of_what_is_linked_in() -> None:
    package = distribution("slantpath")
    assert package.metadata.get_all("License-File") == ["LICENSE", "THIRD-PARTY-NOTICES.txt"]
    (notices,) = [file for file in package.files or [] if file.name == "THIRD-PARTY-NOTICES.txt"]
    text = notices.read_text()
    for crate, licence in (("arrow-array", "Apache-2.0 AND MIT"), ("is_ci", "ISC"), ("libm", "MIT")):
        assert any(
            line.startswith(f"{crate} ") and line.endswith(f": {licence}") for line in text.splitlines()
        )
    assert "\nThe Apache Software Foundation (http://www.apache.org/).\n" in text
    assert text == (ROOT / "THIRD-PARTY-NOTICES.txt").read_text()


@pytest.mark.parametrize("name", command.OWN)
def test_python_s_own_commands_stand_beside_those_of_the_program(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in ([name, "--help"], ["help", name]):
        monkeypatch.setattr(sys, "argv", ["slantpath", *words])
        with pytest.raises(SystemExit) as caught:
            command.main()
        assert caught.value.code == 0
        assert capsys.readouterr().out.startswith(f"usage: slantpath {name} ")
    monkeypatch.setattr(sys, "argv", ["slantpath", "man", name])
    assert command.main() == command.MISUSED
    assert f"`slantpath {name} --help` tells all of it" in capsys.readouterr().err


def test_the_package_is_the_command_as_well() -> None:
    told = subprocess.run(
        [sys.executable, "-m", "slantpath", "new", "--list"], capture_output=True, text=True, check=True
    )
    assert told.stdout.startswith("diffserv ")


def test_without_the_studies_the_command_says_what_installs_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "slantpath_studies", None)
    monkeypatch.setattr(sys, "argv", ["slantpath", "study", "multi-link"])
    assert command.main() == command.MISUSED == 2
    told = capsys.readouterr()
    assert told.err == f"{command.NO_STUDIES}\n"
    assert "pip install 'slantpath[studies]'" in told.err
    assert told.out == ""


def test_the_command_begins_with_what_ends_it_quietly() -> None:
    (command_of,) = [of for of in distribution("slantpath").entry_points if of.name == "slantpath"]
    assert command_of.value == "slantpath_command:main"
    text = (
        "import signal, sys, slantpath_command\n"
        "print(signal.getsignal(signal.SIGINT) is signal.SIG_DFL, 'slantpath' in sys.modules)"
    )
    ended = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", text], capture_output=True, text=True, check=True
    )
    assert ended.stdout == "True False\n"


def test_python_s_own_commands_hear_of_ctrl_c_as_python_does() -> None:
    before = signal.getsignal(signal.SIGINT)
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        assert command.printing("slantpath study", lambda _: 7, []) == 7
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full file")
def test_an_output_that_cannot_be_written_is_an_error_and_no_traceback() -> None:
    text = "import slantpath_command; raise SystemExit(slantpath_command.main())"
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(  # noqa: S603 - our own interpreter
            [sys.executable, "-c", text, "study"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    wanted = "slantpath study: the output cannot be written: No space left on device\n"
    assert (ended.returncode, ended.stderr) == (1, wanted)
    reads, writes = os.pipe()
    os.close(reads)
    # Whoever reads has read enough, as `| head` has.
    ended = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", text, "study"], stdout=writes, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writes)
    assert (ended.returncode, ended.stderr) == (0, "")


# A program of two sockets, which are nobody's but the daemon's: with the protocol of SCTP in their numbers.
TALK = """
import socket
server, client = (socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132) for _ in range(2))
server.bind(("127.0.0.1", 7))
server.listen()
client.connect(("127.0.0.1", 7))
client.sendall(b"served")
print(server.accept()[0].recv(9).decode())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="sockets of programs are served on Linux alone")
@pytest.mark.parametrize("door", ["preload", "notify"])
def test_the_command_that_pip_installs_serves_programs_by_either_door(door: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = [sys.executable, "-m", "slantpath", "sctp", f"--udp={port}", f"--listen-udp={port}"]
    line = [*own, "--address=127.0.0.1", f"--door={door}", "--", sys.executable, "-c", TALK]
    served = subprocess.run(  # noqa: S603 - our own program
        line, capture_output=True, text=True, check=False, timeout=60
    )
    assert (served.returncode, served.stdout) == (0, "served\n"), served.stderr
